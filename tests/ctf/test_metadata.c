/* SPDX-License-Identifier: MIT */
/*
 * The native reader accepts traces whose metadata is that of our writers, and no others, which it
 * would misread.
 */
#include <glib/gstdio.h>

#include "check.h"
#include "fixture.h"
#include "ctf/layout.h"

#define PID 500
#define DIR "capture/500/user"

static char *metadata; /* the accepted metadata */

static void write_text(const char *text, gsize len)
{
	g_unlink(DIR "/metadata");
	CHECK(g_file_set_contents_full(DIR "/metadata", text, (gssize)len, G_FILE_SET_CONTENTS_NONE,
				       0600, NULL));
}

static bool is_read(const char *text, gsize len)
{
	struct pp_layout *layout;

	write_text(text, len);
	layout = pp_layout_new(DIR, PP_NAMES_OURS);
	pp_layout_free(layout);
	return layout;
}

/* The metadata with the first `from` replaced. */
static bool is_read_with(const char *from, const char *to)
{
	const char *at = strstr(metadata, from);
	g_autofree char *text = NULL;

	CHECK(at);
	text = g_strdup_printf("%.*s%s%s", (int)(at - metadata), metadata, to, at + strlen(from));
	return is_read(text, strlen(text));
}

static void check_others(void)
{
	static const struct {
		const char *from, *to;
	} changes[] = {
	    {"byte_order = le;\n", "byte_order = be;\n"},
	    {"byte_order = le; } := u16", "byte_order = be; } := u16"},
	    {"size = 32; align = 8", "size = 32; align = 32"},
	    {"size = 64; align = 8", "size = 65; align = 8"},
	    {"freq = 1000000000", "freq = 1000000"},
	    {"map = clock.monotonic.value; } := t32", "} := t32"},
	    {"u64 content_size;", "u32 content_size;"},
	    {"u64 content_size;", "u64 size;"},
	    {"extended = 255", "extended = 31"},
	    {"t32 timestamp;", "t64 timestamp;"},
	    {"stream { id = 0;", "stream { id = 1;"},
	    {"stream { id = 0;", "stream { id = 0; event.context := struct { u32 vtid; };"},
	    {"event { id = 1;", "event { id = 0;"},
	    {"event { id = 1;", "event { id = 70000;"},
	    {"u8 result;", "floating_point { exp_dig = 8; mant_dig = 24; } result;"},
	    {"u64 address;", "u64 address[number];"},
	    {"u64 address;", "u64 number;"},
	    {"u32 holder;", "u32 holder"},
	    {"typealias", "callsite"},
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(changes); i++)
		if (is_read_with(changes[i].from, changes[i].to)) {
			fprintf(stderr, "the reader accepts \"%s\" in place of \"%s\"\n",
				changes[i].to, changes[i].from);
			exit(1);
		}
}

/* Half a file, and bytes that are not text, are rejected. */
static void check_cuts(void)
{
	gsize len = strlen(metadata);
	g_autofree char *changed = g_strdup(metadata);

	for (gsize cut = 0; cut < len; cut += 41)
		is_read(metadata, cut);
	for (gsize at = 0; at < len; at += 101) {
		changed[at] = '\0';
		CHECK(!is_read(changed, len));
		changed[at] = metadata[at];
	}
}

int main(void)
{
	static const struct gm_thread_slot slot = {
	    .state = GM_THREAD_LIVE, .tid = PID, .parent_index = -1, .start_ns = 1, .name = "main"};
	gsize len;

	fixture_capture("capture", 1);
	fixture_process("capture", PID, &slot, 1);
	CHECK(g_file_get_contents(DIR "/metadata", &metadata, &len, NULL));
	CHECK(is_read(metadata, len));
	CHECK(is_read_with("env {", "/* of no matter */ env {"));
	check_others();
	check_cuts();
	g_free(metadata);
	return 0;
}
