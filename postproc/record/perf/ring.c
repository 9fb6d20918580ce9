/* SPDX-License-Identifier: MIT */
/* Opens the events of a CPU, maps their ring, and reads records from it. */
#include "record/perf/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/capture/in_use.h"

#define SCRATCH_BYTES (64 << 10) /* a record's size field has 16 bits */

static int sys_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Wakes the collector once per half ring, unless `wakeup_events` is set. */
int pp_ring_open_event(struct pp_ring *ring, struct perf_event_attr *attr, pid_t pid)
{
	int fd;

	attr->size = sizeof(*attr);
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->watermark = attr->wakeup_events == 0;
	attr->read_format = PERF_FORMAT_LOST;
	fd = sys_perf_event_open(attr, pid, ring->cpu);
	if (fd == -EINVAL) {
		ring->can_read_lost = false;
		attr->read_format = 0;
		fd = sys_perf_event_open(attr, pid, ring->cpu);
	}
	if (fd < 0)
		return fd;
	ring->fds = g_renew(int, ring->fds, ring->n_fds + 1);
	ring->fds[ring->n_fds++] = fd;
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->buffer.fd) ? -errno : 0;
}

static int open_side_band(struct pp_ring *ring, pid_t pid, bool for_bpf)
{
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_SOFTWARE,
	    .config = PERF_COUNT_SW_DUMMY,
	    .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	    .exclude_kernel = 1,
	    .exclude_hv = 1,
	    .inherit = pid != -1,
	    .context_switch = !for_bpf,
	    .task = 1,
	    .comm = 1,
	    .comm_exec = 1,
	};

	return pp_ring_open_event(ring, &attr, pid);
}

int pp_ring_add_thread(struct pp_ring *ring, pid_t tid)
{
	unsigned n = ring->n_fds;
	int last = ring->fds[n - 1];
	int rc = open_side_band(ring, tid, false);

	if (ring->n_fds > n) {
		ring->fds[n - 1] = ring->fds[n];
		ring->fds[n] = last;
		/* It was opened, but writes to no ring. */
		if (rc)
			pp_ring_drop_thread(ring);
	}
	return rc;
}

void pp_ring_drop_thread(struct pp_ring *ring)
{
	int last = ring->fds[--ring->n_fds];

	close(ring->fds[ring->n_fds - 1]);
	ring->fds[ring->n_fds - 1] = last;
}

/* Opens an event of the kernel's `type` and `config` whose samples go into the ring. */
static int open_samples(struct pp_ring *ring, const struct pp_ring_options *options, uint32_t type,
			uint64_t config)
{
	struct perf_event_attr attr = {
	    .type = type,
	    .config = config,
	    .sample_period = 1,
	    .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
	    .wakeup_events = type == PERF_TYPE_SOFTWARE,
	};

	return pp_ring_open_event(ring, &attr, options->pid);
}

/* Moving this event makes the kernel wait until no writer uses the other events (move.c). */
static int open_last(struct pp_ring *ring)
{
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_SOFTWARE,
	    .config = PERF_COUNT_SW_DUMMY,
	    .exclude_kernel = 1,
	    .exclude_hv = 1,
	    .disabled = 1,
	};

	return pp_ring_open_event(ring, &attr, 0);
}

/*
 * Returns -ENOMEM also if perf_event_mlock_kb is exceeded, for which the kernel's error is EPERM.
 */
static int map_buffer(struct pp_ring_buffer *buffer, size_t data_bytes)
{
	void *map = mmap(NULL, sysconf(_SC_PAGESIZE) + data_bytes, PROT_READ | PROT_WRITE,
			 MAP_SHARED, buffer->fd, 0);

	if (map == MAP_FAILED)
		return errno == EPERM ? -ENOMEM : -errno;
	buffer->map = map;
	buffer->data_bytes = data_bytes;
	return 0;
}

