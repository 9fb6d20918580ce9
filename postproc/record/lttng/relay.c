/* SPDX-License-Identifier: MIT */
/* Connects to a relay daemon, and tells whether it is still the same one. */
#include "record/lttng/relay.h"

#include <errno.h>

#define CONTROL_PORT 5342
#define TIMEOUT_S    30

/* Captures 1: the host, 2: the control port or nothing. */
static GMatchInfo *match(const char *url)
{
	g_autoptr(GRegex) regex = g_regex_new("^net6?://(\\[[0-9A-Fa-f:.]+\\]|[^]\\[:/\\s]+)"
					      "(?::([0-9]{1,5})(?::[0-9]{1,5})?)?(?:/\\S*)?$",
					      G_REGEX_DEFAULT, G_REGEX_MATCH_DEFAULT, NULL);
	GMatchInfo *info;

	g_regex_match(regex, url, G_REGEX_MATCH_DEFAULT, &info);
	return info;
}

bool pp_relay_url_is_valid(const char *url)
{
	g_autoptr(GMatchInfo) info = match(url);

	return g_match_info_matches(info);
}

int pp_relay_open(const char *url, struct pp_relay **ret_relay, struct pp_error *err)
{
	g_autoptr(GMatchInfo) info = match(url);
	g_autofree char *host = g_match_info_fetch(info, 1);
	g_autofree char *port = g_match_info_fetch(info, 2);
	g_autofree char *address = g_strconcat(host, port && *port ? ":" : NULL, port, NULL);
	g_autoptr(GSocketClient) client = g_socket_client_new();
	g_autoptr(GError) error = NULL;
	GSocketConnection *connection;

	/* The session daemon uses no proxy either. */
	g_socket_client_set_enable_proxy(client, FALSE);
	g_socket_client_set_timeout(client, TIMEOUT_S);
	connection = g_socket_client_connect_to_host(client, address, CONTROL_PORT, NULL, &error);
	if (!connection)
		return pp_error_add(err, -ECONNREFUSED,
				    "LTTng: no relay daemon at %s: %s; start one there: "
				    "lttng-relayd --daemonize",
				    url, error->message);
	*ret_relay = g_new(struct pp_relay, 1);
	**ret_relay = (struct pp_relay){g_strdup(url), connection};
	return 0;
}

bool pp_relay_is_there(const struct pp_relay *relay)
{
	GSocket *socket = g_socket_connection_get_socket(relay->connection);

	/* The daemon sends nothing on its own: input means an end or an error. */
	return !g_socket_condition_check(socket, G_IO_IN | G_IO_HUP | G_IO_ERR);
}

void pp_relay_close(struct pp_relay *relay)
{
	if (!relay)
		return;
	g_object_unref(relay->connection);
	g_free(relay->url);
	g_free(relay);
}
