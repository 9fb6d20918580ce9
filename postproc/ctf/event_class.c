/* SPDX-License-Identifier: MIT */
/* A table of known events and fields, matched once for each class of a trace. */
#include "ctf/event_class.h"

#include <string.h>

#include <glib.h>

#include "sync-trace/events.h"

#define PROVIDER      "gmon_mt_sync:"
#define SYSCALL_ENTRY "syscall_entry_"
#define SYSCALL_EXIT  "syscall_exit_"

enum need {
	NONE,
	INTEGER,
	STRING,
	LINES_OF_SET,
	PLACES_OF_SET,
	INTEGER_OR_NONE,
	STRING_OR_NONE,
	CONTEXT_OR_NONE
};

struct wanted_field {
	const char *name;
	enum need need;
};

/* Event shapes of libsync-trace, of the kernel, and of LTTng-UST's process state. */
enum shape {
	OP,
	SAME,
	BEGIN,
	VALUE,
	COND,
	ROUTINE,
	SITE,
	CALL_PATH,
	PATH,
	TRIES,
	CONDITIONALS,
	ORDER,
	IO,
	SAMPLE,
	LINES,
	KNOWN_LINES,
	SEGMENT,
	HEAP_BLOCK,
	HEAP_FREED,
	SWITCH,
	WAKING,
	FORK,
	EXIT,
	EXEC,
	STATE,
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

/* Indexed by the positions in the header. */
static const struct wanted_field shape_fields[][PP_MAX_FIELDS] = {
    [OP] = {{"result", INTEGER}, {"site", INTEGER}, {"object", INTEGER}},
    [SAME] = {{"result", INTEGER}, {"site", INTEGER}},
    [BEGIN] = {{"result", INTEGER}, {"site", INTEGER}, {"object", INTEGER}, {"holder", INTEGER}},
    [VALUE] = {{"result", INTEGER}, {"site", INTEGER}, {"object", INTEGER}, {}, {"value", INTEGER}},
    [COND] = {{"result", INTEGER}, {"site", INTEGER}, {"object", INTEGER}, {}, {"mutex", INTEGER}},
    [ROUTINE] =
	{{"result", INTEGER}, {"site", INTEGER}, {"object", INTEGER}, {}, {"routine", INTEGER}},
    [SITE] = {{"number", INTEGER}, {"address", INTEGER}},
    [CALL_PATH] = {{"path", INTEGER}, {"object_low", INTEGER}},
    [PATH] = {{"number", INTEGER}, {"parent", INTEGER}, {"address", INTEGER}},
    [TRIES] = {{"object", INTEGER}, {"holder", INTEGER}, {"more", INTEGER}},
    [CONDITIONALS] = {{"count", INTEGER}},
    [ORDER] = {{"number", INTEGER}},
    [SAMPLE] = {{"path", INTEGER}, {"n", INTEGER}},
    [LINES] = {{"set", INTEGER}, {"n", INTEGER}, {"lines", LINES_OF_SET}},
    [KNOWN_LINES] = {{"set", INTEGER},
		     {"last", INTEGER},
		     {"n", INTEGER},
		     {"places", PLACES_OF_SET}},
    [SEGMENT] = {{"set", INTEGER},
		 {"duration", INTEGER},
		 {"reads", INTEGER},
		 {"writes", INTEGER},
		 {"flags", INTEGER},
		 {"left_out", INTEGER_OR_NONE}},
    [HEAP_BLOCK] = {{"address", INTEGER}, {"size", INTEGER}, {"site", INTEGER}},
    [HEAP_FREED] = {{"address", INTEGER}, {"size", INTEGER}},
    /* LTTng's events have no path. */
    [IO] = {{"result", INTEGER},
	    {"site", INTEGER},
	    {"object", INTEGER},
	    {"call", INTEGER},
	    {"path", INTEGER_OR_NONE},
	    {"duration", INTEGER}},
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
    /* LTTng's own events have no `state`. */
    [STATE] = {{"tid", INTEGER}, {"state", INTEGER_OR_NONE}},
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

/* The kinds of our own traces beside synch-events. */
static const struct known_class more_classes[] = {
    {"sample", SAMPLE},		  {"lines", LINES},	 {"segment", SEGMENT},
    {"segment_long", SEGMENT},	  {"block", HEAP_BLOCK}, {"freed", HEAP_FREED},
    {"known_lines", KNOWN_LINES},
};

static const struct known_class kernel_classes[] = {
    {"sched_switch", SWITCH},
    {"sched_waking", WAKING},
    {"sched_process_fork", FORK},
    {"sched_process_exit", EXIT},
    {"sched_process_exec", EXEC},
    {"lttng_statedump_process_state", STATE},
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
	case TRIES:
		return PP_CLASS_TRIES;
	case CONDITIONALS:
		return PP_CLASS_CONDITIONALS;
	case ORDER:
		return PP_CLASS_ORDER;
	case IO:
		return PP_CLASS_IO;
	case SAMPLE:
		return PP_CLASS_SAMPLE;
	case LINES:
		return PP_CLASS_LINES;
	case KNOWN_LINES:
		return PP_CLASS_KNOWN_LINES;
	case SEGMENT:
		return PP_CLASS_SEGMENT;
	case HEAP_BLOCK:
		return PP_CLASS_HEAP_BLOCK;
	case HEAP_FREED:
		return PP_CLASS_HEAP_FREED;
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
	case STATE:
		return PP_CLASS_STATE;
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

int pp_member_find(struct pp_members members, const char *name, enum pp_member_type type)
{
	for (unsigned i = 0; i < members.n && i < INT16_MAX; i++)
		if (strcmp(members.at[i].name, name) == 0)
			return members.at[i].type == type ? (int)i : -1;
	return -1;
}

/* Our events without an object belong to the classes ST_SAME_EVENTS. */
static enum shape shape_in(enum shape shape, const struct pp_class_description *description,
			   enum pp_class_names names)
{
	return shape == OP && names == PP_NAMES_OURS &&
		       pp_member_find(description->payload, "object", PP_MEMBER_INTEGER) < 0
		   ? SAME
		   : shape;
}

static enum pp_member_type type_for(enum need need)
{
	switch (need) {
	case STRING:
	case STRING_OR_NONE:
		return PP_MEMBER_STRING;
	case LINES_OF_SET:
		return PP_MEMBER_LINES;
	case PLACES_OF_SET:
		return PP_MEMBER_PLACES;
	default:
		return PP_MEMBER_INTEGER;
	}
}

static struct pp_field find_field(struct pp_members members, const char *name,
				  enum pp_member_type type)
{
	int index = pp_member_find(members, name, type);

	return (struct pp_field){
	    .index = (int16_t)index,
	    .is_signed = index >= 0 && members.at[index].is_signed,
	    .type = type,
	};
}

static const char *find_fields(struct pp_event_class *class, const struct wanted_field *wanted,
			       const struct pp_class_description *description)
{
	for (unsigned i = 0; i < PP_MAX_FIELDS; i++) {
		struct pp_field *field = &class->fields[i];
		bool in_context = wanted[i].need == CONTEXT_OR_NONE;

		field->index = -1;
		if (wanted[i].need == NONE)
			continue;
		*field = find_field(in_context ? description->context : description->payload,
				    wanted[i].name, type_for(wanted[i].need));
		field->in_context = in_context;
		if (field->index < 0 && wanted[i].need < INTEGER_OR_NONE)
			return wanted[i].name;
	}
	return NULL;
}

/* Takes the class's integers in order: arguments at the entry, the result at the exit. */
static void learn_syscall(struct pp_event_class *class, struct pp_members payload, const char *name,
			  bool is_exit)
{
	struct pp_syscall_class *syscall = g_new0(struct pp_syscall_class, 1);

	syscall->name = g_intern_string(name);
	for (unsigned i = 0; i < payload.n && syscall->n < G_N_ELEMENTS(syscall->fields); i++) {
		const char *member = payload.at[i].name;

		if ((is_exit && strcmp(member, "ret") != 0) ||
		    pp_member_find(payload, member, PP_MEMBER_INTEGER) != (int)i)
			continue;
		syscall->names[syscall->n] = g_intern_string(member);
		syscall->fields[syscall->n++] = find_field(payload, member, PP_MEMBER_INTEGER);
	}
	class->syscall = syscall;
	class->what = is_exit ? PP_CLASS_SYSCALL_EXIT : PP_CLASS_SYSCALL_ENTRY;
}

enum pp_member_type pp_member_sequence(const char *element)
{
	if (strcmp(element, PP_LINES_ELEMENT) == 0)
		return PP_MEMBER_LINES;
	return strcmp(element, PP_PLACES_ELEMENT) == 0 ? PP_MEMBER_PLACES : PP_MEMBER_OTHER;
}

void pp_member_append(GString *text, const char *name, unsigned bits)
{
	g_string_append_printf(text, "%s %u, ", name, bits);
}

static bool is_among_more(const char *name)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(more_classes); i++)
		if (strcmp(more_classes[i].name, name) == 0)
			return true;
	return false;
}

const char *pp_event_class_learn(struct pp_event_class *class,
				 const struct pp_class_description *description,
				 enum pp_class_names names)
{
	const struct known_class *known = names == PP_NAMES_KERNEL ? kernel_classes : user_classes;
	unsigned n =
	    names == PP_NAMES_KERNEL ? G_N_ELEMENTS(kernel_classes) : G_N_ELEMENTS(user_classes);
	const char *name = description->name;
	const char *missing;

	class->what = PP_CLASS_IGNORED;
	class->tid = (int16_t)pp_member_find(description->context, "tid", PP_MEMBER_INTEGER);
	class->common_tid =
	    (int16_t)pp_member_find(description->common_context, "tid", PP_MEMBER_INTEGER);
	if (name && names == PP_NAMES_KERNEL) {
		if (g_str_has_prefix(name, SYSCALL_ENTRY))
			learn_syscall(class, description->payload, name + strlen(SYSCALL_ENTRY),
				      false);
		else if (g_str_has_prefix(name, SYSCALL_EXIT))
			learn_syscall(class, description->payload, name + strlen(SYSCALL_EXIT),
				      true);
	}
	if (name && names == PP_NAMES_OURS && is_among_more(name)) {
		known = more_classes;
		n = G_N_ELEMENTS(more_classes);
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
		missing = find_fields(
		    class, shape_fields[shape_in(known[i].shape, description, names)], description);
		if (missing)
			return missing;
		class->what = (uint8_t)class_of(known[i].shape);
		class->op = (uint8_t)i;
		break;
	}
	return NULL;
}
