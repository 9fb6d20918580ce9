/* SPDX-License-Identifier: MIT */
/* Unreadable and unwritten parts of a capture, as rows for `report quality`. */
#include "capture/capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/printable.h"
#include "gmon-mt/format.h"

void pp_capture_add_damage(struct pp_capture *capture, const char *where, const char *format, ...)
{
	g_autofree char *what = NULL;
	g_autofree char *shown = pp_printable(g_strdup(where));
	g_autofree char *line = NULL;
	GPtrArray *damage = capture->damage;
	va_list args;

	va_start(args, format);
	what = pp_printable(g_strdup_vprintf(format, args));
	va_end(args);
	pp_model_add_problem(capture->model, what, shown, 1);
	line = g_strdup_printf("%s: %s", shown, what);
	if (!damage->len || !g_str_equal(damage->pdata[damage->len - 1], line))
		g_ptr_array_add(damage, g_steal_pointer(&line));
}

bool pp_capture_is_damaged(const struct pp_capture *capture, const char *where)
{
	g_autofree char *shown = pp_printable(g_strdup(where));
	size_t len = strlen(shown);

	for (guint i = 0; i < capture->damage->len; i++) {
		const char *line = capture->damage->pdata[i];

		if (strncmp(line, shown, len) == 0 && line[len] == ':')
			return true;
	}
	return false;
}

static const char *why_unwritten(int code)
{
	switch (code) {
	case EFBIG:
		return "the limit on the size of files is too low (ulimit -f)";
	case EINTR:
		return "a signal handler jumped out of the code that starts its recording";
	case ETIMEDOUT:
		return "a thread was stopped for seconds in the code that starts its recording";
	default:
		return g_strerror(code);
	}
}

char *pp_capture_unwritten_text(int code)
{
	return g_strconcat("process not recorded: ", why_unwritten(code), NULL);
}

void pp_capture_add_unwritten(struct pp_model *model, const char *pid, int code)
{
	g_autofree char *what = pp_capture_unwritten_text(code);

	pp_model_add_problem(model, what, pid, 1);
	model->n_unwritten++;
}

char *pp_capture_note_unwritten(struct pp_model *model)
{
	GDir *dir = g_dir_open(model->dir, 0, NULL);
	char *first = NULL;
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(model->dir, name, NULL);
		g_autofree char *target = NULL;
		const char *pid = name + strlen(GM_UNWRITTEN);

		if (!g_str_has_prefix(name, GM_UNWRITTEN) || !g_ascii_isdigit(*pid) ||
		    !(target = g_file_read_link(path, NULL)))
			continue;
		pp_capture_add_unwritten(model, pid, atoi(target));
		if (!first)
			first = g_strdup_printf("process %s could not write into it: %s", pid,
						why_unwritten(atoi(target)));
	}
	if (dir)
		g_dir_close(dir);
	return first;
}
