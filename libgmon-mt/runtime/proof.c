/* SPDX-License-Identifier: MIT */
/*
 * Whether a directory is a finished capture of ours (session.h), so that it may be renamed or
 * removed.
 *
 * A directory is a capture if its `session` file says so, its owner is the effective user, no one
 * else may write to it, and every name in it is one that gprof-mt gives.  It has ended if neither
 * the process that made it nor any in its folders runs; a process is known by its id, its start
 * time and the boot id.
 *
 * All names of a capture are in the table below.  A directory that holds another is not removed,
 * so whatever adds a file to a capture adds it here.
 */
#include <errno.h>

#include "gmon-mt/format.h"
#include "gmon-mt/children.h"
#include "runtime/children.h"
#include "runtime/dir.h"
#include "runtime/output.h"
#include "runtime/session.h"

#define TREE_DEPTH_MAX 8
#define LIST_BYTES     1024

struct directory_entry { /* linux_dirent64 */
	uint64_t inode;
	int64_t next;
	unsigned short record_bytes;
	unsigned char type;
	char name[];
};

enum place { FILES, TOP, PROCESS, STREAMS, TREE };

/* `pattern`: '#' stands for digits, '*' for any rest.  `holds`: FILES, or it is a directory. */
struct rule {
	const char *pattern;
	enum place place;
	enum place holds;
};

static const struct rule rules[] = {
    {GM_SESSION_FILE, TOP, FILES},
    {GM_USED_FILE, TOP, FILES},
    {"config", TOP, FILES},
    {"info.json", TOP, FILES},
    {"info.json.new", TOP, FILES},
    {GM_UNWRITTEN "#", TOP, FILES},
    {"#", TOP, PROCESS},
    {"#.#", TOP, PROCESS},
    {".new.#", TOP, PROCESS},
    {GM_COPY_PREFIX "#", TOP, PROCESS},
    {"kernel", TOP, TREE},
    {"ust", TOP, TREE},
    {"index", TOP, TREE},
    {"index.new", TOP, TREE},
    {"threads", PROCESS, FILES},
    {"calls", PROCESS, FILES},
    {"maps", PROCESS, FILES},
    {"sync-counts", PROCESS, FILES},
    {"sync-holds", PROCESS, FILES},
    {GM_HELPERS_FILE, PROCESS, FILES},
    {GM_CHILDREN_NAME "#", PROCESS, FILES},
    {"gmon.*", PROCESS, FILES},
    {"user", PROCESS, STREAMS},
    {".user", PROCESS, STREAMS},
    {"calls-history", PROCESS, STREAMS},
    {".calls-history", PROCESS, STREAMS},
    {"metadata", STREAMS, FILES},
    {"stream_*", STREAMS, FILES},
    {".stream_*", STREAMS, FILES},
    {"*", TREE, TREE},
};
#define N_RULES (sizeof(rules) / sizeof(rules[0]))

static bool matches(const char *name, const char *pattern)
{
	for (; *pattern != '\0'; pattern++) {
		if (*pattern == '*')
			return true;
		if (*pattern != '#') {
			if (*name++ != *pattern)
				return false;
			continue;
		}
		if (*name < '0' || *name > '9')
			return false;
		while (*name >= '0' && *name <= '9')
			name++;
	}
	return *name == '\0';
}

static const struct rule *rule_of(enum place place, const char *name)
{
	for (unsigned i = 0; i < N_RULES; i++)
		if (rules[i].place == place && matches(name, rules[i].pattern))
			return &rules[i];
	return NULL;
}

bool gm_capture_is_name(const char *path)
{
	enum place place = TOP;
	char name[64];

	for (;;) {
		struct gm_text text = GM_TEXT(name);
		const struct rule *rule;
		size_t n = 0;

		while (path[n] != '\0' && path[n] != '/')
			n++;
		gm_text_add_bytes(&text, path, n);
		rule = n < sizeof(name) ? rule_of(place, name) : NULL;
		if (rule == NULL || path[n] == '\0')
			return rule != NULL;
		place = rule->holds;
		path += n + 1;
	}
}

