/* SPDX-License-Identifier: MIT */
/* The texts of a call: its function, its call site and the functions on its path. */
#include "analysis/paths/frames.h"
#include "pass/blame/blame.h"

const char *pp_call_function(enum st_event op)
{
	return op == ST_EVENT_thread_exit || op == ST_N_EVENTS ? "(end of the thread)"
							       : pp_sync_function(op);
}

struct pp_call_text pp_call_text(const struct pp_pass_context *context,
				 const struct pp_process *process, const struct pp_blame_call *call)
{
	const struct pp_namer *namer = context->namer;
	struct pp_call_text text = {0};

	text.function = g_strdup(pp_call_function(call->op));
	if (call->site)
		text.site = namer->site(namer->data, process, call->site);
	if (call->path) {
		g_autoptr(GArray) frames = pp_path_frames(call->path, process, namer);

		text.path = pp_path_frames_text(frames, NULL);
	}
	return text;
}

/* Removes the innermost frames that are code of our libraries, which took the sample. */
static void leave_out_own(GArray *frames, const struct pp_namer *namer,
			  const struct pp_process *process)
{
	guint n = 0;

	while (n < frames->len && namer->is_own &&
	       namer->is_own(namer->data, process, pp_path_frame_at(frames, n)->address - 1))
		n++;
	if (n && n < frames->len)
		g_array_remove_range(frames, 0, n);
}

struct pp_call_text pp_call_text_sample(const struct pp_pass_context *context,
					const struct pp_process *process,
					const struct pp_path *path)
{
	g_autoptr(GArray) frames = pp_path_frames(path, process, context->namer);
	struct pp_call_text text = {0};

	leave_out_own(frames, context->namer, process);
	text.path = pp_path_frames_text(frames, NULL);
	if (!frames->len)
		return text;
	text.function = g_strdup(pp_path_frame_at(frames, 0)->function);
	text.site = g_strdup(pp_path_frame_line(pp_path_frame_at(frames, 0)));
	return text;
}

char *pp_call_text_acquired(const struct pp_pass_context *context, const struct pp_process *process,
			    const struct pp_blame_cause *cause)
{
	const struct pp_namer *namer = context->namer;

	return cause->kind == PP_BLAME_HOLD && cause->acquired.site
		   ? namer->site(namer->data, process, cause->acquired.site)
		   : NULL;
}

void pp_call_text_done(struct pp_call_text *text)
{
	g_free(text->function);
	g_free(text->site);
	g_free(text->path);
}
