/* SPDX-License-Identifier: MIT */
/*
 * Places for the children of fork (children.h).
 *
 * A process makes the first few at its first fork, and four times as many whenever three quarters
 * are taken. Their pages are brought into memory before a child uses them. A child makes a folder
 * of its own if there is no room, if the kernel does not zero memory in a child (before Linux
 * 4.14), if the fork that took the last place gave no notice (_Fork(), clone()), or if a thread is
 * sealed (seal.h).
 *
 * No lock is held across a fork: a lock that another thread of the parent held is free in the
 * child.
 */
#include <errno.h>
#include <sys/random.h>

#include "runtime/files/file.h"
#include "runtime/files/helper_task.h"
#include "runtime/files/files_in_memory.h"
#include "runtime/process/children.h"
#include "runtime/process/process.h"
#include "runtime/process/threads.h"
#include "runtime/sys/futex.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"

#define PAGE_BYTES  4096u
#define FIRST_SLOTS 16u
#define GROWTH	    4u
#define RETRY_NS    100000000u
#define NAME_BYTES  (sizeof(GM_CHILDREN_NAME) + 12)

enum { CLAIM_NEW, CLAIM_MAKING, CLAIM_DONE };

/* Inherited by a child: the second page. */
struct kin {
	struct gm_children_header *children; /* NULL: none */
	uint32_t lock;			     /* only tried, never waited for */
	uint32_t n_made;
	uint64_t retry_ns;	/* no room was found: do not try again before this time */
	uint32_t pid_namespace; /* of the first process that made places; 0: not known */
};

static struct gm_identity *identity;
static bool is_wiped;

static struct kin *kin_of(struct gm_identity *of)
{
	return (struct kin *)((char *)of + PAGE_BYTES);
}

static uint64_t children_bytes(uint32_t n_slots)
{
	return GM_CHILDREN_HEADER_BYTES + (uint64_t)n_slots * GM_CHILD_BYTES;
}

