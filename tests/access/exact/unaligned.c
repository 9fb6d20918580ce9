/* SPDX-License-Identifier: MIT */
/* Objects at odd addresses, over the ends of lines and pages: records, headers of packets. */
#include "access/exact/region.h"

struct __attribute__((packed)) record {
	uint8_t type;
	uint16_t length;
	uint32_t sequence;
	uint64_t time_ns;
	double value;
	uint8_t more[3];
	int64_t sum;
};

typedef uint16_t any_u16 __attribute__((aligned(1)));
typedef uint32_t any_u32 __attribute__((aligned(1)));
typedef uint64_t any_u64 __attribute__((aligned(1)));
typedef float any_float __attribute__((aligned(1)));

static NOINLINE void records(void)
{
	struct record *record = AT(struct record, 7);

	for (uint32_t i = 0; i < 20; i++) {
		record[i].type = (uint8_t)i;
		record[i].length = (uint16_t)sizeof(*record);
		record[i].sequence += i;
		record[i].time_ns = record[i].sequence * UINT64_C(1000);
		record[i].value = record[i].value * 2 + 1;
		record[i].more[i % 3] = record[i].type;
		record[i].sum -= record[i].length;
	}
}

static NOINLINE void line_ends(void)
{
	for (unsigned line = 0; line < 10; line++) {
		char *end = region.bytes + 4096 + 64 * (2 * line + 1);

		*(any_u16 *)(end - 1) = (uint16_t)line;
		*(any_u32 *)(end + 64 * 30 - 3) += line;
		*(any_u64 *)(end + 64 * 60 - 1 - line % 7) = *(any_u16 *)(end - 1);
		*(any_float *)(end + 64 * 90 - 2) = (float)line;
	}
}

static NOINLINE void page_ends(void)
{
	/* The region's bytes begin 64 bytes behind a page's. */
	for (unsigned page = 4; page < 10; page++) {
		char *end = region.bytes - 64 + 4096 * page;

		*(any_u64 *)(end - page) += page;
		*(any_u32 *)(end + 2048 - 1) = *(any_u32 *)(end - 2);
	}
}

static NOINLINE void packets(void)
{
	char *at = region.bytes + 50003;

	for (unsigned i = 0; i < 12; i++) {
		any_u16 *length = (any_u16 *)at;

		*length = (uint16_t)(11 + i);
		*(any_u32 *)(at + 2) = i;
		at[6] = 'x';
		*(any_u32 *)(at + 7) = *(any_u32 *)(at + 2) ^ *length;
		at += *length;
	}
	*AT(uint64_t, 60000) = (uint64_t)(at - region.bytes);
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 2; i++) {
		SECTION(records);
		SECTION(line_ends);
		SECTION(page_ends);
		SECTION(packets);
	}
	return finish(argc, argv);
}
