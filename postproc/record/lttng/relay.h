/* SPDX-License-Identifier: MIT */
/*
 * A relay daemon of LTTng, on this or another host, that stores the events (`record --url`).
 *
 * LTTng does not tell a session that its relay daemon has ended: the consumer daemon drops the
 * events, and all commands succeed.  So the recording has an idle connection of its own to the
 * daemon's control port, which breaks when that daemon ends.
 */
#ifndef PP_RECORD_LTTNG_RELAY_H
#define PP_RECORD_LTTNG_RELAY_H

#include <stdbool.h>

#include <gio/gio.h>

#include "core/error.h"

struct pp_relay {
	char *url;
	GSocketConnection *connection;
};

/* False: not net[6]://HOST[:CONTROL-PORT[:DATA-PORT]][/PATH], as lttng-create(1) has it. */
bool pp_relay_url_is_valid(const char *url);

/* Connects to the daemon at a valid URL.  0, or -errno: it does not answer. */
int pp_relay_open(const char *url, struct pp_relay **ret_relay, struct pp_error *err);

/* False: it has ended, or was restarted, since pp_relay_open(). */
bool pp_relay_is_there(const struct pp_relay *relay);

/* NULL: nothing. */
void pp_relay_close(struct pp_relay *relay);

#endif
