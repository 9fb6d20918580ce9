/* SPDX-License-Identifier: MIT */
#include "input/event_class.h"

#include <string.h>

#include <glib.h>

#include "sync-trace/events.h"

#define PROVIDER      "gmon_mt_sync:"
#define SYSCALL_ENTRY "syscall_entry_"
#define SYSCALL_EXIT  "syscall_exit_"

enum need { NONE, INTEGER, STRING, INTEGER_OR_NONE, STRING_OR_NONE, ARRAY, CONTEXT_OR_NONE };

struct wanted_field {
	const char *name;
	enum need need;
};

/* Those of the wire contract, those of the kernel, and those of LTTng-UST about a process. */
enum shape {
	OP,
	BEGIN,
	VALUE,
	COND,
	ROUTINE,
	SITE,
	CALL_PATH,
	PATH,
	SWITCH,
	WAKING,
	FORK,
	EXIT,
	EXEC,
	IRQ_ENTRY,
	IRQ_EXIT,
	FAULT,
	SIGNAL_GENERATE,
	SIGNAL_DELIVER,
	BLOCK_ISSUE,
	TIMER_EXPIRE,
	LOAD,
	BUILD_ID,
};

/* By the positions of the header. */
static const struct wanted_field shape_fields[][PP_MAX_FIELDS] = {
    [OP] = {{"result", INTEGER}, {"site", INTEGER}, {"object", INTEGER}},
    [BEGIN] = {{"result", INTEGER}, {"site", INTEGER}, {"object", INTEGER}, {"holder", INTEGER}},
    [VALUE] = {{"result", INTEGER}, {"site", INTEGER}, {"object", INTEGER}, {}, {"value", INTEGER}},
    [COND] = {{"result", INTEGER}, {"site", INTEGER}, {"object", INTEGER}, {}, {"mutex", INTEGER}},
    [ROUTINE] =
	{{"result", INTEGER}, {"site", INTEGER}, {"object", INTEGER}, {}, {"routine", INTEGER}},
    [SITE] = {{"number", INTEGER}, {"address", INTEGER}},
    [CALL_PATH] = {{"path", INTEGER}, {"object", INTEGER}},
    [PATH] = {{"number", INTEGER}, {"addresses", ARRAY}},
    [SWITCH] = {{"prev_tid", INTEGER},
		{"prev_state", INTEGER},
		{"next_tid", INTEGER},
		{"prev_comm", STRING_OR_NONE},
		{"next_comm", STRING_OR_NONE}},
    [WAKING] = {{"tid", INTEGER},
		{"target_cpu", INTEGER_OR_NONE},
		{"comm", STRING_OR_NONE},
		{"tid", CONTEXT_OR_NONE},
		{"irq", CONTEXT_OR_NONE}},
    [FORK] = {{"parent_tid", INTEGER},
	      {"child_tid", INTEGER},
	      {"child_pid", INTEGER},
	      {"child_comm", STRING_OR_NONE}},
    [EXIT] = {{"tid", INTEGER}, {"comm", STRING_OR_NONE}},
    [EXEC] = {{"tid", INTEGER}},
    [IRQ_ENTRY] = {{}},
    [IRQ_EXIT] = {{}},
    [FAULT] = {{"address", INTEGER}, {"ip", INTEGER}},
    [SIGNAL_GENERATE] = {{"sig", INTEGER}, {"pid", INTEGER}},
    [SIGNAL_DELIVER] = {{"sig", INTEGER}},
    [BLOCK_ISSUE] = {{"sector", INTEGER},
		     {"bytes", INTEGER_OR_NONE},
		     {"rwbs", INTEGER_OR_NONE},
		     {"tid", INTEGER_OR_NONE}},
    [TIMER_EXPIRE] = {{}},
    [LOAD] = {{"baddr", INTEGER}, {"memsz", INTEGER}, {"is_pic", INTEGER}, {"path", STRING}},
    [BUILD_ID] = {{"baddr", INTEGER}},
};

static const struct known_class {
	const char *name;
	enum shape shape;
} user_classes[] = {
#define KNOWN(name, shape) {#name, shape},
    ST_EVENTS(KNOWN)
#undef KNOWN
};