int pp_ring_buffer_open(struct pp_ring_buffer *buffer, int cpu, size_t data_bytes)
{
	/* wakeup_watermark stays 0: one wake-up of the collector per half ring. */
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_SOFTWARE,
	    .size = sizeof(attr),
	    .config = PERF_COUNT_SW_DUMMY,
	    .exclude_kernel = 1,
	    .exclude_hv = 1,
	    .disabled = 1,
	    .use_clockid = 1,
	    .clockid = CLOCK_MONOTONIC,
	    .watermark = 1,
	};
	int rc;

	*buffer = (struct pp_ring_buffer){.fd = sys_perf_event_open(&attr, 0, cpu)};
	if (buffer->fd < 0)
		return buffer->fd;
	rc = map_buffer(buffer, data_bytes);
	if (rc)
		pp_ring_buffer_close(buffer);
	return rc;
}

void pp_ring_buffer_close(struct pp_ring_buffer *buffer)
{
	if (buffer->map)
		munmap(buffer->map, sysconf(_SC_PAGESIZE) + buffer->data_bytes);
	if (buffer->fd >= 0)
		close(buffer->fd);
	*buffer = (struct pp_ring_buffer){.fd = -1};
}

void pp_ring_make_scratch(struct pp_ring *ring)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(ring->scratch); i++)
		ring->scratch[i] = g_malloc(SCRATCH_BYTES);
}

int pp_ring_open(struct pp_ring *ring, int cpu, const struct pp_ring_options *options,
		 struct pp_error *err)
{
	int rc;

	*ring = (struct pp_ring){.cpu = cpu, .next.fd = -1, .can_read_lost = true, .current = -1};
	rc = pp_ring_buffer_open(&ring->buffer, cpu, options->data_bytes);
	if (rc) {
		pp_error_add(err, rc, "a ring of %zu KiB for CPU %d: %s", options->data_bytes >> 10,
			     cpu, g_strerror(-rc));
		goto fail;
	}
	rc = open_side_band(ring, options->pid, options->for_bpf);
	if (rc) {
		pp_error_add(err, rc, "perf_event_open: %s", g_strerror(-rc));
		goto fail;
	}
	for (unsigned i = 0; rc == 0 && i < options->n_tracepoints; i++)
		rc = open_samples(ring, options, PERF_TYPE_TRACEPOINT, options->tracepoints[i]);
	if (rc) {
		pp_error_add(err, rc, "perf_event_open of a tracepoint: %s", g_strerror(-rc));
		goto fail;
	}
	if (options->for_bpf)
		rc = open_samples(ring, options, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT);
	if (options->for_bpf && rc == 0)
		ring->bpf_fd = ring->fds[ring->n_fds - 1];
	if (rc == 0)
		rc = open_last(ring);
	if (rc) {
		pp_error_add(err, rc, "perf_event_open for BPF: %s", g_strerror(-rc));
		goto fail;
	}
	pp_ring_make_scratch(ring);
	return 0;
fail:
	pp_ring_close(ring);
	return rc;
}

/* --- reading --- */

struct cursor {
	struct perf_event_mmap_page *page;
	const char *records;
	size_t mask;
	uint64_t head, tail;
	void *scratch;
};

static struct cursor cursor_at(const struct pp_ring_buffer *buffer, void *scratch)
{
	struct perf_event_mmap_page *page = buffer->map;

	return (struct cursor){
	    .page = page,
	    .records = (const char *)buffer->map + sysconf(_SC_PAGESIZE),
	    .mask = buffer->data_bytes - 1,
	    /* acquire: pairs with the kernel's barrier between writing records and data_head */
	    .head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE),
	    .tail = page->data_tail,
	    .scratch = scratch,
	};
}

