/* SPDX-License-Identifier: MIT */
/* See origin.h. */
#include "cli/origin.h"

#include "cli/captures.h"
#include "core/text/host.h"

void pp_origin_read(struct pp_origin *origin, const struct pp_view *view)
{
	JsonObject *info = view->capture->model->info;
	const struct pp_load *load = pp_cli_program(view);

	if (origin->host)
		return;
	pp_origin_done(origin);
	*origin = (struct pp_origin){
	    .program = load ? g_path_get_basename(load->path) : NULL,
	    .command = pp_cli_command(view),
	    .host = pp_host_text(info),
	    .date = g_strdup(pp_json_string(info, "start_time")),
	};
}

void pp_origin_done(struct pp_origin *origin)
{
	g_free(origin->program);
	g_free(origin->command);
	g_free(origin->host);
	g_free(origin->date);
	*origin = (struct pp_origin){0};
}
