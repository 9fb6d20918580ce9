/* SPDX-License-Identifier: MIT */
/* See access_programs.h. */
#include "access_programs.h"

#include <inttypes.h>
#include <string.h>

#define FEW_WORDS 3

static int any(struct program *program, int n)
{
	return g_rand_int_range(program->rand, 0, n);
}

/* --- random programs -------------------------------------------------------------------------- */

static unsigned address_of(int word)
{
	return 0x20000 + 8u * (unsigned)word;
}

static int block_of(int word)
{
	return word < N_WORDS / 2 ? NONE : (word - N_WORDS / 2) / BLOCK_WORDS;
}

static bool holds_any(const struct program *program, int thread)
{
	for (int i = 0; i < N_LOCKS; i++)
		if (program->open[thread][i] != NONE)
			return true;
	return false;
}

static void note_access(struct program *program, int thread, int word, int how)
{
	for (int i = 0; i < N_LOCKS; i++) {
		int at = program->open[thread][i];

		if (at != NONE)
			program->instances[at].access[word][program->life[word]] |= how;
	}
}

static void tell_block(struct program *program, int thread, int block)
{
	if (block == NONE || program->is_told[block])
		return;
	program->is_told[block] = true;
	g_string_append_printf(program->events,
			       "%" PRId64 " heap_block tid=%d address=0x%x size=%d site=0x700\n",
			       program->now, thread + 1,
			       address_of(N_WORDS / 2 + block * BLOCK_WORDS), 8 * BLOCK_WORDS);
}

/* Some accesses of the thread, which end now. */
static void segment(struct program *program, int thread)
{
	g_autoptr(GString) read = g_string_new(NULL), written = g_string_new(NULL);
	g_autoptr(GString) changed = g_string_new(NULL);
	int n = any(program, 4), n_reads = 0, n_writes = 0;

	if (!holds_any(program, thread))
		return;
	for (int i = 0; i < n; i++) {
		int word = any(program, program->n_words), how = 1 + any(program, 3);
		int block = block_of(word);

		if (block != NONE && !program->exists[block])
			continue;
		tell_block(program, thread, block);
		if (how & WRITTEN && any(program, 2))
			how |= CHANGED;
		note_access(program, thread, word, how);
		if (how & READ)
			g_string_append_printf(read, "%s0x%x+8", n_reads++ ? "," : "",
					       address_of(word));
		if (how & WRITTEN)
			g_string_append_printf(written, "%s0x%x+8", n_writes++ ? "," : "",
					       address_of(word));
		if (how & CHANGED)
			g_string_append_printf(changed, ",0x%x+8", address_of(word));
	}
	if (!n_reads && !n_writes)
		return;
	for (int i = 0; i < N_LOCKS; i++) {
		int at = program->open[thread][i];

		if (at != NONE) {
			program->instances[at].reads += (unsigned)n_reads;
			program->instances[at].writes += (unsigned)n_writes;
		}
	}
	g_string_append_printf(program->events, "%" PRId64 " segment tid=%d for=1", program->now,
			       thread + 1);
	if (n_reads)
		g_string_append_printf(program->events, " r=%s", read->str);
	if (n_writes)
		g_string_append_printf(program->events, " w=%s c=0x0+1%s", written->str,
				       changed->str);
	g_string_append_c(program->events, '\n');
}

static void acquire(struct program *program, int thread, int lock)
{
	struct instance *instance = &program->instances[program->n_instances];

	segment(program, thread);
	*instance = (struct instance){
	    .thread = thread, .lock = lock, .site = any(program, N_SITES), .end = NONE};
	program->holder[lock] = thread;
	program->open[thread][lock] = program->n_instances++;
	g_string_append_printf(program->events,
			       "%" PRId64 " mutex_lock tid=%d object=0x%x site=0x40%d\n",
			       program->now, thread + 1, 0x1000 * (lock + 1), instance->site);
}

static void release(struct program *program, int thread, int lock)
{
	struct instance *instance = &program->instances[program->open[thread][lock]];

	segment(program, thread);
	instance->end = program->n_ended++;
	memcpy(instance->life_at_end, program->life, sizeof(program->life));
	program->holder[lock] = program->open[thread][lock] = NONE;
	g_string_append_printf(program->events,
			       "%" PRId64 " mutex_unlock tid=%d object=0x%x site=0x500\n",
			       program->now, thread + 1, 0x1000 * (lock + 1));
}

static void free_block(struct program *program, int thread, int block)
{
	int first = N_WORDS / 2 + block * BLOCK_WORDS;

	segment(program, thread);
	program->exists[block] = false;
	if (program->is_told[block])
		g_string_append_printf(
		    program->events, "%" PRId64 " heap_freed tid=%d address=0x%x size=%d\n",
		    program->now, thread + 1, address_of(first), 8 * BLOCK_WORDS);
	for (int i = first; i < first + BLOCK_WORDS; i++) {
		if (program->is_told[block])
			note_access(program, thread, i, FREED);
		program->life[i]++;
	}
	program->is_told[block] = false;
}

static void step(struct program *program)
{
	int thread = any(program, N_THREADS), lock = any(program, N_LOCKS);
	int block = any(program, N_BLOCKS);

	program->now += 10;
	if (program->holder[lock] == thread)
		release(program, thread, lock);
	else if (program->holder[lock] == NONE && program->n_instances < N_INSTANCES)
		acquire(program, thread, lock);
	else if (!program->exists[block])
		program->exists[block] = true;
	else if (program->frees && program->life[N_WORDS / 2 + block * BLOCK_WORDS] + 1 < N_LIVES)
		free_block(program, thread, block);
}

void make_program(struct program *program, unsigned run)
{
	program->rand = g_rand_new_with_seed(run);
	program->events = g_string_new("source none\nprocess 1 accesses=compiled\n");
	program->frees = run % 2;
	program->n_words = run % 4 < 2 ? N_WORDS : run % 8 < 4 ? FEW_WORDS : 1;
	for (int i = 0; i < N_THREADS; i++)
		g_string_append_printf(program->events, "thread %d start=0 end=100000\n", i + 1);
	for (int i = 0; i < N_LOCKS; i++)
		program->holder[i] = NONE;
	memset(program->open, 0xff, sizeof(program->open));
	for (int i = 0, n = 1 + any(program, 400); i < n; i++)
		step(program);
	program->now += 10;
	for (int t = 0; t < N_THREADS; t++)
		for (int i = 0; i < N_LOCKS; i++)
			if (program->open[t][i] != NONE)
				release(program, t, i);
}

bool is_shared(const struct program *program, int word, int life, int thread, int how)
{
	for (int i = 0; i < program->n_instances; i++)
		if (program->instances[i].thread != thread &&
		    program->instances[i].access[word][life] & how)
			return true;
	return false;
}

bool do_words_conflict(int a, int b)
{
	return (a & (WRITTEN | FREED) && b) || (b & (WRITTEN | FREED) && a);
}

void program_done(struct program *program)
{
	g_string_free(program->events, TRUE);
	g_rand_free(program->rand);
}
