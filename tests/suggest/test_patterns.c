/* SPDX-License-Identifier: MIT */
/*
 * Facts about two random runs are those of a direct search over all pairs of sections and all
 * bytes; the suggestions keep every conflict under a common lock. So are the conflicts that are new
 * in the second run.
 */
#include "check.h"
#include "suggest/compare.h"
#include "suggest/patterns.h"
#include "ulcp_case.h"

#define N_CASES 400
#define N_RUNS	2
#define N_BYTES 128

static struct ulcp_case runs[N_RUNS];

static char *no_name(void *data, uint64_t address)
{
	(void)data;
	(void)address;
	return NULL;
}

/* --- the direct search ------------------------------------------------------------------------ */

static const struct pp_access_set *set_of(const struct ulcp_case *run, guint section)
{
	const struct pp_ulcp_section *of = pp_ulcp_section_at(run->sections, section);

	return pp_replay_find_set(run->sets, of->thread, of->first);
}

static const char *lock_name(const struct ulcp_case *run, guint section)
{
	const struct pp_ulcp_section *of = pp_ulcp_section_at(run->sections, section);

	return ((const struct pp_replay_object *)run->model->objects->pdata[of->object])->name;
}

static const char *site_name(const struct ulcp_case *run, guint section)
{
	const struct pp_ulcp_section *of = pp_ulcp_section_at(run->sections, section);
	const struct pp_replay_thread *thread = run->model->threads->pdata[of->thread];
	uint32_t site = g_array_index(thread->steps, struct pp_replay_step, of->first).site;

	return site == PP_REPLAY_NO_SITE ? "an unknown call site"
					 : run->model->sites->pdata[site - 1];
}

/* Bits of what a set does with the byte. */
enum { READS = 1, WRITES = 2 };

static unsigned byte_of(const struct pp_access_set *set, unsigned byte)
{
	for (unsigned i = 0; set && i < set->n; i++)
		if (set->lines[i].address == 64 * (byte / 64 + 1))
			return (set->lines[i].read >> byte % 64 & 1 ? READS : 0) |
			       (set->lines[i].written >> byte % 64 & 1 ? WRITES : 0);
	return 0;
}

static bool sets_conflict(const struct pp_access_set *a, const struct pp_access_set *b)
{
	for (unsigned byte = 0; byte < N_BYTES; byte++)
		if (((byte_of(a, byte) & WRITES) && byte_of(b, byte)) ||
		    ((byte_of(b, byte) & WRITES) && byte_of(a, byte)))
			return true;
	return false;
}

/* Two threads of the run access the byte. */
static bool is_shared(const struct ulcp_case *run, unsigned byte)
{
	uint32_t first = UINT32_MAX;

	for (guint i = 0; i < run->sections->len; i++) {
		uint32_t thread = pp_ulcp_section_at(run->sections, i)->thread;

		if (!byte_of(set_of(run, i), byte))
			continue;
		if (first != UINT32_MAX && first != thread)
			return true;
		first = thread;
	}
	return false;
}

static unsigned uses(const bool *shared, const struct pp_access_set *set)
{
	unsigned all = 0;

	for (unsigned byte = 0; byte < N_BYTES; byte++)
		all |= shared[byte] ? byte_of(set, byte) : 0;
	return all;
}

static bool is_of(const struct ulcp_case *run, guint section, const struct pp_suggest_lock *lock,
		  uint32_t site)
{
	return strcmp(lock_name(run, section), lock->name) == 0 &&
	       strcmp(site_name(run, section),
		      ((const struct pp_suggest_site *)lock->sites->pdata[site])->name) == 0;
}

static bool direct_conflict(const struct pp_suggest_lock *lock, uint32_t a, uint32_t b)
{
	for (unsigned r = 0; r < N_RUNS; r++)
		for (guint i = 0; i < runs[r].sections->len; i++) {
			if (!is_of(&runs[r], i, lock, a))
				continue;
			if (!set_of(&runs[r], i))
				return true;
			for (guint k = 0; k < runs[r].sections->len; k++)
				if (is_of(&runs[r], k, lock, b) &&
				    pp_ulcp_section_at(runs[r].sections, i)->thread !=
					pp_ulcp_section_at(runs[r].sections, k)->thread &&
				    sets_conflict(set_of(&runs[r], i), set_of(&runs[r], k)))
					return true;
		}
	return false;
}

