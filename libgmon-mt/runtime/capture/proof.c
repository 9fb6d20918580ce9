/* SPDX-License-Identifier: MIT */
/*
 * Decides whether a directory is a finished capture of this user (session.h), so that it may be
 * renamed or removed.
 *
 * A directory is a capture if its `session` file is valid, its owner is the effective user, no
 * other user may write to it, and gprof-mt gives every name in it.  It has ended if neither the
 * process that made it nor any process in its folders runs.  A process is identified by its number,
 * its start time and the boot id, or by the lock that it holds (in_use.h).  If neither is
 * conclusive (a process of another PID namespace or machine, on a file system without such locks),
 * the process has ended only if its own header notes the end.
 *
 * All names of a capture are in the table below.  A directory that holds another is not removed,
 * so whatever adds a file to a capture adds it here.
 */
#include <errno.h>

#include "gmon-mt/format.h"
#include "gmon-mt/children.h"
#include "runtime/files/dir.h"
#include "runtime/capture/in_use.h"
#include "runtime/capture/session.h"

#define TREE_DEPTH_MAX 8
#define LIST_BYTES     1024
#define IMAGES_MAX     1000u
#define LOCK_TRIES     50u
#define LOCK_PAUSE_MS  10

struct directory_entry { /* linux_dirent64 */
	uint64_t inode;
	int64_t next;
	unsigned short record_bytes;
	unsigned char type;
	char name[];
};

enum place { FILES, TOP, PROCESS, PACK, STREAMS, TREE };

/* `pattern`: '#' matches digits, '*' the rest. `holds`: FILES for a file, otherwise a directory. */
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
    {GM_MANIFEST_FILE, TOP, FILES},
    {GM_MANIFEST_NEW, TOP, FILES},
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
    {"samples", PROCESS, STREAMS},
    {".samples", PROCESS, STREAMS},
    {"accesses", PROCESS, STREAMS},
    {".accesses", PROCESS, STREAMS},
    {GM_PACK_PREFIX "#", PROCESS, PACK},
    {GM_PACK_HIDDEN, PROCESS, PACK},
    {GM_PACK_TABLE, PACK, FILES},
    {"user", PACK, STREAMS},
    {"gmon.*", PACK, FILES},
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

/* The header of the folder's table; NULL: it has none. */
static const struct gm_threads_header *folder_header(int dir, const char *name)
{
	static GM_LARGE union {
		struct gm_threads_header header;
		char bytes[sizeof(struct gm_threads_header) + 1];
	} head;
	char path[64];
	struct gm_text text = GM_TEXT(path);
	long n;

	gm_text_add(&text, name);
	gm_text_add(&text, "/threads");
	if (text.length >= sizeof(path))
		return NULL;
	n = gm_read_below(dir, path, head.bytes, sizeof(head.bytes));
	if (n < (long)offsetof(struct gm_threads_header, bucket) ||
	    memcmp(head.header.magic, GM_THREADS_MAGIC, 8) != 0)
		return NULL;
	if (n < (long)sizeof(head.header))
		head.header.pid_namespace = 0;
	return &head.header;
}

bool gm_folder_is_of(int dir, const char *name, uint64_t start)
{
	const struct gm_threads_header *header = folder_header(dir, name);

	return header != NULL && start != 0 && header->proc_start == start;
}

/* `pid` 0: it is not known which. */
static int still_runs(struct gm_text *why, int pid)
{
	gm_text_add(why, pid != 0 ? "process " : "a process of the capture");
	if (pid != 0)
		gm_text_add_u64(why, (uint64_t)pid);
	gm_text_add(why, " still runs");
	if (pid == 0)
		gm_text_add(why, " (fuser DIR/session names it)");
	return -EBUSY;
}

static int may_run(struct gm_text *why, int pid)
{
	gm_text_add(why, "its process ");
	gm_text_add_u64(why, (uint64_t)pid);
	gm_text_add(why, ", of another PID namespace or machine, did not say that it ended; "
			 "remove it, if it did");
	return -EEXIST;
}

