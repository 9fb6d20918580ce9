# SPDX-License-Identifier: MIT
# Compares the switches in `babeltrace2` text with the output of pingpong (first file). Its lines "helper TID"
# name tasks of the libraries, which are threads of the process for the kernel. Variables: rounds, pairs (1: a
# switch names both threads).
function field(name,   at) {
	at = index($0, " " name " = ")
	return at ? substr($0, at + length(name) + 4) + 0 : -1
}

function complain(what) {
	print "FAIL: " what
	failed = 1
}

# The trace also has switches after a thread has read its counters (ending), and lacks those of the first
# thread before its exec: a few, compared with thousands.
function check(tid, what, traced, counted) {
	if (traced < counted - 10 || traced > counted + 10)
		complain("thread " tid ": " traced " " what " switches traced, the kernel counted " counted)
}

FNR == NR {
	if ($1 == "helper")
		helper[$2] = 1
	if ($1 != "thread")
		next
	tid[++n] = $2
	ours[$2] = 1
	voluntary[$2] = $4
	involuntary[$2] = $6
	next
}

/sched_switch:/ {
	prev = field("prev_tid")
	next_ = field("next_tid")
	if (!(prev in ours) && !(next_ in ours) && !(prev in helper) && !(next_ in helper))
		complain("a switch of no thread of the program: " $0)
	if (prev in ours && field("prev_state") != 0)
		blocked[prev]++
	else if (prev in ours)
		preempted[prev]++
	if (prev in ours && next_ in ours)
		direct++
	if (next_ in ours)
		came[next_]++
	if (prev in ours)
		left[prev]++
}

END {
	if (n != 2)
		complain("pingpong printed " n " threads")
	for (i = 1; i <= n; i++) {
		check(tid[i], "voluntary", blocked[tid[i]], voluntary[tid[i]])
		check(tid[i], "involuntary", preempted[tid[i]], involuntary[tid[i]])
		if (came[tid[i]] < left[tid[i]] - 1 || came[tid[i]] > left[tid[i]] + 1)
			complain("thread " tid[i] ": came " came[tid[i]] " times, left " left[tid[i]])
	}
	if (left[tid[1]] + left[tid[2]] < 2 * rounds)
		complain("fewer than two switches a round")
	# Other threads may run in between.
	if (pairs && !direct)
		complain("no direct switch between the two in " rounds " rounds")
	if (!pairs && direct)
		complain(direct " switches claim to know both sides")
	exit failed
}
