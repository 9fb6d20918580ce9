#!/bin/bash
# SPDX-License-Identifier: MIT
# bash and zsh complete exactly what gprof-mt accepts: the program knows each command, option and value that
# they offer, they offer everything that its help lists, and both offer the same.
. "$GM_TOP/tests/lib.sh"
need zsh

program=$GM_BUILD/gprof-mt
# shellcheck source=/dev/null
. "$GM_TOP/postproc/completion/gprof-mt.bash"

# offered WORD...: prints what bash offers for the last word (which may be empty), in one line
offered()
{
	COMP_WORDS=("$program" "$@")
	COMP_CWORD=$#
	_gprof_mt
	echo "${COMPREPLY[*]}"
}

commands=$(offered '')
same commands "$("$program" --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p' | tr '\n' ' ')--help --version" "$commands"
for command in ${commands% --help --version}; do
	"$program" "$command" --help >help || fail "$command --help"
	options=$(offered "$command" --)
	same "options of $command" "$(grep -oE '(^|  )(-., )?--[a-z-]+' help | grep -oE -- '--.*' | tr '\n' ' ')--help" "$options"
	for option in $options; do
		! "$program" "$command" "$option" --none 2>&1 </dev/null | grep -q -- "no option $option" ||
			fail "$command does not know $option"
		case $option in
		--format | --kind | --what | --profile | --backend | --demangle | --by) ;;
		*) continue ;;
		esac
		values=$(offered "$command" "$option" '')
		[ "$(wc -w <<<"$values")" -ge 2 ] || fail "$command $option: expected at least 2 values, got '$values'"
		same "$command $option=" "$values" "$(offered "$command" "$option" = '')"
		for value in $values; do
			grep -qw -- "$value" help || fail "$command $option $value is not in its help"
			# A missing capture or program is an expected error; a usage error is not.
			case $command in
			record) set -- record "$option" "$value" -o capture -- ./none ;;
			timeline) set -- timeline --tid 1 "$option" "$value" -i none ;;
			export)
				[ $option = --format ] || continue
				set -- export "$option" "$value" -i none
				;;
			diff) set -- diff "$option" "$value" none none ;;
			graph) set -- graph --kind wait "$option" "$value" -i none ;;
			*) set -- "$command" "$option" "$value" -i none ;;
			esac
			"$program" "$@" >out 2>&1
			! grep -qE "${option#--} '?$value'?:" out || fail "$*: $(cat out)"
		done
	done
done
same sections "$("$program" report --help | grep -oE '(^|  )[* ] [a-z][a-z-]*  ' | tr -d '* ' | tr '\n' ' ')" "$(offered report '') "

# The recorded program and its arguments are completed like a command line of their own.
[[ " $(offered record -q -o capture tru) " = *' true '* ]] || fail "record: no command is offered"
[[ " $(offered record -- tru) " = *' true '* ]] || fail "record --: no command is offered"
same "an argument of the program" help "$(offered record cat hel)"
mkdir folder
same "a capture" folder "$(offered report -i fol)"
same "the figures of a format" "merged threads" "$(offered export --format gmon --what '' | xargs)"

# diff accepts two captures, and then sections; options may stand anywhere.
: >folly
same "diff" "folder" "$(offered diff '')"
same "diff after options" "folder" "$(offered diff --no-lines --top 5 --format = json fol)"
same "diff's second" "folder" "$(offered diff folder --thread x '')"
same "diff's sections" "$(offered report '')" "$(offered diff --top 5 folder --no-lines folder '')"