/* Consecutive pairs of the lock that need not exclude each other, and all. */
static uint64_t direct_pairs(const struct pp_suggest_lock *lock, uint64_t *ret_classes)
{
	uint64_t n = 0;

	for (unsigned r = 0; r < N_RUNS; r++) {
		bool shared[N_BYTES];

		for (unsigned byte = 0; byte < N_BYTES; byte++)
			shared[byte] = is_shared(&runs[r], byte);
		for (guint i = 0; i + 1 < runs[r].sections->len; i++) {
			const struct pp_ulcp_section *a = pp_ulcp_section_at(runs[r].sections, i);
			const struct pp_access_set *x = set_of(&runs[r], i);
			const struct pp_access_set *y = set_of(&runs[r], i + 1);
			unsigned use_x, use_y;

			if (strcmp(lock_name(&runs[r], i), lock->name) != 0 ||
			    a[1].object != a->object || a[1].thread == a->thread ||
			    (a->shared && a[1].shared))
				continue;
			n++;
			if (!x || !y || sets_conflict(x, y))
				continue;
			use_x = uses(shared, x);
			use_y = uses(shared, y);
			ret_classes[!use_x || !use_y	       ? PP_ULCP_NULL_LOCK
				    : (use_x | use_y) & WRITES ? PP_ULCP_DISJOINT_WRITE
							       : PP_ULCP_READ_READ]++;
		}
	}
	return n;
}

static void check_lock(const struct pp_suggest_lock *lock)
{
	static const enum pp_ulcp_class classes[] = {PP_ULCP_NULL_LOCK, PP_ULCP_READ_READ,
						     PP_ULCP_DISJOINT_WRITE};
	uint64_t expected[PP_ULCP_N_CLASSES] = {0}, known;

	for (uint32_t a = 0; a < lock->sites->len; a++)
		for (uint32_t b = a; b < lock->sites->len; b++) {
			const struct pp_suggest_pair *pair = pp_suggest_pair_of(lock, a, b);

			CHECK((pair && pair->conflicts) ==
			      (direct_conflict(lock, a, b) || direct_conflict(lock, b, a)));
		}
	CHECK_INT(direct_pairs(lock, expected), (pp_suggest_unnecessary(lock, &known), known));
	for (unsigned i = 0; i < G_N_ELEMENTS(classes); i++)
		CHECK_INT(pp_suggest_pairs(lock, classes[i]), expected[classes[i]]);
}

/* --- suggestions ------------------------------------------------------------------------------ */

static bool has_site(const GArray *sites, uint32_t site)
{
	for (guint i = 0; i < sites->len; i++)
		if (g_array_index(sites, uint32_t, i) == site)
			return true;
	return false;
}

/* 0: none; else a number of the group. */
static unsigned group_of(const struct pp_suggestion *suggestion, uint32_t site)
{
	for (guint i = 0; i < suggestion->groups->len; i++)
		if (has_site(suggestion->groups->pdata[i], site))
			return i + 1;
	return 0;
}

/* Sites that conflict have a common lock, which not both share. */
static void check_suggestion(const struct pp_suggestion *suggestion)
{
	const struct pp_suggest_lock *lock = suggestion->lock;

	for (uint32_t a = 0; a < lock->sites->len; a++)
		for (uint32_t b = 0; b < lock->sites->len; b++) {
			unsigned of_a = group_of(suggestion, a), of_b = group_of(suggestion, b);

			if (!direct_conflict(lock, a, b))
				continue;
			switch (suggestion->pattern) {
			case PP_SUGGEST_NULL_SHARED:
			case PP_SUGGEST_READ_READ:
				CHECK(false);
				break;
			case PP_SUGGEST_GROUPS:
				CHECK(of_a && of_a == of_b);
				break;
			case PP_SUGGEST_READERS:
				CHECK(!of_a || !of_b);
				break;
			default:
				break;
			}
		}
}

/* A lock with unnecessary pairs has a suggestion, or the reason why it has none. */
static void check_left_out(const struct pp_suggest_lock *lock, const GPtrArray *suggestions)
{
	uint64_t known, unnecessary = pp_suggest_unnecessary(lock, &known);
	bool is_suggested = false;

	for (guint i = 0; i < suggestions->len; i++)
		is_suggested |= ((const struct pp_suggestion *)suggestions->pdata[i])->lock == lock;
	CHECK((pp_suggest_left_out(lock) != PP_SUGGEST_NOT_LEFT_OUT) ==
	      (unnecessary && !is_suggested));
}

