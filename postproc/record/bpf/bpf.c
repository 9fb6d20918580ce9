/* SPDX-License-Identifier: MIT */
#include "record/bpf/bpf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* bpf_perf_event_output() is for programs that may be distributed under the GPL; ours may be. */
#define LICENSE	  "Dual MIT/GPL"
#define LOG_BYTES (64 << 10)
#define NOT_PERMITTED                                                                              \
	"bpf() is not permitted: it needs CAP_BPF and CAP_PERFMON, and no sandbox against it"
/* Slots of a ring: 2 MiB, 4 MiB, 16 KiB; and memory that all take at most. */
#define MOST_SLOTS  (32u << 10)
#define FULL_SLOTS  (64u << 10)
#define LEAST_SLOTS 256u
#define RINGS_BYTES (64u << 20)

static int sys_bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	int rc = (int)syscall(SYS_bpf, command, attr, sizeof(*attr));

	return rc < 0 ? -errno : rc;
}

/* --- maps ----------------------------------------------------------------------------------- */

static int create_map(enum bpf_map_type type, uint32_t value_bytes, uint32_t n, uint32_t flags,
		      const char *name)
{
	union bpf_attr attr = {
	    .map_type = type,
	    .key_size = sizeof(uint32_t),
	    .value_size = value_bytes,
	    .max_entries = n,
	    .map_flags = flags,
	};

	g_strlcpy(attr.map_name, name, sizeof(attr.map_name));
	return sys_bpf(BPF_MAP_CREATE, &attr);
}

