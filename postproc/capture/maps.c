/* SPDX-License-Identifier: MIT */
/* Reads <pid>/maps: which object was loaded where, since when. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gmon-mt/format.h"
#include "capture/capture.h"

#define MAX_MAPS_BYTES (256u << 20)

static void load_clear(void *data)
{
	struct pp_load *load = data;

	g_free(load->build_id);
	g_free(load->path);
}

/* Parses the number at the start of *text and advances past the blank that follows it. */
static bool take_number(char **text, int base, uint64_t *ret_number)
{
	char *end;

	if (!g_ascii_isxdigit(**text))
		return false;
	errno = 0;
	*ret_number = strtoull(*text, &end, base);
	if (errno || end == *text || *end != ' ')
		return false;
	*text = end + 1;
	return true;
}

static bool take_word(char **text, char **ret_word)
{
	char *blank = strchr(*text, ' ');

	if (!blank || blank == *text)
		return false;
	*blank = '\0';
	*ret_word = *text;
	*text = blank + 1;
	return true;
}

/* Replaces the escapes \n and \\ in place. */
static void unescape(char *path)
{
	char *to = path;

	for (const char *from = path; *from; from++) {
		if (from[0] == '\\' && (from[1] == 'n' || from[1] == '\\')) {
			from++;
			*to++ = *from == 'n' ? '\n' : '\\';
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
}

static bool is_build_id(const char *word)
{
	size_t len = strlen(word);

	return len && len % 2 == 0 && strspn(word, "0123456789abcdef") == len;
}

/* Parses a line without its '\n', in place. */
static bool parse_line(char *line, struct pp_load *load)
{
	uint64_t time_ns;
	char *kind, *build_id;

	if (!take_number(&line, 10, &time_ns) || time_ns > INT64_MAX || !take_word(&line, &kind) ||
	    strcmp(kind, "load") != 0 || !take_number(&line, 16, &load->start) ||
	    !take_number(&line, 16, &load->end) || !take_number(&line, 16, &load->bias) ||
	    !take_word(&line, &build_id) || !*line)
		return false;
	if (load->start >= load->end || (strcmp(build_id, "-") != 0 && !is_build_id(build_id)))
		return false;
	unescape(line);
	load->time_ns = (int64_t)time_ns;
	load->build_id = strcmp(build_id, "-") == 0 ? NULL : g_strdup(build_id);
	load->path = g_strdup(line);
	return true;
}

GArray *pp_maps_new(void)
{
	GArray *maps = g_array_new(FALSE, FALSE, sizeof(struct pp_load));

	g_array_set_clear_func(maps, load_clear);
	return maps;
}

const struct pp_load *pp_maps_find(const struct pp_process *process, uint64_t address)
{
	const GArray *maps = process->maps;

	for (guint i = maps ? maps->len : 0; i-- > 0;) {
		const struct pp_load *load = &g_array_index(maps, struct pp_load, i);

		if (address >= load->start && address < load->end)
			return load;
	}
	return NULL;
}

static bool is_openmp(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return g_str_has_prefix(name, "libgomp.so") || g_str_has_prefix(name, "libomp.so");
}

int pp_maps_read(struct pp_capture *capture, struct pp_process *process, const char *path,
		 struct pp_error *err)
{
	return pp_maps_read_part(capture, process, path, UINT64_MAX, err);
}

int pp_maps_read_part(struct pp_capture *capture, struct pp_process *process, const char *path,
		      uint64_t max_bytes, struct pp_error *err)
{
	g_autofree char *text = NULL;
	g_autoptr(GError) error = NULL;
	GArray *maps;
	unsigned bad = 0;
	gsize len;
	struct stat st;

	if (stat(path, &st) < 0)
		return pp_error_add(err, -errno, "%s: %s", path, g_strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_size > MAX_MAPS_BYTES)
		return pp_error_add(err, -EINVAL, "%s: damaged: not a load map", path);
	if (!g_file_get_contents(path, &text, &len, &error))
		return pp_error_add(err, -EIO, "%s", error->message);
	maps = pp_maps_new();
	len = MIN(len, max_bytes);
	text[len] = '\0';
	for (char *line = text, *end = text + len; line < end;) {
		char *newline = memchr(line, '\n', (size_t)(end - line));
		struct pp_load load;

		if (newline)
			*newline = '\0';
		/* A last line without '\n' may be truncated anywhere, even in the path. */
		if (newline && strlen(line) == (size_t)(newline - line) &&
		    parse_line(line, &load)) {
			g_array_append_val(maps, load);
			process->has_openmp |= is_openmp(load.path);
		} else if (newline || !process->is_live) { /* it may be being written */
			bad++;
		}
		line = newline ? newline + 1 : end;
	}
	if (bad)
		pp_capture_add_damage(capture, path, "%u lines cannot be read", bad);
	process->maps = maps;
	return 0;
}
