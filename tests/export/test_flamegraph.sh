#!/bin/bash
# SPDX-License-Identifier: MIT
# flamegraph.pl draws folded stacks: the widths of each frame and of the whole are the sums of the file,
# whatever characters the names have.
. "$GM_TOP/tests/calls/common.sh"
flamegraph=$(command -v flamegraph.pl) || flamegraph=/usr/share/perl5/Devel/NYTProf/flamegraph.pl
[ -e "$flamegraph" ] || skip "libdevel-nytprof-perl, which has flamegraph.pl, is not installed"

cat >check.py <<'END'
import collections, re, sys, xml.etree.ElementTree

want, drawn = collections.Counter(), xml.etree.ElementTree.parse("drawn.svg")
for line in open("stacks"):
    stack, number = line.rsplit(" ", 1)
    frames = stack.replace("<", "(").replace(">", ")").split(";")  # as it has them
    want["all",] += int(number)
    for i in range(len(frames)):
        want[tuple(frames[:i + 1])] += int(number)
want = collections.Counter((frames[-1], number) for frames, number in want.items())
got = collections.Counter()
for title in drawn.iter("{http://www.w3.org/2000/svg}title"):
    name, number = re.fullmatch(r"(.*) \(([\d,]+) units, [\d.]+%\)", title.text).groups()
    got[name, int(number.replace(",", ""))] += 1
if got != want or len(want) < 3:
    sys.exit(f"only drawn: {list(got - want)[:10]}\nonly in the file: {list(want - got)[:10]}")
END

# drawn FIGURES
drawn()
{
	"$gprof_mt" export --format folded --what "$1" -o stacks 2>err || fail "$1: $(cat err)"
	perl "$flamegraph" --countname=units --minwidth=0 stacks >drawn.svg 2>err || fail "$1: flamegraph.pl: $(cat err)"
	[ ! -s err ] || fail "$1: flamegraph.pl prints: $(cat err)"
	python3 check.py || fail "$1"
}

configure
build_from sequence sequence.c -finstrument-functions
fresh ./sequence tree 2 || fail "sequence: exit status $?"
drawn calls
drawn time

cat >names.cc <<'END'
#include <string>
template <class T> struct holder {
	T value;
	bool operator<(const holder &other) const { return value < other.value; }
	holder &operator&(holder &&other) { value = other.value; return *this; }
};
int main()
{
	holder<std::string> a{"a"}, b{"b"};
	auto less = [&](auto &x, auto &y) { return x < y; };
	return !less(a, b & holder<std::string>{"c"});
}
END
g++ -std=c++17 -g -finstrument-functions -pthread -o names names.cc -L"$GM_BUILD" -lgmon_mt -Wl,-rpath,"$GM_BUILD" ||
	fail "cannot compile names"
fresh ./names || fail "names: exit status $?"
drawn calls
grep -qF 'operator&' stacks && grep -qF 'operator<' stacks || fail "no such names: $(cat stacks)"
rm gprof-mt.conf

"$CC" -std=gnu17 -O1 -g -pthread -fno-omit-frame-pointer -o paths \
	"$GM_TOP/tests/sync/programs/paths.c" || fail "cannot compile paths"
status=0
fresh "$gprof_mt" record -q --set sync.paths=0ns --set kernel.source=none -- ./paths || status=$?
[ $status -eq 9 ] || fail "paths: exit status $status"
drawn off-cpu
drawn off-wake
exit 0
