# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Functions for the tests of the browser: a tmux terminal with a shell in it. Every step waits for text on the
# screen, never for a time.
. "$GM_TOP/tests/lib.sh"
need tmux

# The path of its socket may have at most 107 bytes.
sockets=$(mktemp -d "${TMPDIR:-/tmp}/browse.XXXXXX") || fail mktemp
trap 'end_terminal; rm -rf "$sockets"' EXIT
terminals=0

# terminal COLUMNS ROWS [NAME=VALUE...]: starts it, by default in a C.UTF-8 locale.
terminal()
{
	local columns=$1 rows=$2
	shift 2
	end_terminal
	terminals=$((terminals + 1))
	env -u TMUX LC_ALL=C.UTF-8 tmux -u -S "$sockets/$terminals" -f /dev/null \
		new-session -d -x "$columns" -y "$rows" \
		"exec env TERM=screen LC_ALL=C.UTF-8 PS1='shell> ' $* bash --norc --noprofile -i" ||
		fail "no terminal"
	in_tmux set-option -g status off
	in_tmux resize-window -x "$columns" -y "$rows"
	shows 'shell>'
}

in_tmux()
{
	env -u TMUX tmux -S "$sockets/$terminals" "$@"
}

end_terminal()
{
	[ "$terminals" = 0 ] || in_tmux kill-server 2>/dev/null
}

screen()
{
	in_tmux capture-pane -p
}

# The screen with its colors, as escape sequences.
coloured_screen()
{
	in_tmux capture-pane -p -e
}

keys()
{
	in_tmux send-keys "$@"
}

# types TEXT: sends TEXT literally.
types()
{
	in_tmux send-keys -l "$1"
}

# run COMMAND: runs COMMAND in the shell.
run()
{
	types "$1"
	keys Enter
}

has()
{
	screen | grep -qF -- "$1"
}

lacks()
{
	! has "$1"
}

# shows TEXT, hides TEXT: waits until the screen has, or does not have, TEXT.
shows()
{
	until_true 60 has "$1" || fail "'$1' is not shown: $(screen)"
}

hides()
{
	until_true 60 lacks "$1" || fail "'$1' is still shown: $(screen)"
}
