#!/bin/bash
# SPDX-License-Identifier: MIT
# Who may include what, who may print, and what the libraries export and call.
set -u
cd "$GM_TOP" || exit 1
bad=0

complain()
{
	echo "$1:"
	sed 's/^/	/'
	bad=1
}

# forbid WHAT PATTERN PATH...: no line of these files may match.
forbid()
{
	local what=$1 pattern=$2 found
	shift 2
	found=$(grep -rnE --include='*.[chS]' "$pattern" "$@" 2>/dev/null) &&
		complain "$what" <<<"$found"
}

# may_include LAYER PATTERN: of the project's own headers, LAYER may include only these.
may_include()
{
	local found
	found=$(grep -rnE --include='*.[chS]' '^[[:space:]]*#[[:space:]]*include "' "$1" 2>/dev/null |
		grep -vE "include \"($2)")
	[ -z "$found" ] || complain "$1 may not include these" <<<"$found"
}

for directory in libgmon-mt/runtime libsync-trace/include postproc/core; do
	[ -d $directory ] || { echo "$directory is gone: this test has to be mended"; exit 1; }
done

may_include libgmon-mt '[a-z_0-9]+\.h|runtime/|gmon-mt/|arch/'
may_include libsync-trace '[a-z_0-9]+\.h|runtime/|gmon-mt/format\.h|sync-trace/|ust/'
may_include postproc/core 'core/|gmon-mt/format\.h|sync-trace/events\.h'
may_include postproc/pass 'pass/|analysis/|core/'
may_include postproc/input 'input/|symbols/|capture/|ctf/|calls/|events/|core/|gmon-mt/(children|format|history|packet)\.h|sync-trace/events\.h'
may_include postproc/render 'render/|pass/|analysis/|core/'
may_include postproc/index 'index/|pass/|analysis/|core/'
may_include postproc/tui 'tui/|index/|pass/|analysis/|core/'
may_include postproc/export 'export/|index/|pass/|analysis/|symbols/|capture/|ctf/|calls/|events/|input/|core/|page/page\.h|gmon-mt/(format|gmon|histogram)\.h'

forbid 'only postproc/input uses babeltrace2' '#[[:space:]]*include <babeltrace' \
	--exclude-dir=input --exclude-dir=babeltrace postproc libgmon-mt libsync-trace
forbid 'only the provider of libsync-trace, and postproc/record/lttng, use LTTng' '#[[:space:]]*include <lttng' \
	--exclude-dir=ust --exclude-dir=collect --exclude-dir=lttng postproc libgmon-mt libsync-trace
forbid 'only postproc/tui uses ncurses' '#[[:space:]]*include <(n?curses|panel|menu)' \
	--exclude-dir=tui postproc libgmon-mt libsync-trace
forbid 'only postproc/export uses protobuf-c' '#[[:space:]]*include .*(protobuf-c/|pb-c\.h)' \
	--exclude-dir=export postproc
forbid 'only postproc/cli prints errors' '\b(stderr|g_printerr|perror|g_warning|g_error|g_critical)\b' \
	postproc/core postproc/input postproc/pass postproc/index postproc/render postproc/export \
	postproc/tui
forbid 'the runtime libraries neither exit nor abort' '\b(exit|abort|_Exit|quick_exit) *\([^)]*\) *;' \
	libgmon-mt libsync-trace

# exports LIBRARY MAP: it exports what the map names, all of it and nothing else.
exports()
{
	local library=$1 map=$2 named found
	[ -e "$library" ] || { echo "no $library"; bad=1; return; }
	named=$(sed 's,/\*.*\*/,,; s/#.*//' "$map" | tr '{};' '\n\n\n' |
		awk '/local:/ { on = 0 } on && NF { print $1 } /global:/ { on = 1 }
			/global:/ && $2 { print $2 }' | sort -u)
	found=$(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
		sort -u)
	diff <(echo "$named") <(echo "$found") >exports.diff ||
		complain "$library exports (>) other names than $map (<)" <exports.diff
}

# calls LIBRARY PATTERN: it may not call these.
calls()
{
	local found
	found=$(nm -D --undefined-only "$1" | awk '{ sub(/@.*/, "", $2); print $2 }' | grep -xE "$2") &&
		complain "$1 may not call these" <<<"$found"
}

cd - >/dev/null || exit 1
heap='malloc|calloc|realloc|free|aligned_alloc|posix_memalign|strdup|f?printf|puts|fopen'
ends='exit|_exit|abort|quick_exit|__assert_fail'
for library in gmon_mt:libgmon-mt sync_trace:libsync-trace; do
	so=$GM_BUILD/lib${library%%:*}.so part=${library##*:}
	exports "$so" "$GM_TOP/$part/$part.map"
	calls "$so" "$heap|$ends"
done
exit $bad
