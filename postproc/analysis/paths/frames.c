/* SPDX-License-Identifier: MIT */
/* The functions of a call path, as text. */
#include "analysis/paths/frames.h"

#include <inttypes.h>
#include <string.h>

#include "core/text/function_name.h"

static void frame_clear(void *data)
{
	struct pp_path_frame *frame = data;

	g_free(frame->function);
	g_free(frame->site);
}

/* Functions of the C++ library are not the program's. */
static bool is_library(const char *function)
{
	return pp_is_library_function(function) || g_str_has_prefix(function, "libstdc++.so") ||
	       g_str_has_prefix(function, "execute_native_thread_routine");
}

/* Takes ownership of both texts. */
static void add_frame(GArray *frames, char *function, char *site, uint64_t address)
{
	struct pp_path_frame frame = {.function = function,
				      .site = site,
				      .address = address,
				      .is_library = is_library(function)};

	g_array_append_val(frames, frame);
}

/* Adds the function and those inlined there; a function inlined into itself is one frame. */
static void add_frames(GArray *frames, const struct pp_namer *namer,
		       const struct pp_process *process, uint64_t address)
{
	g_autoptr(GPtrArray) named =
	    namer && namer->frames ? namer->frames(namer->data, process, address) : NULL;

	for (guint i = 0; named && i < named->len; i++) {
		const struct pp_frame *frame = named->pdata[i];

		if (!i || !g_str_equal(frame->function,
				       ((const struct pp_frame *)named->pdata[i - 1])->function))
			add_frame(frames, g_strdup(frame->function), g_strdup(frame->site),
				  address);
	}
	if (!named)
		add_frame(frames,
			  namer && namer->function ? namer->function(namer->data, process, address)
						   : g_strdup_printf("0x%" PRIx64, address),
			  namer && namer->site ? namer->site(namer->data, process, address) : NULL,
			  address);
}

GArray *pp_path_frames(const struct pp_path *path, const struct pp_process *process,
		       const struct pp_namer *namer)
{
	GArray *frames = g_array_new(FALSE, FALSE, sizeof(struct pp_path_frame));

	g_array_set_clear_func(frames, frame_clear);
	for (unsigned i = 0; i < path->n; i++)
		add_frames(frames, namer, process, path->addresses[i]);
	return frames;
}

const char *pp_path_frame_line(const struct pp_path_frame *frame)
{
	size_t len = strlen(frame->function);

	return frame->site && strncmp(frame->site, frame->function, len) == 0 &&
		       frame->site[len] == ' '
		   ? frame->site
		   : frame->function;
}

/* True for the C library's functions that call main() or a start routine. */
static bool is_start(const char *function)
{
	return g_str_equal(function, "start_thread") ||
	       g_str_has_prefix(function, "__libc_start_") ||
	       g_str_has_prefix(function, "__clone") || g_str_equal(function, "clone3");
}

bool pp_path_frames_have_program(const GArray *frames)
{
	for (guint i = 0; i < frames->len; i++)
		if (!pp_path_frame_at(frames, i)->is_library &&
		    !is_start(pp_path_frame_at(frames, i)->function))
			return true;
	return false;
}

/* Adds equal frames, as one. */
static void add_equal(GString *text, const char *shown, unsigned n)
{
	g_string_append_printf(text, "%s%s", text->len ? " < " : "", shown);
	if (n > 1)
		g_string_append_printf(text, " x%u", n);
}

char *pp_path_frames_text(const GArray *frames, const bool *with_line)
{
	bool with_library = !pp_path_frames_have_program(frames);
	GString *text = g_string_new(NULL);
	const char *last = NULL;
	unsigned n = 0;

	for (guint i = 0; i < frames->len; i++) {
		const struct pp_path_frame *frame = pp_path_frame_at(frames, i);
		const char *shown =
		    with_line && with_line[i] ? pp_path_frame_line(frame) : frame->function;

		if (frame->is_library && !with_library)
			continue;
		if (last && !g_str_equal(last, shown)) {
			add_equal(text, last, n);
			n = 0;
		}
		last = shown;
		n++;
	}
	if (last)
		add_equal(text, last, n);
	return g_string_free(text, FALSE);
}
