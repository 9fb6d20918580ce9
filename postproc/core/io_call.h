/* SPDX-License-Identifier: MIT */
/* Names and kinds of blocking calls (sync-trace/calls.h). */
#ifndef PP_CORE_IO_CALL_H
#define PP_CORE_IO_CALL_H

#include <stdbool.h>

#include "core/operation.h"
#include "sync-trace/calls.h"

/* "read", "epoll_wait": the function that the program called. */
const char *pp_io_name(enum st_io_call call);

/* The call with that name; ST_N_IO_CALLS: there is none. */
enum st_io_call pp_io_find(const char *name);

enum st_io_kind pp_io_kind(enum st_io_call call);

/* "sleep", "poll": what the call waits for. */
const char *pp_io_kind_name(enum st_io_kind kind);

enum st_io_object pp_io_object(enum st_io_call call);

/*
 * True if the call waits for something that the program itself does not do: for time, for any of
 * several inputs, for a connection, a child or a signal.
 */
bool pp_io_is_idle(enum st_io_call call);

/* "fd 3", "pid 1234", "any child", "0x7f12": what the call waits for; NULL: no object. */
char *pp_io_object_text(enum st_io_call call, int fd, uint64_t object);

/* A number for the call where figures of calls and of operations have one key. */
static inline enum st_event pp_io_op(enum st_io_call call)
{
	return (enum st_event)(ST_N_EVENTS + 1u + call);
}

/* Is it a blocking call?  Else it is an operation, or ST_N_EVENTS. */
static inline bool pp_op_is_io(enum st_event op)
{
	return (unsigned)op > ST_N_EVENTS;
}

static inline enum st_io_call pp_op_io(enum st_event op)
{
	return (enum st_io_call)(op - ST_N_EVENTS - 1u);
}

/* The function that the program called, as pp_sync_function(). */
const char *pp_op_function(enum st_event op);

#endif
