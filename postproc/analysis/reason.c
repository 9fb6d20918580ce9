/* SPDX-License-Identifier: MIT */
/* Tables from types of objects and names of calls to reasons. */
#include "analysis/reason.h"

#include <string.h>

const char *pp_reason_name(enum pp_reason reason)
{
	static const char *const names[PP_N_REASONS] = {
	    [PP_REASON_PREEMPTED] = "preempted", [PP_REASON_QUANTUM] = "quantum expired",
	    [PP_REASON_YIELD] = "yield",	 [PP_REASON_MUTEX] = "mutex",
	    [PP_REASON_CONDITION] = "condition", [PP_REASON_SEMAPHORE] = "semaphore",
	    [PP_REASON_BARRIER] = "barrier",	 [PP_REASON_RWLOCK] = "rwlock",
	    [PP_REASON_SPIN] = "spin lock",	 [PP_REASON_ONCE] = "once",
	    [PP_REASON_JOIN] = "join",		 [PP_REASON_FUTEX] = "futex",
	    [PP_REASON_READ] = "read",		 [PP_REASON_WRITE] = "write",
	    [PP_REASON_POLL] = "poll",		 [PP_REASON_SLEEP] = "sleep",
	    [PP_REASON_CHILD] = "child",	 [PP_REASON_SIGNAL] = "signal",
	    [PP_REASON_FILE_LOCK] = "file lock", [PP_REASON_PAGE_FAULT] = "page fault",
	    [PP_REASON_DISK] = "disk",		 [PP_REASON_SYSCALL] = "system call",
	    [PP_REASON_STOPPED] = "stopped",	 [PP_REASON_EXIT] = "exit",
	    [PP_REASON_UNKNOWN] = "unknown",
	};

	return names[reason];
}

enum pp_reason pp_reason_of_object(GString *text, enum gm_sync_type type, const char *name)
{
	static const struct {
		enum pp_reason reason;
		const char *words; /* NULL: cannot be waited for */
	} types[PP_N_SYNC_TYPES + 1] = {
	    [GM_SYNC_TYPE_mutex] = {PP_REASON_MUTEX, "mutex"},
	    [GM_SYNC_TYPE_cond] = {PP_REASON_CONDITION, "condition"},
	    [GM_SYNC_TYPE_sem] = {PP_REASON_SEMAPHORE, "semaphore"},
	    [GM_SYNC_TYPE_barrier] = {PP_REASON_BARRIER, "barrier"},
	    [GM_SYNC_TYPE_rwlock] = {PP_REASON_RWLOCK, "read-write lock"},
	    [GM_SYNC_TYPE_spin] = {PP_REASON_SPIN, "spin lock"},
	    [GM_SYNC_TYPE_once] = {PP_REASON_ONCE, "once-only initialization"},
	    [GM_SYNC_TYPE_thread] = {PP_REASON_JOIN, "the end of thread"},
	};
	const char *type_name = pp_sync_type_name(type);
	const char *words = types[type].words;

	if (!words) {
		g_string_append_printf(text, "blocked on %s", name);
		return PP_REASON_UNKNOWN;
	}
	/*
	 * A name such as "mutex at main (app.c:3)", without a variable, already begins with the
	 * type.
	 */
	if (g_str_has_prefix(name, type_name))
		name += strlen(type_name) + (name[strlen(type_name)] == ' ');
	g_string_append_printf(text, "blocked on %s%s%s", words, *name ? " " : "", name);
	return types[type].reason;
}

enum pp_reason pp_reason_of_syscall(const char *name)
{
	static const struct {
		enum pp_reason reason;
		const char *names; /* each between spaces */
	} calls[] = {
	    {PP_REASON_FUTEX, " futex futex_wait futex_waitv futex_requeue "},
	    {PP_REASON_SEMAPHORE, " semop semtimedop "},
	    {PP_REASON_READ, " read pread pread64 readv preadv preadv2 recv recvfrom recvmsg "
			     "recvmmsg accept accept4 getdents getdents64 mq_receive "
			     "mq_timedreceive msgrcv eventfd_read "},
	    {PP_REASON_WRITE, " write pwrite pwrite64 writev pwritev pwritev2 send sendto sendmsg "
			      "sendmmsg sendfile sendfile64 splice tee copy_file_range connect "
			      "mq_send mq_timedsend msgsnd eventfd_write "},
	    {PP_REASON_POLL, " poll ppoll select pselect pselect6 epoll_wait epoll_pwait "
			     "epoll_pwait2 "},
	    {PP_REASON_SLEEP, " sleep usleep thrd_sleep nanosleep clock_nanosleep "},
	    {PP_REASON_CHILD, " wait wait3 wait4 waitpid waitid vfork clone clone3 "},
	    {PP_REASON_SIGNAL, " pause rt_sigsuspend rt_sigtimedwait sigwait sigwaitinfo "
			       "sigtimedwait sigsuspend sigpause "},
	    {PP_REASON_FILE_LOCK, " flock lockf fcntl flockfile "},
	    {PP_REASON_DISK, " fsync fdatasync sync syncfs msync sync_file_range io_getevents "},
	    {PP_REASON_YIELD, " sched_yield "},
	    {PP_REASON_EXIT, " exit exit_group "},
	};
	g_autofree char *word = g_strdup_printf(" %s ", name);

	for (unsigned i = 0; i < G_N_ELEMENTS(calls); i++)
		if (strstr(calls[i].names, word))
			return calls[i].reason;
	return PP_REASON_SYSCALL;
}

bool pp_reason_is_io(enum pp_reason reason)
{
	return reason == PP_REASON_READ || reason == PP_REASON_WRITE || reason == PP_REASON_DISK;
}