static int not_ours(struct gm_text *why, const char *name)
{
	gm_text_add(why, "it contains '");
	gm_text_add(why, name);
	gm_text_add(why, "', which is not part of a capture");
	return -EEXIST;
}

struct walk {
	struct gm_text *why;
	struct gm_session session;
	bool this_boot;
	bool has_our_numbers;	/* see gm_session_has_our_numbers() */
	bool lock_tells;	/* a process without the lock has ended */
	bool owner_has_ended;	/* according to its folder */
	int maybe_pid;		/* a process here that may use the capture; 0: none */
	uint32_t pid_namespace; /* of this process; 0: /proc is that of another */
	_Alignas(uint64_t) char list[TREE_DEPTH_MAX][LIST_BYTES];
};

/*
 * True if a process has ended that has no number here and did not note its end.  `pid_namespace` is
 * that of its header.
 */
static bool is_over(const struct walk *walk, uint32_t pid_namespace)
{
	if (pid_namespace == GM_NAMESPACE_PLACE)
		return true; /* check_place() decides */
	if (pid_namespace != 0)
		return walk->this_boot && pid_namespace == walk->pid_namespace;
	/* Captures without lock and namespace have only numbers. */
	return walk->lock_tells || (!walk->session.is_locked && walk->session.pid_namespace == 0);
}

/* The next folder belongs to the program that this one executed; it notes the end of the process.
 */
static bool next_has_ended(int dir, const char *name, uint64_t start, uint32_t pid_namespace)
{
	char next[64];
	bool has_ended = false;

	for (unsigned number = 1; number < IMAGES_MAX; number++) {
		struct gm_text text = GM_TEXT(next);
		const struct gm_threads_header *header;

		for (const char *p = name; *p >= '0' && *p <= '9'; p++)
			gm_text_add_bytes(&text, p, 1);
		gm_text_add(&text, ".");
		gm_text_add_u64(&text, number);
		header = folder_header(dir, next);
		if (header == NULL)
			break;
		if (start != 0 && header->proc_start == start &&
		    header->pid_namespace == pid_namespace)
			has_ended = header->end_ns != 0;
	}
	return has_ended;
}

/* Returns 0 if the process of the folder `name` has ended, otherwise -errno. */
static int check_folder(struct walk *walk, int dir, const char *name)
{
	const struct gm_threads_header *header = folder_header(dir, name);
	uint32_t pid_namespace;
	uint64_t start;
	int pid;

	if (header == NULL)
		return 0;
	pid = (int)header->pid;
	start = header->proc_start;
	pid_namespace = header->pid_namespace;
	if (walk->has_our_numbers && gm_proc_runs(pid, start))
		return still_runs(walk->why, pid);
	if (header->end_ns == 0 && !is_over(walk, pid_namespace) &&
	    !next_has_ended(dir, name, start, pid_namespace))
		return may_run(walk->why, pid);
	if (pid == walk->session.owner && start == walk->session.owner_start)
		walk->owner_has_ended = true;
	return 0;
}

static int check_place(const struct gm_children_header *file, const struct gm_child *child,
		       void *arg)
{
	struct walk *walk = arg;
	bool is_seen = child->pid_namespace != 0 ? child->pid_namespace == walk->pid_namespace
						 : !walk->session.is_locked;
	struct gm_threads_header header;
	int pid;

	if (child->state != GM_CHILD_BEGUN)
		return 0;
	memcpy(&header, child->threads, GM_CHILD_THREADS_BYTES);
	pid = walk->this_boot ? gm_child_running(file, child) : 0;
	if (pid != 0 && is_seen)
		return still_runs(walk->why, pid);
	if (walk->maybe_pid == 0 && walk->session.pid_namespace == walk->pid_namespace)
		walk->maybe_pid = pid;
	return header.end_ns == 0 && !is_over(walk, child->pid_namespace)
		   ? may_run(walk->why, (int)header.pid)
		   : 0;
}

/* A fork child that began in a file of places may have no folder. */
static int check_places(struct walk *walk, int dir, const char *name)
{
	int fd = gm_open_below(dir, name, O_RDONLY, 0), code;

	if (fd < 0)
		return 0;
	code = gm_children_ask(fd, check_place, walk);
	gm_sys_close(fd);
	return code;
}

