/* SPDX-License-Identifier: MIT */
/* Adds the channel and the events of the kernel tracer to the session. */
#include "record/lttng/kernel.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>
#include <lttng/lttng.h>

#define MODULE		"/sys/module/lttng_tracer"
#define CHANNEL		"gmon_mt_kernel"
#define SUBBUFFER_BYTES (1 << 20)
#define SUBBUFFERS	8

/* Scheduling; all of these are required. */
static const char *const sched_events[] = {"sched_switch", "sched_waking", "sched_process_fork",
					   "sched_process_exec", "sched_process_exit"};

/* These tell wakings in an interrupt from those by the thread that it interrupted. */
static const char *const sched_optional[] = {
    "irq_handler_entry",
    "irq_handler_exit",
    "irq_softirq_entry",
    "irq_softirq_exit",
    "x86_irq_vectors_local_timer_entry",
    "x86_irq_vectors_local_timer_exit",
    "sched_migrate_task",
    "sched_wakeup_new",
};

static const char *const full_optional[] = {
    "x86_exceptions_page_fault_user",
    "x86_exceptions_page_fault_kernel",
    "block_rq_issue",
    "block_rq_complete",
    "signal_generate",
    "signal_deliver",
    "timer_hrtimer_start",
    "timer_hrtimer_expire_entry",
    "timer_hrtimer_expire_exit",
    "timer_expire_entry",
    "timer_expire_exit",
};

bool pp_lttng_kernel_is_loaded(void)
{
	return access(MODULE, F_OK) == 0;
}

bool pp_lttng_kernel_ready(void)
{
	return geteuid() == 0 && pp_lttng_kernel_is_loaded() && lttng_session_daemon_alive() == 1;
}

/* False: the code means something else. */
static bool explain(int code, struct pp_lttng_lack *ret_lack)
{
	if (code == -LTTNG_ERR_NEED_ROOT_SESSIOND)
		*ret_lack = (struct pp_lttng_lack){
		    "the session daemon that runs is not root's",
		    "record as root; or, as a member of the group tracing, use root's daemon: kill "
		    "$(cat ${LTTNG_HOME:-~}/.lttng/lttng-sessiond.pid); sudo lttng-sessiond "
		    "--daemonize"};
	else if (code != -LTTNG_ERR_KERN_NA)
		return false;
	else if (pp_lttng_kernel_is_loaded())
		*ret_lack = (struct pp_lttng_lack){
		    "the session daemon was started with --no-kernel, or before the modules were "
		    "loaded",
		    "sudo kill $(cat /run/lttng/lttng-sessiond.pid); sudo lttng-sessiond "
		    "--daemonize"};
	else
		*ret_lack = (struct pp_lttng_lack){
		    "its modules are not loaded",
		    "sudo apt-get install lttng-modules-dkms; sudo modprobe lttng-tracer; sudo "
		    "kill $(cat /run/lttng/lttng-sessiond.pid); sudo lttng-sessiond --daemonize"};
	return true;
}

static int fail(struct pp_error *err, int code, const char *what)
{
	struct pp_lttng_lack lack;

	if (explain(code, &lack))
		return pp_error_add(err, -ENODEV, "%s; %s", lack.what, lack.remedy);
	return pp_error_add(err, -EIO, "%s: %s", what, lttng_strerror(code));
}

bool pp_lttng_kernel_ask(struct pp_lttng_lack *ret_lack)
{
	struct lttng_domain domain = {.type = LTTNG_DOMAIN_KERNEL, .buf_type = LTTNG_BUFFER_GLOBAL};
	struct lttng_handle *handle = lttng_create_handle("", &domain);
	struct lttng_event *events = NULL;
	int n = handle ? lttng_list_tracepoints(handle, &events) : -LTTNG_ERR_NOMEM;

	free(events);
	lttng_destroy_handle(handle);
	if (n < 0 && !explain(n, ret_lack))
		*ret_lack = (struct pp_lttng_lack){lttng_strerror(n), "see lttng-sessiond(8)"};
	return n >= 0;
}

static int add_channel(struct lttng_handle *handle, const struct lttng_domain *domain,
		       struct pp_error *err)
{
	struct lttng_channel *channel = lttng_channel_create((struct lttng_domain *)domain);
	int code;