static const struct known_class kernel_classes[] = {
    {"sched_switch", SWITCH},
    {"sched_waking", WAKING},
    {"sched_process_fork", FORK},
    {"sched_process_exit", EXIT},
    {"sched_process_exec", EXEC},
    {"x86_exceptions_page_fault_user", FAULT},
    {"x86_exceptions_page_fault_kernel", FAULT},
    {"signal_generate", SIGNAL_GENERATE},
    {"signal_deliver", SIGNAL_DELIVER},
    {"block_rq_issue", BLOCK_ISSUE},
    {"timer_hrtimer_expire_entry", TIMER_EXPIRE},
    {"irq_handler_entry", IRQ_ENTRY},
    {"irq_handler_exit", IRQ_EXIT},
    {"irq_softirq_entry", IRQ_ENTRY},
    {"irq_softirq_exit", IRQ_EXIT},
    {"x86_irq_vectors_local_timer_entry", IRQ_ENTRY},
    {"x86_irq_vectors_local_timer_exit", IRQ_EXIT},
};

static const struct known_class ust_classes[] = {
    {"lttng_ust_statedump:bin_info", LOAD},
    {"lttng_ust_statedump:build_id", BUILD_ID},
};

static enum pp_class class_of(enum shape shape)
{
	switch (shape) {
	case SITE:
		return PP_CLASS_SITE;
	case CALL_PATH:
		return PP_CLASS_CALL_PATH;
	case PATH:
		return PP_CLASS_PATH;
	case SWITCH:
		return PP_CLASS_SWITCH;
	case WAKING:
		return PP_CLASS_WAKING;
	case FORK:
		return PP_CLASS_FORK;
	case EXIT:
		return PP_CLASS_EXIT;
	case EXEC:
		return PP_CLASS_EXEC;
	case IRQ_ENTRY:
		return PP_CLASS_IRQ_ENTRY;
	case IRQ_EXIT:
		return PP_CLASS_IRQ_EXIT;
	case FAULT:
		return PP_CLASS_FAULT;
	case SIGNAL_GENERATE:
		return PP_CLASS_SIGNAL_GENERATE;
	case SIGNAL_DELIVER:
		return PP_CLASS_SIGNAL_DELIVER;
	case BLOCK_ISSUE:
		return PP_CLASS_BLOCK_ISSUE;
	case TIMER_EXPIRE:
		return PP_CLASS_TIMER_EXPIRE;
	case LOAD:
		return PP_CLASS_LOAD;
	case BUILD_ID:
		return PP_CLASS_BUILD_ID;
	default:
		return PP_CLASS_SYNC;
	}
}

static bool is_integer(bt_field_class_type type, bool *ret_signed)
{
	*ret_signed = bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
	return *ret_signed || bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER);
}

static bool is_array(const bt_field_class *class)
{
	bt_field_class_type type = bt_field_class_get_type(class);

	return bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY) &&
	       bt_field_class_type_is(
		   bt_field_class_get_type(
		       bt_field_class_array_borrow_element_field_class_const(class)),
		   BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER);
}

static bool is_as_needed(const bt_field_class *class, enum need need, bool *ret_signed)
{
	bt_field_class_type type = bt_field_class_get_type(class);

	if (need == ARRAY)
		return is_array(class);
	if (need == STRING || need == STRING_OR_NONE)
		return bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_STRING);
	return is_integer(type, ret_signed);
}

/* Position of the member in the structure; -1: none of that name and type. */
static int find_member(const bt_field_class *structure, const char *name, enum need need,
		       bool *ret_signed)
{
	uint64_t n = structure ? bt_field_class_structure_get_member_count(structure) : 0;

	for (uint64_t i = 0; i < n && i < INT16_MAX; i++) {
		const bt_field_class_structure_member *member =
		    bt_field_class_structure_borrow_member_by_index_const(structure, i);

		if (strcmp(bt_field_class_structure_member_get_name(member), name) != 0)
			continue;
		if (is_as_needed(bt_field_class_structure_member_borrow_field_class_const(member),
				 need, ret_signed))
			return (int)i;
		return -1;
	}
	return -1;
}

int pp_member_index(const bt_field_class *structure, const char *name)
{
	bool is_signed;

	return find_member(structure, name, INTEGER, &is_signed);
}