static bool is_dot(const char *name)
{
	return gm_strcmp(name, ".") == 0 || gm_strcmp(name, "..") == 0;
}

static int open_dir(int parent, const char *name)
{
	return (int)gm_syscall6(SYS_openat, parent, (long)name,
				O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0, 0, 0);
}

/* The header of the folder's table, without its buckets; NULL: it has none. */
static const struct gm_threads_header *folder_header(int dir, const char *name)
{
	static GM_LARGE struct gm_threads_header header;
	const size_t head_bytes = offsetof(struct gm_threads_header, bucket);
	char path[64];
	struct gm_text text = GM_TEXT(path);

	gm_text_add(&text, name);
	gm_text_add(&text, "/threads");
	if (text.length >= sizeof(path) ||
	    gm_read_below(dir, path, (char *)&header, head_bytes + 1) != (long)head_bytes ||
	    memcmp(header.magic, GM_THREADS_MAGIC, 8) != 0)
		return NULL;
	return &header;
}

/* Is the process to which the folder `name` belongs alive? */
static bool folder_runs(int dir, const char *name, int *ret_pid)
{
	const struct gm_threads_header *header = folder_header(dir, name);

	if (header == NULL)
		return false;
	*ret_pid = (int)header->pid;
	return gm_proc_runs(*ret_pid, header->proc_start);
}

bool gm_folder_is_of(int dir, const char *name, uint64_t start)
{
	const struct gm_threads_header *header = folder_header(dir, name);

	return header != NULL && start != 0 && header->proc_start == start;
}

/* A child of fork that began in a file of places may have no folder. */
static int running_in(int dir, const char *name)
{
	int fd = gm_open_below(dir, name, O_RDONLY, 0), pid;

	if (fd < 0)
		return 0;
	pid = gm_children_running(fd, 0);
	gm_sys_close(fd);
	return pid;
}

static int still_runs(struct gm_text *why, int pid)
{
	gm_text_add(why, "process ");
	gm_text_add_u64(why, (uint64_t)pid);
	gm_text_add(why, " of it still runs");
	return -EBUSY;
}

static int not_ours(struct gm_text *why, const char *name)
{
	gm_text_add(why, "it holds '");
	gm_text_add(why, name);
	gm_text_add(why, "', which is not of a capture");
	return -EEXIST;
}

struct walk {
	struct gm_text *why;
	bool this_boot;
	_Alignas(uint64_t) char list[TREE_DEPTH_MAX][LIST_BYTES];
};

static int check_tree(struct walk *walk, int dir, enum place place, unsigned depth);

static int check_entry(struct walk *walk, int dir, enum place place, const char *name,
		       unsigned depth)
{
	const struct rule *rule = rule_of(place, name);
	struct stat status;
	int code, fd, pid;

	if (rule == NULL || gm_syscall6(SYS_newfstatat, dir, (long)name, (long)&status,
					AT_SYMLINK_NOFOLLOW, 0, 0) != 0)
		return not_ours(walk->why, name);
	if (!S_ISDIR(status.st_mode) && walk->this_boot && matches(name, GM_CHILDREN_NAME "#") &&
	    (pid = running_in(dir, name)) != 0)
		return still_runs(walk->why, pid);
	if (!S_ISDIR(status.st_mode))
		return rule->holds == FILES || rule->holds == TREE ? 0 : not_ours(walk->why, name);
	if (rule->holds == FILES || depth + 1 >= TREE_DEPTH_MAX)
		return not_ours(walk->why, name);
	if (rule->holds == PROCESS && walk->this_boot && folder_runs(dir, name, &pid))
		return still_runs(walk->why, pid);
	fd = open_dir(dir, name);
	if (fd == -EMFILE)
		return fd;
	code = fd >= 0 ? check_tree(walk, fd, rule->holds, depth + 1) : not_ours(walk->why, name);
	if (fd >= 0)
		gm_sys_close(fd);
	return code;
}

