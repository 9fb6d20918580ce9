/* SPDX-License-Identifier: MIT */
/*
 * Chooses the width of each argument, and appends a class to the metadata when it is first needed.
 */
#include "record/ctf/classes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/text/write.h"
#include "record/ctf/declaration.h"

#define UNKNOWN "unknown" /* LTTng's name for unnamed system calls */

void pp_kernel_classes_init(struct pp_kernel_classes *classes, const struct pp_syscalls *syscalls,
			    int metadata_fd, unsigned first_id)
{
	*classes = (struct pp_kernel_classes){
	    .syscalls = syscalls,
	    .metadata_fd = metadata_fd,
	    .metadata_bytes = lseek(metadata_fd, 0, SEEK_END),
	    .ids = g_hash_table_new(NULL, NULL),
	    .next = first_id,
	};
}

void pp_kernel_classes_done(struct pp_kernel_classes *classes)
{
	if (!classes->ids)
		return;
	g_clear_pointer(&classes->ids, g_hash_table_unref);
	close(classes->metadata_fd);
}

/* --- widths --------------------------------------------------------------------------------- */

static uint8_t width_of_word(uint64_t value)
{
	return value <= UINT32_MAX ? 4 : value < UINT64_C(1) << 48 ? 6 : 8;
}

static uint8_t width_of_result(int64_t value)
{
	const int64_t max = (INT64_C(1) << 47) - 1;

	return value == (int32_t)value ? 4 : value >= -max && value <= max ? 6 : 8;
}

static uint8_t width_of_argument(const struct pp_argument *argument, uint64_t value)
{
	return argument->type == PP_ARGUMENT_INT || argument->type == PP_ARGUMENT_UINT
		   ? 4
		   : width_of_word(value);
}

static void lay_out(const struct pp_syscall *syscall, const struct pp_kevent *event,
		    struct pp_kernel_layout *layout)
{
	layout->has_number = !syscall;
	if (event->kind == PP_KEVENT_SYSCALL_EXIT) {
		layout->n_values = 1;
		layout->bytes[0] = width_of_result((int64_t)event->values[0]);
		return;
	}
	layout->n_values = syscall ? syscall->n_arguments : PP_SYSCALL_ARGUMENTS;
	for (unsigned i = 0; i < layout->n_values; i++)
		layout->bytes[i] = syscall
				       ? width_of_argument(&syscall->arguments[i], event->values[i])
				       : width_of_word(event->values[i]);
}

/* --- declarations --------------------------------------------------------------------------- */

static void add_field(GString *members, const char *name, enum pp_argument_type type, uint8_t bytes)
{
	pp_declare_integer(members, name, bytes, type == PP_ARGUMENT_INT,
			   type == PP_ARGUMENT_ADDRESS);
}

static void add_fields(GString *members, const struct pp_syscall *syscall,
		       const struct pp_kevent *event, const struct pp_kernel_layout *layout)
{
	if (layout->has_number)
		add_field(members, "id", PP_ARGUMENT_INT, sizeof(event->number));
	if (event->kind == PP_KEVENT_SYSCALL_EXIT) {
		add_field(members, "ret", PP_ARGUMENT_INT, layout->bytes[0]);
		return;
	}
	for (unsigned i = 0; i < layout->n_values; i++) {
		g_autofree char *number = g_strdup_printf("arg%u", i);

		if (syscall)
			add_field(members, syscall->arguments[i].name, syscall->arguments[i].type,
				  layout->bytes[i]);
		else
			add_field(members, number, PP_ARGUMENT_ADDRESS, layout->bytes[i]);
	}
}

/* Writes all or nothing: readers reject an incomplete declaration. */
static int append(struct pp_kernel_classes *classes, const GString *text)
{
	int rc = pp_write_all(classes->metadata_fd, text->str, text->len);

	if (rc == 0)
		classes->metadata_bytes += (off_t)text->len;
	else if (ftruncate(classes->metadata_fd, classes->metadata_bytes) == 0)
		lseek(classes->metadata_fd, classes->metadata_bytes, SEEK_SET);
	return rc;
}

static int declare(struct pp_kernel_classes *classes, const struct pp_syscall *syscall,
		   const struct pp_kevent *event, const struct pp_kernel_layout *layout)
{
	g_autoptr(GString) text = g_string_new(NULL), members = g_string_new(NULL);
	g_autofree char *name = g_strdup_printf(
	    "syscall_%s_%s", event->kind == PP_KEVENT_SYSCALL_EXIT ? "exit" : "entry",
	    syscall ? syscall->name : UNKNOWN);

	if (classes->next > UINT16_MAX)
		return -EOVERFLOW;
	add_fields(members, syscall, event, layout);
	pp_declare_event(text, name, classes->next, "int32_t tid;", members->str);
	return append(classes, text);
}

/* Returns the key of a class: system call, entry or exit, and two bits for each width. */
static void *key_of(const struct pp_syscall *syscall, const struct pp_kevent *event,
		    const struct pp_kernel_layout *layout)
{
	uintptr_t call = syscall ? (uintptr_t)event->number + 1 : 0;
	uintptr_t key = call << 1 | (event->kind == PP_KEVENT_SYSCALL_EXIT);

	for (unsigned i = 0; i < PP_SYSCALL_ARGUMENTS; i++)
		key = key << 2 | (i < layout->n_values ? layout->bytes[i] / 2 - 2 : 0);
	return (void *)(key + 1);
}

int pp_kernel_class(struct pp_kernel_classes *classes, const struct pp_kevent *event,
		    struct pp_kernel_layout *ret)
{
	const struct pp_syscall *syscall = pp_syscall(classes->syscalls, event->number);
	void *key;
	guint id;

	*ret = (struct pp_kernel_layout){0};
	lay_out(syscall, event, ret);
	key = key_of(syscall, event, ret);
	id = GPOINTER_TO_UINT(g_hash_table_lookup(classes->ids, key));
	if (id == 0) {
		int rc = declare(classes, syscall, event, ret);

		if (rc)
			return rc;
		id = classes->next++;
		g_hash_table_insert(classes->ids, key, GUINT_TO_POINTER(id));
	}
	ret->id = (uint16_t)id;
	return 0;
}
