#!/bin/bash
# SPDX-License-Identifier: MIT
# Who may include what, who may print, and what the libraries export and call.
set -u
cd "$GM_TOP" || exit 1
bad=0

complain()
{
	echo "$1:"
	sed 's/^/	/'
	bad=1
}

# forbid WHAT PATTERN PATH...: no line of these files may match.
forbid()
{
	local what=$1 pattern=$2 found
	shift 2
	found=$(grep -rnE --include='*.[chS]' "$pattern" "$@" 2>/dev/null) &&
		complain "$what" <<<"$found"
}

# may_include LAYER PATTERN: of the project's own headers, LAYER may include only these.
may_include()
{
	local found
	found=$(grep -rnE --include='*.[chS]' '^[[:space:]]*#[[:space:]]*include "' "$1" 2>/dev/null |
		grep -vE "include \"($2)")
	[ -z "$found" ] || complain "$1 may not include these" <<<"$found"
}

for directory in libgmon-mt/runtime libsync-trace/include postproc/core; do
	[ -d $directory ] || { echo "$directory is gone: this test has to be mended"; exit 1; }
done

may_include libgmon-mt '[a-z_0-9]+\.h|runtime/|gmon-mt/|arch/'
may_include libsync-trace '[a-z_0-9]+\.h|runtime/|gmon-mt/format\.h|sync-trace/|ust/'
# The folders of postproc: a table of DESIGN.md says what each may use, which its rows above have.
python3 - postproc/DESIGN.md "$GM_BUILD" <<'PYTHON' || bad=1
import os, re, subprocess, sys

OTHERS = {"", "gmon-mt", "sync-trace", "runtime"}  # of the runtime libraries, and made by make
uses, order = {}, []
folders, _, cycles = open(sys.argv[1]).read().partition("## Include cycles\n")
for line in folders.splitlines():
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if line.startswith("| ") and len(cells) == 3 and cells[0] != "Folder":
        above = list(order) if cells[2] == "any of the above" else re.findall(r"[\w/]+", cells[2])
        uses[cells[0]] = set(above), cells[2] == "any of the above"
        order.append(cells[0])
found = {}
for path, _, names in os.walk("postproc"):
    sources = [name for name in names if name.endswith((".c", ".h", ".S"))]
    if sources:
        found[os.path.relpath(path, "postproc")] = {
            os.path.dirname(header)
            for name in sources
            for header in re.findall(r'^\s*#\s*include "([^"]+)"', open(os.path.join(path, name)).read(), re.M)
        } - OTHERS
bad = [f"postproc/{folder} has no row" for folder in found if folder not in uses]
bad += [f"postproc/{folder} has a row, and no sources" for folder in uses if folder not in found]
for row, folder in enumerate(order):
    allowed, is_any = uses[folder]
    used = found.get(folder, set()) - {folder}
    bad += [f"postproc/{folder} may not use {other}" for other in sorted(used - allowed)]
    bad += [f"postproc/{folder} does not use {other}" for other in sorted(allowed - used) if not is_any]
    bad += [f"postproc/{folder} uses {other}, which is below it" for other in allowed if other not in order[:row]]


def cycles_in(used):
    """Groups of which each uses each, if only by others."""
    reached = {}
    for one in used:
        reached[one], next_ones = set(), list(used[one] - {one})
        while next_ones:
            other = next_ones.pop()
            if other not in reached[one]:
                reached[one].add(other)
                next_ones += used[other] - {other}
    return {frozenset(o for o in used if o in reached[one] and one in reached[o]) for one in used} - {frozenset()}


def find_cycles(folder):
    """Groups of .c/.h pairs of a folder that include each other's headers, in a cycle."""
    directory = os.path.join("postproc", folder)
    names = [name for name in os.listdir(directory) if name.endswith((".c", ".h"))]
    used = {name[:-2]: set() for name in names}
    for name in names:
        for header in re.findall(r'^\s*#\s*include "([^"]+)\.h"', open(os.path.join(directory, name)).read(), re.M):
            if os.path.dirname(header) == folder and os.path.basename(header) in used:
                used[name[:-2]].add(os.path.basename(header))
    return cycles_in(used)