/* --- the second run as one of a changed program ----------------------------------------------- */

/* Do known accesses of sections of these sites conflict, under one lock, in the run? */
static bool sites_conflict(const struct ulcp_case *run, const char *a, const char *b,
			   bool *ret_is_unknown)
{
	for (guint i = 0; i < run->sections->len; i++)
		for (guint k = 0; k < run->sections->len; k++) {
			const struct pp_ulcp_section *x = pp_ulcp_section_at(run->sections, i);
			const struct pp_ulcp_section *y = pp_ulcp_section_at(run->sections, k);

			if (strcmp(lock_name(run, i), lock_name(run, k)) != 0 ||
			    strcmp(site_name(run, i), a) != 0 || strcmp(site_name(run, k), b) != 0)
				continue;
			*ret_is_unknown |= !set_of(run, i) || !set_of(run, k);
			if (x->thread != y->thread && sets_conflict(set_of(run, i), set_of(run, k)))
				return true;
		}
	return false;
}

static bool is_new(const GArray *all, const struct pp_suggest_lock *lock, uint32_t a, uint32_t b)
{
	for (guint i = 0; i < all->len; i++) {
		const struct pp_suggest_new_conflict *new =
		    &g_array_index(all, struct pp_suggest_new_conflict, i);

		if (new->lock == lock &&new->a == a &&new->b == b)
			return true;
	}
	return false;
}

static bool direct_new(const struct pp_suggest_lock *lock, uint32_t a, uint32_t b,
		       bool *ret_is_unknown)
{
	const char *x = ((const struct pp_suggest_site *)lock->sites->pdata[a])->name;
	const char *y = ((const struct pp_suggest_site *)lock->sites->pdata[b])->name;
	bool is_now = false, is_unknown = false, is_before;

	for (guint i = 0; i < runs[1].sections->len && !is_now; i++)
		for (guint k = 0; k < runs[1].sections->len && !is_now; k++)
			is_now = is_of(&runs[1], i, lock, a) && is_of(&runs[1], k, lock, b) &&
				 pp_ulcp_section_at(runs[1].sections, i)->thread !=
				     pp_ulcp_section_at(runs[1].sections, k)->thread &&
				 sets_conflict(set_of(&runs[1], i), set_of(&runs[1], k));
	is_before = sites_conflict(&runs[0], x, y, &is_unknown);
	*ret_is_unknown = is_now && !is_before && is_unknown;
	return is_now && !is_before && !is_unknown;
}

/* Returns the number of new conflicts. */
static unsigned check_new_conflicts(const struct pp_suggest_facts *before,
				    const struct pp_suggest_facts *after)
{
	unsigned n_unknown, expected_unknown = 0, n = 0;
	g_autoptr(GArray) all = pp_suggest_new_conflicts(before, after, &n_unknown);

	for (guint l = 0; l < after->locks->len; l++) {
		const struct pp_suggest_lock *lock = after->locks->pdata[l];

		for (uint32_t a = 0; a < lock->sites->len; a++)
			for (uint32_t b = a; b < lock->sites->len; b++) {
				bool is_unknown, expected = direct_new(lock, a, b, &is_unknown);

				CHECK(is_new(all, lock, a, b) == expected);
				expected_unknown += is_unknown;
				n += expected;
			}
	}
	CHECK_INT(all->len, n);
	CHECK_INT(n_unknown, expected_unknown);
	return n;
}

enum mode {
	ANY,	   /* sites and memory have nothing to do with each other */
	SEPARABLE, /* sections access one line of memory, at sites of its own, and all are known */
	READERS,   /* sections of two sites only read */
	READING,   /* all do, and are known */
	N_MODES
};

static struct pp_access_set *reading_part(struct ulcp_case *run, const struct pp_access_set *set)
{
	g_autofree struct pp_access_line *lines =
	    g_memdup2(set->lines, set->n * sizeof(struct pp_access_line));

	for (unsigned i = 0; i < set->n; i++)
		lines[i].written = lines[i].changed = 0;
	return pp_access_set_get(run->interned, lines, set->n);
}

/* Returns the set of a section in that mode, and its site. */
static struct pp_access_set *set_in_mode(struct ulcp_case *run, enum mode mode,
					 struct pp_access_set *set, GRand *random, uint32_t *site)
{
	uint32_t line = *site / 2 % 2;

