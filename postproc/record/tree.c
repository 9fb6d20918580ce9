/* SPDX-License-Identifier: MIT */
/* A hash table of tasks that is updated by fork, exec and exit records. */
#include "record/tree.h"

#include <string.h>

#include "record/ctf/full.h"
#include "gmon-mt/format.h"

struct task {
	int32_t pid;
	bool exited;
	bool was_added;	   /* by pp_tree_add(), and no fork was seen since */
	bool is_helper;	   /* a helper of the runtime libraries, not counted as a thread */
	uint64_t since_ns; /* time of its creation; 0: unknown */
	int8_t prio;
	char comm[PP_COMM_BYTES];
};

struct block {
	uint64_t device, sector;
};

static guint block_hash(const void *data)
{
	const struct block *block = data;

	return (guint)((block->sector ^ block->device << 40) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static gboolean block_equal(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct block)) == 0;
}

static struct task *find(const struct pp_tree *tree, int32_t tid)
{
	return tid > 0 ? g_hash_table_lookup(tree->tasks, GINT_TO_POINTER(tid)) : NULL;
}

static struct task *add(struct pp_tree *tree, int32_t tid, int32_t pid, const char *comm)
{
	struct task *task = g_new0(struct task, 1);

	task->pid = pid;
	task->prio = PP_PRIO_NOT_KNOWN;
	strcpy(task->comm, comm);
	g_hash_table_replace(tree->tasks, GINT_TO_POINTER(tid), task);
	tree->threads++;
	tree->processes += tid == pid;
	if (tid == pid)
		g_hash_table_add(tree->pids, GINT_TO_POINTER(tid));
	return task;
}

static void note_image(struct pp_tree *tree, const struct pp_kevent *event)
{
	const char *name = event->filename ?: event->comm;
	struct pp_image image = {.pid = event->tid, .start_ns = event->time_ns};
	gpointer kept = NULL;

	if (!g_hash_table_lookup_extended(tree->paths, name, &kept, NULL)) {
		kept = g_strdup(name);
		g_hash_table_add(tree->paths, kept);
	}
	image.path = kept;
	g_array_append_val(tree->images, image);
	g_hash_table_add(tree->pids, GINT_TO_POINTER(event->tid));
}

static void drop(struct pp_tree *tree, int32_t tid)
{
	g_hash_table_remove(tree->tasks, GINT_TO_POINTER(tid));
}

void pp_tree_init(struct pp_tree *tree, pid_t root, bool open)
{
	*tree = (struct pp_tree){.open = open};
	tree->tasks = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	tree->images = g_array_new(FALSE, FALSE, sizeof(struct pp_image));
	tree->paths = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	tree->pids = g_hash_table_new(NULL, NULL);
	tree->timers = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	tree->blocks = g_hash_table_new_full(block_hash, block_equal, g_free, NULL);
	add(tree, root, root, "gprof-mt");
}

void pp_tree_add(struct pp_tree *tree, int32_t tid, int32_t pid, const char *comm)
{
	struct task *task = find(tree, tid);

	if (!task)
		task = add(tree, tid, pid, comm);
	g_strlcpy(task->comm, comm, sizeof(task->comm));
	task->was_added = true;
}

void pp_tree_done(struct pp_tree *tree)
{
	g_clear_pointer(&tree->tasks, g_hash_table_unref);
	g_clear_pointer(&tree->images, g_array_unref);
	g_clear_pointer(&tree->paths, g_hash_table_unref);
	g_clear_pointer(&tree->pids, g_hash_table_unref);
	g_clear_pointer(&tree->timers, g_hash_table_unref);
	g_clear_pointer(&tree->blocks, g_hash_table_unref);
}

/* Helpers of the runtime libraries are recognized by their name, and not counted as threads. */
static void set_comm(struct pp_tree *tree, struct task *task, const char *comm)
{
	strcpy(task->comm, comm);
	if (!task->is_helper && strcmp(comm, GM_HELPER_NAME) == 0) {
		task->is_helper = true;
		tree->threads--;
	}
}

/*
 * Completes one side of a switch: sets the record's name and priority, or takes them from the task
 * if the record lacks them.
 */
static void complete(struct pp_tree *tree, struct task *task, char *comm, int8_t *prio)
{
	if (!task)
		return;
	if (*prio == PP_PRIO_NOT_KNOWN) {
		strcpy(comm, task->comm);
		*prio = task->prio;
		return;
	}
	set_comm(tree, task, comm);
	task->prio = *prio;
}

static bool take_switch(struct pp_tree *tree, struct pp_kevent *event)
{
	struct task *prev = find(tree, event->tid);
	struct task *next = find(tree, event->other_tid);

	if (tree->open && !prev && event->tid > 0)
		prev = add(tree, event->tid, event->pid, PP_COMM_NOT_KNOWN);
	if (tree->open && !next && event->other_tid > 0)
		next = add(tree, event->other_tid, event->pid, PP_COMM_NOT_KNOWN);
	if (!prev && !next)
		return false;
	complete(tree, prev, event->comm, &event->prio);
	complete(tree, next, event->other_comm, &event->other_prio);
	/* An exiting task may still block on a lock. */
	if (prev && prev->exited && (event->prev_state & PP_STATE_EXITED))
		drop(tree, event->tid);
	return true;
}