static const char *find_fields(struct pp_event_class *class, const struct wanted_field *wanted,
			       const bt_event_class *event_class)
{
	const bt_field_class *payload =
	    bt_event_class_borrow_payload_field_class_const(event_class);
	const bt_field_class *context =
	    bt_event_class_borrow_specific_context_field_class_const(event_class);

	for (unsigned i = 0; i < PP_MAX_FIELDS; i++) {
		struct pp_field *field = &class->fields[i];
		bool in_context = wanted[i].need == CONTEXT_OR_NONE;

		field->index = -1;
		if (wanted[i].need == NONE)
			continue;
		field->index = (int16_t)find_member(in_context ? context : payload, wanted[i].name,
						    wanted[i].need, &field->is_signed);
		if (field->index < 0 && (wanted[i].need == INTEGER || wanted[i].need == STRING ||
					 wanted[i].need == ARRAY))
			return wanted[i].name;
	}
	return NULL;
}

/* Its integers in order: arguments at the entry, at the exit the result. */
static void learn_syscall(struct pp_event_class *class, const bt_event_class *event_class,
			  const char *name, bool is_exit)
{
	const bt_field_class *payload =
	    bt_event_class_borrow_payload_field_class_const(event_class);
	uint64_t n = payload ? bt_field_class_structure_get_member_count(payload) : 0;
	struct pp_syscall_class *syscall = g_new0(struct pp_syscall_class, 1);

	syscall->name = g_intern_string(name);
	for (uint64_t i = 0; i < n && syscall->n < G_N_ELEMENTS(syscall->fields); i++) {
		const bt_field_class_structure_member *member =
		    bt_field_class_structure_borrow_member_by_index_const(payload, i);
		const char *field = bt_field_class_structure_member_get_name(member);
		bool is_signed;

		if ((is_exit && strcmp(field, "ret") != 0) ||
		    find_member(payload, field, INTEGER, &is_signed) != (int)i)
			continue;
		syscall->names[syscall->n] = g_intern_string(field);
		syscall->fields[syscall->n++] = (struct pp_field){(int16_t)i, is_signed};
	}
	class->syscall = syscall;
	class->what = is_exit ? PP_CLASS_SYSCALL_EXIT : PP_CLASS_SYSCALL_ENTRY;
}

static void find_contexts(struct pp_event_class *class, const bt_event_class *event_class)
{
	const bt_stream_class *stream = bt_event_class_borrow_stream_class_const(event_class);

	class->tid = (int16_t)pp_member_index(
	    bt_event_class_borrow_specific_context_field_class_const(event_class), "tid");
	class->common_tid = (int16_t)pp_member_index(
	    bt_stream_class_borrow_event_common_context_field_class_const(stream), "tid");
}

const char *pp_event_class_learn(struct pp_event_class *class, const bt_event_class *event_class,
				 enum pp_class_names names)
{
	const struct known_class *known = names == PP_NAMES_KERNEL ? kernel_classes : user_classes;
	unsigned n =
	    names == PP_NAMES_KERNEL ? G_N_ELEMENTS(kernel_classes) : G_N_ELEMENTS(user_classes);
	const char *name = bt_event_class_get_name(event_class);
	const char *missing;

	class->what = PP_CLASS_IGNORED;
	if (name && names == PP_NAMES_KERNEL) {
		find_contexts(class, event_class);
		if (g_str_has_prefix(name, SYSCALL_ENTRY))
			learn_syscall(class, event_class, name + strlen(SYSCALL_ENTRY), false);
		else if (g_str_has_prefix(name, SYSCALL_EXIT))
			learn_syscall(class, event_class, name + strlen(SYSCALL_EXIT), true);
	}
	if (name && names == PP_NAMES_UST && g_str_has_prefix(name, PROVIDER)) {
		name += strlen(PROVIDER);
	} else if (names == PP_NAMES_UST) {
		known = ust_classes;
		n = G_N_ELEMENTS(ust_classes);
	}
	for (unsigned i = 0; name && i < n; i++) {
		if (strcmp(known[i].name, name) != 0)
			continue;
		missing = find_fields(class, shape_fields[known[i].shape], event_class);
		if (missing)
			return missing;
		class->what = (uint8_t)class_of(known[i].shape);
		class->op = (uint8_t)i;
		break;
	}
	return NULL;
}

uint64_t pp_field_unsigned(const bt_field *payload, const struct pp_field *field)
{
	const bt_field *member;

	if (field->index < 0)
		return 0;
	member =
	    bt_field_structure_borrow_member_field_by_index_const(payload, (uint64_t)field->index);
	return field->is_signed ? (uint64_t)bt_field_integer_signed_get_value(member)
				: bt_field_integer_unsigned_get_value(member);
}
