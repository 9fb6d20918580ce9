/* SPDX-License-Identifier: MIT */
/* Makes the maps of the BPF programs, and reads the rings that the programs fill. */
#include "record/bpf/bpf.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "record/bpf/layout.h"

/* Slots of a ring (2 MiB; 4 MiB; 16 KiB), and the memory limit of all rings. */
#define MOST_SLOTS  (32u << 10)
#define FULL_SLOTS  (64u << 10)
#define LEAST_SLOTS 256u
#define RINGS_BYTES (64u << 20)

/* The object file (object.S). */
extern const char pp_bpf_object[], pp_bpf_object_end[];

/* Names in programs.bpf.c, and libbpf's names of the maps that hold variables. */
#define RINGS	  "gprof_mt_rings"
#define WAKE	  "gprof_mt_wake"
#define SETTINGS  ".rodata"
#define TIDS	  ".bss"
#define TIDS_NAME "gprof_mt_tids"

/* --- maps ------------------------------------------------------------------------------------ */

static size_t value_bytes(const struct pp_bpf *bpf)
{
	return sizeof(struct pp_bpf_ring_head) + pp_bpf_ring_bytes(bpf);
}

static int create_map(const char *name, size_t bytes, unsigned n)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);

	return bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(uint32_t), (uint32_t)bytes, n,
			      &options);
}

/* Returns NULL if out of memory. */
static char *map_memory(int fd, size_t len_bytes)
{
	void *map = mmap(NULL, len_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return map == MAP_FAILED ? NULL : map;
}

/*
 * Returns -E2BIG if a value would exceed the limit of older kernels.  n_cpus: the highest CPU
 * number plus one.
 */
static int create_rings(struct pp_bpf *bpf, unsigned n_cpus, bool full)
{
	size_t page = sysconf(_SC_PAGESIZE);

	bpf->n_slots = full ? FULL_SLOTS : MOST_SLOTS;
	while (bpf->n_slots > LEAST_SLOTS && value_bytes(bpf) * n_cpus > RINGS_BYTES)
		bpf->n_slots /= 2;
	for (;;) {
		bpf->rings_fd = create_map(RINGS, value_bytes(bpf), n_cpus);
		if ((bpf->rings_fd != -E2BIG && bpf->rings_fd != -ENOMEM) ||
		    bpf->n_slots <= LEAST_SLOTS)
			break;
		bpf->n_slots /= 2;
	}
	if (bpf->rings_fd < 0)
		return bpf->rings_fd;
	bpf->rings_bytes = (value_bytes(bpf) * n_cpus + page - 1) / page * page;
	bpf->rings = map_memory(bpf->rings_fd, bpf->rings_bytes);
	return bpf->rings ? 0 : -ENOMEM;
}

static void take_rings(struct pp_bpf *bpf, const struct pp_ring *rings, unsigned n_rings)
{
	bpf->of = g_new0(struct pp_bpf_ring, n_rings);
	bpf->n_rings = n_rings;
	for (unsigned i = 0; i < n_rings; i++) {
		char *at = bpf->rings + value_bytes(bpf) * (unsigned)rings[i].cpu;

		bpf->of[i] = (struct pp_bpf_ring){
		    .cpu = rings[i].cpu,
		    .head = (struct pp_bpf_ring_head *)(void *)at,
		    .slots = (struct pp_bpf_record *)(void *)(at + sizeof(*bpf->of[i].head)),
		};
		bpf->of[i].head->current = PP_BPF_CURRENT_UNKNOWN;
	}
}

/* --- the object with the programs ------------------------------------------------------------ */

static int be_silent(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

static struct bpf_map *map_of(const struct pp_bpf *bpf, const char *name)
{
	return bpf_object__find_map_by_name(bpf->programs.object, name);
}

static int set_settings(struct pp_bpf *bpf, int64_t preempt_count)
{
	const struct pp_bpf_settings settings = {
	    .n_slots = bpf->n_slots,
	    .slots_shift = (uint32_t)__builtin_ctz(bpf->n_slots),
	    .preempt_count = preempt_count,
	};

	return bpf_map__set_initial_value(map_of(bpf, SETTINGS), &settings, sizeof(settings));
}

/* Created here, because libbpf would copy the whole value to set one bit. */
static int set_tids(struct pp_bpf *bpf, pid_t root)
{
	int fd = create_map(TIDS_NAME, PP_BPF_TIDS_BYTES, 1), rc;
	char *tids;

	if (fd < 0)
		return fd;
	tids = map_memory(fd, PP_BPF_TIDS_BYTES);
	if (tids) {
		tids[root / 8] = (char)(1 << root % 8);
		munmap(tids, PP_BPF_TIDS_BYTES);
		rc = bpf_map__reuse_fd(map_of(bpf, TIDS), fd);
	} else {
		rc = -ENOMEM;
	}
	close(fd);
	return rc;
}

int pp_bpf_add_thread(struct pp_bpf *bpf, pid_t tid)
{
	char *tids = map_memory(bpf_map__fd(map_of(bpf, TIDS)), PP_BPF_TIDS_BYTES);

	if (!tids)
		return -ENOMEM;
	/* relaxed: the BPF programs change other bits of the word at the same time */
	__atomic_fetch_or(&tids[tid / 8], (char)(1 << tid % 8), __ATOMIC_RELAXED);
	munmap(tids, PP_BPF_TIDS_BYTES);
	return 0;
}

/* The threads, CPUs and events for which the programs are loaded. */
struct request {
	const struct pp_ring *rings;
	unsigned n_rings, n_cpus;
	pid_t root;
	bool full, has_senders;
	int64_t preempt_count;
};

static int prepare(struct pp_bpf *bpf, const struct request *request)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "gprof_mt");
	int rc;

	bpf->programs.object = bpf_object__open_mem(
	    pp_bpf_object, (size_t)(pp_bpf_object_end - pp_bpf_object), &options);
	if (!bpf->programs.object)
		return -errno;
	pp_bpf_programs_choose(&bpf->programs, request->full, request->has_senders);
	rc = set_settings(bpf, request->preempt_count);
	if (rc == 0)
		rc = set_tids(bpf, request->root);
	if (rc == 0)
		rc = bpf_map__reuse_fd(map_of(bpf, RINGS), bpf->rings_fd);
	if (rc == 0)
		rc = bpf_map__set_max_entries(map_of(bpf, WAKE), request->n_cpus);
	return rc;
}

