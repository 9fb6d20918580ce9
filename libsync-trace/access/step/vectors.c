/* SPDX-License-Identifier: MIT */
/* Vector registers at the time of a trap, as the kernel has saved them in the frame of the signal.
 */
#include "access/step/vectors.h"

#include <Zydis/Zydis.h>
#include <cpuid.h>

/* In the kernel's frame: the XSAVE area, in its standard form, with a description of it. */
#define XSAVE_DESCRIPTION 464
#define XSAVE_MAGIC	  0x46505853u
#define XSAVE_HEADER	  512
#define XSAVE_AVX	  2u /* state component: the upper halves of ymm0-15 */

struct description {
	uint32_t magic, n_bytes;
	uint64_t features;
};

/* Returns the offset of the upper halves; 0: they are not stored. */
static uint32_t upper_halves(const uint8_t *area)
{
	struct description description;
	uint32_t n_bytes, offset, c, d;

	__builtin_memcpy(&description, area + XSAVE_DESCRIPTION, sizeof(description));
	if (description.magic != XSAVE_MAGIC || (description.features >> XSAVE_AVX & 1) == 0)
		return 0;
	__cpuid_count(0xd, XSAVE_AVX, n_bytes, offset, c, d);
	return n_bytes >= 256 && offset + n_bytes <= description.n_bytes ? offset : 0;
}

bool step_vector_read(const ucontext_t *context, int which, struct step_vector *ret)
{
	const uint8_t *area = (const uint8_t *)context->uc_mcontext.fpregs;
	const struct _libc_fpstate *state = context->uc_mcontext.fpregs;
	bool is_wide = which >= ZYDIS_REGISTER_YMM0 && which <= ZYDIS_REGISTER_YMM15;
	uint32_t offset;
	unsigned i;

	if (!is_wide && (which < ZYDIS_REGISTER_XMM0 || which > ZYDIS_REGISTER_XMM15))
		return false;
	if (area == NULL)
		return false;
	i = (unsigned)(which - (is_wide ? ZYDIS_REGISTER_YMM0 : ZYDIS_REGISTER_XMM0));
	ret->n_bytes = is_wide ? 32 : 16;
	__builtin_memcpy(ret->bytes, &state->_xmm[i], 16);
	if (!is_wide)
		return true;
	offset = upper_halves(area);
	if (offset == 0)
		return false;
	__builtin_memcpy(ret->bytes + 16, area + offset + 16 * i, 16);
	return true;
}

bool step_vector_is_on(const struct step_vector *self, unsigned i, unsigned bytes)
{
	unsigned last = (i + 1) * bytes - 1;

	return last < self->n_bytes && self->bytes[last] >> 7 != 0;
}

int64_t step_vector_index(const struct step_vector *self, unsigned i, unsigned bytes)
{
	int64_t wide;
	int32_t narrow;

	if (bytes == 8) {
		__builtin_memcpy(&wide, self->bytes + 8 * i, sizeof(wide));
		return wide;
	}
	__builtin_memcpy(&narrow, self->bytes + 4 * i, sizeof(narrow));
	return narrow;
}
