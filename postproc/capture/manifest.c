/* SPDX-License-Identifier: MIT */
/*
 * Compares a capture with the list of files that `record` wrote at its end (record/manifest.c): a
 * file that is missing, or shorter than it was, is damage.  Files for which a reader has noted
 * damage already are not mentioned again, so call it after them.
 */
#include "capture/manifest.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "core/text/printable.h"
#include "gmon-mt/format.h"

#define MAX_MANIFEST_BYTES (64u << 20)

/* Does a line of damage name the file, or one of its folders as a whole? */
static bool is_known(const struct pp_capture *capture, const char *path)
{
	g_autofree char *shown = pp_printable(g_strdup(path));

	for (guint i = 0; i < capture->damage->len; i++) {
		const char *line = capture->damage->pdata[i], *colon = strchr(line, ':');
		size_t len = colon ? (size_t)(colon - line) : 0;

		if (strstr(line, shown) || (strncmp(line, shown, len) == 0 && shown[len] == '/'))
			return true;
	}
	return false;
}

/* Notes a missing folder instead of each of its files. */
static char *first_missing(const struct pp_capture *capture, const char *name)
{
	g_auto(GStrv) parts = g_strsplit(name, "/", -1);
	char *path = g_strdup(capture->model->dir);

	for (char **part = parts; *part; part++) {
		char *below = g_build_filename(path, *part, NULL);

		g_free(path);
		path = below;
		if (!g_file_test(path, G_FILE_TEST_EXISTS))
			break;
	}
	return path;
}

static void check_file(struct pp_capture *capture, const char *name, int64_t n_bytes)
{
	g_autofree char *path = first_missing(capture, name);
	struct stat st;

	if (stat(path, &st) < 0) {
		if (!is_known(capture, path))
			pp_capture_add_damage(capture, path,
					      "missing; the report covers the others");
	} else if (S_ISREG(st.st_mode) && st.st_size < n_bytes && !is_known(capture, path)) {
		pp_capture_add_damage(capture, path, "cut short: %jd of %" PRId64 " bytes",
				      (intmax_t)st.st_size, n_bytes);
	}
}

/* A name that leads out of the capture is not followed. */
static bool is_inside(const char *name)
{
	return *name && *name != '/' && !strstr(name, "..");
}

void pp_manifest_check(struct pp_capture *capture)
{
	g_autofree char *path = g_build_filename(capture->model->dir, GM_MANIFEST_FILE, NULL);
	g_autofree char *text = NULL;
	uint64_t n_files, n_read = 0;
	struct stat st;
	char *line, *end;
	gsize len;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > MAX_MANIFEST_BYTES ||
	    pp_capture_leads_out(capture, path) || !g_file_get_contents(path, &text, &len, NULL))
		return;
	n_files = g_ascii_strtoull(text, &end, 10);
	for (line = strchr(text, '\n'); line && (end = strchr(line + 1, '\n')); line = end) {
		char *name;
		int64_t n_bytes = g_ascii_strtoll(line + 1, &name, 10);

		*end = '\0';
		if (*name != ' ' || n_bytes < 0 || !is_inside(name + 1))
			continue;
		n_read++;
		check_file(capture, name + 1, n_bytes);
	}
	if (n_read < n_files || !len)
		pp_capture_add_damage(capture, path, "cut short: missing files may go unnoticed");
}