/* Called last, because the first process has a folder if there is no `record`. */
static int check_owner(struct walk *walk)
{
	const struct gm_session *session = &walk->session;

	if (session->has_ended || walk->owner_has_ended ||
	    is_over(walk, session->is_locked ? 0 : session->pid_namespace))
		return 0;
	return may_run(walk->why, session->owner);
}

static int check_tree(struct walk *walk, int dir, enum place place, unsigned depth);

static int check_entry(struct walk *walk, int dir, enum place place, const char *name,
		       unsigned depth)
{
	const struct rule *rule = rule_of(place, name);
	struct stat status;
	int code, fd;

	if (rule == NULL || gm_syscall6(SYS_newfstatat, dir, (long)name, (long)&status,
					AT_SYMLINK_NOFOLLOW, 0, 0) != 0)
		return not_ours(walk->why, name);
	if (S_ISREG(status.st_mode) && matches(name, GM_CHILDREN_NAME "#"))
		return check_places(walk, dir, name);
	if (!S_ISDIR(status.st_mode))
		return rule->holds == FILES || rule->holds == TREE ? 0 : not_ours(walk->why, name);
	if (rule->holds == FILES || depth + 1 >= TREE_DEPTH_MAX)
		return not_ours(walk->why, name);
	code = rule->holds == PROCESS ? check_folder(walk, dir, name) : 0;
	if (code < 0)
		return code;
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

/*
 * A reader of the memory of a process (ps, top) keeps its mappings, and with them the lock, for an
 * instant after its end.  So if no process is known that could hold the lock, ask again.
 */
static int check_lock(const struct walk *walk, int dir)
{
	unsigned left = walk->maybe_pid == 0 && walk->has_our_numbers ? LOCK_TRIES : 0;
	int code;

	while ((code = gm_in_use(dir)) > 0 && left-- > 0)
		gm_syscall3(SYS_poll, 0, 0, LOCK_PAUSE_MS);
	if (code > 0)
		return still_runs(walk->why, walk->maybe_pid);
	if (code == 0 || !walk->lock_tells)
		return 0;
	gm_text_add(walk->why, "the lock of its file 'session' cannot be examined");
	return code == -EMFILE ? code : -EEXIST;
}

int gm_capture_prove(int dir, struct gm_text *why)
{
	static GM_LARGE struct walk walk;
	struct stat status;
	bool keeps_locks;
	int code = gm_session_read(dir, &walk.session);

	if (gm_syscall3(SYS_fstat, dir, (long)&status, 0) != 0 || !gm_is_own(&status)) {
		gm_text_add(why, "it belongs to another user, or others may write to it");
		return -EPERM;
	}
	if (code == -EMFILE)
		return code;
	if (code < 0) {
		gm_text_add(why, code == -ENOENT ? "it has no file 'session'"
						 : "its file 'session' is invalid");
		return code == -ENOENT ? code : -EEXIST;
	}
	if (gm_session_owner_runs(&walk.session))
		return still_runs(why, walk.session.owner);
	walk.why = why;
	walk.this_boot = gm_session_is_of_this_boot(&walk.session);
	walk.has_our_numbers = gm_session_has_our_numbers(&walk.session);
	keeps_locks = gm_in_use_is_possible(dir);
	walk.lock_tells = walk.session.is_locked && keeps_locks;
	walk.owner_has_ended = false;
	walk.maybe_pid = 0;
	walk.pid_namespace = gm_pid_namespace();
	gm_syscall3(SYS_lseek, dir, 0, 0 /* SEEK_SET */);
	code = check_tree(&walk, dir, TOP, 0);
	if (code == 0 && keeps_locks)
		code = check_lock(&walk, dir);
	return code == 0 ? check_owner(&walk) : code;
}

static void remove_tree(int parent, const char *name, unsigned depth);

/*
 * Removes all files in `dir`, a descriptor for reading it, except the file `kept`; NULL: no
 * exception.
 */
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