	if (!set)
		return mode == SEPARABLE || mode == READING
			   ? pp_access_set_get(run->interned, NULL, 0)
			   : NULL;
	switch (mode) {
	case SEPARABLE:
		*site = 2 * line + (uint32_t)g_rand_int_range(random, 0, 2);
		return pp_access_set_within(set, 64 * (line + 1), 64);
	case READERS:
		return *site < 2 ? reading_part(run, set) : pp_access_set_ref(set);
	case READING:
		return reading_part(run, set);
	default:
		return pp_access_set_ref(set);
	}
}

/* Gives each section a call site, and accesses in that mode. */
static void add_sites(struct ulcp_case *run, GRand *random, enum mode mode)
{
	uint32_t sites[4];

	for (unsigned i = 0; i < G_N_ELEMENTS(sites); i++) {
		g_autofree char *name = g_strdup_printf("site %u", i);

		sites[i] = pp_replay_add_site(run->model, name);
	}
	for (guint i = 0; i < run->sets->len; i++) {
		struct pp_replay_set *set = &g_array_index(run->sets, struct pp_replay_set, i);
		struct pp_replay_thread *thread = run->model->threads->pdata[set->thread];
		uint32_t site = (uint32_t)g_rand_int_range(random, 0, G_N_ELEMENTS(sites));
		struct pp_access_set *part = set_in_mode(run, mode, set->set, random, &site);

		g_array_index(thread->steps, struct pp_replay_step, set->step).site = sites[site];
		pp_access_set_unref(set->set);
		set->set = part;
		set->is_inexact = set->is_inexact && (mode == ANY || mode == READERS);
	}
}

/* Returns the number of conflicts that the second run has, and not the first one. */
static unsigned check_change(void)
{
	const struct pp_suggest_namer namer = {.code = no_name, .memory = no_name};
	struct pp_suggest_facts facts[N_RUNS];
	unsigned n;

	for (unsigned r = 0; r < N_RUNS; r++) {
		pp_suggest_facts_init(&facts[r]);
		pp_suggest_facts_add(&facts[r], runs[r].model, runs[r].sections, runs[r].sets,
				     &namer);
	}
	n = check_new_conflicts(&facts[0], &facts[1]);
	for (unsigned r = 0; r < N_RUNS; r++)
		pp_suggest_facts_done(&facts[r]);
	return n;
}

static void check_case(uint32_t seed, unsigned *n_of, unsigned *n_new)
{
	const struct pp_suggest_namer namer = {.code = no_name, .memory = no_name};
	g_autoptr(GRand) random = g_rand_new_with_seed(seed);
	g_autoptr(GPtrArray) suggestions = NULL;
	struct pp_suggest_facts facts;

	pp_suggest_facts_init(&facts);
	for (unsigned r = 0; r < N_RUNS; r++) {
		runs[r] = ulcp_case_random(seed * N_RUNS + r, random);
		add_sites(&runs[r], random, seed % N_MODES);
		pp_suggest_facts_add(&facts, runs[r].model, runs[r].sections, runs[r].sets, &namer);
	}
	for (guint i = 0; i < facts.locks->len; i++)
		check_lock(facts.locks->pdata[i]);
	suggestions = pp_suggest_find(&facts);
	for (guint i = 0; i < suggestions->len; i++) {
		const struct pp_suggestion *suggestion = suggestions->pdata[i];

		check_suggestion(suggestion);
		n_of[suggestion->pattern]++;
	}
	for (guint i = 0; i < facts.locks->len; i++)
		check_left_out(facts.locks->pdata[i], suggestions);
	*n_new += check_change();
	g_clear_pointer(&suggestions, g_ptr_array_unref);
	pp_suggest_facts_done(&facts);
	for (unsigned r = 0; r < N_RUNS; r++)
		ulcp_case_done(&runs[r]);
}

int main(void)
{
	unsigned n_of[PP_SUGGEST_N_PATTERNS] = {0}, n_new = 0;

	for (uint32_t seed = 0; seed < N_CASES; seed++)
		check_case(seed, n_of, &n_new);
	for (unsigned i = 0; i < PP_SUGGEST_N_PATTERNS; i++)
		printf("%s: %u\n", pp_suggest_patterns[i], n_of[i]);
	printf("new conflicts: %u\n", n_new);
	CHECK(n_new > 0);
	CHECK(n_of[PP_SUGGEST_GROUPS] > 0 && n_of[PP_SUGGEST_READERS] > 0 &&
	      n_of[PP_SUGGEST_READ_READ] > 0);
	return 0;
}
