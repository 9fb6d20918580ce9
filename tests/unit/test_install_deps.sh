#!/bin/bash
# SPDX-License-Identifier: MIT
# tests/install-deps against a make-believe system: commands that log how they were called.
set -e
. "$GM_TOP/tests/lib.sh"
# shellcheck disable=SC2034 # tests/lib.sh uses it
fail_shows out calls

# command NAME <<<BODY
command_is()
{
	{ echo '#!/bin/sh'; echo "echo \"$1 \$*\" >>'$PWD/calls'"; cat; } >"bin/$1"
	chmod +x "bin/$1"
}

# deps EXPECTED_STATUS SET
deps()
{
	local status=0
	: >calls
	PATH=$PWD/bin:$tools "$GM_TOP/tests/install-deps" "$2" >out 2>&1 </dev/null || status=$?
	[ $status = "$1" ] || fail "exit $status, expected $1"
}

# What the script itself needs, without the real sudo or apt-get.
mkdir bin tools
tools=$PWD/tools
for tool in sed mktemp rm tail env cat; do
	ln -s "$(command -v $tool)" tools/
done
command_is id <<<'echo 0'
command_is apt-get <<<'exit 0'

command_is node </dev/null
command_is npm </dev/null
command_is clang </dev/null

# All there: asks dpkg once, and nobody else.
command_is dpkg-query <<<'while [ $# -gt 3 ]; do shift; done
for p in gcc g++ libc6-dev binutils make pkg-config libbabeltrace2-dev libglib2.0-dev libjson-glib-dev libdw-dev liblttng-ust-dev liblttng-ctl-dev libncurses-dev libprotobuf-c-dev protobuf-c-compiler libbpf-dev
do echo "install ok installed $p"; done'
deps 0 build
[ "$(grep -c dpkg-query calls)" = 1 ] || fail 'asks dpkg more than once'
! grep -q apt-get calls || fail 'calls apt-get though nothing is missing'
[ ! -s out ] || fail 'says something though nothing is missing'

# Two missing, one of them removed but not purged: installs just these, noninteractively.
command_is dpkg-query <<<'for p in g++ libc6-dev binutils make pkg-config libbabeltrace2-dev libglib2.0-dev libjson-glib-dev liblttng-ust-dev liblttng-ctl-dev libncurses-dev libprotobuf-c-dev protobuf-c-compiler libbpf-dev
do echo "install ok installed $p"; done
echo "deinstall ok config-files gcc"; exit 1'
command_is apt-get <<<'echo "frontend $DEBIAN_FRONTEND" >>"$(dirname "$0")/../calls"'
ln -s "$(command -v dirname)" tools/
deps 0 build
grep -q 'apt-get .*update' calls || fail 'does not update the lists'
grep -q 'apt-get .*install -y --no-install-recommends gcc libdw-dev$' calls || fail 'installs other packages'
! grep '^frontend' calls | grep -vq noninteractive || fail 'may ask questions'

# node, npm and clang are installed as packages only where the commands are missing.
rm bin/npm
deps 0 build
grep -q 'apt-get .*install -y --no-install-recommends gcc libdw-dev nodejs npm$' calls || fail 'does not install npm'
command_is npm </dev/null
rm bin/clang
deps 0 build
grep -q 'apt-get .*install -y --no-install-recommends gcc libdw-dev clang$' calls || fail 'does not install clang'
command_is clang </dev/null

# apt-get fails: says for which packages.
command_is apt-get <<<'echo "E: no such thing"; exit 100'
deps 1 build
grep -q 'E: no such thing' out || fail 'hides what apt-get said'
tail -n 1 out | grep -q '^install-deps: .*gcc libdw-dev$' || fail 'does not name the packages'

# Neither root nor sudo: one line, with the command to run.
command_is id <<<'echo 1000'
deps 1 build
[ "$(wc -l <out)" = 1 ] || fail 'more than one line'
grep -q 'as root, run: apt-get install gcc libdw-dev$' out || fail 'does not name the command'
! grep -q '^apt-get' calls || fail 'calls apt-get without the right to'

# sudo without a password.
command_is apt-get <<<'exit 0'
command_is sudo <<<'[ "$1" != -n ] || shift
exec "$@"'
command_is true <<<'exit 0'
deps 0 build
grep -q '^sudo .*apt-get .*install' calls || fail 'does not use sudo'

# sudo that wants one, and nobody to give it.
command_is sudo <<<'exit 1'
deps 1 build
grep -q 'neither root nor sudo' out || fail 'does not say why'

# Not a Debian: goes on.
rm bin/dpkg-query
deps 0 build
grep -q 'not a Debian' out || fail 'does not say so'
deps 2 nonsense
