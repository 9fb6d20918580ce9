#!/bin/bash
# SPDX-License-Identifier: MIT
# --tid, --thread, --time, --object, --function, --min-wait: the parts add up to the whole, and agree with
# babeltrace2's text of the switches; an unknown or invalid selection is reported in one line.
. "$GM_TOP/tests/lib.sh"
need babeltrace2 jq python3
"$CC" -O0 -g -I"$GM_TOP/examples" -o philosophers "$GM_TOP/examples/philosophers.c" -pthread ||
	fail "cannot compile"

parts()
{
	rm -rf d
	"$gprof_mt" record -q -o d --set kernel.source=$1 ./philosophers 4 60 >out 2>err || fail "record: $(cat err)"
	! grep -q lost err || { echo "lost: $(cat err)"; return 1; }
	if [ $1 = perf ]; then
		kernel_events d >switches
		set -- switches "$(info 'clock offset_ns' d)"
	else
		set --
	fi
	python3 "$GM_TOP/tests/report/programs/select/parts.py" "$gprof_mt" d "$@"
}
retry parts none
! can_trace || retry parts perf

# An option that has no effect on a section gives a note.
"$gprof_mt" report -i d --format json --object table --time 0~ threads flat locks quality >json || fail "report"
jq -r '.notes[] | select(.note | test("not applied here")) | .section + ": " + .note' json | sort >notes
diff notes - <<'END' || fail "notes"
functions: --time, --object: not applied here, the whole capture is shown
quality: --time, --object: not applied here, the whole capture is shown
threads: --object: not applied here, the whole capture is shown
END

for command in report history; do
	fails 2 "--tid x: not a thread id" $command --tid 1,x
	fails 2 "invalid --time '2~1' (expected A~B" $command --time 2~1
	fails 2 "invalid --time '5' (expected A~B" $command --time 5
	fails 2 "invalid --time '1h~' (expected A~B" $command --time 1h~
	fails 2 "--min-wait 10: not a time with its unit" $command --min-wait 10
	fails 2 "--object 0x12/0: not an address" $command --object 0x12/0
	fails 1 "no thread has tid 999999999;" $command -i d --tid 999999999
	fails 1 "no thread has a name that matches 'cook*';" $command -i d --thread 'cook*'
	fails 1 "no operation on an object 'spoon';" $command -i d --object spoon
	fails 1 "no operation on an object 'table' in the selection;" $command -i d --object table --min-wait 100s
	fails 1 "no call of or in a function like 'boil'" $command -i d --function boil
done
fails 1 "the selection contains no operation" history -i d --time 1000~
fails 2 "--object, --min-wait: this command does not accept it" history -i d --calls --tid 1 --object a --min-wait 1s
