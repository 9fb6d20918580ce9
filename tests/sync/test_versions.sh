#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that request glibc's functions by version, new or old, get the wrappers.
. "$GM_TOP/tests/sync/common.sh"

# nm prints a version after the name; exported names must have none.
exported=$(nm -D --defined-only "$libsync" | awk '{ print $3 }' | sort)
listed=$(sed -n 's/^\t\t\([A-Za-z0-9_]*\);$/\1/p' "$GM_TOP/libsync-trace/libsync-trace.map" | sort)
[ "$exported" = "$listed" ] || fail "the library exports other names than the map lists"

# Each name of these families that glibc exports, in any version, is wrapped or listed here.
# attributes, keys, identity, scheduling, cancellation state, clean-up, counts: these never wait
ignored='_*pthread_(mutex|cond|rwlock|barrier)?attr_.*|_*pthread_(key_create|key_delete|getspecific|setspecific)
pthread_(self|equal|yield|exit|testcancel|sigmask|atfork|kill_other_threads_np)|pthread_(get|set).*
_*pthread_(cleanup_.*|register_cancel.*|unregister_cancel.*|unwind_next|get_minstack|keys)
pthread_mutex_(consistent_np|getprioceiling)|sem_(getvalue|unlink)
thrd_(current|equal|exit|yield)|_thread_db_.*'
# System V, not pthread semaphores
ignored+='|sem(get|ctl)'
family='_*(pthread_.*|sem_?.*|mtx_.*|cnd_.*|thrd_.*|call_once|g?signal|kill(pg)?|tgkill|raise|sigqueue|_Fork)'
objdump -T "$("$CC" -print-file-name=libc.so.6)" "$("$CC" -print-file-name=libpthread.so.0)" 2>/dev/null |
	awk '$4 == ".text" || $2 == "iD" || $3 ~ /^D[FO]$/ { print $NF }' | grep -xE "$family" |
	grep -vxE "${ignored//$'\n'/|}|__?b?sd_signal|signal" | sort -u >glibc
[ "$(wc -l <glibc)" -ge 75 ] || fail "expected at least 75 names in glibc, found $(wc -l <glibc)"
missed=$(comm -23 glibc <(echo "$exported"))
[ -z "$missed" ] || fail "glibc has these, which are neither wrapped nor listed here: $(tr "\n" " " <<<"$missed")"

# the second names
build aliases
timeout 60 ./aliases >without || fail "the program with old names fails without the library"
traced ./aliases >with || fail "the program with old names fails when traced"
cmp without with || fail "the output of the program with old names changes when traced"
events >events
no_complaint
expect 101 ' mutex_lock result=0 '
expect 101 ' mutex_unlock result=0 '
expect 1 ' mutex_trylock result=16 '
expect 3 ' rwlock_unlock result=0 '
for name in mutex_init mutex_destroy rwlock_init rwlock_destroy rwlock_rdlock rwlock_tryrdlock \
	rwlock_wrlock once signal_raise; do
	expect 1 " $name result=0 "
done
expect 1 ' rwlock_trywrlock result=16 '

# A library loaded after libsync_trace calls glibc by a second name, from its wrapper of the first.
"$CC" -shared -fPIC -O1 -o counts.so "$programs/interposed_alias.c" || fail "cannot compile interposed_alias.c"
LD_PRELOAD=./counts.so ./aliases interposed >without 2>without.err || fail "the counting library fails"
rm -rf gprof-mt.data
LD_PRELOAD="$libsync ./counts.so" timeout 60 ./aliases interposed >with 2>with.err ||
	fail "the counting library fails after libsync_trace: $?"
if ! cmp without with || ! cmp without.err with.err; then
	fail "the counting library counts differently after libsync_trace"
fi
events >events
no_complaint
expect 100 ' mutex_lock result=0 '

for version in 2.3.2 2.2.5; do
	flag=$([ $version = 2.2.5 ] && echo -DOLD || echo -DNEW)
	build versions "$flag"
	objdump -T versions | grep -q "(GLIBC_$version).*pthread_cond_wait" ||
		skip "this linker made no reference to pthread_cond_wait@GLIBC_$version"
	timeout 60 ./versions >without || fail "the program fails without the library ($version)"
	rm -rf gprof-mt.data
	traced ./versions >with || fail "the program fails when traced ($version)"
	cmp without with || fail "the output changes when traced ($version)"
	events >events
	no_complaint
	expect 100 ' cond_signal '
	expect 100 ' cond_broadcast '
	expect "$(grep -c ' cond_wait_begin ' events)" ' cond_wait result=0 '
	expect 1 ' cond_timedwait result=110 '
	expect 1 ' mutex_trylock '
	expect 1 ' thread_create '
	expect 1 ' cond_init '
	expect 1 ' cond_destroy '
done
