/* SPDX-License-Identifier: MIT */
/*
 * The functions that unwinding calls in a frame with a clean-up (cond.c), when a thread is
 * cancelled or exits in a signal handler.
 *
 * Code compiled with -fexceptions refers to two functions of libgcc_s.  That library is loaded by
 * glibc when something is cancelled first, and must not be loaded because of us.  So we have both
 * functions, hidden, which find the real ones in the libgcc_s that is unwinding: glibc has the same
 * for itself.  Only forced unwinding comes by; C++ exceptions find nothing to do.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <unwind.h>

#include "internal.h"

_Unwind_Reason_Code __gcc_personality_v0(int version, _Unwind_Action actions,
					 _Unwind_Exception_Class class,
					 struct _Unwind_Exception *exception,
					 struct _Unwind_Context *context);

static __typeof__(__gcc_personality_v0) *real_personality;
static __typeof__(_Unwind_Resume) *real_resume;

/* True: both are there. */
bool st_unwind_resolve(void)
{
	void *library;

	/* acquire: pairs with the release below */
	if (__atomic_load_n(&real_personality, __ATOMIC_ACQUIRE) != NULL)
		return true;
	library = dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (library == NULL)
		return false;
	*(void **)&real_resume = dlsym(library, "_Unwind_Resume");
	if (real_resume != NULL)
		/* release: who finds the one finds the other */
		__atomic_store_n((void **)&real_personality, dlsym(library, "__gcc_personality_v0"),
				 __ATOMIC_RELEASE);
	return real_personality != NULL;
}

_Unwind_Reason_Code __gcc_personality_v0(int version, _Unwind_Action actions,
					 _Unwind_Exception_Class class,
					 struct _Unwind_Exception *exception,
					 struct _Unwind_Context *context)
{
	if ((actions & _UA_FORCE_UNWIND) == 0 || !st_unwind_resolve())
		return _URC_CONTINUE_UNWIND;
	return real_personality(version, actions, class, exception, context);
}

/* Called at the end of the clean-up. */
void _Unwind_Resume(struct _Unwind_Exception *exception)
{
	real_resume(exception);
	__builtin_unreachable();
}