def find_calls(folder):
    """The same by what they call, since a header may be of several files."""
    objects = os.path.join(sys.argv[2], "obj/postproc", folder)
    defined, wanted = {}, {}
    for name in os.listdir(os.path.join("postproc", folder)):
        path = os.path.join(objects, name[:-2] + ".o")
        if not name.endswith(".c") or not os.path.exists(path):
            continue
        wanted[name[:-2]] = set()
        nm = subprocess.run(["nm", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in nm.stdout.splitlines():  # none of a BPF program that nm does not know
            kind, symbol = line.split()[-2:]
            if kind == "U":
                wanted[name[:-2]].add(symbol)
            elif kind.isupper():
                defined[symbol] = name[:-2]
    return cycles_in({one: {defined[s] for s in symbols if s in defined} for one, symbols in wanted.items()})


# "| ctf | decode, decode_full | why |", of the table of cycles that are inherent.
known = {
    (cells[0], frozenset(re.findall(r"\w+", cells[1])))
    for line in cycles.partition("\n## ")[0].splitlines()
    if line.startswith("| ") and len(cells := [cell.strip() for cell in line.strip("|").split("|")]) == 3
    and cells[0] != "Folder"
}
there = {(folder, cycle) for folder in found for cycle in find_cycles(folder)}
bad += [f"postproc/{folder}: {', '.join(sorted(cycle))} include each other" for folder, cycle in there - known]
bad += [
    f"postproc/{folder}: {', '.join(sorted(cycle))} call each other in a cycle"
    for folder in found
    for cycle in find_calls(folder)
    if len(cycle) > 1
]
bad += [f"postproc/{folder}: {', '.join(sorted(cycle))} is no cycle any more" for folder, cycle in known - there]
print("\n".join(f"{line} ({sys.argv[1]})" for line in bad), end="\n" if bad else "")
sys.exit(bool(bad))
PYTHON

forbid 'only postproc/ctf/babeltrace uses babeltrace2' '#[[:space:]]*include <babeltrace' \
	--exclude-dir=babeltrace postproc libgmon-mt libsync-trace
forbid 'only the provider of libsync-trace, and postproc/record/lttng, use LTTng' '#[[:space:]]*include <lttng' \
	--exclude-dir=ust --exclude-dir=lttng postproc libgmon-mt libsync-trace
forbid 'only postproc/core/json_writer.c writes JSON' '\b(json_to_string|json_builder_|json_generator_)' \
	--exclude-dir=core postproc
forbid 'only postproc/export/gzip.c compresses' '\b(g_zlib_compressor_new|deflateInit|gzopen)' \
	--exclude=gzip.c postproc
# A byte to a pipe is all or nothing; everything else is written by pp_write_all().
forbid 'only postproc/core/write.c calls write() in a loop' '[^_a-z]p?write\([^)]' \
	--exclude-dir=core --exclude={launch,grant,collector}.c postproc
forbid 'only postproc/tui uses ncurses' '#[[:space:]]*include <(n?curses|panel|menu)' \
	--exclude-dir=tui postproc libgmon-mt libsync-trace
forbid 'only postproc/export uses protobuf-c' '#[[:space:]]*include .*(protobuf-c/|pb-c\.h)' \
	--exclude-dir=export postproc
forbid 'only postproc/cli prints errors' '\b(stderr|g_printerr|perror|g_warning|g_error|g_critical)\b' \
	postproc/{core,table,capture,ctf,calls,events,symbols,analysis,pass,index,render,export,tui}
forbid 'the runtime libraries neither exit nor abort' '\b(exit|abort|_Exit|quick_exit) *\([^)]*\) *;' \
	libgmon-mt libsync-trace

# exports LIBRARY MAP: it exports what the map names, all of it and nothing else.
exports()
{
	local library=$1 map=$2 named found
	[ -e "$library" ] || { echo "no $library"; bad=1; return; }
	named=$(sed 's,/\*.*\*/,,; s/#.*//' "$map" | tr '{};' '\n\n\n' |
		awk '/local:/ { on = 0 } on && NF { print $1 } /global:/ { on = 1 }
			/global:/ && $2 { print $2 }' | sort -u)
	found=$(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
		sort -u)
	diff <(echo "$named") <(echo "$found") >exports.diff ||
		complain "$library exports (>) other names than $map (<)" <exports.diff
}

# calls LIBRARY PATTERN: it may not call these.
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
exit $bad
