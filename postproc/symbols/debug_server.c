/* SPDX-License-Identifier: MIT */
/*
 * libdw loads libdebuginfod only if DEBUGINFOD_URLS is set, and so its functions are found here in
 * the loaded library.  It calls our function about once a second, and ends the request if that
 * returns 1.
 */
#include "symbols/debug_server.h"

#include <dlfcn.h>
#include <glib.h>

#include "core/progress.h"

#define PATIENCE_S 10

struct request {
	const char *name;
	long n_bytes;
	int64_t last_us; /* when more arrived; 0: not asked yet */
};

static _Thread_local struct request request;
static int is_silent; /* atomic */

static const char *(*server_of)(debuginfod_client *client);

static int64_t patience_us(void)
{
	const char *text = g_getenv("DEBUGINFOD_TIMEOUT");
	uint64_t seconds = text ? g_ascii_strtoull(text, NULL, 10) : 0;

	return (seconds ? (int64_t)MIN(seconds, 86400) : PATIENCE_S) * G_USEC_PER_SEC;
}

/* `n_bytes` is a count of calls until a server has answered. */
static int note_progress(debuginfod_client *client, long n_bytes, long n_all)
{
	const char *server = server_of ? server_of(client) : NULL;
	int64_t now_us = g_get_monotonic_time();

	if (pp_debug_server_is_silent())
		return 1;
	if (!server)
		n_bytes = n_all = 0;
	if (!request.last_us || n_bytes != request.n_bytes)
		request.last_us = now_us;
	request.n_bytes = n_bytes;
	pp_progress_download(request.name, (uint64_t)n_bytes, (uint64_t)MAX(n_all, 0));
	if (now_us - request.last_us < patience_us())
		return 0;
	g_atomic_int_set(&is_silent, 1);
	return 1;
}

void pp_debug_server_begin(Dwfl *dwfl, const char *name)
{
	const char *servers = g_getenv("DEBUGINFOD_URLS");
	debuginfod_client *client = servers && *servers ? dwfl_get_debuginfod_client(dwfl) : NULL;
	void *library = client ? dlopen("libdebuginfod.so.1", RTLD_NOLOAD | RTLD_LAZY) : NULL;
	void (*set_progress)(debuginfod_client *, int (*)(debuginfod_client *, long, long)) = NULL;

	request = (struct request){.name = name};
	if (!library)
		return;
	*(void **)&set_progress = dlsym(library, "debuginfod_set_progressfn");
	*(void **)&server_of = dlsym(library, "debuginfod_get_url");
	if (set_progress)
		set_progress(client, note_progress);
	dlclose(library);
}

void pp_debug_server_end(bool found)
{
	/* The user's DEBUGINFOD_TIMEOUT is also libdebuginfod's, which may notice the end first. */
	if (!found && request.last_us &&
	    g_get_monotonic_time() - request.last_us > patience_us() / 2)
		g_atomic_int_set(&is_silent, 1);
	if (request.last_us)
		pp_progress_download(NULL, 0, 0);
	request = (struct request){.name = NULL};
}

bool pp_debug_server_is_silent(void)
{
	return g_atomic_int_get(&is_silent);
}
