# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# keep_captures DIR: moves the captures below DIR to $GM_CAPTURES, if that is set (tests/run -c), before a test
# removes them. Those over GM_CAPTURE_KB stay; their number is in $GM_CAPTURES/large.
keep_captures()
{
	local session capture
	[ -n "${GM_CAPTURES:-}" ] || return 0
	mkdir -p "$GM_CAPTURES"
	while IFS= read -r -d '' session; do
		capture=${session%/session}
		if [ "$(du -sk "$capture" 2>/dev/null | cut -f 1)" -gt "${GM_CAPTURE_KB:-1024}" ]; then
			echo "$capture" >>"$GM_CAPTURES/large"
		else
			mv -T "$capture" "$(mktemp -du "$GM_CAPTURES/XXXXXX")"
		fi
	done < <(find "$1" -maxdepth 4 -name session -type f -size -64k -print0 2>/dev/null)
}
