/* SPDX-License-Identifier: MIT */
/* Creates the session, its channels and events, starts it, and destroys it at the end. */
#include "record/lttng/lttng.h"

#include <errno.h>
#include <string.h>

#include <lttng/lttng.h>

#include "record/lttng/daemon.h"
#include "record/lttng/kernel.h"
#include "record/lttng/session.h"

#define CHANNEL	   "gmon_mt"
#define EVENTS	   "gmon_mt_sync:*"
#define SUBBUFFERS 8

static int fail(struct pp_error *err, int code, const char *what)
{
	return pp_error_add(err, -EIO, "LTTng: %s: %s", what, lttng_strerror(code));
}

static int create_session(struct pp_lttng *lttng, const char *capture_dir, struct pp_error *err)
{
	g_autofree char *name = pp_lttng_session_name();
	const char *url = lttng->relay ? lttng->relay->url : NULL;
	struct lttng_session_descriptor *descriptor =
	    url ? lttng_session_descriptor_network_create(name, url, NULL)
		: lttng_session_descriptor_local_create(name, capture_dir);
	enum lttng_error_code code;

	if (!descriptor)
		return pp_error_add(err, -EINVAL, "LTTng: cannot write to %s", url ?: capture_dir);
	code = lttng_create_session_ext(descriptor);
	lttng_session_descriptor_destroy(descriptor);
	if (code != LTTNG_OK)
		return fail(err, -(int)code, "cannot create a session");
	lttng->session = g_steal_pointer(&name);
	return 0;
}

/* LTTng requires a power of two. */
static uint64_t subbuffer_bytes(const struct gm_config *config)
{
	uint64_t bytes = 16384;

	while (bytes < config->sync_buffer_bytes)
		bytes *= 2;
	return bytes;
}

static int add_channel(struct pp_lttng *lttng, const struct gm_config *config, struct pp_error *err)
{
	struct lttng_domain domain = {.type = LTTNG_DOMAIN_UST, .buf_type = LTTNG_BUFFER_PER_UID};
	struct lttng_channel *channel = lttng_channel_create(&domain);
	int code;

	if (!channel)
		return pp_error_add(err, -ENOMEM, "LTTng: no memory for a channel");
	g_strlcpy(channel->name, CHANNEL, sizeof(channel->name));
	channel->attr.overwrite = 0;
	channel->attr.subbuf_size = subbuffer_bytes(config);
	channel->attr.num_subbuf = SUBBUFFERS;
	channel->attr.output = LTTNG_EVENT_MMAP;
	code = lttng_enable_channel(lttng->user, channel);
	lttng_channel_destroy(channel);
	return code < 0 ? fail(err, code, "cannot create a channel") : 0;
}

static int add_events(struct pp_lttng *lttng, struct pp_error *err)
{
	static const enum lttng_event_context_type contexts[] = {
	    LTTNG_EVENT_CONTEXT_VPID, LTTNG_EVENT_CONTEXT_VTID, LTTNG_EVENT_CONTEXT_PROCNAME};
	struct lttng_event *event = lttng_event_create();
	int code = 0;

	if (!event)
		return pp_error_add(err, -ENOMEM, "LTTng: no memory for an event");
	event->type = LTTNG_EVENT_TRACEPOINT;
	event->loglevel_type = LTTNG_EVENT_LOGLEVEL_ALL;
	g_strlcpy(event->name, EVENTS, sizeof(event->name));
	for (size_t i = 0; i < G_N_ELEMENTS(contexts) && code >= 0; i++) {
		struct lttng_event_context context = {.ctx = contexts[i]};

		code = lttng_add_context(lttng->user, &context, NULL, CHANNEL);
	}
	if (code >= 0)
		code = lttng_enable_event(lttng->user, event, CHANNEL);
	lttng_event_destroy(event);
	return code < 0 ? fail(err, code, "cannot enable the events") : 0;
}

static int add_user(struct pp_lttng *lttng, const struct gm_config *config, struct pp_error *err)
{
	struct lttng_domain domain = {.type = LTTNG_DOMAIN_UST, .buf_type = LTTNG_BUFFER_PER_UID};
	int ret;

	lttng->user = lttng_create_handle(lttng->session, &domain);
	if (!lttng->user)
		return pp_error_add(err, -ENOMEM, "LTTng: no memory for a handle");
	ret = add_channel(lttng, config, err);
	return ret ? ret : add_events(lttng, err);
}

static int add_domains(struct pp_lttng *lttng, struct pp_lttng_wanted wanted,
		       const struct gm_config *config, struct pp_error *err)
{
	int ret = 0;

	if (wanted.user)
		ret = add_user(lttng, config, err);
	if (ret == 0 && wanted.kernel)
		ret = pp_lttng_kernel_add(lttng->session, config->level, &lttng->kernel,
					  &lttng->kernel_missing, err);
	return ret;
}

static void forget_session(struct pp_lttng *lttng)
{
	if (lttng->user)
		lttng_destroy_handle(lttng->user);
	if (lttng->kernel)
		lttng_destroy_handle(lttng->kernel);
	lttng->user = lttng->kernel = NULL;
	g_clear_pointer(&lttng->kernel_missing, g_free);
	g_clear_pointer(&lttng->session, g_free);
	g_clear_pointer(&lttng->relay, pp_relay_close);
}

int pp_lttng_begin(struct pp_lttng *lttng, struct pp_lttng_wanted wanted,
		   const struct gm_config *config, const char *capture_dir, struct pp_error *err)
{
	int ret, code;

	*lttng = (struct pp_lttng){0};
	ret = pp_lttng_daemon_use(wanted.kernel, &lttng->started_daemon, err);
	if (ret == 0 && wanted.url)
		ret = pp_relay_open(wanted.url, &lttng->relay, err);
	if (ret == 0) {
		pp_lttng_session_clean();
		ret = create_session(lttng, capture_dir, err);
	}
	if (ret == 0)
		ret = add_domains(lttng, wanted, config, err);
	if (ret == 0) {
		code = lttng_start_tracing(lttng->session);
		if (code < 0)
			ret = fail(err, code, "cannot start the session");
	}
	if (ret == 0)
		return 0;
	if (lttng->session)
		lttng_destroy_session_no_wait(lttng->session);
	forget_session(lttng);
	return ret;
}

static uint64_t count_discarded(struct lttng_handle *handle)
{
	struct lttng_channel *channels = NULL;
	int n = handle ? lttng_list_channels(handle, &channels) : 0;
	uint64_t total = 0, count;

	for (int i = 0; i < n; i++)
		if (lttng_channel_get_discarded_event_count(&channels[i], &count) == 0)
			total += count;
	free(channels);
	return total;
}

int pp_lttng_end(struct pp_lttng *lttng, struct pp_lttng_lost *ret_lost, struct pp_error *err)
{
	int ret = 0, code;

	*ret_lost = (struct pp_lttng_lost){0};
	if (!lttng->session)
		return 0;
	/* Returns when all recorded events are written. */
	code = lttng_stop_tracing(lttng->session);
	if (code < 0) {
		ret = fail(err, code, "cannot stop the session");
	} else {
		ret_lost->user = count_discarded(lttng->user);
		ret_lost->kernel = count_discarded(lttng->kernel);
	}
	lttng_destroy_session_no_wait(lttng->session);
	ret_lost->relay_ended = lttng->relay && !pp_relay_is_there(lttng->relay);
	forget_session(lttng);
	return ret;
}
