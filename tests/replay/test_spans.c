/* SPDX-License-Identifier: MIT */
/*
 * The conflicting parts of sections: by hand, and random sections against a list of all accesses
 * that is searched for each of them.
 */
#include "../pass/event_text.h"
#include "../unit/check.h"
#include "replay/build.h"

static char *name_address(void *data, const struct pp_process *process, uint64_t address)
{
	(void)data;
	(void)process;
	return g_strdup_printf("0x%" PRIx64, address);
}

static const struct pp_namer namer = {.site = name_address, .function = name_address};

static struct pp_replay_model *build(const char *events)
{
	struct pp_pass_context context = {.namer = &namer};
	struct pp_error err = PP_ERROR_INIT;
	struct pp_replay_builder *builder;
	struct pp_replay_model *model;
	struct pp_replay_gaps gaps;
	struct pp_text *text;

	if (pp_text_read(events, "events", 1, &text, &err)) {
		fprintf(stderr, "%s\n", pp_error_text(&err));
		exit(1);
	}
	context.model = text->model;
	builder = pp_replay_builder_new(&context);
	pp_replay_builder_accesses(builder, true);
	for (guint i = 0; i < text->events->len; i++)
		pp_replay_builder_event(builder, &g_array_index(text->events, struct pp_event, i));
	model = pp_replay_builder_finish(builder, 1, text->model->end_ns, &gaps);
	pp_replay_builder_free(builder);
	pp_text_free(text);
	return model;
}

static const struct pp_replay_access *access_at(const struct pp_replay_model *model, guint at)
{
	CHECK(at < model->accesses->len);
	return &g_array_index(model->accesses, struct pp_replay_access, at);
}

/* In accesses, of so many: those from `from` on and before `to`. */
static void check_span(const struct pp_replay_model *model, guint at, int from, int to, int n)
{
	CHECK(access_at(model, at)->has_span);
	CHECK_INT(access_at(model, at)->from * n + 0.5, from);
	CHECK_INT(access_at(model, at)->to * n + 0.5, to);
}

#define LOCK(time, tid)	  #time " mutex_lock tid=" #tid " object=0x9000\n"
#define UNLOCK(time, tid) #time " mutex_unlock tid=" #tid " object=0x9000\n"

/*
 * The threads share the word 0x1000, which thread 11 writes. Thread 10 reads it as the third of
 * five accesses, of which two are in a second segment. The word 0x1008 in the same line is only its
 * own: a section with that alone has no conflict. Data that all only read makes none either.
 */
static void test_hand(void)
{
	struct pp_replay_model *model =
	    build("process 1 accesses=compiled\nthread 10 start=0\nthread 11 start=0\n" LOCK(
		10, 10) "20 segment tid=10 r=0x2000+8,0x3000+8,0x1000+8\n20 sem_post tid=10 "
			"object=0x8000\n"
			"30 segment tid=10 w=0x2000+8,0x2000+8\n" UNLOCK(30, 10)
			    LOCK(40, 11) "50 segment tid=11 r=0x3000+8 w=0x1000+8\n" UNLOCK(50, 11)
				LOCK(60, 10) "70 segment tid=10 w=0x1008+8\n" UNLOCK(70, 10)
				    LOCK(80, 10)
					UNLOCK(90, 10) "100 exit tid=10\n100 exit tid=11\n");

	CHECK_INT(model->accesses->len, 4);
	check_span(model, 0, 2, 3, 5);
	check_span(model, 1, 0, 0, 1);
	check_span(model, 2, 0, 0, 1);
	check_span(model, 3, 1, 2, 2);
	pp_replay_model_free(model);
}

/* --- random ----------------------------------------------------------------------------------- */

#define N_RUNS	   1000
#define N_SECTIONS 12
#define N_THREADS  3
#define MOST	   8
#define N_WORDS	   12 /* in lines of two words */

struct section {
	unsigned thread, n;
	unsigned words[MOST]; /* in the order of accesses */
	bool writes[MOST];
};

static uint64_t address_of(unsigned word)
{
	return 0x1000 + word / 2 * UINT64_C(64) + word % 2 * UINT64_C(8);
}

/* Several threads access the word, and one writes it. */
static bool is_conflict(const struct section *sections, unsigned word)
{
	bool is_written = false, is_shared = false;
	unsigned first = N_THREADS;

	for (unsigned s = 0; s < N_SECTIONS; s++)
		for (unsigned i = 0; i < sections[s].n; i++) {
			if (sections[s].words[i] != word)
				continue;
			is_written |= sections[s].writes[i];
			is_shared |= first < N_THREADS && first != sections[s].thread;
			first = sections[s].thread;
		}
	return is_written && is_shared;
}

