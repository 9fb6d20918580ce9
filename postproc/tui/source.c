/* SPDX-License-Identifier: MIT */
/*
 * The lines around a call.  Which file that is the program's debug information says, and it may say
 * anything: only a regular file of some size is read.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/printable.h"
#include "tui/browser.h"

#define MAX_BYTES (16 << 20)
#define AROUND	  200

/* NULL: it cannot be read, and *ret_why says why. */
static char *read_file(const char *path, const char **ret_why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	char *text = NULL;
	size_t len = 0;
	ssize_t n = 1;

	*ret_why = fd < 0 ? g_strerror(errno) : NULL;
	if (fd >= 0 && (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)))
		*ret_why = "no regular file";
	else if (fd >= 0 && status.st_size > MAX_BYTES)
		*ret_why = "too long";
	if (!*ret_why) {
		text = g_malloc((size_t)status.st_size + 1);
		while (n > 0 && len < (size_t)status.st_size) {
			n = read(fd, text + len, (size_t)status.st_size - len);
			len += n > 0 ? (size_t)n : 0;
		}
		text[len] = '\0';
	}
	if (fd >= 0)
		close(fd);
	return text;
}

/* Tabs to blanks; what is not fit to be shown is not. */
static char *clean(const char *line)
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

static void add_lines(GPtrArray *lines, const char *text, int wanted)
{
	g_auto(GStrv) all = g_strsplit(text, "\n", -1);
	int n = (int)g_strv_length(all);

	for (int i = MAX(wanted - AROUND, 1); i <= MIN(wanted + AROUND, n); i++) {
		g_autofree char *line = clean(all[i - 1]);

		g_ptr_array_add(lines,
				g_strdup_printf("%c%5d  %s", i == wanted ? '>' : ' ', i, line));
	}
	if (wanted > n)
		g_ptr_array_add(lines, g_strdup_printf("it has no line %d: it is another than the "
						       "one compiled",
						       wanted));
}

GPtrArray *pp_browser_source(struct pp_browser *browser)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	const struct pp_index_operation *operation =
	    pp_index_operation(browser->index, pp_browser_operation(browser));
	const struct pp_index_site *site =
	    operation ? pp_index_site(browser->index, operation->site) : NULL;
	const struct pp_process *process =
	    site ? pp_index_process(browser->index, site->process) : NULL;
	const struct pp_namer *namer = browser->namer;
	g_autofree char *path = NULL, *text = NULL;
	const char *why;
	int line = 0;

	if (process && namer && namer->source)
		path = namer->source(namer->data, process, site->address, &line);
	if (!path) {
		g_ptr_array_add(lines, g_strdup("no source line is known: built without -g?"));
		return lines;
	}
	text = read_file(path, &why);
	g_ptr_array_add(lines, pp_printable(g_strdup_printf("%s:%d%s%s", path, line,
							    text ? "" : ": ", text ? "" : why)));
	if (text)
		add_lines(lines, text, line);
	return lines;
}
