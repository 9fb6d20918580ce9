#!/bin/bash
# SPDX-License-Identifier: MIT
# Call paths of Debian's programs, none of them rebuilt, are those that libunwind finds, at ten thousand stops
# and more: at ticks of the CPU clock, and at each of the instructions after them.
. "$GM_TOP/tests/lib.sh"
witness=$GM_BUILD/tests/unwind/witness.so
[ -e "$witness" ] || skip "libunwind is not installed"
need sqlite3 openssl python3 xz gdb
build exceptions -O2
build no_return -O2

cat >rows.sql <<-'END'
	create table t(a, b);
	with recursive c(x) as (select 1 union all select x + 1 from c where x < 100000)
	insert into t select x, hex(randomblob(8)) from c;
	create index i on t(b);
	select count(*), sum(length(b)) from t where b like '%A%';
END
cat >objects.py <<-'END'
	import hashlib, json, re
	for i in range(20000):
	    text = json.dumps({"a": i, "b": [i] * 5})
	    re.sub(r"\d", "x", str(json.loads(text)))
	    hashlib.sha256(text.encode()).hexdigest()
END
# Each unknown symbol is an exception, which gdb makes an exception of Python.
cat >errors.py <<-'END'
	import gdb
	n = 0
	for i in range(30000):
	    try:
	        gdb.parse_and_eval(f"{i} + 2 * (symbol_{i} + 1)")
	    except gdb.error:
	        n += 1
	print(n)
END
head -c 2000000 /dev/urandom >random

# compare NAME COMMAND...: runs the program under the witness; its paths must be equal to libunwind's.
n_all=0
compare()
{
	local name=$1 stops equal
	shift
	WITNESS_FILE=$PWD/$name.paths WITNESS_STEPS=60 LD_PRELOAD=$witness "$@" >"$name.out" 2>&1 </dev/null ||
		fail "$name: exit status $?: $(tail -n 3 "$name.out")"
	# Its children, if any, have lines of their own.
	read -r stops equal < <(awk '/^stops/ { gsub(",", ""); s += $2; e += $4 + $6 } END { print s, e }' "$name.paths")
	echo "$name: $equal of $stops equal"
	[ "$stops" -gt 0 ] && [ "$((stops - equal))" -le "$((stops / 1000))" ] ||
		fail "$name: $equal of $stops paths are equal: $(head -n 60 "$name.paths")"
	n_all=$((n_all + stops))
}

compare sqlite3 sqlite3 :memory: '.read rows.sql'
compare openssl openssl speed -seconds 1 -bytes 1024 sha256 rsa2048
compare python "$(env -u PYENV_VERSION PATH=/usr/bin:/bin sh -c 'command -v python3')" objects.py
compare xz xz -kc random
compare gdb gdb -q -batch -nx -x errors.py
[ "$(tail -n 1 gdb.out)" = 30000 ] || fail "gdb: $(tail -n 3 gdb.out)"
compare exceptions ./exceptions 300000
compare no_return ./no_return 100000000
grep -q '^stops .* refuted [1-9]' no_return.paths || fail "no path ended at a wrong return address: $(cat no_return.paths)"
[ "$n_all" -ge 10000 ] || fail "only $n_all stops"
