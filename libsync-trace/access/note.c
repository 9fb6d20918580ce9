/* SPDX-License-Identifier: MIT */
/*
 * Adds accesses to the collector of the calling thread (collector.h).
 *
 * A write is added before it happens, since its line is copied before the first one. If the program
 * has no access to that line, the copy faults in place of the write, at the same address.
 */
#include "access/access.h"

#define NO_LINE UINT32_MAX

__thread struct st_access_thread access_self;

/* Its first member, for code that was compiled with gcc/access_gate.cc. */
extern EXPORT __thread uint32_t st_access_depth __attribute__((alias("access_self")));
_Static_assert(offsetof(struct st_access_thread, depth) == 0, "st_access_depth");

static __attribute__((noinline)) void use_many(struct st_collector *self)
{
	for (uint32_t i = 0; i < ST_FEW_LINES; i++)
		self->many[st_many_place(self, self->lines[i].address)] = (uint16_t)(i + 1);
}

static void line_new(struct st_collector *self, uint32_t i, uint64_t address, uintptr_t site)
{
	uint32_t ordinal = self->n < UINT32_MAX ? (uint32_t)self->n : UINT32_MAX;

	self->lines[i] =
	    (struct st_access_line){.address = address, .first = ordinal, .first_site = site};
	self->n_lines = i + 1;
}

/* Returns the index of the line, or NO_LINE. */
static uint32_t line_find(struct st_collector *self, uint64_t address, uintptr_t site)
{
	uint32_t i = self->n_lines, at;

	if (i < ST_FEW_LINES) {
		at = st_few_place(self, address);
		if (self->few[at] != 0)
			return self->few[at] - 1u;
		self->few[at] = (uint8_t)(i + 1);
		line_new(self, i, address, site);
		if (i + 1 == ST_FEW_LINES)
			use_many(self);
		return i;
	}
	at = st_many_place(self, address);
	if (self->many[at] != 0)
		return self->many[at] - 1u;
	if (i >= ST_ACCESS_LINES_MAX)
		return NO_LINE;
	self->many[at] = (uint16_t)(i + 1);
	line_new(self, i, address, site);
	return i;
}

/* Returns false if there is no room for the line. */
static inline bool line_touch(struct st_collector *self, uint64_t address, uint64_t mask,
			      unsigned kind, uintptr_t site)
{
	uint32_t i = self->latest;
	struct st_access_line *line = &self->lines[i];

	if (line->address != address || self->n_lines == 0) {
		i = line_find(self, address, site);
		if (i == NO_LINE)
			return false;
		self->latest = i;
		line = &self->lines[i];
	}
	line->last = self->n < UINT32_MAX ? (uint32_t)self->n : UINT32_MAX;
	line->last_site = site;
	if ((kind & ACCESS_READ) != 0)
		line->read |= mask;
	if ((kind & ACCESS_WRITE) != 0) {
		if (line->written == 0) {
			/* The first byte written, so that a fault has its address. */
			(void)*(const volatile char *)(address + (unsigned)__builtin_ctzll(mask));
			__atomic_signal_fence(__ATOMIC_SEQ_CST);
			__builtin_memcpy(self->before[i], (const void *)address, ST_LINE_BYTES);
		}
		line->written |= mask;
	}
	return true;
}

/* Returns false if there is no room for one of its lines. */
static __attribute__((noinline)) bool lines_touch(struct st_collector *self, uintptr_t address,
						  size_t n_bytes, unsigned kind, uintptr_t site)
{
	bool is_complete = true;

	while (n_bytes > 0) {
		unsigned from = address % ST_LINE_BYTES;
		size_t n = ST_LINE_BYTES - from < n_bytes ? ST_LINE_BYTES - from : n_bytes;
		uint64_t mask = n < ST_LINE_BYTES ? ((uint64_t)1 << n) - 1 : ~(uint64_t)0;

		is_complete &= line_touch(self, address - from, mask << from, kind, site);
		address += n;
		n_bytes -= n;
	}
	return is_complete;
}

static inline void add(struct st_collector *self, uintptr_t address, size_t n_bytes, unsigned kind,
		       uintptr_t site)
{
	unsigned from = address % ST_LINE_BYTES;
	bool is_complete;

	self->n++;
	self->n_reads += kind & ACCESS_READ;
	self->n_writes += kind / ACCESS_WRITE;
	if (__builtin_expect(from + n_bytes < ST_LINE_BYTES, 1))
		is_complete = line_touch(self, address - from,
					 (((uint64_t)1 << n_bytes) - 1) << from, kind, site);
	else
		is_complete = lines_touch(self, address, n_bytes, kind, site);
	if (__builtin_expect(!is_complete, 0))
		self->n_left_out++;
}

void access_note(uintptr_t address, size_t n_bytes, unsigned kind, uintptr_t site)
{
	struct st_collector *collector = access_self.collector;

	if (n_bytes == 0)
		return;
	if (collector == NULL || st_gate_shut(&collector->gate)) {
		access_self.n_lost++;
		return;
	}
	add(collector, address, n_bytes, kind, site);
	st_gate_open(&collector->gate);
}