/* Returns the next record in contiguous memory; NULL: none. */
static const struct perf_event_header *cursor_record(struct cursor *cursor)
{
	size_t at = cursor->tail & cursor->mask, first = cursor->mask + 1 - at;
	/* Record sizes are multiples of 8 bytes, so the header never wraps. */
	const struct perf_event_header *header = (const void *)(cursor->records + at);

	if (cursor->tail >= cursor->head)
		return NULL;
	if (header->size < sizeof(*header)) { /* impossible: release everything instead of
					       * looping */
		cursor->tail = cursor->head;
		return NULL;
	}
	if (header->size <= first)
		return header;
	memcpy(cursor->scratch, header, first);
	memcpy((char *)cursor->scratch + first, cursor->records, header->size - first);
	return cursor->scratch;
}

static void cursor_done(struct cursor *cursor)
{
	/* release: our reads are complete before the kernel may overwrite */
	__atomic_store_n(&cursor->page->data_tail, cursor->head, __ATOMIC_RELEASE);
}

/* A sample has the time after the ids, every other record at its end. */
static uint64_t record_time_ns(const struct perf_event_header *header)
{
	const char *at = (const char *)header + sizeof(*header) + sizeof(uint64_t);
	uint64_t time_ns;

	if (header->type != PERF_RECORD_SAMPLE)
		at = (const char *)header + header->size - sizeof(time_ns);
	memcpy(&time_ns, at, sizeof(time_ns));
	return time_ns;
}

void pp_ring_drain(struct pp_ring *ring, pp_ring_record *record, void *data)
{
	/*
	 * Read the newer ring's head first: records that precede one of its records on this CPU are
	 * then visible in the older ring.
	 */
	struct cursor newer = ring->next.map ? cursor_at(&ring->next, ring->scratch[1])
					     : (struct cursor){.page = NULL};
	struct cursor older = cursor_at(&ring->buffer, ring->scratch[0]);
	const struct perf_event_header *a = cursor_record(&older);
	const struct perf_event_header *b = newer.page ? cursor_record(&newer) : NULL;

	ring->fill_bytes = MAX(ring->fill_bytes, older.head - older.tail);
	while (a || b) {
		bool is_newer = !a || (b && record_time_ns(b) < record_time_ns(a));
		struct cursor *cursor = is_newer ? &newer : &older;
		const struct perf_event_header **next = is_newer ? &b : &a;

		record(data, ring, *next);
		cursor->tail += (*next)->size;
		*next = cursor_record(cursor);
	}
	cursor_done(&older);
	if (newer.page)
		cursor_done(&newer);
}

void pp_ring_stop(struct pp_ring *ring)
{
	/* relaxed: the mover only needs to see it eventually */
	__atomic_store_n(&ring->stop, true, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < ring->n_fds; i++)
		ioctl(ring->fds[i], PERF_EVENT_IOC_DISABLE, 0);
}

uint64_t pp_ring_lost(const struct pp_ring *ring)
{
	uint64_t lost = 0;

	for (unsigned i = 0; ring->can_read_lost && i < ring->n_fds; i++) {
		struct {
			uint64_t value, lost;
		} count;

		if (read(ring->fds[i], &count, sizeof(count)) == sizeof(count))
			lost += count.lost;
	}
	/* The kernel's count also includes losses after the last record that fitted. */
	return MAX(lost, ring->lost);
}

void pp_ring_close(struct pp_ring *ring)
{
	pp_ring_buffer_close(&ring->next);
	pp_ring_buffer_close(&ring->buffer);
	while (ring->n_fds)
		close(ring->fds[--ring->n_fds]);
	g_clear_pointer(&ring->fds, g_free);
	for (unsigned i = 0; i < G_N_ELEMENTS(ring->scratch); i++)
		g_clear_pointer(&ring->scratch[i], g_free);
}

int pp_rings_leave_closing(void)
{
	int fds[2];
	pid_t child;
	char none;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	child = fork();
	if (child == 0) {
		close(fds[1]);
		gm_in_use_end(); /* the capture is complete before this process ends */
		/* Readers of the other ends of these descriptors must not wait for this process. */
		for (int fd = 0; fd <= 2; fd++)
			close(fd);
		while (read(fds[0], &none, 1) < 0 && errno == EINTR)
			;
		_exit(0);
	}
	close(fds[0]);
	return fds[1];
}
