/* SPDX-License-Identifier: MIT */
/*
 * <threads.h> beside <pthread.h>.
 *
 * glibc's mtx_t, cnd_t, thrd_t and once_flag are its pthread types, and its functions call theirs
 * from inside, where we do not stand; so ours do what ours for pthreads do, and give the result the
 * C11 name.  Where another library brings functions of these names (there were several before glibc
 * had them), the types are its own: they are called and not traced; the pthread functions
 * that they call are.
 */
#ifndef ST_C11_H
#define ST_C11_H

#include <errno.h>
#include <threads.h>

#include "real.h"
#include "writer.h"

/* Are the real ones glibc's?  Makes them ready to be called, too. */
static inline bool st_c11_known(void)
{
	st_ready();
	return st_real_c11;
}

static inline int st_c11_result(int error)
{
	switch (error) {
	case 0:
		return thrd_success;
	case ENOMEM:
		return thrd_nomem;
	case ETIMEDOUT:
		return thrd_timedout;
	case EBUSY:
		return thrd_busy;
	default:
		return thrd_error;
	}
}

/* The error number that stands for a result in the trace; thrd_error has many, EINVAL is one. */
static inline int st_c11_error(int result)
{
	switch (result) {
	case thrd_success:
		return 0;
	case thrd_nomem:
		return ENOMEM;
	case thrd_timedout:
		return ETIMEDOUT;
	case thrd_busy:
		return EBUSY;
	default:
		return EINVAL;
	}
}

#endif