static int add_events(struct pp_bpf *bpf, const struct pp_ring *rings, unsigned n_rings)
{
	int fd = bpf_map__fd(map_of(bpf, WAKE)), rc = 0;

	for (unsigned i = 0; i < n_rings && rc == 0; i++) {
		uint32_t cpu = (uint32_t)rings[i].cpu;
		int event = rings[i].bpf_fd;

		rc = bpf_map_update_elem(fd, &cpu, &event, BPF_ANY);
	}
	return rc;
}

/* --- opening and closing --------------------------------------------------------------------- */

bool pp_bpf_is_built(void)
{
	return true;
}

bool pp_bpf_tells(enum pp_kevent_kind kind)
{
	return kind == PP_KEVENT_SYSCALL_ENTRY || kind == PP_KEVENT_SYSCALL_EXIT ||
	       kind == PP_KEVENT_FAULT_USER || kind == PP_KEVENT_FAULT_KERNEL;
}

static int fail(struct pp_error *err, int rc, const char *what)
{
	if (rc == -EPERM)
		return pp_error_add(err, rc, PP_BPF_NOT_PERMITTED);
	return pp_error_add(err, rc, "%s: %s", what, g_strerror(-rc));
}

static int start(struct pp_bpf *bpf, const struct request *request, struct pp_error *err)
{
	int rc = prepare(bpf, request);

	if (rc)
		return fail(err, rc, "preparing the programs");
	rc = pp_bpf_programs_load(&bpf->programs, err);
	if (rc)
		return rc;
	rc = add_events(bpf, request->rings, request->n_rings);
	if (rc)
		return fail(err, rc, "a map");
	rc = pp_bpf_programs_attach(&bpf->programs);
	return rc ? fail(err, rc, "attaching a program") : 0;
}

/* Not all kernels can run the programs of senders.bpf.h: starts without them if need be. */
static int start_best(struct pp_bpf *bpf, struct request *request, struct pp_error *err)
{
	struct pp_error first = PP_ERROR_INIT;
	int rc = start(bpf, request, &first);

	pp_error_done(&first);
	if (rc == 0)
		return 0;
	pp_bpf_programs_detach(&bpf->programs);
	bpf_object__close(bpf->programs.object);
	request->has_senders = false;
	return start(bpf, request, err);
}

static int open_all(struct pp_bpf *bpf, const struct pp_ring *rings, unsigned n_rings, pid_t root,
		    bool full, struct pp_error *err)
{
	struct request request = {.rings = rings,
				  .n_rings = n_rings,
				  .n_cpus = 1,
				  .root = root,
				  .full = full,
				  .has_senders = true};
	int rc = pp_bpf_preempt_count(&request.preempt_count, err);

	if (rc)
		return rc;
	for (unsigned i = 0; i < n_rings; i++)
		request.n_cpus = MAX(request.n_cpus, (unsigned)rings[i].cpu + 1);
	rc = create_rings(bpf, request.n_cpus, full);
	if (rc)
		return fail(err, rc, "a map");
	take_rings(bpf, rings, n_rings);
	return start_best(bpf, &request, err);
}

