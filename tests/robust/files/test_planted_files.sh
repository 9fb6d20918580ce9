#!/bin/bash
# SPDX-License-Identifier: MIT
# Files and symlinks of another user in the working directory of root's program neither make the program
# write elsewhere nor configure its recording.
. "$GM_TOP/tests/lib.sh"

[ "$(id -u)" = 0 ] || skip "not root: no other user"
reach=$(mktemp -d /tmp/gprof-mt-test.XXXXXX)
trap 'rm -rf "$reach"' EXIT
chmod 755 "$reach"
build_pg own_thread_files
program=$PWD/own_thread_files
build_pg many_arcs -w
many_arcs=$PWD/many_arcs
other=(setpriv --reuid 65534 --regid 65534 --clear-groups)
mkdir "$reach/target" "$reach/theirs"
chown 65534:65534 "$reach/theirs"
cd "$reach/theirs" || exit 1

n=0
# unharmed WHAT [N]: the program runs as bare, and writes nothing to places of the other user
unharmed()
{
	local out
	out=$(LD_PRELOAD=$libsync timeout -k 1 100 "$program" "${2:-4}" 2>err)
	[ $? = 7 ] && [ "$out" = $((3 * ${2:-4})) ] || fail "$1: expected '$((3 * ${2:-4}))' and exit status 7, found '$out', $(cat err)"
	clean "$1"
	n=$((n + 1))
}
clean()
{
	[ -z "$(find "$reach/target" -mindepth 1)" ] || fail "$1: wrote $(find "$reach/target")"
	[ -z "$(find . -path ./evil -prune -o -path './evil*/*' -user root -print)" ] || fail "$1: wrote into a directory of the other user"
	[ ! -d evil ] || [ -z "$(find evil -user root)" ] || fail "$1: wrote $(find evil -user root)"
}
says()
{
	grep -q -- "$1" err || fail "expected '$1' on stderr, found '$(cat err)'"
}
theirs()
{
	"${other[@]}" sh -c "$1" || fail "cannot plant: $1"
}

# A configuration of the other user; a directory of root that others may write to.
theirs "printf '[output]\ndir = %s/capture\n' '$reach/target' >gprof-mt.conf"
unharmed "planted configuration"
says "gprof-mt.conf: it belongs to another user"
"$gprof_mt" record "$program" >out 2>err && fail "record took a planted configuration"
says "gprof-mt.conf: it belongs to another user"
chown 0:0 gprof-mt.conf
unharmed "root's configuration in their directory"
says "another user may write to the working directory"
mkdir "$reach/open" && cd "$reach/open" || exit 1
printf '[output]\ndir = mine\n' >gprof-mt.conf
for mode in 777 1777; do
	chmod $mode .
	unharmed "directory of mode $mode"
	says "another user may write to the working directory"
done
chmod 775 . && chgrp 65534 .
unharmed "directory of another group"
says "another user may write to the working directory"
chgrp 0 . && chmod 755 . && chmod 666 gprof-mt.conf
unharmed "configuration that others may write"
says "gprof-mt.conf: it belongs to another user, or others may write to it"
chmod 644 gprof-mt.conf
unharmed "root's own configuration"
[ -d mine ] && [ ! -s err ] || fail "root's own configuration: $(cat err)"
rm -rf mine gprof-mt.conf
cd "$reach/theirs" || exit 1
rm gprof-mt.conf

# A capture of the other user whose owner still runs; a symlink in place of a capture.
sleep 1000 &
sleeper=$!
swapper=
trap 'kill $sleeper $swapper 2>/dev/null; rm -rf "$reach"' EXIT
start=$(awk '{ print $22 }' /proc/$sleeper/stat)
uuid=$(cat /proc/sys/kernel/random/boot_id)
plant_capture()
{
	theirs "mkdir $1 && printf 'gprof-mt-capture 1\nowner %d %s\nclock_offset_ns 0\nclock_uuid %s\n' $sleeper $start $uuid >$1/session
		chmod -R go-w $1"
}
plant_capture gprof-mt.data
unharmed "planted capture"
says "gprof-mt.data: exists and is not a finished gprof-mt capture: it belongs to another user"
"$gprof_mt" record "$program" >out 2>err && fail "record took a planted capture"
clean "planted capture, record"
rm -r gprof-mt.data
theirs "ln -s $reach/target gprof-mt.data"
unharmed "symlink in place of the capture"
"$gprof_mt" record "$program" >out 2>err && fail "record followed a symlink of another user"
clean "symlink in place of the capture, record"
rm gprof-mt.data
plant_capture gprof-mt.data.old
unharmed "first run"
unharmed "planted gprof-mt.data.old"
says "cannot rename it to gprof-mt.data.old: there, it belongs to another user"
[ -e gprof-mt.data.old/session ] || fail "gprof-mt.data.old of the other user was removed"
rm -r gprof-mt.data gprof-mt.data.old
# A symlink in the capture's path: one of another user is refused, one of root is followed.
theirs "ln -s $reach/target way"
"$gprof_mt" record -q -o way/d "$program" >out 2>err && fail "record followed another user's symlink in the path"
says "its path contains a symlink of another user"
clean "symlink in the path"
mkdir "$reach/real" && ln -s "$reach/real" "$reach/mine"
"$gprof_mt" record -q -o "$reach/mine/d" "$program" >out 2>err
[ $? = 7 ] && [ -e "$reach/real/d/session" ] || fail "root's own symlink: $(cat err)"

