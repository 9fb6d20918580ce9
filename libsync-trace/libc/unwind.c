/* SPDX-License-Identifier: MIT */
/*
 * The functions that unwinding calls for a frame with a clean-up (cond.c), when a thread is
 * cancelled or exits in a signal handler.
 *
 * Code compiled with -fexceptions refers to two functions of libgcc_s. glibc loads that library at
 * the first cancellation, and this library must not cause it to be loaded. So both functions are
 * defined here, hidden, and find the real ones in the libgcc_s that is unwinding, as glibc does for
 * itself. Only forced unwinding arrives here; C++ exceptions find nothing to do.
 */
#include <dlfcn.h>
#include <unwind.h>

#include "runtime/process/loadmap.h"
#include "runtime/sys/auxv.h"

_Unwind_Reason_Code __gcc_personality_v0(int version, _Unwind_Action actions,
					 _Unwind_Exception_Class class,
					 struct _Unwind_Exception *exception,
					 struct _Unwind_Context *context);

static __typeof__(__gcc_personality_v0) *real_personality;
static __typeof__(_Unwind_Resume) *real_resume;

/*
 * `address` is in the libgcc_s that is unwinding. The loader is not used to find its symbols: a
 * thread in a constructor may hold the loader's lock, and wait for the thread that is unwound.
 */
static bool resolve(uintptr_t address)
{
	struct dl_find_object found;
	void *personality = NULL, *resume = NULL, *library;

	/* acquire: pairs with the release below */
	if (__atomic_load_n(&real_personality, __ATOMIC_ACQUIRE) != NULL)
		return true;
	if (gm_find_object != NULL && gm_find_object((void *)address, &found) == 0) {
		personality = gm_object_function(found.dlfo_map_start, "__gcc_personality_v0");
		resume = gm_object_function(found.dlfo_map_start, "_Unwind_Resume");
	} else if (gm_find_object == NULL) { /* an older glibc */
		library = dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_NOLOAD);
		if (library == NULL)
			return false;
		personality = dlsym(library, "__gcc_personality_v0");
		resume = dlsym(library, "_Unwind_Resume");
	}
	if (personality == NULL || resume == NULL)
		return false;
	__atomic_store_n((void **)&real_resume, resume, __ATOMIC_RELAXED);
	/* release: a thread that finds real_personality finds real_resume */
	__atomic_store_n((void **)&real_personality, personality, __ATOMIC_RELEASE);
	return true;
}

_Unwind_Reason_Code __gcc_personality_v0(int version, _Unwind_Action actions,
					 _Unwind_Exception_Class class,
					 struct _Unwind_Exception *exception,
					 struct _Unwind_Context *context)
{
	if ((actions & _UA_FORCE_UNWIND) == 0 || !resolve((uintptr_t)__builtin_return_address(0)))
		return _URC_CONTINUE_UNWIND;
	return real_personality(version, actions, class, exception, context);
}

/* Called at the end of the clean-up. */
void _Unwind_Resume(struct _Unwind_Exception *exception)
{
	real_resume(exception);
	__builtin_unreachable();
}
