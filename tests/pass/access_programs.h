/* SPDX-License-Identifier: MIT */
/*
 * Random programs with critical sections, as events, and the list of all that their sections
 * access, from which tests find the figures of passes directly.
 */
#ifndef PP_TESTS_ACCESS_PROGRAMS_H
#define PP_TESTS_ACCESS_PROGRAMS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define N_THREADS   4
#define N_LOCKS	    3
#define N_SITES	    3
#define N_WORDS	    48 /* 6 lines; the second half is blocks of 4 words */
#define BLOCK_WORDS 4
#define N_BLOCKS    (N_WORDS / 2 / BLOCK_WORDS)
#define N_INSTANCES 200
#define N_LIVES	    64 /* of a word */
#define NONE	    (-1)

/* FREED: the section frees the block of the word. */
enum { READ = 1, WRITTEN = 2, CHANGED = 4, FREED = 8, ACCESSED = READ | WRITTEN };

struct instance {
	int thread, lock, site;
	int end; /* NONE: open; else 0, 1, ... in order of the ends */
	unsigned reads, writes;
	uint8_t access[N_WORDS][N_LIVES];
	int life_at_end[N_WORDS];
};

struct program {
	GString *events;
	int64_t now;
	GRand *rand;
	int holder[N_LOCKS];	      /* thread; NONE */
	int open[N_THREADS][N_LOCKS]; /* instance; NONE */
	int life[N_WORDS];
	bool exists[N_BLOCKS], is_told[N_BLOCKS];
	bool frees;
	int n_words; /* that it accesses: few, so that sections are alike; or all */
	struct instance instances[N_INSTANCES];
	int n_instances, n_ended;
};

/* Makes the program of that number; half of them free memory. */
void make_program(struct program *program, unsigned run);
/* Does another thread access the word in that life?  how: bits of the accesses that count. */
bool is_shared(const struct program *program, int word, int life, int thread, int how);

/* Does one of the accesses write, or free, what the other one accesses or frees? */
bool do_words_conflict(int a, int b);

void program_done(struct program *program);

#endif
