# SPDX-License-Identifier: MIT
# bash completion of gprof-mt.  What there is to complete comes from `gprof-mt ... --help`, so it is
# always that of the program which is run; names of threads, from the capture that the line names.

# _gprof_mt_help PROGRAM [COMMAND]: its help, without a word of complaint, and of what it lists one in a line: two
# spaces are between a name and its text, and before the next name.
_gprof_mt_help()
{
	"$@" --help 2>/dev/null | awk '
		/^[* ] [-a-z]/ {
			mark = substr($0, 1, 2)
			n = split(substr($0, 3), cell, /   */)
			for (i = 1; n > 1 && i <= n; i += 2) {
				print mark cell[i] "  " cell[i + 1]
				mark = sub(/^\* /, "", cell[i + 2]) ? "* " : "  "
			}
			if (n > 1)
				next
		}
		{ print }'
}

# The first words of the lines of a list in a help text, of that with that heading: "kinds:".
_gprof_mt_list()
{
	awk -v heading="$1" '
		inside && /^[* ] [a-z]/ { sub(/^[* ] /, ""); print $1; next }
		{ inside = index($0, heading) == 1 }'
}

# The long options of a help text, and the short ones that have no long one.
_gprof_mt_options()
{
	awk '/^  -/ { print $1 ~ /^--/ ? $1 : $2 ~ /^--/ ? $2 : substr($1, 1, 2) }
		END { print "--help" }'
}

# The words that a help text offers for an option: "dot (default), svg (needs graphviz) or json".
_gprof_mt_words()
{
	awk -v option="$1" '
		$1 == option || $2 == option {
			sub(/^ *(-., )?--[a-z-]+ +[A-Z.=]+ +/, "")
			sub(/^[^:,(]*: /, "")
			gsub(/\([^)]*\)/, "")
			sub(/: .*/, "")
			gsub(/,|( or )/, " ")
			print
		}'
}

# How many arguments stand before the word: no options, nor the values that the help text has for these.
_gprof_mt_arguments()
{
	local at n=0 valued
	valued=$(awk '/^  -/ {
		name = $1 ~ /^-.,$/ ? 2 : 1
		if ($(name + 1) ~ /^[A-Z]/)
			print $name, name == 2 ? substr($1, 1, 2) : "" }' <<<"$1")
	for ((at = 2; at < COMP_CWORD; at++)); do
		case ${COMP_WORDS[at]} in
		=) ((at++)) ;;
		-*)
			if [ "${COMP_WORDS[at + 1]}" != = ] && grep -qwF -e "${COMP_WORDS[at]}" <<<"$valued"; then
				((at++))
			fi
			;;
		*) ((n++)) ;;
		esac
	done
	echo "$n"
}

# What the format on the line can show, or any: "folded  stacks: calls, time".
_gprof_mt_whats()
{
	awk -v "line= ${COMP_WORDS[*]} " '
		/^formats/ { inside = 1 }
		inside && /^  [a-z].*: / && (line !~ / --format[ =]/ || line ~ " --format[ =]+" $1 " ") {
			sub(/.*: /, "")
			gsub(/, /, "\n")
			print
		}'
}