# While a process runs, its capture is replaced by a directory with symlinks in place of its files: the
# process neither extends nor truncates the target of a symlink.
mkdir "$reach/shared" && chmod 777 "$reach/shared" && cd "$reach/shared" || exit 1
head -c 4M /dev/urandom >"$reach/victim"
before=$(sha256sum <"$reach/victim")
coproc { exec "$many_arcs" 2>err; }
pid=$COPROC_PID
read -ru "${COPROC[0]}" line && [ "$line" = ready ] || fail "many_arcs: $(cat err)"
theirs "mv gprof-mt.data real && mkdir -p gprof-mt.data/$pid
	for name in calls threads maps user children; do ln -s $reach/victim gprof-mt.data/$pid/\$name; done"
[ -e "real/$pid/calls" ] || fail "expected real/$pid/calls"
echo >&"${COPROC[1]}"
wait "$pid"
status=$?
[ $status = 7 ] || fail "replaced under many_arcs: status $status, $(cat err)"
[ "$(sha256sum <"$reach/victim")" = "$before" ] ||
	fail "replaced under many_arcs: the target of the symlinks was modified, it has $(stat -c %s "$reach/victim") bytes"
n=$((n + 1))
cd "$reach/theirs" || exit 1

# The directory is replaced and restored again and again while threads and children make files.
cat >"$reach/swap.py" <<'END'
import errno, os, sys
evil, target, count = "evil", sys.argv[1], int(sys.argv[2])
os.mkdir(evil, 0o777)
os.chmod(evil, 0o777)
# Names of the folders in a capture of processes with these pids.
first = os.getpid()
for pid in range(first - 20, first + 400):
    if pid % 2:
        os.symlink(target, "%s/%d" % (evil, pid))
    else:
        os.mkdir("%s/%d" % (evil, pid))
        os.chmod("%s/%d" % (evil, pid), 0o777)
        for name in "user", "calls-history":
            os.symlink(target, "%s/%d/%s" % (evil, pid, name))
print("ready", flush=True)
swaps = 0
while swaps < count:
    try:
        os.rename("gprof-mt.data", "real")
        if swaps % 2:
            os.symlink("evil", "gprof-mt.data")
        else:
            os.rename(evil, "gprof-mt.data")
        for _ in range(50):
            os.stat("gprof-mt.data/")
        if swaps % 2:
            os.unlink("gprof-mt.data")
        else:
            os.rename("gprof-mt.data", evil)
        os.rename("real", "gprof-mt.data")
        swaps += 1
    except FileNotFoundError:
        pass
    except OSError as error:  # a process of the program has made a new capture meanwhile
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        os.rename("gprof-mt.data", "own%d" % swaps)
        os.rename("real", "gprof-mt.data")
        swaps += 1
    if os.getppid() == 1:
        break
    if os.path.exists("stop"):
        break
print(swaps, flush=True)
END
n_swaps=0
for run in $(seq 1 5); do
	rm -rf gprof-mt.data gprof-mt.data.old real own* evil stop swaps
	"${other[@]}" env PATH=/usr/bin:/bin python3 "$reach/swap.py" "$reach/target" 100000 >"$reach/swaps" 2>"$reach/swap.err" &
	swapper=$!
	until grep -q ready "$reach/swaps" 2>/dev/null; do
		kill -0 $swapper 2>/dev/null || fail "no swapping: $(cat "$reach/swap.err")"
		read -rt 0.05 <> <(:)
	done
	unharmed "swapped, run $run" 40
	"${other[@]}" touch stop
	wait $swapper || fail "no swapping: $(cat "$reach/swap.err")"
	swapper=
	n_swaps=$((n_swaps + $(tail -n 1 "$reach/swaps")))
	clean "swapped, run $run"
done
[ $n_swaps -gt 20 ] || fail "expected more than 20 swaps, found $n_swaps"
echo "$n runs, $n_swaps swaps, nothing written elsewhere"
exit 0
