/* SPDX-License-Identifier: MIT */
/* See io_call.h; the tables are made from the list in the wire contract. */
#include "core/io_call.h"

#include <inttypes.h>
#include <string.h>

#include <glib.h>

#define UNKNOWN "unknown"

const char *pp_io_name(enum st_io_call call)
{
	static const char *const names[ST_N_IO_CALLS] = {
#define NAME(name, kind, object) #name,
	    ST_IO_CALLS(NAME)
#undef NAME
	};

	return (unsigned)call < ST_N_IO_CALLS ? names[call] : UNKNOWN;
}

enum st_io_call pp_io_find(const char *name)
{
	enum st_io_call call = 0;

	while (call < ST_N_IO_CALLS && strcmp(pp_io_name(call), name) != 0)
		call++;
	return call;
}

enum st_io_kind pp_io_kind(enum st_io_call call)
{
	static const unsigned char kinds[ST_N_IO_CALLS] = {
#define KIND(name, kind, object) ST_IO_KIND_##kind,
	    ST_IO_CALLS(KIND)
#undef KIND
	};

	return (unsigned)call < ST_N_IO_CALLS ? kinds[call] : ST_N_IO_KINDS;
}

const char *pp_io_kind_name(enum st_io_kind kind)
{
	static const char *const names[ST_N_IO_KINDS] = {
#define KIND_NAME(name) #name,
	    ST_IO_KINDS(KIND_NAME)
#undef KIND_NAME
	};

	return (unsigned)kind < ST_N_IO_KINDS ? names[kind] : UNKNOWN;
}

enum st_io_object pp_io_object(enum st_io_call call)
{
	static const unsigned char objects[ST_N_IO_CALLS] = {
#define OBJECT(name, kind, object) ST_IO_##object,
	    ST_IO_CALLS(OBJECT)
#undef OBJECT
	};

	return (unsigned)call < ST_N_IO_CALLS ? objects[call] : ST_IO_NO_OBJECT;
}

bool pp_io_is_idle(enum st_io_call call)
{
	enum st_io_kind kind = pp_io_kind(call);

	return kind == ST_IO_KIND_sleep || kind == ST_IO_KIND_poll || kind == ST_IO_KIND_process ||
	       kind == ST_IO_KIND_signal || call == ST_IO_accept || call == ST_IO_accept4;
}

char *pp_io_object_text(enum st_io_call call, int fd, uint64_t object)
{
	int64_t id = (int64_t)object;

	switch (pp_io_object(call)) {
	case ST_IO_FD:
		return fd >= 0 ? g_strdup_printf("fd %d", fd) : NULL;
	case ST_IO_ID:
		if (pp_io_kind(call) != ST_IO_KIND_process)
			return g_strdup_printf("id %" PRId64, id);
		return id == -1	 ? g_strdup("any child")
		       : id > 0	 ? g_strdup_printf("pid %" PRId64, id)
		       : id == 0 ? g_strdup("its process group")
				 : g_strdup_printf("process group %" PRId64, -id);
	case ST_IO_ADDRESS:
		return g_strdup_printf("0x%" PRIx64, object);
	case ST_IO_NO_OBJECT:
		break;
	}
	return NULL;
}

const char *pp_op_function(enum st_event op)
{
	return pp_op_is_io(op) ? pp_io_name(pp_op_io(op)) : pp_sync_function(op);
}