static bool take_fork(struct pp_tree *tree, struct pp_kevent *event)
{
	struct task *parent = find(tree, event->other_tid), *task;

	if (!parent) {
		/* The tid of an ended thread of ours now belongs to another program. */
		drop(tree, event->tid);
		return false;
	}
	/*
	 * A child that was forked before the begin: the kernel may not have known yet that its
	 * parent is ours, so its switches are not recorded, nor those of its own threads.
	 */
	if (event->pid != parent->pid && event->time_ns < tree->begin_ns) {
		drop(tree, event->tid);
		return false;
	}
	strcpy(event->comm, parent->comm);
	strcpy(event->other_comm, parent->comm);
	task = find(tree, event->tid);
	if (task && task->was_added && task->pid == event->pid) {
		strcpy(event->comm, task->comm);
		task->was_added = false;
		task->since_ns = event->time_ns;
		return true;
	}
	task = add(tree, event->tid, event->pid, parent->comm);
	task->prio = parent->prio;
	task->since_ns = event->time_ns;
	return true;
}

static bool take_exit(struct pp_tree *tree, struct pp_kevent *event)
{
	struct task *task = find(tree, event->tid);

	if (!task)
		return false;
	strcpy(event->comm, task->comm);
	event->prio = task->prio;
	task->exited = true;
	if (event->time_ns < tree->begin_ns) {
		tree->threads -= !task->is_helper;
		tree->processes -= event->tid == task->pid;
	}
	return true;
}

static bool take_exec(struct pp_tree *tree, struct pp_kevent *event)
{
	struct task *old = find(tree, event->other_tid);

	if (!old)
		return false;
	note_image(tree, event);
	/* An exec by another thread than the first takes over the first one's tid. */
	if (event->tid != event->other_tid) {
		struct task kept = *old;

		drop(tree, event->other_tid);
		if (!find(tree, event->tid))
			g_hash_table_replace(tree->tasks, GINT_TO_POINTER(event->tid),
					     g_memdup2(&kept, sizeof(kept)));
		find(tree, event->tid)->exited = false;
	}
	if (*event->comm)
		strcpy(find(tree, event->tid)->comm, event->comm);
	return true;
}

/* Was it caused by the thread's own code, rather than by an interrupt on top of it? */
static bool is_by_ours(const struct pp_tree *tree, const struct pp_kevent *event)
{
	return event->irq == PP_IRQ_NONE && find(tree, event->tid);
}

/*
 * A timer belongs to the program from its start by one of the program's threads until a thread of
 * another program starts one at the same address; a periodic timer is restarted by the interrupt.
 * The set grows to the number of distinct addresses.
 */
static bool take_timer_start(struct pp_tree *tree, const struct pp_kevent *event)
{
	if (event->irq != PP_IRQ_NONE)
		return g_hash_table_contains(tree->timers, &event->values[0]);
	if (find(tree, event->tid))
		g_hash_table_add(tree->timers,
				 g_memdup2(&event->values[0], sizeof(event->values[0])));
	else
		g_hash_table_remove(tree->timers, &event->values[0]);
	return find(tree, event->tid);
}

static bool take_block(struct pp_tree *tree, const struct pp_kevent *event)
{
	struct block block = {event->values[0], event->values[1]};

	if (event->kind == PP_KEVENT_BLOCK_COMPLETE)
		return g_hash_table_remove(tree->blocks, &block);
	if (!is_by_ours(tree, event)) {
		g_hash_table_remove(tree->blocks, &block);
		return false;
	}
	g_hash_table_add(tree->blocks, g_memdup2(&block, sizeof(block)));
	return true;
}

bool pp_tree_take(struct pp_tree *tree, struct pp_kevent *event)
{
	struct task *task;

	switch ((enum pp_kevent_kind)event->kind) {
	case PP_KEVENT_SWITCH:
		return take_switch(tree, event);
	case PP_KEVENT_WAKING:
	case PP_KEVENT_STATE:
		return find(tree, event->tid) != NULL;
	case PP_KEVENT_FORK:
		return take_fork(tree, event);
	case PP_KEVENT_EXIT:
		return take_exit(tree, event);
	case PP_KEVENT_EXEC:
		return take_exec(tree, event);
	case PP_KEVENT_COMM:
		task = find(tree, event->tid);
		if (task)
			set_comm(tree, task, event->comm);
		return false;
	case PP_KEVENT_LOST:
		return true;
	case PP_KEVENT_SIGNAL_GENERATE:
		return is_by_ours(tree, event) || find(tree, event->values[PP_SIGNAL_TARGET]);
	case PP_KEVENT_TIMER_START:
		return take_timer_start(tree, event);
	case PP_KEVENT_TIMER_EXPIRE:
		return g_hash_table_contains(tree->timers, &event->values[0]);
	case PP_KEVENT_BLOCK_ISSUE:
	case PP_KEVENT_BLOCK_COMPLETE:
		return take_block(tree, event);
	default:
		return is_by_ours(tree, event);
	}
}

void pp_tree_settle(struct pp_tree *tree, bool (*runs)(pid_t pid, uint64_t time_ns))
{
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, tree->tasks);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct task *task = value;

		if (!task->exited && !runs(task->pid, task->since_ns))
			task->exited = true;
	}
}

unsigned pp_tree_running(const struct pp_tree *tree, pid_t root)
{
	g_autoptr(GHashTable) pids = g_hash_table_new(NULL, NULL);
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, tree->tasks);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		const struct task *task = value;

		if (!task->exited && task->pid != root)
			g_hash_table_add(pids, GINT_TO_POINTER(task->pid));
	}
	return g_hash_table_size(pids);
}
