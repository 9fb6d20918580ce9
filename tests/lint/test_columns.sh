#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Checks which lines tests/lint/columns regards as prose, and how it counts their columns.
. "$GM_TOP/tests/lib.sh"

# words COLUMNS [BEFORE]: prints a line with so many columns that starts with BEFORE.
words()
{
	local line=${2:-}
	while [ ${#line} -lt "$1" ]; do line+='word '; done
	echo "${line:0:$(($1 - 1))}x"
}

# long FILE LINE...: fails unless tests/lint/columns reports exactly these lines of FILE, whose text is on stdin.
long()
{
	local file=$1 want
	shift
	want=$(printf "$file:%s: 121 columns, expected at most 120\n" "$@")
	[ $# != 0 ] || want=
	cat >"$file"
	"$GM_TOP/tests/lint/columns" "$file" >out 2>&1
	[ $? = $((${#want} > 0)) ] && [ "$(cat out)" = "$want" ] || fail "$file: expected '$want', got '$(cat out)'"
}

long page.md 2 5 <<END
$(words 120)
$(words 121)

- $(words 118)
- $(words 119)
$(words 121 '| table ')
\`\`\`
$(words 121)
\`\`\`
    $(words 121)
$(words 100 '[link](https://www.example.org/an/address) ')
END
long page.1 2 3 <<END
.TH PAGE 1
$(words 121)
$(words 121 '.\" ')
.EX
$(words 121)
.EE
.nf
$(words 121)
.fi
END
# A tab ends at column 8, and a character of three bytes takes one column.
long code.c 1 4 8 9 <<END
$(words 118 '/* ') */
	text("$(words 121)");
/*
$(words 121 ' * ')
 */
$(words 121 'int ');
int a; // $(words 110)
int a; // $(words 111)
$(printf '\t')// $(words 110)
$(words 121 '// ' | sed 's/word/w…d/')
END
long script 2 5 <<END
#!/bin/sh
$(words 121 '# ')
echo '$(words 121 '#')'
$(words 121 'echo ')
true # $(words 114)
END
long script.py 2 3 6 <<END
#!/usr/bin/python3
$(words 121 '# ')
$(words 121 '"""')
"""
a = ["""$(words 121)"""]
$(words 118 '"""')"""
END
long data.json <<END
$(words 121)
END
