/* SPDX-License-Identifier: MIT */
/*
 * Looks up the real functions: those that the program would use without this library, next in the
 * loader's search order, at glibc's default version.
 *
 * The program's own references, which have a version, are also satisfied by a definition without
 * one, for example in a sanitizer or another preloaded library. dlvsym() skips those and dlsym()
 * does not, so if they find different objects, dlsym()'s is used.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "libc/real.h"

struct st_real st_real;
struct st_try st_try;
bool st_real_c11 = true;

/* Kinds of functions, by a part that their names share; <threads.h> also has the first ones. */
enum { MUTEX, COND, ONCE, JOIN, DETACH, N_C11, RWLOCK = N_C11, SPIN, SEM, N_KINDS };

static const char *const kinds[N_KINDS] = {
    [MUTEX] = "_mutex_", [COND] = "_cond_",	[ONCE] = "_once",  [JOIN] = "join",
    [DETACH] = "detach", [RWLOCK] = "_rwlock_", [SPIN] = "_spin_", [SEM] = "sem_",
};

/* True if another library has a function of that kind, between us and glibc. */
static bool foreign[N_KINDS];

/* Stands for a function that this glibc does not have; fails like a missing system call. */
static int missing(void)
{
	return ENOSYS;
}

/* The same for functions that return errors in errno. */
static int missing_errno(void)
{
	errno = ENOSYS;
	return -1;
}

/* Before glibc had these functions, other libraries did, with types of their own. */
static bool is_c11(const char *name)
{
	return strncmp(name, "mtx_", 4) == 0 || strncmp(name, "cnd_", 4) == 0 ||
	       strncmp(name, "thrd_", 5) == 0 || strcmp(name, "call_once") == 0;
}

static bool says_errno(const char *name)
{
	return strstr(name, "pthread_") == NULL && !is_c11(name);
}

static bool in_one_object(void *a, void *b)
{
	Dl_info of_a, of_b;

	return dladdr(a, &of_a) != 0 && dladdr(b, &of_b) != 0 && of_a.dli_fbase == of_b.dli_fbase;
}

static void note_foreign(const char *name)
{
	for (unsigned i = 0; i < N_KINDS; i++)
		if (strstr(name, kinds[i]) != NULL) {
			foreign[i] = true;
			if (i < N_C11)
				st_real_c11 = false;
		}
}

/*
 * Avoids a failing dlsym(), which finds only default versions: a failure allocates, and an
 * allocator that locks would recurse for ever.
 */
static bool has_default_version(const char *name)
{
	return strncmp(name, "__pthread_", 10) != 0;
}

static void *lookup(const char *name, const char *version, const char *older)
{
	void *real = dlvsym(RTLD_NEXT, name, version);
	void *first = has_default_version(name) ? dlsym(RTLD_NEXT, name) : real;

	if (real == NULL && older != NULL)
		real = dlvsym(RTLD_NEXT, name, older);
	if (is_c11(name) && real != first)
		st_real_c11 = false;
	/* Another libc, or the versions of another architecture. */
	if (real == NULL || (first != NULL && real != first && !in_one_object(real, first))) {
		if (first != NULL)
			note_foreign(name);
		real = first;
	}
	if (real == NULL)
		real = says_errno(name) ? (void *)missing_errno : (void *)missing;
	return real;
}

static void choose_tries(void)
{
	st_try = (struct st_try){
	    .mutex = foreign[MUTEX] ? st_mutex_look : st_real.pthread_mutex_trylock,
	    .rdlock = foreign[RWLOCK] ? st_rdlock_look : st_real.pthread_rwlock_tryrdlock,
	    .wrlock = foreign[RWLOCK] ? st_wrlock_look : st_real.pthread_rwlock_trywrlock,
	    .spin = foreign[SPIN] ? st_spin_look : st_real.pthread_spin_trylock,
	    .sem = foreign[SEM] ? st_sem_look : st_real.sem_trywait,
	    .join = foreign[JOIN] ? st_join_look : st_real.pthread_tryjoin_np,
	};
}

void st_real_resolve(void)
{
	static const struct {
		size_t offset;
		const char *name, *version, *older;
	} rows[] = {
#define ST_REAL_ROW(type, name, parameters, version, older)                                        \
	{offsetof(struct st_real, name), #name, version, older},
	    ST_REALS(ST_REAL_ROW)
#undef ST_REAL_ROW
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		void **slot = (void **)((char *)&st_real + rows[i].offset);

		if (__atomic_load_n(slot, __ATOMIC_RELAXED) == NULL) {
			void *real = lookup(rows[i].name, rows[i].version, rows[i].older);

			__atomic_store_n(slot, real, __ATOMIC_RELEASE);
		}
	}
	if (st_try.mutex == NULL)
		choose_tries();
}
