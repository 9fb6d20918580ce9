/* SPDX-License-Identifier: MIT */
/* Checks of test programs: a failure prints file, line and both values, and exits. */
#ifndef TESTS_UNIT_CHECK_H
#define TESTS_UNIT_CHECK_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: expected: %s\n", __FILE__, __LINE__, #condition);  \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#define CHECK_INT(actual, expected)                                                                \
	do {                                                                                       \
		int64_t actual_ = (int64_t)(actual), expected_ = (int64_t)(expected);              \
		if (actual_ != expected_) {                                                        \
			fprintf(stderr, "%s:%d: %s: expected %" PRId64 ", got %" PRId64 "\n",      \
				__FILE__, __LINE__, #actual, expected_, actual_);                  \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#define CHECK_STR(actual, expected)                                                                \
	do {                                                                                       \
		const char *actual_ = (actual), *expected_ = (expected);                           \
		if (!actual_ || strcmp(actual_, expected_) != 0) {                                 \
			fprintf(stderr, "%s:%d: %s: expected\n%s\ngot\n%s\n", __FILE__, __LINE__,  \
				#actual, expected_, actual_ ? actual_ : "(null)");                 \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

/* Checks that `text` contains `words`. */
#define CHECK_HOLDS(text, words)                                                                   \
	do {                                                                                       \
		const char *text_ = (text), *words_ = (words);                                     \
		if (!text_ || !strstr(text_, words_)) {                                            \
			fprintf(stderr, "%s:%d: %s: expected text with\n%s\ngot\n%s\n", __FILE__,  \
				__LINE__, #text, words_, text_ ? text_ : "(null)");                \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#endif
