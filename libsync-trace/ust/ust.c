/* SPDX-License-Identifier: MIT */
/*
 * The sink LTTng-UST: loads its provider, and passes events to it.
 *
 * The provider is loaded by the library's constructor, never by an event: an event may come from an
 * allocator or from within the loader. LTTng locks mutexes, allocates and starts threads of its
 * own. None of that belongs to the program, and all of it is excluded: during calls to LTTng other
 * than events, the thread's writer is st_busy, so nothing is recorded; threads started then are
 * st_off; and calls of its code at other times, such as at exit, are recognized by the call site. A
 * thread is registered with LTTng before its first event, so that an event takes no lock.
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "record/internal.h"
#include "libc/real.h"
#include "runtime/files/file.h"
#include "runtime/files/warn.h"
#include "runtime/process/loadmap.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/sys.h"
#include "ust/ust.h"

#define PROVIDER    "libsync_trace_ust.so"
#define FORK_HELPER "liblttng-ust-fork"

/* handlers that interrupt events, nested; LTTng silently drops deeper ones */
#define DEPTH_MAX 4

/* The code of LTTng's objects and of the provider. */
static struct {
	uintptr_t start, end;
} own[8];
static unsigned n_own;

static const struct st_ust_provider *loaded;
static const struct st_ust_provider *active; /* NULL in a child unknown to LTTng */
static int active_pid;
static bool has_fork_helper;
static bool forking; /* LTTng holds its locks for a fork */

static __thread bool is_known __attribute__((tls_model("initial-exec")));
static __thread unsigned depth __attribute__((tls_model("initial-exec")));

/* --- loading -------------------------------------------------------------------------------- */

static void add_own(const char *symbol, void *handle)
{
	void *address = dlsym(handle, symbol);
	struct gm_object object;

	if (address == NULL || n_own == sizeof(own) / sizeof(own[0]) ||
	    !gm_maps_note((uintptr_t)address, &object))
		return;
	own[n_own].start = object.start;
	own[n_own].end = object.end;
	/* release: pairs with the acquire in st_ust_is_own() */
	__atomic_store_n(&n_own, n_own + 1, __ATOMIC_RELEASE);
}

bool st_ust_is_own(uintptr_t site)
{
	unsigned n = __atomic_load_n(&n_own, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < n; i++)
		if (site - own[i].start < own[i].end - own[i].start)
			return true;
	return false;
}

/* Stores the path of the provider, which is in the directory of this library. */
static void provider_path(char *buffer, size_t size_bytes)
{
	struct gm_text text = {buffer, size_bytes, 0};
	size_t directory = 0;
	Dl_info self;

	if (dladdr((void *)st_ust_is_own, &self) != 0)
		for (size_t i = 0; self.dli_fname[i] != '\0'; i++)
			if (self.dli_fname[i] == '/')
				directory = i + 1;
	if (directory > 0)
		gm_text_add_bytes(&text, self.dli_fname, directory);
	gm_text_add(&text, PROVIDER);
}

static void complain(const char *reason, bool native)
{
	char warning[GM_WARNING_BYTES];
	struct gm_text text = GM_TEXT(warning);

	gm_text_add(&text, "sync.sink: LTTng-UST cannot be used: ");
	gm_text_add(&text, reason);
	gm_text_add(&text, native ? "; synchronization is recorded only natively"
				  : "; synchronization is not recorded");
	gm_warn_once(warning);
}

/* Returns true if LTTng's own wrapper of fork() is loaded, which does the necessary calls. */
static bool find_fork_helper(void)
{
	void *fork_now = dlsym(RTLD_DEFAULT, "fork");
	Dl_info info;

	return fork_now != NULL && dladdr(fork_now, &info) != 0 &&
	       strstr(info.dli_fname, FORK_HELPER) != NULL;
}

/* --- fork ----------------------------------------------------------------------------------- */

/* Excludes LTTng's own calls from recording. */
static struct st_thread *step_aside(void)
{
	struct st_thread *self = st_self;

	st_self = &st_busy;
	return self;
}

static void fork_prepare(void)
{
	struct st_thread *self = step_aside();

	if (active != NULL) {
		active->fork_prepare();
		forking = true;
	}
	st_self = self;
}

static void fork_parent(void)
{
	struct st_thread *self = step_aside();

	if (forking) {
		forking = false;
		active->fork_parent();
	}
	st_self = self;
}

static void fork_child(void)
{
	struct st_thread *self = step_aside();

	active = forking ? loaded : NULL;
	if (forking) {
		forking = false;
		active_pid = gm_sys_getpid();
		active->fork_child();
	}
	st_self = self;
}

void st_ust_forked(void)
{
	int pid = gm_sys_getpid();

	/* Until fork_child() has run, if it does. */
	if (!has_fork_helper && active_pid != pid)
		active = NULL;
}

void st_ust_disown(void)
{
	active = NULL;
}

/* --- life ----------------------------------------------------------------------------------- */

static const char *load(void)
{
	static GM_LARGE char path[GM_PATH_MAX];
	const struct st_ust_provider *provider;
	void *handle;

	provider_path(path, sizeof(path));
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (handle == NULL)
		return dlerror();
	provider = dlsym(handle, ST_UST_PROVIDER);
	if (provider == NULL || provider->version != ST_UST_VERSION)
		return PROVIDER " belongs to another version of gprof-mt";
	gm_maps_update();
	add_own(ST_UST_PROVIDER, handle);
	add_own("lttng_ust_init_thread", handle);
	add_own("lttng_ust_common_ctor", handle);
	add_own("lttng_ust_tp_init", handle);
	loaded = provider;
	return NULL;
}

void st_ust_open(bool native)
{
	const char *failure;
	uint64_t mask;
	struct st_thread *self;

	/* LTTng's threads inherit this mask, so they receive none of the program's signals. */
	gm_signals_block(&mask);
	self = step_aside();
	failure = load();
	if (failure == NULL) {
		active_pid = gm_sys_getpid();
		has_fork_helper = find_fork_helper();
		if (!has_fork_helper)
			pthread_atfork(fork_prepare, fork_parent, fork_child);
		/* release: pairs with the acquire in st_ust_emit() */
		__atomic_store_n(&active, loaded, __ATOMIC_RELEASE);
	} else {
		complain(failure, native);
	}
	st_self = self;
	gm_signals_restore(mask);
}

/* --- events --------------------------------------------------------------------------------- */

/* Registers the thread with LTTng, which takes its locks. */
static ST_COLD void introduce(const struct st_ust_provider *provider)
{
	struct st_thread *self;
	uint64_t mask;

	gm_signals_block(&mask);
	self = step_aside();
	provider->thread_init();
	is_known = true;
	st_self = self;
	gm_signals_restore(mask);
}

bool st_ust_emit(const struct st_record *record)
{
	const struct st_ust_provider *provider = __atomic_load_n(&active, __ATOMIC_ACQUIRE);
	int *error = &errno;
	int saved_errno = *error;
	uint64_t extra = record->extra;

	if (record->id == ST_EVENT_io_call)
		extra |= (uint64_t)record->call << ST_UST_CALL_SHIFT;
	if (st_unlikely(provider == NULL) || st_unlikely(depth == DEPTH_MAX))
		return false;
	if (st_unlikely(!is_known))
		introduce(provider);
	depth++;
	provider->emit[record->id](record->result, record->site, record->object, extra);
	depth--;
	*error = saved_errno;
	return true;
}
