#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs tests/install-deps on a simulated system, whose commands log their arguments.
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

# The commands that the script itself needs, without the real sudo and apt-get.
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
command_is esbuild </dev/null

# Nothing is missing: one dpkg-query, nothing else.
command_is dpkg-query <<<'while [ $# -gt 3 ]; do shift; done
for p in gcc g++ libc6-dev binutils make pkg-config libbabeltrace2-dev libglib2.0-dev libjson-glib-dev libdw-dev liblttng-ust-dev liblttng-ctl-dev libncurses-dev libprotobuf-c-dev protobuf-c-compiler libbpf-dev libzydis-dev
do echo "install ok installed $p"; done'
deps 0 build
[ "$(grep -c dpkg-query calls)" = 1 ] || fail 'expected one dpkg-query'
! grep -q apt-get calls || fail 'apt-get is called although nothing is missing'
[ ! -s out ] || fail 'output although nothing is missing'

# Two packages are missing, one of them removed but not purged: installs these two, without questions.
command_is dpkg-query <<<'for p in g++ libc6-dev binutils make pkg-config libbabeltrace2-dev libglib2.0-dev libjson-glib-dev liblttng-ust-dev liblttng-ctl-dev libncurses-dev libprotobuf-c-dev protobuf-c-compiler libbpf-dev libzydis-dev
do echo "install ok installed $p"; done
echo "deinstall ok config-files gcc"; exit 1'
command_is apt-get <<<'echo "frontend $DEBIAN_FRONTEND" >>"$(dirname "$0")/../calls"'
ln -s "$(command -v dirname)" tools/
deps 0 build
grep -q 'apt-get .*update' calls || fail 'the package lists are not updated'
grep -q 'apt-get .*install -y --no-install-recommends gcc libdw-dev$' calls || fail 'expected gcc and libdw-dev to be installed'
! grep '^frontend' calls | grep -vq noninteractive || fail 'DEBIAN_FRONTEND is not noninteractive'

# esbuild, clang, node and npm are installed as packages only if the commands are missing.
rm bin/esbuild
deps 0 build
grep -q 'apt-get .*install -y --no-install-recommends gcc libdw-dev esbuild$' calls || fail 'esbuild is not installed'
command_is esbuild </dev/null
rm bin/clang
deps 0 build
grep -q 'apt-get .*install -y --no-install-recommends gcc libdw-dev clang$' calls || fail 'clang is not installed'
command_is clang </dev/null
rm bin/npm
deps 0 lint
grep -q 'apt-get .*install .* gcc libdw-dev nodejs npm ' calls || fail 'npm is not installed'

# Neither the build nor the demo needs npm; the demo needs neither g++, clang and libbpf nor LTTng-UST.
rm bin/node bin/clang
deps 0 build
grep -q 'apt-get .*install -y --no-install-recommends gcc libdw-dev clang$' calls || fail 'the build needs npm'
command_is dpkg-query </dev/null
deps 0 demo
grep -q 'apt-get .*install' calls || fail 'nothing is installed'
for package in g++ clang libbpf-dev liblttng-ust-dev nodejs npm; do
	! grep -q "install .* $package\b" calls || fail "the demo needs $package"
done
command_is node </dev/null
command_is npm </dev/null
command_is clang </dev/null
command_is dpkg-query <<<'for p in g++ libc6-dev binutils make pkg-config libbabeltrace2-dev libglib2.0-dev libjson-glib-dev liblttng-ust-dev liblttng-ctl-dev libncurses-dev libprotobuf-c-dev protobuf-c-compiler libbpf-dev libzydis-dev
do echo "install ok installed $p"; done
echo "deinstall ok config-files gcc"; exit 1'

# apt-get fails: the message names the packages.
command_is apt-get <<<'echo "E: no such thing"; exit 100'
deps 1 build
grep -q 'E: no such thing' out || fail 'the output of apt-get is not shown'
tail -n 1 out | grep -q '^install-deps: .*gcc libdw-dev$' || fail 'the message does not name the packages'

# Neither root nor sudo: one line, with the command to run.
command_is id <<<'echo 1000'
deps 1 build
[ "$(wc -l <out)" = 1 ] || fail 'expected one line'
grep -q 'run as root: apt-get install gcc libdw-dev$' out || fail 'the message does not name the command'
! grep -q '^apt-get' calls || fail 'apt-get is called without root privileges'

# sudo needs no password.
command_is apt-get <<<'exit 0'
command_is sudo <<<'[ "$1" != -n ] || shift
exec "$@"'
command_is true <<<'exit 0'
deps 0 build
grep -q '^sudo .*apt-get .*install' calls || fail 'sudo is not used'

# sudo needs a password, and there is no terminal.
command_is sudo <<<'exit 1'
deps 1 build
grep -q 'no root privileges and no sudo' out || fail 'the message does not give the reason'

# A system that is not Debian: continues.
rm bin/dpkg-query
deps 0 build
grep -q 'not a Debian' out || fail 'the message does not say that the system is not Debian'
deps 2 nonsense
