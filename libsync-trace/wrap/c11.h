/* SPDX-License-Identifier: MIT */
/*
 * <threads.h> in addition to <pthread.h>.
 *
 * glibc's mtx_t, cnd_t, thrd_t and once_flag are its pthread types, and its C11 functions call the
 * pthread functions internally, which cannot be interposed. So our C11 functions do the same as our
 * pthread wrappers, and return the C11 result. If another library defines these functions (several
 * did before glibc had them), the types are its own: its functions are called and not recorded; the
 * pthread functions that they call are.
 */
#ifndef ST_C11_H
#define ST_C11_H

#include <errno.h>
#include <threads.h>

#include "libc/real.h"
#include "record/writer.h"

/* Returns true if the real functions are glibc's. Also makes them available. */
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

/*
 * Returns the error number that stands for a result in the trace; thrd_error stands for several,
 * such as EINVAL.
 */
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
