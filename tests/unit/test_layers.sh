#!/bin/bash
# SPDX-License-Identifier: MIT
# Checks which folders include and call which, which code prints, and what the libraries export and call.
set -u
cd "$GM_TOP" || exit 1
bad=0

complain()
{
	echo "$1:"
	sed 's/^/	/'
	bad=1
}

# forbid RULE PATTERN PATH...: no line of these files matches.
forbid()
{
	local what=$1 pattern=$2 found
	shift 2
	found=$(grep -rnE --include='*.[chS]' "$pattern" "$@" 2>/dev/null) &&
		complain "$what" <<<"$found"
}

for directory in libgmon-mt/runtime libsync-trace/record postproc/core; do
	[ -d $directory ] || { echo "$directory does not exist: update this test"; exit 1; }
done

# Tables in the DESIGN.md of each part list the folders that each folder may use, all of them in rows above its
# own, and the accepted cycles within folders.
python3 - "$GM_BUILD" libgmon-mt libsync-trace postproc <<'PYTHON' || bad=1
import os, re, subprocess, sys

# Headers of other parts that every folder of a part may include.
OUTSIDE = {
    "libgmon-mt": (),
    "libsync-trace": ("libgmon-mt/include/gmon-mt/format.h", "libgmon-mt/runtime/"),
    "postproc": ("libgmon-mt/include/", "libgmon-mt/runtime/", "libsync-trace/include/"),
}
ROOTS = ["libgmon-mt", "libgmon-mt/include", "libsync-trace", "libsync-trace/include"]
build = sys.argv[1]


def read_tables(design):
    """The rows of the tables of folders ("Uses" or "May use") and of accepted cycles ("Pairs" or "Files")."""
    folders, cycles, table = [], [], None
    for line in open(design):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            table = None
        elif cells[0] == "Folder":
            table = folders if cells[-1] in ("Uses", "May use") else cycles if cells[1] in ("Pairs", "Files") else None
        elif table is not None and not cells[0].startswith("--"):
            table.append(cells)
    return folders, cycles


def headers_of(part, path):
    """Paths of the headers of this project that a file includes."""
    for header in re.findall(r'^\s*#\s*include "([^"]+)"', open(path).read(), re.M):
        for root in [part, os.path.dirname(path)] + ROOTS:
            if os.path.exists(os.path.join(root, header)):
                yield os.path.normpath(os.path.join(root, header))
                break
        else:
            if "/" in header:  # a generated one
                yield os.path.join(part, header)


def cycles_in(used):
    """Groups whose members use each other, directly or indirectly."""
    reached = {}
    for one in used:
        reached[one], next_ones = set(), list(used[one] - {one})
        while next_ones:
            other = next_ones.pop()
            if other not in reached[one]:
                reached[one].add(other)
                next_ones += used[other] - {other}
    return {frozenset(o for o in used if o in reached[one] and one in reached[o]) for one in used} - {frozenset()}


def find_include_cycles(part, directory, names):
    """Groups of .c/.h pairs of a folder that include each other's headers in a cycle."""
    used = {name[:-2]: set() for name in names}
    for name in names:
        for header in headers_of(part, os.path.join(directory, name)):
            if os.path.dirname(header) == directory and os.path.basename(header) in names:
                used[name[:-2]].add(os.path.basename(header)[:-2])
    return cycles_in(used)