/* True if the section accesses a word of conflicts in the line of this one. */
static bool is_line_of_conflict(const struct section *sections, const struct section *section,
				unsigned word)
{
	for (unsigned i = 0; i < section->n; i++)
		if (section->words[i] / 2 == word / 2 && is_conflict(sections, section->words[i]))
			return true;
	return false;
}

/* Each access is a segment of its own, or all are one: reads, and then writes. */
static void add_section(GString *events, GRand *rand, struct section *section, int64_t *now_ns)
{
	bool is_split = g_rand_boolean(rand);
	GString *read = g_string_new(NULL), *written = g_string_new(NULL);
	unsigned n_reads;

	section->thread = (unsigned)g_rand_int_range(rand, 0, N_THREADS);
	section->n = (unsigned)g_rand_int_range(rand, 0, MOST + 1);
	n_reads = (unsigned)g_rand_int_range(rand, 0, (gint32)section->n + 1);
	g_string_append_printf(events, "%" PRId64 " mutex_lock tid=%u object=0x9000\n", *now_ns,
			       10 + section->thread);
	for (unsigned i = 0; i < section->n; i++) {
		section->words[i] = (unsigned)g_rand_int_range(rand, 0, N_WORDS);
		section->writes[i] = is_split ? g_rand_int_range(rand, 0, 4) == 0 : i >= n_reads;
		if (is_split)
			g_string_append_printf(
			    events,
			    "%" PRId64 " segment tid=%u %c=0x%" PRIx64 "+8\n"
			    "%" PRId64 " sem_post tid=%u object=0x8000\n",
			    *now_ns + i, 10 + section->thread, section->writes[i] ? 'w' : 'r',
			    address_of(section->words[i]), *now_ns + i, 10 + section->thread);
		else
			g_string_append_printf(
			    section->writes[i] ? written : read, "%s0x%" PRIx64 "+8",
			    (section->writes[i] ? written : read)->len ? "," : "",
			    address_of(section->words[i]));
	}
	*now_ns += MOST;
	if (!is_split && section->n)
		g_string_append_printf(events, "%" PRId64 " segment tid=%u%s%s%s%s\n", *now_ns,
				       10 + section->thread, read->len ? " r=" : "", read->str,
				       written->len ? " w=" : "", written->str);
	g_string_append_printf(events, "%" PRId64 " mutex_unlock tid=%u object=0x9000\n", *now_ns,
			       10 + section->thread);
	*now_ns += 1;
	g_string_free(read, TRUE);
	g_string_free(written, TRUE);
}

/* The model has accesses by thread. Returns the number of sections with a conflict. */
static unsigned compare(const struct section *sections, const struct pp_replay_model *model)
{
	guint at = 0;
	unsigned n_conflicts = 0;

	for (unsigned thread = 0; thread < N_THREADS; thread++)
		for (unsigned s = 0; s < N_SECTIONS; s++) {
			const struct section *section = &sections[s];
			int from = 0, to = 0;

			if (section->thread != thread)
				continue;
			for (unsigned i = section->n; i-- > 0;)
				if (is_line_of_conflict(sections, section, section->words[i])) {
					from = (int)i;
					to = to ? to : (int)i + 1;
				}
			check_span(model, at++, from, to, (int)MAX(section->n, 1));
			n_conflicts += to != 0;
		}
	CHECK_INT(at, model->accesses->len);
	return n_conflicts;
}

static unsigned test_random(uint32_t seed)
{
	GRand *rand = g_rand_new_with_seed(seed);
	GString *events = g_string_new("process 1 accesses=compiled\n");
	struct section sections[N_SECTIONS];
	struct pp_replay_model *model;
	int64_t now_ns = 10;
	unsigned n_conflicts;

	for (unsigned i = 0; i < N_THREADS; i++)
		g_string_append_printf(events, "thread %u start=0\n", 10 + i);
	for (unsigned s = 0; s < N_SECTIONS; s++)
		add_section(events, rand, &sections[s], &now_ns);
	for (unsigned i = 0; i < N_THREADS; i++)
		g_string_append_printf(events, "%" PRId64 " exit tid=%u\n", now_ns, 10 + i);
	model = build(events->str);
	n_conflicts = compare(sections, model);
	pp_replay_model_free(model);
	g_string_free(events, TRUE);
	g_rand_free(rand);
	return n_conflicts;
}

int main(void)
{
	unsigned n_conflicts = 0;

	test_hand();
	for (uint32_t seed = 0; seed < N_RUNS; seed++)
		n_conflicts += test_random(seed);
	CHECK(n_conflicts > N_RUNS && n_conflicts < N_RUNS * N_SECTIONS);
	printf("%d random runs, %u of %d sections with conflicts\n", N_RUNS, n_conflicts,
	       N_RUNS * N_SECTIONS);
	return 0;
}
