# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Functions for the tests that follow doctor's advice: a copy of the program in $home, run as `as` says, at first as an
# ordinary user. Mounts made by such a test end with it, where that is permitted (GM_PRIVATE).
. "$GM_TOP/tests/lib.sh"
need setpriv
can_be_other || skip "needs root privileges, to become another user"
if [ -z "${GM_PRIVATE:-}" ] && unshare -m true 2>/dev/null; then
	exec unshare -m env GM_PRIVATE=1 bash "$0"
fi
unset GPROF_MT_LIBDIR

# The test's folder may be private.
home=$(mktemp -d) || fail "no temporary folder"
trap 'rm -rf "$home"' EXIT
chmod 755 "$home"
# shellcheck disable=SC2034 # for the tests
ordinary=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all) as=("${ordinary[@]}")

# A copy without file capabilities.
install_here()
{
	rm -rf "${home:?}"/*
	cp -a "$GM_BUILD"/{gprof-mt,libgmon_mt.so,libsync_trace.so,gprof-mt.preload} "$home" || fail "cannot copy the program"
	mkdir -m 777 "$home/captures"
}

# doctor: its lines are in "out"
doctor()
{
	"${as[@]}" "$home/gprof-mt" doctor >out 2>err || fail "doctor: exit status $?: $(cat out err)"
}

# advice CHECK: the line below that of the check, in "out"
advice()
{
	grep -A 1 -E "^(poor|no) +$1 " out | sed -n 's/^ *-> //p'
}

# says CHECK TEXT: doctor finds this before its advice is followed
says()
{
	doctor
	grep -qE "^(poor|no) +$1 .*$2" out || fail "expected of $1: $2: $(cat out)"
}

# What the advice calls. The settings of the machine stay.
sudo() { "$@"; }
id() { echo 65534; }
for command in sysctl apt-get modprobe; do
	eval "$command() { fail 'advice that changes the machine was followed: $command' \"\$*\"; }"
done

# follow CHECK: follows the advice on it, and that on the checks that it names, until doctor says "ok" of it
follow()
{
	local text
	for _ in 1 2 3 4; do
		doctor
		! grep -qE "^ok +$1( |\$)" out || return 0
		text=$(advice "$1")
		case $text in
		'see '*)
			text=${text#see } text=${text%% below*}
			follow "${text%% above*}"
			;;
		'run as root, or: sudo '*)
			eval "${text#run as root, or: }" || skip "setcap: not possible on this file system"
			;;
		'sudo '* | 'ulimit '*) eval "${text%%, or *}" ;;
		*) fail "$1: no advice that can be followed here: $text: $(cat out)" ;;
		esac
	done
	fail "$1: after its advice: $(cat out)"
}

# gained SOURCE: record uses it
gained()
{
	rm -rf "$home"/captures/*
	(cd "$home/captures" && "${as[@]}" "$home/gprof-mt" record -q true >log 2>&1) || fail "record: $(cat "$home/captures/log")"
	[ "$(info 'kernel source' "$home/captures/gprof-mt.data")" = "$1" ] ||
		fail "expected of record: $1, got $(info kernel "$home/captures/gprof-mt.data")"
}