/*
 * The kernel's BTF, 5 MB and more, is read here and again by libbpf, each time into two copies.
 * Keeping the pages of the first reading saves the kernel from clearing new ones for the second.
 */
static void keep_pages(bool keep)
{
	mallopt(M_MMAP_THRESHOLD, keep ? 64 << 20 : 128 << 10);
	mallopt(M_TRIM_THRESHOLD, keep ? 256 << 20 : 128 << 10);
	if (!keep)
		malloc_trim(0);
}

int pp_bpf_open(struct pp_bpf *bpf, const struct pp_ring *rings, unsigned n_rings, pid_t root,
		bool full, struct pp_error *err)
{
	struct rlimit limit;
	bool has_limit = getrlimit(RLIMIT_MEMLOCK, &limit) == 0;
	int rc;

	*bpf = (struct pp_bpf){.rings_fd = -1};
	libbpf_set_print(be_silent);
	keep_pages(true);
	rc = open_all(bpf, rings, n_rings, root, full, err);
	keep_pages(false);
	/*
	 * libbpf raises RLIMIT_MEMLOCK after a failed attempt; the profiled program would inherit
	 * it.
	 */
	if (has_limit)
		setrlimit(RLIMIT_MEMLOCK, &limit);
	if (rc)
		pp_bpf_close(bpf);
	return rc;
}

size_t pp_bpf_ring_bytes(const struct pp_bpf *bpf)
{
	return bpf->n_slots * sizeof(struct pp_bpf_record);
}

/* Returns NULL if the next record is not complete yet. */
static const struct pp_bpf_record *next_record(const struct pp_bpf *bpf,
					       const struct pp_bpf_ring *of)
{
	const struct pp_bpf_record *record = &of->slots[of->tail & (bpf->n_slots - 1)];
	uint8_t mark = of->tail & bpf->n_slots ? 0 : PP_BPF_ODD;

	/* acquire: pairs with the BPF program's ordered stores; see records.h */
	return (__atomic_load_n(&record->mark, __ATOMIC_ACQUIRE) & PP_BPF_ODD) == mark ? record
										       : NULL;
}

static void take_records(const struct pp_bpf *bpf, unsigned ring,
			 void (*take)(void *data, unsigned ring, struct pp_kevent *event),
			 void *data)
{
	struct pp_bpf_ring *of = &bpf->of[ring];
	const struct pp_bpf_record *record;
	struct pp_kevent event;

	for (; (record = next_record(bpf, of)); of->tail++) {
		of->last_ns = record->time_ns;
		if (pp_bpf_decode(record, of->cpu, &of->clock, &event))
			take(data, ring, &event);
	}
}

void pp_bpf_drain(struct pp_bpf *bpf, unsigned ring,
		  void (*take)(void *data, unsigned ring, struct pp_kevent *event), void *data)
{
	struct pp_bpf_ring *of = &bpf->of[ring];
	uint64_t dropped;

	take_records(bpf, ring, take, data);
	/* acquire: pairs with the BPF program's ordered stores, as the marks do */
	dropped = __atomic_load_n(&of->head->dropped, __ATOMIC_ACQUIRE);
	if (dropped != of->reported_dropped) {
		struct pp_kevent event = {
		    .kind = PP_KEVENT_LOST, .cpu = of->cpu, .lost = dropped - of->reported_dropped};

		/*
		 * The ring was full then, and remains so until space is released: all its records
		 * are older.
		 */
		take_records(bpf, ring, take, data);
		event.time_ns = of->last_ns;
		take(data, ring, &event);
		of->reported_dropped = dropped;
	}
	/* release: our reads are complete before the BPF program may overwrite the slots */
	__atomic_store_n(&of->head->tail, of->tail, __ATOMIC_RELEASE);
}

uint64_t pp_bpf_unfinished(const struct pp_bpf *bpf)
{
	uint64_t n = 0;

	/* relaxed: no data is read through it */
	for (unsigned i = 0; i < bpf->n_rings; i++)
		n += __atomic_load_n(&bpf->of[i].head->head, __ATOMIC_RELAXED) - bpf->of[i].tail;
	return n;
}

uint64_t pp_bpf_stop(struct pp_bpf *bpf)
{
	pp_bpf_programs_detach(&bpf->programs);
	return pp_bpf_programs_skipped(&bpf->programs);
}

void pp_bpf_close(struct pp_bpf *bpf)
{
	pp_bpf_programs_detach(&bpf->programs);
	bpf_object__close(bpf->programs.object);
	bpf->programs.object = NULL;
	if (bpf->rings)
		munmap(bpf->rings, bpf->rings_bytes);
	bpf->rings = NULL;
	if (bpf->rings_fd >= 0)
		close(bpf->rings_fd);
	bpf->rings_fd = -1;
	g_clear_pointer(&bpf->of, g_free);
	bpf->n_rings = 0;
}
