/* SPDX-License-Identifier: MIT */
/*
 * The histogram of a gmon file: the number of samples in each four bytes of code.
 *
 * glibc writes one record for all of the code. These files have one record for each block that has
 * samples: 169 bytes, where the whole histogram of a large program would take megabytes, in the
 * file of every thread. gprof requires that all records, also of several files given together, have
 * one scale and either coincide or do not overlap; blocks on a fixed grid of link-time addresses
 * fulfill this. gprof adds up records that coincide, so more than 65535 samples in one bin take
 * several records.
 *
 * Without samples one empty block is written: gprof prints "-nan" if there is none.
 */
#ifndef GMON_MT_HISTOGRAM_H
#define GMON_MT_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "gmon-mt/gmon.h"

#define GM_HISTOGRAM_BIN_BYTES 4u /* as glibc's: HISTFRACTION 2 for counters of two bytes */
#define GM_HISTOGRAM_BINS      64u
#define GM_HISTOGRAM_BYTES     (GM_HISTOGRAM_BINS * GM_HISTOGRAM_BIN_BYTES)

/* The rate written where there are no samples. */
#define GM_HISTOGRAM_RATE_HZ 100u

struct gm_gmon_histogram {
	uint8_t tag;
	uint64_t low_pc, high_pc;
	uint32_t n_bins, rate_hz;
	char dimension[15];
	char dimension_abbreviation;
	uint16_t bins[GM_HISTOGRAM_BINS];
} __attribute__((packed));
_Static_assert(sizeof(struct gm_gmon_histogram) == 41 + 2 * GM_HISTOGRAM_BINS, "on-disk size");

struct gm_sample {
	uint64_t pc; /* link-time address */
	uint64_t count;
};

typedef void gm_histogram_put_fn(void *data, const void *bytes, unsigned n);

/* Writes record number `round` of the block at `low`. Returns whether another record is needed. */
static inline int gm_histogram_put_block(const struct gm_sample *samples, size_t n, uint64_t low,
					 uint64_t round, uint32_t rate_hz, gm_histogram_put_fn *put,
					 void *data)
{
	struct gm_gmon_histogram record = {
	    .tag = GM_GMON_TAG_HISTOGRAM,
	    .low_pc = low,
	    .high_pc = low + GM_HISTOGRAM_BYTES,
	    .n_bins = GM_HISTOGRAM_BINS,
	    .rate_hz = rate_hz,
	    .dimension = "seconds",
	    .dimension_abbreviation = 's',
	};
	int is_more = 0;

	for (size_t i = 0; i < n;) {
		uint64_t bin = (samples[i].pc - low) / GM_HISTOGRAM_BIN_BYTES;
		uint64_t done = round * UINT16_MAX, total = 0;

		for (; i < n && (samples[i].pc - low) / GM_HISTOGRAM_BIN_BYTES == bin; i++)
			total += samples[i].count;
		total = total > done ? total - done : 0;
		record.bins[bin] = (uint16_t)(total < UINT16_MAX ? total : UINT16_MAX);
		is_more |= total > UINT16_MAX;
	}
	put(data, &record, sizeof(record));
	return is_more;
}

/*
 * Passes the records to `put`. `samples` are sorted by address, which may occur more than once;
 * `code` is any address in the object's code.
 */
static inline void gm_histogram_put(const struct gm_sample *samples, size_t n, uint64_t code,
				    uint32_t rate_hz, gm_histogram_put_fn *put, void *data)
{
	size_t at = 0;

	do {
		uint64_t low = at < n ? samples[at].pc : code;
		uint64_t round = 0;
		size_t end = at;

		low -= low % GM_HISTOGRAM_BYTES;
		while (end < n && samples[end].pc - low < GM_HISTOGRAM_BYTES)
			end++;
		while (
		    gm_histogram_put_block(samples + at, end - at, low, round, rate_hz, put, data))
			round++;
		at = end;
	} while (at < n);
}

#endif
