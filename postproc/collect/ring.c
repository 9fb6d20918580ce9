/* SPDX-License-Identifier: MIT */
#include "collect/ring.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SCRATCH_BYTES (64 << 10) /* a record's size field has 16 bits */

static int sys_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int open_event(struct pp_ring *ring, struct perf_event_attr *attr, pid_t pid)
{
	int fd;

	attr->size = sizeof(*attr);
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	/* wakeup_watermark stays 0: one wake-up of the collector for half a ring. */
	attr->watermark = 1;
	attr->read_format = PERF_FORMAT_LOST;
	fd = sys_perf_event_open(attr, pid, ring->cpu);
	if (fd == -EINVAL) {
		ring->can_read_lost = false;
		attr->read_format = 0;
		fd = sys_perf_event_open(attr, pid, ring->cpu);
	}
	if (fd >= 0)
		ring->fds[ring->n_fds++] = fd;
	return fd;
}

static int open_side_band(struct pp_ring *ring, const struct pp_ring_options *options)
{
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_SOFTWARE,
	    .config = PERF_COUNT_SW_DUMMY,
	    .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	    .exclude_kernel = 1,
	    .exclude_hv = 1,
	    .inherit = options->pid != -1,
	    .context_switch = 1,
	    .task = 1,
	    .comm = 1,
	    .comm_exec = 1,
	};

	return open_event(ring, &attr, options->pid);
}

static int open_tracepoint(struct pp_ring *ring, const struct pp_ring_options *options, uint64_t id)
{
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_TRACEPOINT,
	    .config = id,
	    .sample_period = 1,
	    .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
	};
	int fd = open_event(ring, &attr, options->pid);

	if (fd < 0)
		return fd;
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fds[0]) ? -errno : 0;
}

/* -ENOMEM also for more than perf_event_mlock_kb allows, which the kernel calls EPERM. */
static int map_ring(struct pp_ring *ring, size_t data_bytes)
{
	void *map = mmap(NULL, sysconf(_SC_PAGESIZE) + data_bytes, PROT_READ | PROT_WRITE,
			 MAP_SHARED, ring->fds[0], 0);

	if (map == MAP_FAILED)
		return errno == EPERM ? -ENOMEM : -errno;
	ring->map = map;
	ring->data_bytes = data_bytes;
	return 0;
}

int pp_ring_open(struct pp_ring *ring, int cpu, const struct pp_ring_options *options,
		 struct pp_error *err)
{
	int rc;

	*ring = (struct pp_ring){.cpu = cpu, .can_read_lost = true, .current = -1};
	rc = open_side_band(ring, options);
	if (rc < 0) {
		pp_error_add(err, rc, "perf_event_open: %s", g_strerror(-rc));
		goto fail;
	}
	rc = map_ring(ring, options->data_bytes);
	if (rc) {
		pp_error_add(err, rc, "a ring of %zu KiB for CPU %d: %s", options->data_bytes >> 10,
			     cpu, g_strerror(-rc));
		goto fail;
	}
	for (unsigned i = 0; i < options->n_tracepoints; i++) {
		rc = open_tracepoint(ring, options, options->tracepoints[i]);
		if (rc) {
			pp_error_add(err, rc, "perf_event_open of a tracepoint: %s",
				     g_strerror(-rc));
			goto fail;
		}
	}
	ring->scratch = g_malloc(SCRATCH_BYTES);
	return 0;
fail:
	pp_ring_close(ring);
	return rc;
}

/* The record at `tail`, in one piece. */
static const struct perf_event_header *record_at(const struct pp_ring *ring, const char *data,
						 uint64_t tail)
{
	size_t at = tail & (ring->data_bytes - 1);
	/* Records are multiples of 8 bytes, so the header never wraps. */
	const struct perf_event_header *header = (const void *)(data + at);
	size_t first = ring->data_bytes - at;

	if (header->size <= first)
		return header;
	memcpy(ring->scratch, header, first);
	memcpy((char *)ring->scratch + first, data, header->size - first);
	return ring->scratch;
}

void pp_ring_drain(struct pp_ring *ring,
		   void (*record)(void *data, struct pp_ring *ring,
				  const struct perf_event_header *header),
		   void *data)
{
	struct perf_event_mmap_page *page = ring->map;
	const char *records = (const char *)ring->map + sysconf(_SC_PAGESIZE);
	/* acquire: pairs with the kernel's barrier between writing records and data_head */
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = page->data_tail;

	while (tail < head) {
		const struct perf_event_header *header = record_at(ring, records, tail);

		if (header->size < sizeof(*header)) /* cannot be: give all back, not spin */
			break;
		record(data, ring, header);
		tail += header->size;
	}
	/* release: our reads are done before the kernel may overwrite */
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
}

void pp_ring_stop(struct pp_ring *ring)
{
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
	/* The kernel's own count also has what was lost after the last record that fitted. */
	return MAX(lost, ring->lost);
}

void pp_ring_close(struct pp_ring *ring)
{
	if (ring->map)
		munmap(ring->map, sysconf(_SC_PAGESIZE) + ring->data_bytes);
	while (ring->n_fds)
		close(ring->fds[--ring->n_fds]);
	g_clear_pointer(&ring->scratch, g_free);
	ring->map = NULL;
}