def find_call_cycles(directory, names):
    """The same for calls, since a header may belong to several files."""
    defined, wanted = {}, {}
    for name in names:
        path = os.path.join(build, "obj", directory, name[:-2] + ".o")
        if name.endswith(".h") or not os.path.exists(path):
            continue
        wanted[name[:-2]] = set()
        nm = subprocess.run(["nm", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in nm.stdout.splitlines():  # prints nothing for a BPF object that nm does not support
            kind, symbol = line.split()[-2:]
            if kind == "U":
                wanted[name[:-2]].add(symbol)
            elif kind.isupper():
                defined[symbol] = name[:-2]
    return cycles_in({one: {defined[s] for s in symbols if s in defined} for one, symbols in wanted.items()})


def check(part):
    """Returns the violations in a part. The row of its top folder has the name of the part."""
    design = os.path.join(part, "DESIGN.md")
    folders, cycles = read_tables(design)
    uses, order, found, files = {}, [], {}, {}
    for name, _, allowed in folders:
        is_any = allowed == "any of the above"
        uses[name] = set(order if is_any else re.findall(r"[\w/-]+", allowed)), is_any
        order.append(name)
    bad = []
    for path, _, names in os.walk(part):
        sources = [name for name in names if name.endswith((".c", ".h", ".S"))]
        if not sources:
            continue
        folder = part if path == part else os.path.relpath(path, part)
        files[folder], found[folder] = (path, sources), set()
        for name in sources:
            for header in headers_of(part, os.path.join(path, name)):
                if header.startswith(part + "/"):
                    found[folder].add(os.path.relpath(os.path.dirname(header), part).replace(".", part))
                elif not header.startswith(OUTSIDE[part]):
                    bad.append(f"{path}/{name} may not include {header}")
    bad += [f"{part}: {folder} has no row in the table" for folder in found if folder not in uses]
    bad += [f"{part}: {folder} has a row in the table, but no sources" for folder in uses if folder not in found]
    for row, folder in enumerate(order):
        allowed, is_any = uses[folder]
        used = found.get(folder, set()) - {folder}
        bad += [f"{part}: {folder} may not use {other}" for other in sorted(used - allowed)]
        bad += [f"{part}: {folder} does not use {other}" for other in sorted(allowed - used) if not is_any]
        bad += [f"{part}: {folder} uses {other}, which is below it" for other in allowed if other not in order[:row]]

    # A row of the table of accepted cycles: "| ctf | decode, decode_full | why |".
    known = {(cells[0], frozenset(re.findall(r"\w+", cells[1]))) for cells in cycles}
    includes = {(folder, cycle) for folder in files for cycle in find_include_cycles(part, *files[folder])}
    calls = {(folder, cycle) for folder in files for cycle in find_call_cycles(*files[folder])}
    calls = {(folder, cycle) for folder, cycle in calls if len(cycle) > 1}
    text = "{}: {}: {} {}"
    bad += [text.format(part, f, ", ".join(sorted(c)), "include each other") for f, c in includes - known]
    bad += [text.format(part, f, ", ".join(sorted(c)), "call each other in a cycle") for f, c in calls - known]
    bad += [text.format(part, f, ", ".join(sorted(c)), "is no cycle any more") for f, c in known - includes - calls]
    return [f"{line} ({design})" for line in bad]


problems = [line for part in sys.argv[2:] for line in check(part)]
print("\n".join(problems), end="\n" if problems else "")
sys.exit(bool(problems))
PYTHON

forbid 'only postproc/ctf/babeltrace uses babeltrace2' '#[[:space:]]*include <babeltrace' \
	--exclude-dir=babeltrace postproc libgmon-mt libsync-trace
forbid 'only the provider of libsync-trace, and postproc/record/lttng, use LTTng' '#[[:space:]]*include <lttng' \
	--exclude-dir=ust --exclude-dir=lttng postproc libgmon-mt libsync-trace
forbid 'only postproc/core/text/json_writer.c writes JSON' '\b(json_to_string|json_builder_|json_generator_)' \
	--exclude-dir=core postproc
forbid 'only postproc/export/gzip.c compresses' '\b(g_zlib_compressor_new|deflateInit|gzopen)' \
	--exclude=gzip.c postproc
# A write() of one byte to a pipe is never partial; all other data is written by pp_write_all().
forbid 'only postproc/core/text/write.c calls write() in a loop' '[^_a-z]p?write\([^)]' \
	--exclude-dir=core --exclude={launch,serve_files,collector}.c postproc
forbid 'only postproc/tui uses ncurses' '#[[:space:]]*include <(n?curses|panel|menu)' \
	--exclude-dir=tui postproc libgmon-mt libsync-trace
forbid 'only postproc/export uses protobuf-c' '#[[:space:]]*include .*(protobuf-c/|pb-c\.h)' \
	--exclude-dir=export postproc
forbid 'only postproc/cli prints errors' '\b(stderr|g_printerr|perror|g_warning|g_error|g_critical)\b' \
	postproc/{core,statistics,campaign,table,capture,ctf,calls,events,symbols,analysis,pass,index,render,export,tui}
forbid 'the runtime libraries neither exit nor abort' '\b(exit|abort|_Exit|quick_exit) *\([^)]*\) *;' \
	libgmon-mt libsync-trace

# exports LIBRARY MAP: the library exports exactly the names of the map.
exports()
{
	local library=$1 map=$2 named found
	[ -e "$library" ] || { echo "no $library"; bad=1; return; }
	# shellcheck disable=SC2020 # each of the three characters
	named=$(sed 's,/\*.*\*/,,; s/#.*//' "$map" | tr '{};' '\n\n\n' |
		awk '/local:/ { on = 0 } on && NF { print $1 } /global:/ { on = 1 }
			/global:/ && $2 { print $2 }' | sort -u)
	found=$(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
		sort -u)
	diff <(echo "$named") <(echo "$found") >exports.diff ||
		complain "$library exports (>) other names than $map (<)" <exports.diff
}

# calls LIBRARY PATTERN: the library does not call these functions.
calls()
{
	local found
	found=$(nm -D --undefined-only "$1" | awk '{ sub(/@.*/, "", $2); print $2 }' | grep -xE "$2") &&
		complain "$1 may not call these" <<<"$found"
}

cd - >/dev/null || exit 1
heap='malloc|calloc|realloc|free|aligned_alloc|posix_memalign|strdup|f?printf|puts|fopen'
ends='exit|_exit|abort|quick_exit|__assert_fail'
for library in gmon_mt:libgmon-mt sync_trace:libsync-trace; do
	so=$GM_BUILD/lib${library%%:*}.so part=${library##*:}
	exports "$so" "$GM_TOP/$part/$part.map"
	calls "$so" "$heap|$ends"
done
exports "$GM_BUILD/libaccess_trace.so" "$GM_TOP/libsync-trace/access/access.map"
# Its strdup() allocates for the program.
calls "$GM_BUILD/libaccess_trace.so" "${heap#malloc|}|$ends|.*errno.*|mem.*|str.*"
if [ -e "$GM_BUILD/libaccess_step.so" ]; then
	exports "$GM_BUILD/libaccess_step.so" "$GM_TOP/libsync-trace/access/step/step.map"
	calls "$GM_BUILD/libaccess_step.so" "$heap|$ends"
	exports "$GM_BUILD/libaccess_step_blocks.so" "$GM_TOP/libsync-trace/access/step/step_blocks.map"
	calls "$GM_BUILD/libaccess_step_blocks.so" "$heap|$ends"
fi
exit $bad
