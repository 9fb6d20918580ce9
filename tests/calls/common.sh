# SPDX-License-Identifier: MIT
# Functions for tests of the history of calls; babeltrace2 and the programs' own logs are the witnesses.
# shellcheck shell=bash
. "$GM_TOP/tests/lib.sh"
programs=$GM_TOP/tests/calls/programs

need babeltrace2 nm python3

# build_from NAME FILE [FLAG...]: compiles FILE of the folder to ./NAME, with libgmon_mt.
build_from()
{
	local name=$1 file=$2 compiler=("$CC" -std=gnu17)
	shift 2
	[[ $file != *.cc ]] || compiler=(g++ -std=c++17)
	"${compiler[@]}" -D_GNU_SOURCE -Wall -O1 -g -pthread -o "$name" "$programs/$file" "$@" \
		"${link[@]}" || fail "cannot compile $file $*"
}

# configure LINE...: writes these lines to the section [calls], after mode = history
configure()
{
	printf '[calls]\nmode = history\n' >gprof-mt.conf
	[ $# -eq 0 ] || printf '%s\n' "$@" >>gprof-mt.conf
}

# records PROGRAM [OPTION...]: see records.py
records()
{
	python3 "$programs/records.py" "$1" gprof-mt.data "${@:2}"
}

# lost FOLDER: prints the number of lost records, by the thread table
lost()
{
	python3 - "$1/threads" <<-'END'
	import struct, sys
	data = open(sys.argv[1], "rb").read()
	header, slot, n = struct.unpack_from("<12xIII", data)
	print(sum(struct.unpack_from("<104xQ", data, header + slot * i)[0] for i in range(n)))
	END
}
