/* SPDX-License-Identifier: MIT */
/* The machine of a recording in one line. */
#include "core/text/host.h"

#include <inttypes.h>

char *pp_host_text(JsonObject *info)
{
	JsonObject *host = pp_json_object(info, "host");

	if (!host)
		return NULL;
	return g_strdup_printf(
	    "%s: %s %s %s, %" PRId64 " CPUs", pp_json_string(host, "hostname") ?: "?",
	    pp_json_string(host, "sysname") ?: "?", pp_json_string(host, "release") ?: "?",
	    pp_json_string(host, "machine") ?: "?", pp_json_int(host, "cpus", 0));
}
