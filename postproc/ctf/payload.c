/* SPDX-License-Identifier: MIT */
/* Takes the fields one by one, in the order of the class's steps. */
#include "ctf/payload.h"

#include <string.h>

#include "ctf/unaligned.h"

static uint64_t extend_sign(uint64_t value, unsigned n_bytes)
{
	unsigned shift = 64 - 8 * n_bytes;

	return (uint64_t)((int64_t)(value << shift) >> shift);
}

static void put_number(struct pp_record *record, const struct pp_step *step, uint64_t value)
{
	if (step->slot != PP_NO_SLOT)
		record->values[step->slot] = value;
	if (step->more_slot != PP_NO_SLOT)
		record->values[step->more_slot] = value;
	if (step->is_tid)
		record->tid = (int32_t)value;
}

static uint64_t take_number(const struct pp_step *step, const uint8_t *at)
{
	uint64_t value = pp_load(at, step->bytes);

	return step->is_signed ? extend_sign(value, step->bytes) : value;
}

static const uint8_t *take_text(struct pp_record *record, const struct pp_step *step,
				const uint8_t *at, const uint8_t *end)
{
	const uint8_t *zero = memchr(at, 0, (size_t)(end - at));

	if (zero && step->slot != PP_NO_SLOT)
		record->texts[step->slot] = (const char *)at;
	return zero ? zero + 1 : NULL;
}

/* Takes a sequence of n elements. */
static const uint8_t *take_sequence(struct pp_record *record, const struct pp_step *step,
				    uint64_t n, const uint8_t *at, const uint8_t *end)
{
	if ((uint64_t)(end - at) / step->bytes < n)
		return NULL;
	if (step->slot != PP_NO_SLOT) {
		record->lines = at;
		record->n_lines = (uint32_t)n;
	}
	return at + n * step->bytes;
}

const uint8_t *pp_payload_take(struct pp_record *record, const struct pp_layout_class *class,
			       const uint8_t *at, const uint8_t *end)
{
	uint64_t last = 0; /* the integer before, which is the length of a sequence */

	if (class->fixed_bytes && (size_t)(end - at) < class->fixed_bytes)
		return NULL;
	for (unsigned i = 0; i < class->n_steps && at; i++) {
		const struct pp_step *step = &class->steps[i];

		if (step->kind == PP_STEP_TEXT) {
			at = take_text(record, step, at, end);
			continue;
		}
		if (step->kind == PP_STEP_SEQUENCE) {
			at = take_sequence(record, step, last, at, end);
			continue;
		}
		if (!class->fixed_bytes && (size_t)(end - at) < step->bytes)
			return NULL;
		last = take_number(step, at);
		put_number(record, step, last);
		at += step->bytes;
	}
	return at;
}
