/* SPDX-License-Identifier: MIT */
/* The known events of CTF traces, by name, and the positions of their fields. */
#ifndef PP_CTF_EVENT_CLASS_H
#define PP_CTF_EVENT_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "core/event.h"

/* Kinds of event classes.  PP_CLASS_UNSEEN: not examined yet. */
enum pp_class {
	PP_CLASS_UNSEEN,
	PP_CLASS_IGNORED,
	PP_CLASS_SITE,
	PP_CLASS_CALL_PATH,
	PP_CLASS_PATH,
	PP_CLASS_TRIES,
	PP_CLASS_CONDITIONALS,
	PP_CLASS_ORDER,
	PP_CLASS_SYNC,
	PP_CLASS_IO,
	PP_CLASS_SAMPLE,
	PP_CLASS_LINES,
	PP_CLASS_KNOWN_LINES,
	PP_CLASS_SEGMENT,
	PP_CLASS_HEAP_BLOCK,
	PP_CLASS_HEAP_FREED,
	PP_CLASS_SWITCH,
	PP_CLASS_WAKING,
	PP_CLASS_FORK,
	PP_CLASS_EXIT,
	PP_CLASS_EXEC,
	PP_CLASS_STATE,
	PP_CLASS_IRQ_ENTRY,
	PP_CLASS_IRQ_EXIT,
	PP_CLASS_SYSCALL_ENTRY,
	PP_CLASS_SYSCALL_EXIT,
	PP_CLASS_FAULT,
	PP_CLASS_SIGNAL_GENERATE,
	PP_CLASS_SIGNAL_DELIVER,
	PP_CLASS_BLOCK_ISSUE,
	PP_CLASS_TIMER_EXPIRE,
	PP_CLASS_LOAD,
	PP_CLASS_BUILD_ID,
};

/* Positions in pp_event_class.fields. */
enum { PP_SITE_NUMBER, PP_SITE_ADDRESS };
enum { PP_CALL_PATH_NUMBER, PP_CALL_PATH_OBJECT_LOW };
enum { PP_PATH_NUMBER, PP_PATH_PARENT, PP_PATH_ADDRESS };
enum { PP_SAMPLE_PATH, PP_SAMPLE_N };
enum { PP_CONDITIONALS_COUNT };
enum { PP_ORDER_NUMBER };
enum { PP_LINES_SET, PP_LINES_N, PP_LINES_AT };
enum { PP_KNOWN_SET, PP_KNOWN_LAST, PP_KNOWN_N, PP_KNOWN_AT };
enum {
	PP_SEGMENT_SET,
	PP_SEGMENT_DURATION,
	PP_SEGMENT_READS,
	PP_SEGMENT_WRITES,
	PP_SEGMENT_FLAGS,
	PP_SEGMENT_LEFT_OUT,
};
enum { PP_HEAP_ADDRESS, PP_HEAP_SIZE, PP_HEAP_SITE };
enum { PP_TRIES_OBJECT, PP_TRIES_HOLDER, PP_TRIES_MORE };
enum { PP_SYNC_RESULT, PP_SYNC_SITE, PP_SYNC_OBJECT, PP_SYNC_HOLDER, PP_SYNC_VALUE };
/* The first three are those of PP_CLASS_SYNC. */
enum {
	PP_IO_RESULT,
	PP_IO_SITE,
	PP_IO_OBJECT,
	PP_IO_CALL,
	PP_IO_PATH,
	PP_IO_DURATION,
};
enum { PP_SWITCH_PREV, PP_SWITCH_STATE, PP_SWITCH_NEXT, PP_SWITCH_PREV_COMM, PP_SWITCH_NEXT_COMM };
/* PP_WAKING_WAKER and PP_WAKING_IRQ are in the event's context, the others in its payload. */
enum { PP_WAKING_TID, PP_WAKING_CPU, PP_WAKING_COMM, PP_WAKING_WAKER, PP_WAKING_IRQ };
enum { PP_FORK_PARENT_TID, PP_FORK_CHILD_TID, PP_FORK_CHILD_PID, PP_FORK_CHILD_COMM };
enum { PP_TASK_TID, PP_TASK_COMM };
enum { PP_STATE_TID, PP_STATE_BITS };
enum { PP_FAULT_ADDRESS, PP_FAULT_IP };
enum { PP_SIGNAL_NUMBER, PP_SIGNAL_TARGET };
enum { PP_BLOCK_SECTOR, PP_BLOCK_BYTES, PP_BLOCK_RWBS, PP_BLOCK_TID };
enum { PP_LOAD_BASE, PP_LOAD_BYTES, PP_LOAD_PIC, PP_LOAD_PATH };

/* The source of a trace's event names. */
enum pp_class_names { PP_NAMES_OURS, PP_NAMES_KERNEL, PP_NAMES_UST };

#define PP_MAX_FIELDS 6

/* A member of a structure, as the trace's metadata defines it. */
/* PP_MEMBER_LINES: a sequence of struct st_access_line; _PLACES: of places of such lines. */
enum pp_member_type {
	PP_MEMBER_OTHER,
	PP_MEMBER_INTEGER,
	PP_MEMBER_STRING,
	PP_MEMBER_LINES,
	PP_MEMBER_PLACES
};

/* The fields of their elements with their bits, as pp_member_append() writes them. */
#define PP_PLACES_ELEMENT "place 16, "
#define PP_LINES_ELEMENT                                                                           \
	"address 64, read 64, written 64, changed 64, first 32, last 32, first_site 64, "          \
	"last_site 64, "

struct pp_member {
	const char *name;
	enum pp_member_type type;
	bool is_signed;
};

struct pp_members {
	const struct pp_member *at;
	unsigned n;
};

/* An event class, as the metadata defines it. */
struct pp_class_description {
	const char *name; /* NULL: unnamed */
	struct pp_members payload, context, common_context;
};

struct pp_field {
	int16_t index; /* in its structure; -1: the class lacks it */
	bool is_signed;
	bool in_context; /* in the event's own context, not in the payload */
	uint8_t type;	 /* enum pp_member_type */
};

/* The integer fields of a system call's class. */
struct pp_syscall_class {
	const char *name; /* interned */
	unsigned n;
	const char *names[PP_SYSCALL_VALUES]; /* interned */
	struct pp_field fields[PP_SYSCALL_VALUES];
};

struct pp_event_class {
	uint8_t what; /* enum pp_class */
	uint8_t op;   /* PP_CLASS_SYNC: enum st_event */
	struct pp_field fields[PP_MAX_FIELDS];
	int16_t tid, common_tid;	  /* in the event's own context, and in the stream's; -1:
					   * none */
	struct pp_syscall_class *syscall; /* owned; NULL: not a system call */
};

/*
 * Determines the kind of the class.  Returns NULL, or the name of a required field that is missing
 * or not an integer; the class is then PP_CLASS_IGNORED.
 */
const char *pp_event_class_learn(struct pp_event_class *class,
				 const struct pp_class_description *description,
				 enum pp_class_names names);

/* The type of a sequence, by the text of its element; see PP_LINES_ELEMENT. */
enum pp_member_type pp_member_sequence(const char *element);

/* Appends an unsigned integer of the element of a sequence to that text. */
void pp_member_append(GString *text, const char *name, unsigned bits);

/* Returns the position of a member of that type; -1: none. */
int pp_member_find(struct pp_members members, const char *name, enum pp_member_type type);

#endif