# The capture that the line names: -i DIR, or the first folder; else the default.
_gprof_mt_capture()
{
	local at folder=

	for ((at = 2; at < ${#COMP_WORDS[@]}; at++)); do
		case ${COMP_WORDS[at]} in
		-i | --input)
			((at++))
			[ "${COMP_WORDS[at]}" != = ] || ((at++))
			echo "${COMP_WORDS[at]}"
			return
			;;
		*) [ -n "$folder" ] || [ ! -d "${COMP_WORDS[at]}" ] || folder=${COMP_WORDS[at]} ;;
		esac
	done
	echo "${folder:-gprof-mt.data}"
}

# Completes a thread's name, which may have blanks.
_gprof_mt_threads()
{
	local name

	while IFS= read -r name; do
		[[ $name != "$word"* ]] || COMPREPLY+=("$(printf %q "$name")")
	done < <("$program" complete threads "$(_gprof_mt_capture)" 2>/dev/null)
}

# _gprof_mt_settings [KEY]: completes the key of a setting, or the value of this key.
_gprof_mt_settings()
{
	local words

	words=$("$program" complete settings 2>/dev/null)
	if [ $# = 1 ]; then
		words=$(sed -n "s/^$1=//p" <<<"$words")
	else
		words=$(grep '=$' <<<"$words")
		compopt -o nospace 2>/dev/null
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

# Files, or with an argument others: compgen -c.
_gprof_mt_files()
{
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen "${1--f}" -- "$word")
}

# True: the word is of the command to record, or its argument, and is completed.
_gprof_mt_recorded()
{
	local at

	for ((at = 2; at < COMP_CWORD; at++)); do
		case ${COMP_WORDS[at]} in
		-o | --output | --config | --set | --profile | --backend | --accesses)
			((at++))
			[ "${COMP_WORDS[at]}" != = ] || ((at++))
			# The value of a setting: KEY = VALUE.
			[[ ${COMP_WORDS[at]} != *.* || ${COMP_WORDS[at + 1]-} != = ]] || ((at += 2))
			;;
		--) break ;;
		-*) ;;
		*)
			_gprof_mt_files
			return 0
			;;
		esac
	done
	[ "$at" -le "$COMP_CWORD" ] || return 1 # the value of an option
	if [ "${COMP_WORDS[at]}" = -- ] && ((at < COMP_CWORD)); then
		((at++))
	elif [[ $word = -* ]]; then
		return 1
	fi
	if ((at == COMP_CWORD)); then
		_gprof_mt_files -c
	else
		_gprof_mt_files
	fi
	return 0
}

_gprof_mt()
{
	local program=${COMP_WORDS[0]/#\~/$HOME} command=${COMP_WORDS[1]} help words='' assigned=''
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}

	COMPREPLY=()
	# --format=json comes as three words.
	if [ "$word" = = ]; then
		word='' assigned=1
	elif [ "$before" = = ]; then
		assigned=1
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if [ "$COMP_CWORD" -eq 1 ]; then
		words="$(_gprof_mt_help "$program" | awk '/^  [a-z]/ { print $1 }') --help --version"
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
		return
	fi
	[ "$command" != record ] || ! _gprof_mt_recorded || return
	if [ "$command" = record ] && [ -n "$assigned" ] && [[ $before = *.* ]]; then
		_gprof_mt_settings "$before"
		return
	fi
	help=$(_gprof_mt_help "$program" "$command")
	case $before in
	-i | --input)
		_gprof_mt_files -d
		return
		;;
	-o | --output | --config | --budget | --junit) ;;
	--thread)
		_gprof_mt_threads
		return
		;;
	--set)
		_gprof_mt_settings
		return
		;;
	--kind) words=$(_gprof_mt_list kinds: <<<"$help") ;;
	--format)
		words=$(_gprof_mt_list formats <<<"$help")
		[ -n "$words" ] || words=$(_gprof_mt_words --format <<<"$help")
		;;
	--what) words=$(_gprof_mt_whats <<<"$help") ;;
	--profile | --backend | --accesses | --demangle | --by) words=$(_gprof_mt_words "$before" <<<"$help") ;;
	*)
		if [[ $word = -* ]]; then
			words=$(_gprof_mt_options <<<"$help")
		elif [ "$command" = diff ] && [ "$(_gprof_mt_arguments "$help")" -lt 2 ]; then
			_gprof_mt_files -d
			return
		elif [ "$command" = predict ] && [ "$(_gprof_mt_arguments "$help")" -gt 0 ]; then
			_gprof_mt_files -d
			return
		elif [ "$command" = predict ]; then
			words=$(_gprof_mt_list methods <<<"$help")
		else
			words=$(_gprof_mt_list sections <<<"$help")
		fi
		;;
	esac
	if [ -n "$words" ]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
	else
		_gprof_mt_files
	fi
}

complete -F _gprof_mt gprof-mt
