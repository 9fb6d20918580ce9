/* SPDX-License-Identifier: MIT */
/*
 * Finds programs that ran without the runtime libraries.  The libraries create a process's folder
 * in their constructors, so a folder belongs to the last program that the process executed before
 * the folder's start.  A program without a folder was not recorded.
 *
 * A process in another PID namespace has different numbers in the capture and in the kernel's
 * events.  Its folder is matched with a program of that time that has no other folder.
 *
 * Whether the libraries could have been loaded is determined from the file that has this path now.
 */
#include "cli/recording/unloaded.h"

#include <stdlib.h>
#include <string.h>

#include "record/program.h"
#include "core/latest_before.h"

#define WHAT	"program not recorded: "
#define UNKNOWN "it left no data (it changed its root, dropped LD_PRELOAD, or ended early)"

struct search {
	const struct pp_collector *collector;
	GArray *images;	     /* of struct pp_image, by process and time */
	bool *recorded;	     /* by image */
	GHashTable *refused; /* process numbers for which the capture gives the reason, as text */
};

static gint compare_images(gconstpointer a, gconstpointer b)
{
	const struct pp_image *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* The image of `pid` at that time; -1 if there is none. */
static int find_image(const struct search *search, int32_t pid, uint64_t time_ns)
{
	guint low = 0, high = search->images->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;
		const struct pp_image *image =
		    &g_array_index(search->images, struct pp_image, middle);

		if (image->pid < pid || (image->pid == pid && image->start_ns <= time_ns))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || g_array_index(search->images, struct pp_image, low - 1).pid != pid)
		return -1;
	return (int)low - 1;
}

/* The images without a folder. */
static struct pp_latest *find_others(const struct search *search)
{
	struct pp_latest *others = pp_latest_new();

	for (guint i = 0; i < search->images->len; i++)
		if (!search->recorded[i])
			pp_latest_add(others,
				      g_array_index(search->images, struct pp_image, i).start_ns,
				      (int)i);
	return others;
}

/* others: for processes whose number is not in the kernel's events; NULL: for the rest. */
static void match(struct search *search, const struct pp_model *model, struct pp_latest *others)
{
	for (guint i = 0; i < model->processes->len; i++) {
		const struct pp_process *process = model->processes->pdata[i];
		int found;

		if (process->start_ns == PP_TIME_UNKNOWN ||
		    g_hash_table_contains(search->collector->tree.pids,
					  GINT_TO_POINTER(process->pid)) == (others != NULL))
			continue;
		found =
		    others ? pp_latest_take(others, (uint64_t)process->start_ns)
			   : find_image(search, (int32_t)process->pid, (uint64_t)process->start_ns);
		if (found >= 0)
			search->recorded[found] = true;
	}
}

/* Processes that have a row in the quality section already. */
static GHashTable *find_refused(const struct pp_model *model)
{
	GHashTable *pids = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; i < model->problems->len; i++) {
		const struct pp_problem *problem = model->problems->pdata[i];

		if (g_str_has_prefix(problem->what, "process not recorded"))
			g_hash_table_add(pids, problem->where);
	}
	return pids;
}

static bool is_refused(const struct search *search, int32_t pid)
{
	g_autofree char *text = g_strdup_printf("%d", pid);

	return g_hash_table_contains(search->refused, text);
}

/*
 * Examines the file at the path as this process sees it, although the program may have had another
 * root or working directory.  Paths into this process's own /proc give no information.
 */
static char *reason(const char *path)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_program program;
	const char *obstacle = NULL;
	char *text;

	if (!strchr(path, '/') || g_str_has_prefix(path, "/dev/") ||
	    g_str_has_prefix(path, "/proc/"))
		return g_strdup(WHAT UNKNOWN);
	if (pp_program_read(path, &program, &err) == 0)
		obstacle = pp_program_obstacle(&program);
	pp_error_done(&err);
	if (obstacle && program.kind == PP_PROGRAM_SCRIPT)
		text = g_strdup_printf(WHAT "its interpreter %s %s",
				       pp_program_image(&program)->path, obstacle);
	else
		text = g_strdup_printf(obstacle ? WHAT "it %s" : WHAT UNKNOWN, obstacle);
	pp_program_done(&program);
	return text;
}

static gint compare_counted(gconstpointer a, gconstpointer b, gpointer counts)
{
	gsize x = GPOINTER_TO_SIZE(g_hash_table_lookup(counts, a));
	gsize y = GPOINTER_TO_SIZE(g_hash_table_lookup(counts, b));

	return x != y ? (x > y ? -1 : 1) : strcmp(a, b);
}

/* Adds a loss per path, most frequent first. */
static void add_losses(struct pp_run *run, GHashTable *counts)
{
	GList *paths = g_hash_table_get_keys(counts);

	paths = g_list_sort_with_data(paths, compare_counted, counts);
	for (GList *path = paths; path; path = path->next) {
		g_autofree char *what = reason(path->data);

		pp_run_add_silent_loss(run, what, path->data,
				       GPOINTER_TO_SIZE(g_hash_table_lookup(counts, path->data)));
	}
	g_list_free(paths);
}

static uint64_t note(struct pp_run *run, const struct pp_capture *capture, GArray *images)
{
	g_autoptr(GHashTable) counts = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GHashTable) refused = find_refused(capture->model);
	g_autofree bool *recorded = g_new0(bool, images->len);
	struct search search = {run->collector, images, recorded, refused};
	struct pp_latest *others;
	uint64_t n = 0;

	g_array_sort(images, compare_images);
	match(&search, capture->model, NULL);
	others = find_others(&search);
	match(&search, capture->model, others);
	pp_latest_free(others);
	for (guint i = 0; i < images->len; i++) {
		const struct pp_image *image = &g_array_index(images, struct pp_image, i);
		gsize count = GPOINTER_TO_SIZE(g_hash_table_lookup(counts, image->path));

		if (recorded[i] || is_refused(&search, image->pid))
			continue;
		g_hash_table_insert(counts, (char *)image->path, GSIZE_TO_POINTER(count + 1));
		n++;
	}
	add_losses(run, counts);
	return n;
}

uint64_t pp_unloaded_note(struct pp_run *run, const struct pp_capture *capture)
{
	const GArray *named = run->collector->tree.images;
	g_autoptr(GArray) images = g_array_new(FALSE, FALSE, sizeof(struct pp_image));

	if (!named || named->len == 0)
		return 0;
	g_array_append_vals(images, named->data, named->len);
	return note(run, capture, images);
}
