#!/bin/bash
# SPDX-License-Identifier: MIT
# The symbol cache never changes what is shown, whether it exists or not, whatever it contains, damaged or
# not, and whichever processes write to it. Entries of files that have changed are not used.
set -e
. "$GM_TOP/tests/lib.sh"
export XDG_CACHE_HOME=$PWD/cache
folder=cache/gprof-mt/symbols

cat >program.cc <<'END_OF_SOURCE'
#include <mutex>
#include <thread>
static std::mutex one;
static volatile long sum;
namespace deep {
template <class T> struct worker {
	T n;
	static inline void add(T by) { std::lock_guard<std::mutex> held(one); sum = sum + by; }
	__attribute__((noinline)) void operator()() const { for (T i = 0; i < n; i++) add(i); }
};
}
int main()
{
	std::thread thread(deep::worker<long>{20});
	deep::worker<long>{20}();
	thread.join();
	return 0;
}
END_OF_SOURCE
g++ -O2 -g -pg -pthread program.cc -o program
"$gprof_mt" record -q -o data ./program >out 2>err || fail "record: $(cat out err)"
build_id=$(readelf -n program | sed -n 's/.*Build ID: //p')

# all FILE OPTION...: prints everything that has names
all()
{
	local to=$1
	shift
	"$gprof_mt" report -i data "$@" --format json locks paths flat callgraph quality >"$to" 2>err ||
		fail "$*: $(cat err)"
	[ ! -s err ] || fail "$*: $(cat err)"
}

# as_without NAME OPTION...: gives the same output as without a cache
as_without()
{
	local what=$1
	shift
	all shown "$@"
	all plain --no-cache "$@"
	cmp plain shown || fail "$what: $(diff plain shown | head -n 20)"
}

# forge FILE FROM TO: changes the file, and makes its checksum match.
forge()
{
	python3 - "$@" <<-'END'
	import hashlib, sys
	name, old, new = sys.argv[1], *(bytes(s, "latin-1").decode("unicode_escape").encode("latin-1") for s in sys.argv[2:])
	data = open(name, "rb").read()[:-32]
	assert old in data and len(old) == len(new), (name, old, new)
	data = data.replace(old, new)
	open(name, "wb").write(data + hashlib.sha256(data).digest())
	END
}

all plain --no-cache
[ ! -e cache ] || fail "--no-cache created a cache"
grep -q 'deep::worker<long>::add(long) (program.cc:8)' plain || fail "no names: $(head -n 30 plain)"
cp plain expected
as_without "the first time"
file=$(echo $folder/"$build_id"-*)
[ -f "$file" ] || fail "no cache file: $(ls -R cache)"
cp "$file" good
inode=$(stat -c %i "$file")
as_without "again"
cmp good "$file"
[ "$(stat -c %i "$file")" = "$inode" ] || fail "the cache file was written again"

# The cached names are used, and control characters in them are replaced.
forge "$file" _ZNK4deep6worker '_ZNK4d\x1b\x9bp6worker'
all shown --demangle no
grep -q '_ZNK4d??p6worker' shown || fail "not used, or not made printable: $(head -n 30 shown)"
cp good "$file"
as_without simple --demangle simple
as_without functions --demangle no --no-inline

# damaged NAME: gives the expected output, and repairs the file.
damaged()
{
	all shown
	cmp expected shown || fail "$1: $(diff expected shown | head -n 20)"
	cmp good "$file" || fail "$1: the file is not repaired"
}

# Every length and every bit: tests/unit/test_symbol_cache.c.
size=$(stat -c %s good)
head -c $((size / 2)) good >"$file"
damaged "cut"
printf '\xff' | dd of="$file" bs=1 seek=$((size / 2)) conv=notrunc status=none
damaged "changed"
forge "$file" 'gprof-mt symbols\x06' 'gprof-mt symbols\x01'
damaged "another version"
forge "$file" 'libdw ' 'libdx '
damaged "another libdw"

# Two processes at once, without a cache at first.
rm -r cache
"$gprof_mt" history -i data --no-cache >listed
"$gprof_mt" history -i data >one &
first=$!
"$gprof_mt" history -i data >two || fail "two readers at once: exit status $?"
wait $first || fail "two readers at once: exit status $?"
cmp one listed || fail "two readers at once: the output differs"
cmp two listed || fail "two readers at once: the output differs"
[ -z "$(find $folder -name '.*' -type f)" ] || fail "temporary files are left: $(ls -A $folder)"
as_without "after two at once"

# The cache cannot be written.
for place in /proc/none relative "$PWD/program"; do
	XDG_CACHE_HOME=$place HOME=/proc/none all shown
	cmp expected shown || fail "$place: $(diff expected shown | head -n 20)"
done
[ ! -e relative ] || fail "relative"
(ulimit -f 0; XDG_CACHE_HOME=$PWD/other "$gprof_mt" history -i data | cmp listed -) >/dev/null 2>&1 || fail "ulimit -f"
mkdir small
if unshare --mount true 2>/dev/null; then
	# shellcheck disable=SC2016 # expanded by the inner shell
	XDG_CACHE_HOME=$PWD/small unshare --mount bash -c '
		mount -t tmpfs -o size=16k none small || exit 0
		head -c 1M /dev/zero >small/full 2>/dev/null
		"$1" history -i data >shown 2>err && cmp listed shown && [ ! -s err ]' - "$gprof_mt" ||
		fail "a full disk: $(cat err)"
fi

# The symbols are removed, a debug file is added and removed: the output always uses the present files.
all expected
objcopy --only-keep-debug program away.debug
touch -r program now
strip --strip-all program
touch -r now program
as_without "stripped"
! grep -q 'program\.cc' shown || fail "stripped: $(head -n 30 shown)"
mv away.debug program.debug
as_without "with a debug file"
grep -q 'deep::worker<long>::add(long) (program.cc:8)' shown || fail "with a debug file: $(head -n 30 shown)"
as_without "with a debug file, again"
rm program.debug
as_without "without it again"
! grep -q 'program\.cc' shown || fail "after its removal: $(head -n 30 shown)"

# .dwo files may change unnoticed: their contents are not cached.
cat >split.c <<'END_OF_SOURCE'
#include <pthread.h>
int main(void)
{
	pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
	return pthread_mutex_lock(&one) | pthread_mutex_unlock(&one);
}
END_OF_SOURCE
"$CC" -O1 -g -gsplit-dwarf -pg -pthread split.c -o split
"$gprof_mt" record -q -o data ./split >out 2>err || fail "record: $(cat out err)"
as_without ".dwo files"
grep -q 'main (split\.c:5)' shown || fail ".dwo files: $(head -n 30 shown)"
build_id=$(readelf -n split | sed -n 's/.*Build ID: //p')
[ -z "$(find $folder -name "$build_id*")" ] || fail ".dwo files: their contents are cached"