static int map_memory(int fd, size_t len_bytes, char **ret_memory)
{
	void *map = mmap(NULL, len_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	*ret_memory = map;
	return 0;
}

static int create_tids(struct pp_bpf *bpf, pid_t root)
{
	int rc;

	bpf->maps.tids_fd =
	    create_map(BPF_MAP_TYPE_ARRAY, PP_BPF_TIDS_BYTES, 1, BPF_F_MMAPABLE, "gprof_mt_tids");
	if (bpf->maps.tids_fd < 0)
		return bpf->maps.tids_fd;
	rc = map_memory(bpf->maps.tids_fd, PP_BPF_TIDS_BYTES, &bpf->tids);
	if (rc == 0)
		bpf->tids[root / 8] = (char)(1 << root % 8);
	return rc;
}

static size_t value_bytes(const struct pp_bpf *bpf)
{
	return sizeof(struct pp_bpf_ring_head) + pp_bpf_ring_bytes(bpf);
}

/* E2BIG: more than older kernels let one value have.  n_cpus: the highest number, and one. */
static int create_rings(struct pp_bpf *bpf, unsigned n_cpus, bool full)
{
	size_t page = sysconf(_SC_PAGESIZE);

	bpf->maps.n_slots = full ? FULL_SLOTS : MOST_SLOTS;
	while (bpf->maps.n_slots > LEAST_SLOTS && value_bytes(bpf) * n_cpus > RINGS_BYTES)
		bpf->maps.n_slots /= 2;
	for (;;) {
		bpf->maps.rings_fd = create_map(BPF_MAP_TYPE_ARRAY, (uint32_t)value_bytes(bpf),
						n_cpus, BPF_F_MMAPABLE, "gprof_mt_rings");
		if ((bpf->maps.rings_fd != -E2BIG && bpf->maps.rings_fd != -ENOMEM) ||
		    bpf->maps.n_slots <= LEAST_SLOTS)
			break;
		bpf->maps.n_slots /= 2;
	}
	if (bpf->maps.rings_fd < 0)
		return bpf->maps.rings_fd;
	bpf->rings_bytes = (value_bytes(bpf) * n_cpus + page - 1) / page * page;
	return map_memory(bpf->maps.rings_fd, bpf->rings_bytes, &bpf->rings);
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

static int create_events(struct pp_bpf *bpf, const struct pp_ring *rings, unsigned n_rings,
			 unsigned n_cpus)
{
	bpf->maps.events_fd =
	    create_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, sizeof(uint32_t), n_cpus, 0, "gprof_mt_wake");
	if (bpf->maps.events_fd < 0)
		return bpf->maps.events_fd;
	for (unsigned i = 0; i < n_rings; i++) {
		uint32_t cpu = (uint32_t)rings[i].cpu;
		uint32_t event = (uint32_t)rings[i].bpf_fd;
		union bpf_attr update = {
		    .map_fd = (uint32_t)bpf->maps.events_fd,
		    .key = (uintptr_t)&cpu,
		    .value = (uintptr_t)&event,
		};
		int rc = sys_bpf(BPF_MAP_UPDATE_ELEM, &update);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static int create_maps(struct pp_bpf *bpf, const struct pp_ring *rings, unsigned n_rings,
		       pid_t root, bool full, struct pp_error *err)
{
	unsigned n_cpus = 1;
	int rc = create_tids(bpf, root);

	for (unsigned i = 0; i < n_rings; i++)
		n_cpus = MAX(n_cpus, (unsigned)rings[i].cpu + 1);
	if (rc == 0)
		rc = create_rings(bpf, n_cpus, full);
	if (rc == 0) {
		take_rings(bpf, rings, n_rings);
		rc = create_events(bpf, rings, n_rings, n_cpus);
	}
	if (rc == -EPERM)
		return pp_error_add(err, rc, NOT_PERMITTED);
	return rc ? pp_error_add(err, rc, "a map: %s", g_strerror(-rc)) : 0;
}

/* --- programs ------------------------------------------------------------------------------- */

static int load(const struct pp_bpf_code *code, uint32_t tracepoint_id, const char *name, char *log)
{
	union bpf_attr attr = {
	    .prog_type = BPF_PROG_TYPE_TRACING,
	    .expected_attach_type = BPF_TRACE_RAW_TP,
	    .attach_btf_id = tracepoint_id,
	    .insns = (uintptr_t)code->insns,
	    .insn_cnt = code->n,
	    .license = (uintptr_t)LICENSE,
	    .log_buf = (uintptr_t)log,
	    .log_size = log ? LOG_BYTES : 0,
	    .log_level = log ? 1 : 0,
	};

	snprintf(attr.prog_name, sizeof(attr.prog_name), "gprof_mt_%s", name);
	return sys_bpf(BPF_PROG_LOAD, &attr);
}

/* The line before the last, which counts the verifier's steps. */
static const char *reason(char *log)
{
	const char *last = "no reason given";

	for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n"))
		if (!g_str_has_prefix(line, "processed "))
			last = line;
	return last;
}

static int refused(const struct pp_bpf_code *code, uint32_t tracepoint_id, const char *name, int rc,
		   struct pp_error *err)
{
	g_autofree char *log = g_malloc0(LOG_BYTES);

	if (rc == -EPERM)
		return pp_error_add(err, rc, NOT_PERMITTED);
	rc = load(code, tracepoint_id, name, log);
	if (rc >= 0)
		close(rc);
	return pp_error_add(err, rc < 0 ? rc : -EAGAIN, "the kernel refuses the program %s: %s",
			    name, reason(log));
}

static int load_programs(struct pp_bpf *bpf, struct pp_error *err)
{
	const struct {
		const char *name;
		uint32_t tracepoint_id;
		pp_bpf_make *make;
	} programs[PP_BPF_N_PROGRAMS] = {
	    {"fork", bpf->layout.fork_id, pp_bpf_make_fork},
	    {"switch", bpf->layout.switch_id, pp_bpf_make_switch},
	    {"waking", bpf->layout.waking_id, pp_bpf_make_waking},
	    {"enter", bpf->layout.enter_id, pp_bpf_make_enter},
	    {"exit", bpf->layout.exit_id, pp_bpf_make_exit},
	    {"fault", bpf->layout.fault_user_id, pp_bpf_make_fault_user},
	    {"fault_k", bpf->layout.fault_kernel_id, pp_bpf_make_fault_kernel},
	};

	for (unsigned i = 0; i < bpf->n_programs; i++) {
		struct pp_bpf_code code = {.n = 0};

		programs[i].make(&code, &bpf->layout, &bpf->maps);
		bpf->programs[i] = load(&code, programs[i].tracepoint_id, programs[i].name, NULL);
		if (bpf->programs[i] < 0)
			return refused(&code, programs[i].tracepoint_id, programs[i].name,
				       bpf->programs[i], err);
	}
	return 0;
}

static int attach(struct pp_bpf *bpf, struct pp_error *err)
{
	for (unsigned i = 0; i < bpf->n_programs; i++) {
		union bpf_attr attr = {
		    .raw_tracepoint = {.prog_fd = (uint32_t)bpf->programs[i]},
		};

		bpf->links[i] = sys_bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
		if (bpf->links[i] < 0)
			return pp_error_add(err, bpf->links[i], "attaching a program: %s",
					    g_strerror(-bpf->links[i]));
	}
	return 0;
}

/* --- life ----------------------------------------------------------------------------------- */

bool pp_bpf_tells(enum pp_kevent_kind kind)
{
	return kind == PP_KEVENT_SYSCALL_ENTRY || kind == PP_KEVENT_SYSCALL_EXIT ||
	       kind == PP_KEVENT_FAULT_USER || kind == PP_KEVENT_FAULT_KERNEL;
}

int pp_bpf_open(struct pp_bpf *bpf, const struct pp_ring *rings, unsigned n_rings, pid_t root,
		bool full, struct pp_error *err)
{
	int rc;

	*bpf = (struct pp_bpf){.maps = {.tids_fd = -1, .rings_fd = -1, .events_fd = -1},
			       .n_programs = full ? PP_BPF_N_PROGRAMS : PP_BPF_N_SCHEDULING};
	for (unsigned i = 0; i < PP_BPF_N_PROGRAMS; i++)
		bpf->programs[i] = bpf->links[i] = -1;
	rc = pp_bpf_layout_read(&bpf->layout, full, err);
	if (rc == 0)
		rc = create_maps(bpf, rings, n_rings, root, full, err);
	if (rc == 0)
		rc = load_programs(bpf, err);
	if (rc == 0)
		rc = attach(bpf, err);
	if (rc)
		pp_bpf_close(bpf);
	return rc;
}

size_t pp_bpf_ring_bytes(const struct pp_bpf *bpf)
{
	return bpf->maps.n_slots * sizeof(struct pp_bpf_record);
}

/* NULL: the next record is not yet written. */
static const struct pp_bpf_record *next_record(const struct pp_bpf *bpf,
					       const struct pp_bpf_ring *of)
{
	const struct pp_bpf_record *record = &of->slots[of->tail & (bpf->maps.n_slots - 1)];
	uint8_t mark = of->tail & bpf->maps.n_slots ? 0 : PP_BPF_ODD;

	/* acquire: pairs with the order of the program's stores; see programs.h */
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
	/* acquire: pairs with the order of the program's stores, as the marks do */
	dropped = __atomic_load_n(&of->head->dropped, __ATOMIC_ACQUIRE);
	if (dropped != of->told_dropped) {
		struct pp_kevent event = {
		    .kind = PP_KEVENT_LOST, .cpu = of->cpu, .lost = dropped - of->told_dropped};

		/* It was full then, and stays so until we give room back: all in it came before. */
		take_records(bpf, ring, take, data);
		event.time_ns = of->last_ns;
		take(data, ring, &event);
		of->told_dropped = dropped;
	}
	/* release: our reads are done before the program may overwrite */
	__atomic_store_n(&of->head->tail, of->tail, __ATOMIC_RELEASE);
}

uint64_t pp_bpf_unfinished(const struct pp_bpf *bpf)
{
	uint64_t n = 0;

	/* relaxed: nothing is read by it */
	for (unsigned i = 0; i < bpf->n_rings; i++)
		n += __atomic_load_n(&bpf->of[i].head->head, __ATOMIC_RELAXED) - bpf->of[i].tail;
	return n;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Runs of a program that the kernel left out since it ran already on that CPU. */
static uint64_t left_out(int program_fd)
{
	struct bpf_prog_info info = {0};
	union bpf_attr attr = {
	    .info = {.bpf_fd = (uint32_t)program_fd,
		     .info_len = sizeof(info),
		     .info = (uintptr_t)&info},
	};

	return sys_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) < 0 ? 0 : info.recursion_misses;
}

uint64_t pp_bpf_stop(struct pp_bpf *bpf)
{
	uint64_t lost = 0;

	for (unsigned i = 0; i < bpf->n_programs; i++) {
		close_fd(&bpf->links[i]);
		lost += left_out(bpf->programs[i]);
	}
	return lost;
}

void pp_bpf_close(struct pp_bpf *bpf)
{
	for (unsigned i = 0; i < PP_BPF_N_PROGRAMS; i++) {
		close_fd(&bpf->links[i]);
		close_fd(&bpf->programs[i]);
	}
	close_fd(&bpf->maps.tids_fd);
	close_fd(&bpf->maps.rings_fd);
	close_fd(&bpf->maps.events_fd);
	if (bpf->tids)
		munmap(bpf->tids, PP_BPF_TIDS_BYTES);
	if (bpf->rings)
		munmap(bpf->rings, bpf->rings_bytes);
	bpf->tids = bpf->rings = NULL;
	g_clear_pointer(&bpf->of, g_free);
	bpf->n_rings = 0;
}
