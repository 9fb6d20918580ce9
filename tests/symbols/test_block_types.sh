#!/bin/bash
# SPDX-License-Identifier: MIT
# Blocks of the heap are named by type and member: the type is that of the variable, member or result that gets the
# pointer from the allocating call. Programs print the call, the size and the offset, and the name that must be found.
. "$GM_TOP/tests/lib.sh"
need objdump addr2line python3
name=$GM_BUILD/tests/unit/name_address
programs=$GM_TOP/tests/symbols/programs
[ -e /usr/include/Zydis/Zydis.h ] || [ -e /usr/local/include/Zydis/Zydis.h ] ||
	skip "gprof-mt is built without Zydis"

# check PROGRAM [PARTIAL]: with PARTIAL, a name may be missing, but must not be another one.
check()
{
	local expected site size offset found n=0 n_found=0
	while IFS='|' read -r expected site size offset; do
		found=$("$name" "$PWD/$1" - 0 "b$site:$size:$offset")
		[ "$found" = "$expected" ] || { [ -n "${2-}" ] && [ "$found" = - ]; } ||
			fail "$1 at $site, $size bytes, offset $offset: expected $expected, got $found"
		n=$((n + 1))
		[ "$found" = - ] || n_found=$((n_found + 1))
	done < <("./$1")
	[ $n -ge 8 ] || fail "$1: $n names"
	echo "$1: $n blocks, $n_found names"
	[ $n_found -ge 5 ] || fail "$1: only $n_found of $n names"
}

"$CC" -O1 -c -o take.o "$programs/take.c" || fail "cannot compile take.c"
for compiler in "$CC" clang; do
	command -v "$compiler" >/dev/null || continue
	for flags in -O0 -O2 "-O2 -gdwarf-4" "-O0 -fno-omit-frame-pointer -gsplit-dwarf"; do
		# Optimizers drop variables, and say so.
		partial=
		case $flags in -O2*) partial=partial ;; esac
		# shellcheck disable=SC2086 # the words are split on purpose
		"$compiler" -g $flags -no-pie "$programs/blocks.c" take.o -o c || fail "$compiler $flags"
		check c $partial
	done
done

if command -v g++ >/dev/null; then
	g++ -g -O0 -no-pie "$programs/blocks_cxx.cc" take.o -o cc || fail "g++ -O0"
	check cc
	g++ -g -O2 -no-pie "$programs/blocks_cxx.cc" take.o -o cc || fail "g++ -O2"
	check cc partial
fi

# Without types.
"$CC" -no-pie "$programs/blocks.c" take.o -o bare || fail "cannot compile without -g"
while IFS='|' read -r _ site size offset; do
	same "no DWARF" - "$("$name" "$PWD/bare" - 0 "b$site:$size:$offset")"
done < <(./bare)

# A real program: gprof-mt. Where g_new() names a structure, each name that is found is that one.
objdump -d --no-show-raw-insn "$GM_BUILD/gprof-mt" >code || fail "objdump"
python3 - "$name" "$GM_BUILD/gprof-mt" "$GM_TOP" <<'END' || fail "gprof-mt: see above"
import re, subprocess, sys

name, program, top = sys.argv[1:]
lines = open("code").read().split("\n")
blocks = []
for call, after in zip(range(len(lines)), lines[1:]):
    if re.search(r"call .*<g_malloc0?@plt>", lines[call]):
        sizes = [size for line in lines[max(0, call - 8):call] for size in re.findall(r"mov +\$0x([0-9a-f]+),%edi", line)]
        blocks += [(after.split(":")[0].strip(), sizes[-1])] if sizes else []
asked = "".join(f"b{site}:{size}:0\n" for site, size in blocks)
found = subprocess.run([name, program, "-", "0", "-"], input=asked, text=True, capture_output=True).stdout.splitlines()
where = subprocess.run(["addr2line", "-e", program] + [f"{int(site, 16) - 1:x}" for site, _ in blocks], text=True,
                       capture_output=True).stdout.splitlines()
n = n_named = 0
for type, place in zip(found, where):
    path, line = re.match(r"(?:.*/)?(postproc/[^:]*):(\d+)", place).groups() if "postproc/" in place else (None, 0)
    source = open(f"{top}/{path}").read().split("\n")[int(line) - 1] if path else ""
    made = re.search(r"g_new0?\((struct \w+), 1\)", source)
    if made:
        n += 1
        n_named += type != "-"
        assert type == "-" or re.fullmatch(re.escape(made[1]) + r"(\..*)?", type), (place, source, type)
print(f"gprof-mt: {n} structures, {n_named} names")
assert n_named > n / 2 or n < 20, (n, n_named)
END
