/* SPDX-License-Identifier: MIT */
/* Items that do not fit into a buffer come back in the order in which they were added. */
#include <signal.h>
#include <sys/resource.h>

#include "check.h"
#include "core/item_file.h"

#define MANY 100000u /* more than a buffer */

struct item {
	uint64_t number;
	char rest[40];
};

static struct item item_of(uint64_t number)
{
	struct item item = {.number = number};

	item.rest[number % sizeof(item.rest)] = (char)number;
	return item;
}

static void returns(uint64_t n)
{
	struct pp_item_file *file = pp_item_file_new(sizeof(struct item));
	struct pp_error err = PP_ERROR_INIT;

	for (uint64_t i = 0; i < n; i++) {
		struct item item = item_of(i);

		pp_item_file_add(file, &item);
	}
	CHECK_INT(pp_item_file_finish(file, &err), 0);
	for (uint64_t i = 0; i < n; i++) {
		struct item wanted = item_of(i);
		const void *item = pp_item_file_next(file);

		CHECK(item && memcmp(item, &wanted, sizeof(wanted)) == 0);
	}
	CHECK(!pp_item_file_next(file));
	CHECK_INT(pp_item_file_check(file, &err), 0);
	pp_item_file_free(file);
}

/* A full disk is an error. */
static void fails(void)
{
	struct rlimit none = {0, 0};
	struct pp_item_file *file = pp_item_file_new(sizeof(struct item));
	struct pp_error err = PP_ERROR_INIT;
	struct item item = item_of(1);

	signal(SIGXFSZ, SIG_IGN);
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &none), 0);
	for (unsigned i = 0; i < MANY; i++)
		pp_item_file_add(file, &item);
	CHECK(pp_item_file_finish(file, &err) < 0);
	pp_error_done(&err);
	CHECK(!pp_item_file_next(file));
	pp_item_file_free(file);
}

int main(void)
{
	returns(0);
	returns(1);
	returns((1u << 18) / sizeof(struct item));     /* a full buffer */
	returns((1u << 18) / sizeof(struct item) + 1); /* and one more */
	returns(MANY);
	fails();
	return 0;
}