/* Replaces `before`, unless the other library has done so. */
static void image_fill(uint64_t before)
{
	uint64_t image;

	if (gm_syscall3(SYS_getrandom, (long)&image, sizeof(image), GRND_NONBLOCK) != sizeof(image))
		image = gm_clock_ns() * 0x9e3779b97f4a7c15u;
	__atomic_compare_exchange_n(&identity->image, &before, image, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

struct gm_identity *gm_identity_begin(void)
{
	if (identity == NULL) {
		identity = gm_sys_mmap(2 * PAGE_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (identity == NULL)
			return NULL;
		is_wiped =
		    gm_syscall3(SYS_madvise, (long)identity, PAGE_BYTES, MADV_WIPEONFORK) == 0;
		identity->state = CLAIM_DONE; /* this process is not a child */
	}
	if (identity->image == 0 || !is_wiped)
		image_fill(identity->image);
	return identity;
}

void gm_identity_join(uint64_t at)
{
	if (identity != NULL)
		return;
	identity = (struct gm_identity *)at;
	is_wiped = gm_syscall3(SYS_madvise, (long)at, PAGE_BYTES, MADV_WIPEONFORK) == 0;
}

/* --- the parent --------------------------------------------------------------------------- */

static bool run_short(const struct gm_children_header *children)
{
	return children == NULL || __atomic_load_n(&children->n_claimed, __ATOMIC_RELAXED) >=
				       children->n_slots - children->n_slots / 4;
}

struct pages {
	const char *path;
	uint64_t size_bytes;
};

static long pages_step(void *arg)
{
	const struct pages *pages = arg;
	int fd = gm_sys_open(pages->path, O_WRONLY | O_NOFOLLOW, 0);

	if (fd < 0)
		return fd;
	gm_file_zeros(fd, 0, pages->size_bytes);
	gm_sys_close(fd);
	return 0;
}

/* A child of a process is in the same PID namespace or in one below it. */
static uint32_t pid_namespace(void)
{
	struct stat status;

	if (gm_syscall3(SYS_stat, (long)"/proc/self/ns/pid", (long)&status, 0) != 0)
		return 0;
	return (uint32_t)status.st_ino;
}

static struct gm_children_header *children_new(const struct gm_process *process, uint32_t number,
					       uint32_t n_slots)
{
	struct gm_children_header *children;
	char name[NAME_BYTES];
	struct gm_text text = GM_TEXT(name), folder;
	struct pages pages;
	void *mapping;
	char *path;

	gm_text_add(&text, GM_CHILDREN_NAME);
	gm_text_add_u64(&text, number);
	path = gm_path_new(process->dir, name);
	if (path == NULL ||
	    gm_file_map(process->dir, name, 0, children_bytes(n_slots), &mapping) != 0) {
		gm_path_free(path);
		return NULL;
	}
	pages = (struct pages){path, children_bytes(n_slots)};
	gm_files_run(pages_step, &pages);
	gm_path_free(path);
	children = mapping;
	children->schema = GM_CAPTURE_SCHEMA;
	children->header_bytes = GM_CHILDREN_HEADER_BYTES;
	children->slot_bytes = GM_CHILD_BYTES;
	children->n_slots = n_slots;
	children->pid = (uint32_t)process->pid;
	children->proc_start = gm_threads_table()->proc_start;
	if (kin_of(identity)->pid_namespace == 0)
		kin_of(identity)->pid_namespace = pid_namespace();
	children->pid_namespace = kin_of(identity)->pid_namespace;
	folder = GM_TEXT(children->folder);
	gm_text_add(&folder, gm_base_name(process->dir));
	/* release: a file with the magic has a complete header */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(children->magic, GM_CHILDREN_MAGIC, sizeof(children->magic));
	return children;
}

/* The process' own place may be in the same file. */
static void children_drop(struct gm_children_header *children)
{
	const char *own = (const char *)identity->child, *start = (const char *)children;
	uint64_t size_bytes;

	if (children == NULL)
		return;
	size_bytes = children_bytes(children->n_slots);
	if (own < start || own >= start + size_bytes)
		gm_sys_munmap(children, size_bytes);
}

/* The caller holds the lock of kin, with signals blocked. */
static void children_more(struct kin *kin, const struct gm_process *process)
{
	struct gm_children_header *old = kin->children, *new = NULL;
	uint32_t n_slots = FIRST_SLOTS;

	if (!run_short(old) || gm_clock_ns() < kin->retry_ns)
		return;
	if (old != NULL)
		n_slots = old->n_slots < GM_CHILDREN_MAX ? GROWTH * old->n_slots : GM_CHILDREN_MAX;
	if (gm_process_folder() == 0)
		new = children_new(process, kin->n_made++, n_slots);
	if (new == NULL) {
		kin->retry_ns = gm_clock_ns() + RETRY_NS;
		return;
	}
	/* release: pairs with the acquire below and in the child */
	__atomic_store_n(&kin->children, new, __ATOMIC_RELEASE);
	children_drop(old);
}

void gm_children_prepare(void)
{
	const struct gm_process *process = gm_process_get();
	struct kin *kin;
	uint64_t mask;

	if (process == NULL || identity == NULL || !is_wiped || identity->image == 0 ||
	    gm_seal_exists() || gm_kept_is_on())
		return;
	kin = kin_of(identity);
	if (!run_short(__atomic_load_n(&kin->children, __ATOMIC_ACQUIRE)) ||
	    process->config.calls_mode == GM_CALLS_HISTORY ||
	    process->config.sync_sink != GM_SINK_NATIVE)
		return;
	gm_signals_block(&mask);
	if (__atomic_exchange_n(&kin->lock, 1, __ATOMIC_ACQUIRE) == 0) {
		children_more(kin, process);
		__atomic_store_n(&kin->lock, 0, __ATOMIC_RELEASE);
	}
	gm_signals_restore(mask);
}

/* --- the child ---------------------------------------------------------------------------- */

void gm_child_note_pid(void)
{
	if (identity != NULL && is_wiped && !gm_seal_is_set())
		identity->pid = gm_sys_getpid();
}

int gm_child_pid(void)
{
	return identity != NULL && is_wiped && identity->pid != 0 ? identity->pid : gm_sys_getpid();
}

static struct gm_child *claim(struct gm_children_header *children)
{
	uint32_t number;

	if (children == NULL)
		return NULL;
	number = __atomic_fetch_add(&children->n_claimed, 1, __ATOMIC_RELAXED);
	if (number >= children->n_slots)
		return NULL;
	return (struct gm_child *)((char *)children + GM_CHILDREN_HEADER_BYTES +
				   (uint64_t)number * GM_CHILD_BYTES);
}

static void claim_end(void)
{
	gm_making_end(&identity->making);
	/* release: pairs with the acquires in gm_child_claim() and gm_making_wait() */
	__atomic_store_n(&identity->state, CLAIM_DONE, __ATOMIC_RELEASE);
}

void gm_child_claim_left(uint32_t tid)
{
	if (identity == NULL ||
	    __atomic_load_n(&identity->state, __ATOMIC_RELAXED) != CLAIM_MAKING ||
	    !gm_making_is_by(&identity->making, tid))
		return;
	kin_of(identity)->children = NULL;
	/* without a wake-up, which is a system call: waiters check the state periodically */
	claim_end();
}

int gm_child_claim(void (*fill)(struct gm_child *child), struct gm_child **ret_child)
{
	uint32_t seen = CLAIM_NEW;
	struct gm_child *child;
	int code;

	*ret_child = NULL;
	if (identity == NULL || !is_wiped)
		return 0;
	if (!__atomic_compare_exchange_n(&identity->state, &seen, CLAIM_MAKING, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
		code = seen == CLAIM_MAKING
			   ? gm_making_wait(&identity->making, &identity->state, CLAIM_MAKING)
			   : 0;
		if (code == 0)
			*ret_child = identity->child;
		return code;
	}
	gm_making_begin(&identity->making);
	if (kin_of(identity)->lock != 0) /* held by a thread of the parent at the fork */
		kin_of(identity)->lock = 0;
	image_fill(0);
	child = claim(kin_of(identity)->children);
	if (child != NULL) {
		fill(child);
		identity->child = child;
		/* release: a place in state BEGUN has a complete header */
		__atomic_store_n(&child->state, GM_CHILD_BEGUN, __ATOMIC_RELEASE);
	} else {
		/* the grandparent's load map must not be inherited */
		kin_of(identity)->children = NULL;
	}
	claim_end();
	gm_futex_wake(&identity->state, INT_MAX);
	*ret_child = child;
	return 0;
}

void gm_children_leave(void)
{
	__atomic_store_n(&kin_of(identity)->children, NULL, __ATOMIC_RELEASE);
	kin_of(identity)->n_made = 0;
}

const char *gm_children_folder(void)
{
	const struct gm_children_header *children = kin_of(identity)->children;

	return children != NULL ? children->folder : "";
}

int gm_maps_copy(const char *from_dir, const char *to_dir, uint64_t n_bytes)
{
	char buffer[1024], *from, *to;
	uint64_t left = n_bytes;
	int in = -ENOMEM, out = -ENOMEM, code = 0;

	from = gm_path_new(from_dir, "maps");
	to = gm_path_new(to_dir, "maps");
	if (from != NULL && to != NULL) {
		in = gm_sys_open(from, O_RDONLY | O_NOFOLLOW, 0);
		out = gm_sys_open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	}
	if (in < 0 || out < 0)
		code = in < 0 ? in : out;
	while (code == 0 && left > 0) {
		uint64_t n = left < sizeof(buffer) ? left : sizeof(buffer);
		long got = gm_sys_read(in, buffer, n), put;

		if (got <= 0)
			break;
		put = gm_write_quietly(out, buffer, (size_t)got);
		if (put != got)
			code = put < 0 ? (int)put : -ENOSPC;
		left -= (uint64_t)got;
	}
	if (in >= 0)
		gm_sys_close(in);
	if (out >= 0)
		gm_sys_close(out);
	gm_path_free(from);
	gm_path_free(to);
	return code;
}
