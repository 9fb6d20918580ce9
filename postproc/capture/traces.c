/* SPDX-License-Identifier: MIT */
/* Looks for directories with CTF metadata where a capture can have them. */
#include "capture/traces.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_UST_DEPTH 6

static bool is_dir(const char *path)
{
	return g_file_test(path, G_FILE_TEST_IS_DIR);
}

static bool is_file(const char *path)
{
	return g_file_test(path, G_FILE_TEST_IS_REGULAR);
}

/* A trace without streams holds nothing, and Babeltrace fails on it. */
static bool has_streams(const char *dir_path)
{
	GDir *dir = g_dir_open(dir_path, 0, NULL);
	bool found = false;
	const char *name;

	if (!dir)
		return false;
	while (!found && (name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(dir_path, name, NULL);
		struct stat st;

		found = strcmp(name, "metadata") != 0 && name[0] != '.' && stat(path, &st) == 0 &&
			S_ISREG(st.st_mode) && st.st_size > 0;
	}
	g_dir_close(dir);
	return found;
}

void pp_traces_add(struct pp_capture *capture, GPtrArray *to, const char *parent, const char *name,
		   struct pp_process *process)
{
	g_autofree char *path = g_build_filename(parent, name, NULL);
	g_autofree char *metadata = g_build_filename(path, "metadata", NULL);
	g_autofree char *link = NULL;
	struct pp_trace *trace;

	if (!is_dir(path))
		return;
	link = pp_capture_link_out(capture, path);
	if (link) {
		pp_capture_add_damage(capture, path,
				      "left out: a symlink leads out of the capture");
		return;
	}
	if (is_file(metadata))
		pp_missing_streams(capture, path, process);
	if (!has_streams(path))
		return;
	if (!is_file(metadata)) {
		pp_capture_add_damage(capture, path, "streams without metadata: left out");
		return;
	}
	if (pp_missing_clock(capture, metadata)) {
		pp_capture_add_damage(capture, path,
				      "left out: recorded after another boot of the machine");
		return;
	}
	trace = g_new0(struct pp_trace, 1);
	trace->dir = g_steal_pointer(&path);
	trace->process = process;
	g_ptr_array_add(to, trace);
}

/*
 * LTTng puts a session's traces below kernel/; our collector writes its trace into kernel/ itself.
 */
void pp_traces_add_kernel(struct pp_capture *capture)
{
	g_autofree char *kernel = g_build_filename(capture->model->dir, "kernel", NULL);
	g_autofree char *metadata = g_build_filename(kernel, "metadata", NULL);
	GDir *dir;
	const char *name;

	pp_traces_add(capture, capture->traces, capture->model->dir, "kernel", NULL);
	if (is_file(metadata) || !(dir = g_dir_open(kernel, 0, NULL)))
		return;
	while ((name = g_dir_read_name(dir)))
		pp_traces_add(capture, capture->traces, kernel, name, NULL);
	g_dir_close(dir);
}

/*
 * LTTng-UST's traces are where its session puts them: ust/uid/<uid>/64-bit or
 * ust/pid/<process>/..., with a folder or two more for archives.
 */
static void add_ust(struct pp_capture *capture, const char *parent, const char *name,
		    unsigned depth)
{
	g_autofree char *path = g_build_filename(parent, name, NULL);
	g_autofree char *metadata = g_build_filename(path, "metadata", NULL);
	guint n_traces = capture->traces->len;
	GDir *dir;
	const char *below;

	if (is_file(metadata)) {
		pp_traces_add(capture, capture->traces, parent, name, NULL);
		if (capture->traces->len > n_traces)
			((struct pp_trace *)capture->traces->pdata[n_traces])->is_ust = true;
		return;
	}
	if (depth == 0 || !(dir = g_dir_open(path, 0, NULL)))
		return;
	while ((below = g_dir_read_name(dir)))
		add_ust(capture, path, below, depth - 1);
	g_dir_close(dir);
}

void pp_traces_add_ust(struct pp_capture *capture)
{
	add_ust(capture, capture->model->dir, "ust", MAX_UST_DEPTH);
}

/* Does the metadata of a trace, as text or as packets of text, contain the words? */
static bool metadata_holds(const struct pp_trace *trace, const char *words)
{
	g_autofree char *path = g_build_filename(trace->dir, "metadata", NULL);
	g_autofree char *text = NULL;
	gsize len;

	return g_file_get_contents(path, &text, &len, NULL) &&
	       memmem(text, len, words, strlen(words));
}

void pp_kernel_abilities(const struct pp_capture *capture, struct pp_kernel_abilities *ret)
{
	*ret = (struct pp_kernel_abilities){false, false, false};
	for (guint i = 0; i < capture->traces->len; i++) {
		const struct pp_trace *trace = capture->traces->pdata[i];
		bool context_switches_only;

		if (trace->process || trace->is_ust)
			continue;
		context_switches_only = metadata_holds(trace, "kernel_source = \"switches\"");
		ret->has_events = true;
		ret->has_switch_pairs |= !context_switches_only;
		ret->has_wakings |= !context_switches_only && metadata_holds(trace, "sched_waking");
	}
}

uint64_t pp_trace_bytes(const struct pp_trace *trace)
{
	DIR *dir = opendir(trace->dir);
	const struct dirent *entry;
	uint64_t bytes = 0;

	while (dir && (entry = readdir(dir))) {
		struct stat st;

		if (strcmp(entry->d_name, "metadata") != 0 &&
		    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_size;
	}
	if (dir)
		closedir(dir);
	return bytes;
}
