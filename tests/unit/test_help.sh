#!/bin/bash
# SPDX-License-Identifier: MIT
# The help of each command fits a screen of 24 lines and 80 columns. Help and man page name each option that
# the command accepts, and each of its sections, kinds, formats and figures.
. "$GM_TOP/tests/lib.sh"
program=$GM_BUILD/gprof-mt man=$GM_TOP/postproc/man

fits()
{
	[ "$(wc -l <help)" -le 24 ] || fail "$*: expected at most 24 lines, got $(wc -l <help)"
	! grep -nE '.{81}' help || fail "$*: lines of more than 80 columns"
	! grep -nP '[^\x20-\x7e]' help || fail "$*: not plain text"
}

# named WORD...: the help names each word, the man page too, in bold
named()
{
	local word
	for word; do
		grep -qE -- "(^|[^a-z-])$word([^a-z-]|\$)" help || fail "$command --help does not name $word"
		grep -qE -- "(^|[^a-z-])$word([^a-z-]|\$)" page || fail "gprof-mt-$command(1) does not name $word"
	done
}

# words COMMAND...: prints the words that an error lists: "... (expected a, b or c)"
words()
{
	"$program" "$@" 2>&1 >/dev/null | sed 's/.*(expected //; s/).*//; s/; see .*//; s/,/ /g; s/ or / /g'
}

"$program" --help >help
fits --help
commands=$(sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p' help)
[ "$(wc -w <<<"$commands")" -ge 9 ] || fail "expected at least 9 commands, got: $commands"

# All option names in the sources. The parser tells which of them a command accepts.
names=$(cat "$GM_TOP"/postproc/cli/*.[ch] "$GM_TOP"/postproc/cli/*/*.[ch] | tr -s '[:space:]\\' ' ' |
	grep -oE "\"[a-z][a-z-]+\", (\"[^\"]*\"|NULL), ([A-Z_]+|'.'|number)," | cut -d'"' -f2 | sort -u)
for name in input tid no-cache min-wait quiet through-idle no-sources calls format output; do
	grep -qx -- "$name" <<<"$names" || fail "no table of options contains --$name: $names"
done

# refused NAME: the command knows the option only to explain why it does not apply
refused()
{
	local -A value=([tid]=1 [object]=lock [function]=main [min-wait]=1us)
	case $command in
	diff) set -- diff "--$1" "${value[$1]}" none none ;;
	timeline) set -- timeline --tid 1 "--$1" "${value[$1]}" ;;
	graph) set -- graph --kind wait "--$1" "${value[$1]}" ;;
	*) return 1 ;;
	esac
	"$program" "$@" 2>&1 | grep -qE ': --[a-z-]+: (thread ids differ|this command does not accept it)'
}

for command in $commands; do
	"$program" "$command" --help >help || fail "$command --help"
	fits "$command --help"
	[ "$(tail -1 help)" = "More: man gprof-mt-$command" ] || fail "$command --help expected the last line to refer to the man page, got $(tail -1 help)"
	sed 's/\\-/-/g; s/\\f.//g' "$man/gprof-mt-$command.1" >page || fail "no gprof-mt-$command(1)"
	n=0
	for name in $names; do
		"$program" "$command" "--$name" >out 2>&1 </dev/null && fail "$command --$name: $(cat out)"
		grep -q -- "no option --$name" out && continue
		# The parser also accepts the beginning of a name: --run for --runs.
		! grep -qE -- "(^|  )(-., )?--$name " help && grep -qE -- "(^|  )(-., )?--${name}[a-z-]" help && continue
		grep -qE -- "(^|  )(-., )?--$name " help || {
			refused "$name" || fail "$command --help does not name --$name"
			continue
		}
		named "--$name"
		n=$((n + 1))
	done
	[ "$n" = "$(grep -oE '(^|  )(-., )?--[a-z]' help | wc -l)" ] || fail "$command accepts $n options, but its help has another number: $(cat help)"
done

command="export"
"$program" export --help >help
sed 's/\\-/-/g; s/\\f.//g' "$man/gprof-mt-export.1" >page
formats=$(words export --format nonsense)
[ "$(wc -w <<<"$formats")" -ge 7 ] || fail "formats: $formats"
for format in $formats; do
	named "$format"
	figures=$(words export --format "$format" --what nonsense)
	[[ $figures = *'one kind of figures only'* ]] && figures=
	# shellcheck disable=SC2086 # the words are split on purpose
	named $figures
	for what in $figures; do
		grep -qE "^  $format  .*[ ,]$what(,|\$)" help || fail "export --help: no $what of $format"
	done
done
command=graph
"$program" graph --help >help
sed 's/\\-/-/g; s/\\f.//g' "$man/gprof-mt-graph.1" >page
kinds=$(words graph --kind nonsense)
[ "$(wc -w <<<"$kinds")" -ge 5 ] || fail "kinds: $kinds"
# shellcheck disable=SC2086 # the words are split on purpose
named $kinds
# The sections are those of the man page.
sed -n '/^\.SH SECTIONS/,/^\.SH [^S]/{/^\.TP/{n;s/\\-/-/g;s/^\.B //p}}' "$man/gprof-mt-report.1" | sort >sections
[ "$(wc -l <sections)" -ge 11 ] || fail "sections of gprof-mt-report(1): $(cat sections)"
for command in report diff; do
	"$program" $command --help | grep -oE '(^|  )[* ] [a-z][a-z-]*  ' | tr -d '* ' | sort | diff sections - ||
		fail "sections of $command --help are not those of gprof-mt-report(1)"
done
exit 0
