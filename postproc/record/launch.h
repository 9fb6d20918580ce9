/* SPDX-License-Identifier: MIT */
/*
 * Starts the program, and stays beside it until it has ended.
 *
 * The child is held at a pipe until the collector watches it, then becomes the program.  Terminal
 * signals reach it from the terminal, so SIGINT and SIGQUIT are ignored here; SIGTERM and SIGHUP
 * are passed on; SIGTSTP stops both.  Nothing connects the two once the program runs: should this
 * process be killed, the program goes on.
 */
#ifndef PP_RECORD_LAUNCH_H
#define PP_RECORD_LAUNCH_H

#include <signal.h>
#include <sys/types.h>

#include "record/collector.h"
#include "record/mailbox.h"
#include "core/error.h"

struct pp_child {
	pid_t pid;
	int go_fd;     /* the child waits for a byte */
	int result_fd; /* errno of a failed exec */
	int status;    /* of waitpid(), once it has ended */
	sigset_t old_mask;
};

/* Forks the child, held. */
int pp_child_hold(struct pp_child *child, char *const *argv, char *const *env,
		  struct pp_error *err);

/* Lets it go.  0: the program runs; else -errno of execvp(), and the child is gone. */
int pp_child_start(struct pp_child *child);

/* Gives a held child up. */
void pp_child_cancel(struct pp_child *child);

/*
 * Drains the collector's rings, and the mailbox, until the child has ended; its status is then in
 * child->status.
 */
void pp_child_wait(struct pp_child *child, struct pp_collector *collector,
		   struct pp_mailbox *mailbox);

/* Ends this process as the child ended: by the same signal, or with its exit status. */
_Noreturn void pp_child_exit_alike(const struct pp_child *child);

#endif
