/* SPDX-License-Identifier: MIT */
/*
 * Starts the program and waits until it has ended.
 *
 * The child blocks on a pipe until the collector observes it, then executes the program.  Signals
 * from the terminal reach the child directly, so SIGINT and SIGQUIT are ignored here; SIGTERM and
 * SIGHUP are forwarded; SIGTSTP stops both.  Once the program runs, it does not depend on this
 * process: if this process is killed, the program continues.
 */
#ifndef PP_RECORD_LAUNCH_H
#define PP_RECORD_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "record/collector.h"
#include "record/requests.h"
#include "core/error.h"

struct pp_child {
	/*
	 * Called on SIGUSR2; NULL: it is ignored.  Returns false if there is nothing yet: it is
	 * called again then.
	 */
	bool (*asked)(void *data);
	void *data;
	pid_t pid;
	int go_fd;     /* the child waits for a byte from it */
	int result_fd; /* errno of a failed exec */
	int status;    /* from wait4(), after the end */
	struct rusage usage;
	sigset_t old_mask;
};

/*
 * Keeps SIGUSR2 for later, since it would end this process.  The program gets the mask from before.
 * To be called first of all.
 */
void pp_child_keep_requests(void);

/* Forks the child, which blocks before exec.  Returns 0 or -errno. */
int pp_child_hold(struct pp_child *child, char *const *argv, char *const *env,
		  struct pp_error *err);

/*
 * Lets the child execute the program.  Returns 0 when the program runs, else -errno of execvp(),
 * and the child has ended.
 */
int pp_child_start(struct pp_child *child);

/* Ends a blocked child. */
void pp_child_cancel(struct pp_child *child);

/*
 * Serves the collector's rings and the mailbox until the child has ended; child->status is then
 * set.
 */
void pp_child_wait(struct pp_child *child, struct pp_collector *collector,
		   struct pp_mailbox *mailbox);

/*
 * Ends this process in the same way as the child ended: by the same signal, or with its exit
 * status.
 */
_Noreturn void pp_child_exit_alike(const struct pp_child *child);

#endif
