/* SPDX-License-Identifier: MIT */
/* Little-endian integers of any alignment. */
#ifndef PP_CTF_UNALIGNED_H
#define PP_CTF_UNALIGNED_H

#include <glib.h>
#include <string.h>

static inline uint16_t pp_load16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return GUINT16_FROM_LE(value);
}

static inline uint32_t pp_load32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return GUINT32_FROM_LE(value);
}

static inline uint64_t pp_load64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return GUINT64_FROM_LE(value);
}

static inline uint64_t pp_load_bytes(const uint8_t *at, unsigned n)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < n; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

static inline uint64_t pp_load(const uint8_t *at, unsigned n_bytes)
{
	switch (n_bytes) {
	case 1:
		return *at;
	case 2:
		return pp_load16(at);
	case 4:
		return pp_load32(at);
	case 8:
		return pp_load64(at);
	default:
		return pp_load_bytes(at, n_bytes);
	}
}

#endif