# Names of the threads of the capture on the line, or of the default one; settings and their values.
"$program" record -q -o capture -- "$GM_BUILD/examples/philosophers" 3 5 >record.log 2>&1 || fail "record: $(cat record.log)"
same "threads of a capture" "phil-0 phil-1 phil-2 philosophers" "$(offered report -i capture --thread phil)"
same "threads for diff" "phil-2" "$(offered diff capture capture --thread = phil-2)"
same "no capture" "" "$(offered report -i none --thread phil)"
ln -s capture gprof-mt.data
same "threads of the default capture" "phil-1" "$(offered timeline --thread phil-1)"
rm gprof-mt.data
same "modes of accesses" "sampled compiled off" "$(offered record --accesses '')"
settings=$(offered record --set '')
same "settings" "sync.mode= sync.budget= sync.holds= sync.order= sync.buffer= sync.sink= sync.types= sync.include= sync.exclude= sync.paths= sync.path_depth= sync.path_sample=" \
	"$(offered record --set sync.)"
same "values" "all contended off auto" "$(offered record --set sync.mode =)"
same "values that begin with a word" "contended" "$(offered record -q --set sync.mode = con)"
same "values after --set=" "count history off" "$(offered record --set = calls.mode =)"
same "the option after a setting" "--profile" "$(offered record --set sync.mode = all --prof)"
[[ " $(offered record --set sync.mode = all tru) " = *' true '* ]] || fail "record --set K=V: no command is offered"
# record accepts each value that is offered.
for key in $settings; do
	for value in $(offered record --set "${key%=}" =); do
		"$program" record --set "$key$value" -o rejected -- ./none >out 2>&1
		! grep -q 'invalid value\|unknown' out || fail "--set $key$value: $(cat out)"
	done
done

mkdir folder2
# zsh runs in a pseudo-terminal and lists the completions of an unfinished line.
cat >list.zsh <<'END'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1='> '; fpath=($GM_TOP/postproc/completion \$fpath); autoload -Uz compinit; compinit -u -d ./dump"
zpty -w shell "zstyle ':completion:*' verbose no; LISTMAX=1000; path=($GM_BUILD \$path); bindkey '^T' list-choices; echo rea''dy"
zpty -r shell text '*ready*'
zpty -w -n shell "$1"$'\C-t'
while zpty -r shell text; do print -rn -- $text; done
END

# in_zsh LINE WORD...: zsh lists all these words after LINE
in_zsh()
{
	local line=$1 word deadline=$((SECONDS + 60)) missing=1
	shift
	TERM=dumb zsh -f list.zsh "$line" >listed 2>&1 </dev/null &
	while [ -n "$missing" ]; do
		missing=
		for word; do
			grep -qE -- "(^|[[:space:]])$word([[:space:]]|\$)" listed || missing=$word
		done
		[ "$SECONDS" -lt "$deadline" ] || fail "zsh does not offer '$missing' after '$line': $(cat listed)"
		sleep 0.05
	done
	kill $! && wait $! 2>/dev/null
}

# shellcheck disable=SC2046,SC2086 # the words are split on purpose
{
	in_zsh 'gprof-mt ' ${commands% --help --version}
	in_zsh 'gprof-mt report ' $(offered report '')
	for command in ${commands% --help --version}; do
		in_zsh "gprof-mt $command --" $(offered "$command" --)
	done
	in_zsh 'gprof-mt report -i x --format ' $(offered report --format '')
	in_zsh 'gprof-mt graph --kind ' $(offered graph --kind '')
	in_zsh 'gprof-mt export --format ' $(offered export --format '')
	in_zsh 'gprof-mt export --format gmon --what ' merged threads
	in_zsh 'gprof-mt record --profile ' $(offered record --profile '')
	in_zsh 'gprof-mt record -q tru' true
	in_zsh 'gprof-mt report -i capture --thread ph' phil-0 phil-1 phil-2
	in_zsh 'gprof-mt record --set ' $settings
	in_zsh 'gprof-mt record --set sync.mode=' sync.mode=all sync.mode=contended sync.mode=off sync.mode=auto
	in_zsh 'gprof-mt diff fo' folder/ folder2/
	in_zsh 'gprof-mt diff --top 5 folder folder2 ' $(offered report '')
}
exit 0
