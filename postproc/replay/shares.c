/* SPDX-License-Identifier: MIT */
/*
 * Samples are kept with the number of their step, since it is known at the end only in which
 * section that is. Paths are interned, so each is looked up once.
 */
#include "replay/shares.h"

#include <string.h>

#include "replay/sections.h"

struct sample {
	uint32_t serial, step;
	const struct pp_path *path;
	const struct pp_process *process;
	uint64_t ns;
};

struct pp_replay_shares {
	const struct pp_namer *namer;
	const GPtrArray *functions;
	GArray *samples;    /* of struct sample */
	GHashTable **known; /* by function: path -> is in it, plus 1 */
};

struct pp_replay_shares *pp_replay_shares_new(const struct pp_namer *namer,
					      const GPtrArray *functions)
{
	struct pp_replay_shares *self = g_new0(struct pp_replay_shares, 1);

	self->namer = namer;
	self->functions = functions;
	self->samples = g_array_new(FALSE, FALSE, sizeof(struct sample));
	self->known = g_new0(GHashTable *, functions->len);
	for (guint i = 0; i < functions->len; i++)
		self->known[i] = g_hash_table_new(NULL, NULL);
	return self;
}

void pp_replay_shares_free(struct pp_replay_shares *self)
{
	if (!self)
		return;
	for (guint i = 0; i < self->functions->len; i++)
		g_hash_table_unref(self->known[i]);
	g_free(self->known);
	g_array_unref(self->samples);
	g_free(self);
}

void pp_replay_shares_sample(struct pp_replay_shares *self, const struct pp_event *event,
			     uint32_t step)
{
	struct sample sample = {event->thread->serial, step, event->sample.path,
				event->thread->process, event->sample.weight_ns};

	if (sample.path && sample.ns)
		g_array_append_val(self->samples, sample);
}

/* --- functions of paths ----------------------------------------------------------------------- */

bool pp_replay_is_function(const char *name, const char *pattern)
{
	return name && (strcmp(name, pattern) == 0 || g_pattern_match_simple(pattern, name));
}

/* True if the function at that address, or one inlined there, matches. */
static bool is_at(const struct pp_replay_shares *self, const struct pp_process *process,
		  uint64_t address, const char *pattern)
{
	g_autoptr(GPtrArray) frames = NULL;

	if (!self->namer->frames) {
		g_autofree char *name = self->namer->function(self->namer->data, process, address);

		return pp_replay_is_function(name, pattern);
	}
	frames = self->namer->frames(self->namer->data, process, address);
	for (guint i = 0; i < frames->len; i++)
		if (pp_replay_is_function(((const struct pp_frame *)frames->pdata[i])->function,
					  pattern))
			return true;
	return false;
}

static bool is_in(struct pp_replay_shares *self, const struct sample *sample, guint function)
{
	void *known = g_hash_table_lookup(self->known[function], sample->path);
	bool found = false;

	if (known)
		return GPOINTER_TO_UINT(known) - 1;
	for (unsigned i = 0; i < sample->path->n && !found; i++)
		found = is_at(self, sample->process, sample->path->addresses[i],
			      self->functions->pdata[function]);
	g_hash_table_insert(self->known[function], (void *)sample->path,
			    GUINT_TO_POINTER(found + 1u));
	return found;
}

/* --- sums ------------------------------------------------------------------------------------- */

/* The call site that entered the innermost section around the sample. */
static uint32_t site_of(const struct pp_replay_thread *thread, const uint32_t *enclosing,
			uint32_t step)
{
	uint32_t at = enclosing[MIN(step, thread->steps->len - 1)];

	return at == PP_REPLAY_NO_STEP
		   ? PP_REPLAY_OUTSIDE
		   : g_array_index(thread->steps, struct pp_replay_step, at).site;
}

static void add(struct pp_replay_shares *self, struct pp_replay_model *model,
		const struct sample *sample, uint32_t site)
{
	for (guint i = 0; i < self->functions->len; i++)
		pp_replay_add_share(model, self->functions->pdata[i], site,
				    is_in(self, sample, i) ? sample->ns : 0, sample->ns);
}

void pp_replay_shares_finish(struct pp_replay_shares *self, struct pp_replay_model *model,
			     uint32_t (*number_of)(void *data, uint32_t serial), void *data)
{
	g_autofree uint32_t **enclosing = g_new0(uint32_t *, model->threads->len);

	for (guint i = 0; i < self->samples->len; i++) {
		const struct sample *sample = &g_array_index(self->samples, struct sample, i);
		uint32_t number = number_of(data, sample->serial);
		const struct pp_replay_thread *thread;

		if (number >= model->threads->len)
			continue;
		thread = model->threads->pdata[number];
		if (!enclosing[number])
			enclosing[number] = pp_replay_find_enclosing(thread);
		add(self, model, sample, site_of(thread, enclosing[number], sample->step));
	}
	for (guint i = 0; i < model->threads->len; i++)
		g_free(enclosing[i]);
}
