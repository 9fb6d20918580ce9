/* SPDX-License-Identifier: MIT */
/*
 * The names of sessions of `record`.  A name states the recorder that made the session, so that
 * one whose recorder was killed is found and destroyed later.
 */
#ifndef PP_RECORD_LTTNG_SESSION_H
#define PP_RECORD_LTTNG_SESSION_H

/* For a session of this process: "gprof-mt-UID-PIDNS-PID-START". */
char *pp_lttng_session_name(void);

/* Destroys the sessions of this user whose recorders have ended. */
void pp_lttng_session_clean(void);

#endif
