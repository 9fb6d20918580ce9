/* SPDX-License-Identifier: MIT */
/* Reads a file only if it is regular, has the suffix of a source file and is not too large. */
#include "core/source_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>

#include "core/text/printable.h"

#define MAX_BYTES (16 << 20)

static bool has_source_name(const char *path)
{
	static const char *const suffixes[] = {
	    "c",   "cc",  "cpp", "cxx", "c++", "C",   "h",  "hh", "hpp", "hxx", "h++", "H",
	    "inc", "inl", "ipp", "tcc", "tpp", "def", "s",  "S",  "y",	 "yy",	"l",   "ll",
	    "m",   "mm",  "rs",	 "go",	"d",   "zig", "f",  "F",  "f90", "F90", "for", "adb",
	    "ads", "pas", "cu",	 "cuh", "cl",  "ino", "re", "v",  "vala"};
	const char *name = strrchr(path, '/');
	const char *dot = strrchr(name ? name : path, '.');

	for (unsigned i = 0; dot && i < G_N_ELEMENTS(suffixes); i++)
		if (strcmp(dot + 1, suffixes[i]) == 0)
			return true;
	return false;
}

/* Checks the name of the opened file, which may differ from the path. */
static bool is_named_source(int fd)
{
	g_autofree char *link = g_strdup_printf("/proc/self/fd/%d", fd);
	char path[PATH_MAX];
	ssize_t n = readlink(link, path, sizeof(path) - 1);

	if (n <= 0)
		return false;
	path[n] = '\0';
	return has_source_name(path);
}

static const char *refuse(int fd, const char *path, bool only_sources, const struct stat *status)
{
	if (!S_ISREG(status->st_mode))
		return "no regular file";
	if (status->st_size > MAX_BYTES)
		return "too long";
	if (only_sources && !(has_source_name(path) && is_named_source(fd)))
		return "not the name of a source file";
	return NULL;
}

static char *read_all(int fd, size_t size, size_t *ret_len)
{
	char *text = g_malloc(size + 1);
	size_t len = 0;
	ssize_t n = 1;

	while (n > 0 && len < size) {
		n = read(fd, text + len, size - len);
		len += n > 0 ? (size_t)n : 0;
	}
	text[len] = '\0';
	*ret_len = len;
	return text;
}

/* Returns NULL with the reason in *ret_why on failure. */
static char *read_open(int fd, const char *path, bool only_sources, const char **ret_why)
{
	struct stat status;
	char *text;
	size_t len;

	if (fstat(fd, &status) < 0)
		*ret_why = g_strerror(errno);
	else
		*ret_why = refuse(fd, path, only_sources, &status);
	if (*ret_why)
		return NULL;
	text = read_all(fd, (size_t)status.st_size, &len);
	if (only_sources && memchr(text, 0, len)) {
		g_clear_pointer(&text, g_free);
		*ret_why = "no text";
	}
	return text;
}

char *pp_source_file_read(const char *path, bool only_sources, const char **ret_why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *text;

	if (fd < 0) {
		*ret_why = g_strerror(errno);
		return NULL;
	}
	text = read_open(fd, path, only_sources, ret_why);
	close(fd);
	return text;
}

char *pp_source_line(const char *line)
{
	GString *text = g_string_new(NULL);

	for (; *line; line++) {
		if (*line != '\t') {
			g_string_append_c(text, *line);
			continue;
		}
		do
			g_string_append_c(text, ' ');
		while (text->len % 8);
	}
	return pp_printable(g_string_free(text, FALSE));
}
