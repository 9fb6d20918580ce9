#!/bin/bash
# SPDX-License-Identifier: MIT
#
# tests/lint/subjects: which subjects of commits it accepts, and which commits it judges, in a scratch repository.
. "$GM_TOP/tests/lib.sh"

# commit SUBJECT
commit()
{
	git commit -q --allow-empty -m "$1" -m 'Why.' || fail "cannot commit"
}

# subjects STATUS LAST_LINE
subjects()
{
	local status
	"$GM_TOP/tests/lint/subjects" >out 2>&1
	status=$?
	[ $status = "$1" ] || fail "exit status $status, not $1: $(cat out)"
	[ "$(tail -n 1 out)" = "$2" ] || fail "the last line is not '$2': $(cat out)"
}

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null HOME=$PWD
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@localhost GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@localhost
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
# 72 characters, one of which takes two bytes.
longest='record: count the switches of a thread that blocks in a futex on α CPU 0'

git init -q -b main repository && cd repository || fail "git init"
commit 'What came before, and is judged by nobody because it is on the main branch already'
subjects 77 'every commit is on the main branch'

# A branch with good subjects.
git checkout -q -b branch
for subject in 'record: count switches' 'libgmon-mt: keep gmon.out' 'tests/lint: check spelling and subjects' \
	'CONTRIBUTING, DESIGN: name the folders' 'export --format html: draw the lane of a thread' "$longest"; do
	commit "$subject"
done
subjects 0 '0 of 6 subjects wrong'

# A merge's subject is git's own.
git checkout -q -b other main && commit 'calls: add a test' && git checkout -q branch &&
	git merge -q --no-ff -m "Merge branch 'other'" other || fail merge
subjects 0 '0 of 7 subjects wrong'

# Each bad one is told, with what is wrong.
n=0
while IFS='|' read -r subject reason; do
	git checkout -q -B bad main
	commit "$subject"
	subjects 1 '1 of 1 subjects wrong'
	sed -n 1p out | grep -qF -- "$subject" && sed -n 2p out | grep -qF -- "$reason" ||
		fail "'$subject': not '$reason': $(cat out)"
	n=$((n + 1))
done <<END
add a test|the form is
record add a test|the form is
record:add a test|the form is
: add a test|the form is
record: added a test|'added' is no imperative verb
record: adds a test|'adds' is no imperative verb
record: a test|'a' is no imperative verb
record: Add a test|'Add' is no imperative verb
record: add|'add' has no object
${longest}0|73 characters
END
[ $n = 10 ] || fail "$n bad subjects tried"

# What origin has is not judged either; of a clone without a branch main nothing is.
git clone -q . ../clone 2>/dev/null && cd ../clone || fail clone
git checkout -q -b mine origin/main && git branch -q -D main 2>/dev/null
commit 'record: add a test'
subjects 0 '0 of 1 subjects wrong'
commit 'no form'
subjects 1 '1 of 2 subjects wrong'
git remote rm origin
subjects 77 'no branch main to compare with'