static int check_tree(struct walk *walk, int dir, enum place place, unsigned depth)
{
	char *list = walk->list[depth];
	int code = 0;
	long n;

	while (code == 0 && (n = gm_syscall3(SYS_getdents64, dir, (long)list, LIST_BYTES)) > 0) {
		for (long at = 0; at < n && code == 0;) {
			struct directory_entry *entry = (void *)(list + at);

			at += entry->record_bytes;
			if (!is_dot(entry->name))
				code = check_entry(walk, dir, place, entry->name, depth);
		}
	}
	return code;
}

int gm_capture_prove(int dir, struct gm_text *why)
{
	static GM_LARGE struct walk walk;
	struct gm_session session;
	struct stat status;
	int code = gm_session_read(dir, &session);

	if (gm_syscall3(SYS_fstat, dir, (long)&status, 0) != 0 || !gm_is_own(&status)) {
		gm_text_add(why, "it belongs to another user, or others may write to it");
		return -EPERM;
	}
	if (code == -EMFILE)
		return code;
	if (code < 0) {
		gm_text_add(why, code == -ENOENT ? "it has no file 'session'"
						 : "its file 'session' is not of a capture");
		return code == -ENOENT ? code : -EEXIST;
	}
	if (gm_session_owner_runs(&session))
		return still_runs(why, session.owner);
	walk.why = why;
	walk.this_boot = gm_session_is_of_this_boot(&session);
	gm_syscall3(SYS_lseek, dir, 0, 0 /* SEEK_SET */);
	return check_tree(&walk, dir, TOP, 0);
}

static void remove_tree(int parent, const char *name, unsigned depth);

/* Empties `dir`, a descriptor to read it, but for the file `kept`; NULL: none. */
static void empty_tree(int dir, unsigned depth, const char *kept)
{
	_Alignas(uint64_t) char list[LIST_BYTES];
	long n;

	gm_syscall3(SYS_lseek, dir, 0, 0 /* SEEK_SET */);
	while ((n = gm_syscall3(SYS_getdents64, dir, (long)list, sizeof(list))) > 0) {
		for (long at = 0; at < n;) {
			struct directory_entry *entry = (void *)(list + at);

			at += entry->record_bytes;
			if (is_dot(entry->name) ||
			    (kept != NULL && gm_strcmp(entry->name, kept) == 0))
				continue;
			if (gm_syscall3(SYS_unlinkat, dir, (long)entry->name, 0) == -EISDIR &&
			    depth < TREE_DEPTH_MAX)
				remove_tree(dir, entry->name, depth + 1);
		}
	}
}

static void remove_tree(int parent, const char *name, unsigned depth)
{
	int dir = open_dir(parent, name);

	if (dir < 0)
		return;
	empty_tree(dir, depth, NULL);
	gm_sys_close(dir);
	gm_syscall3(SYS_unlinkat, parent, (long)name, AT_REMOVEDIR);
}

void gm_remove_tree_at(int parent, const char *name)
{
	remove_tree(parent, name, 0);
}

void gm_capture_remove_at(int parent, const char *name, int dir)
{
	empty_tree(dir, 0, GM_SESSION_FILE);
	gm_syscall3(SYS_unlinkat, dir, (long)GM_SESSION_FILE, 0);
	gm_syscall3(SYS_unlinkat, parent, (long)name, AT_REMOVEDIR);
}

void gm_remove_tree(const char *path)
{
	int dir = gm_sys_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);

	if (dir < 0) {
		gm_sys_remove_away(path, dir);
		return;
	}
	empty_tree(dir, 0, NULL);
	gm_sys_close(dir);
	gm_sys_rmdir(path);
}