	if (!channel)
		return pp_error_add(err, -ENOMEM, "no memory for a channel");
	g_strlcpy(channel->name, CHANNEL, sizeof(channel->name));
	channel->attr.overwrite = 0;
	channel->attr.subbuf_size = SUBBUFFER_BYTES;
	channel->attr.num_subbuf = SUBBUFFERS;
	code = lttng_enable_channel(handle, channel);
	lttng_channel_destroy(channel);
	return code < 0 ? fail(err, code, "cannot create a channel") : 0;
}

/* 0, or LTTng's code. */
static int add_event(struct lttng_handle *handle, const char *name, enum lttng_event_type type)
{
	struct lttng_event *event = lttng_event_create();
	int code;

	if (!event)
		return -LTTNG_ERR_NOMEM;
	event->type = type;
	event->loglevel_type = LTTNG_EVENT_LOGLEVEL_ALL;
	g_strlcpy(event->name, name, sizeof(event->name));
	code = lttng_enable_event(handle, event, CHANNEL);
	lttng_event_destroy(event);
	return code < 0 ? code : 0;
}

/* The events that the tracer has. */
struct known {
	struct lttng_event *events;
	int n;
};

static bool is_known(const struct known *known, const char *name)
{
	for (int i = 0; i < known->n; i++)
		if (strcmp(known->events[i].name, name) == 0)
			return true;
	return false;
}

/* LTTng enables an event that does not exist without an error, so it is looked up first. */
static void add_optional(struct lttng_handle *handle, const struct known *known,
			 const char *const *names, size_t n_names, GString *missing)
{
	for (size_t i = 0; i < n_names; i++)
		if (!is_known(known, names[i]) ||
		    add_event(handle, names[i], LTTNG_EVENT_TRACEPOINT))
			g_string_append_printf(missing, "%s%s", missing->len ? ", " : "", names[i]);
}

static int add_events(struct lttng_handle *handle, const struct known *known, enum gm_level level,
		      GString *missing, struct pp_error *err)
{
	int code;

	for (size_t i = 0; i < G_N_ELEMENTS(sched_events); i++) {
		code = add_event(handle, sched_events[i], LTTNG_EVENT_TRACEPOINT);
		if (code)
			return fail(err, code, sched_events[i]);
	}
	add_optional(handle, known, sched_optional, G_N_ELEMENTS(sched_optional), missing);
	if (level != GM_LEVEL_FULL)
		return 0;
	add_optional(handle, known, full_optional, G_N_ELEMENTS(full_optional), missing);
	code = add_event(handle, "*", LTTNG_EVENT_SYSCALL);
	return code ? fail(err, code, "system calls") : 0;
}

static int add_all(struct lttng_handle *handle, const struct lttng_domain *domain,
		   enum gm_level level, GString *missing, struct pp_error *err)
{
	struct lttng_event_context context = {.ctx = LTTNG_EVENT_CONTEXT_TID};
	struct known known = {NULL, 0};
	int ret, code;

	/* First: a daemon without the tracer refuses this command, which has no payload, properly;
	 * of others it closes the connection while lttng-ctl still sends. */
	known.n = lttng_list_tracepoints(handle, &known.events);
	if (known.n < 0)
		return fail(err, known.n, "cannot list its events");
	ret = add_channel(handle, domain, err);
	if (ret == 0) {
		code = lttng_add_context(handle, &context, NULL, CHANNEL);
		ret = code < 0 ? fail(err, code, "cannot add the context tid") : 0;
	}
	if (ret == 0)
		ret = add_events(handle, &known, level, missing, err);
	free(known.events);
	return ret;
}

int pp_lttng_kernel_add(const char *session, enum gm_level level, struct lttng_handle **ret_handle,
			char **ret_missing, struct pp_error *err)
{
	struct lttng_domain domain = {.type = LTTNG_DOMAIN_KERNEL, .buf_type = LTTNG_BUFFER_GLOBAL};
	struct lttng_handle *handle = lttng_create_handle(session, &domain);
	g_autoptr(GString) missing = g_string_new(NULL);
	int ret;

	if (!handle)
		return pp_error_add(err, -ENOMEM, "no memory for a handle");
	ret = add_all(handle, &domain, level, missing, err);
	if (ret) {
		lttng_destroy_handle(handle);
		return pp_error_add(err, ret, "LTTng's kernel tracer");
	}
	*ret_handle = handle;
	*ret_missing = missing->len ? g_string_free(g_steal_pointer(&missing), FALSE) : NULL;
	return 0;
}
