/* SPDX-License-Identifier: MIT */
/* Numbers tracks by thread, object and process on first use. */
#include "export/trace/tracks.h"

#include "core/text/printable.h"

static guint track_hash(const void *data)
{
	const struct pp_track_key *key = data;

	return g_direct_hash(key->of) * 31 ^ g_direct_hash(key->by) ^ key->kind;
}

static gboolean track_equal(const void *a, const void *b)
{
	const struct pp_track_key *x = a, *y = b;

	return x->kind == y->kind && x->of == y->of && x->by == y->by;
}

void pp_tracks_init(struct pp_tracks *tracks)
{
	*tracks = (struct pp_tracks){
	    .known = g_hash_table_new_full(track_hash, track_equal, g_free, NULL)};
}

void pp_tracks_done(struct pp_tracks *tracks)
{
	g_hash_table_unref(tracks->known);
}

static gboolean is_of_object(void *key, void *value, void *object)
{
	const struct pp_track *track = key;

	(void)value;
	return track->key.kind == PP_TRACK_LOCK && track->key.of == object;
}

static struct pp_track *main_track(const struct pp_tracks *tracks, const void *object)
{
	const struct pp_track_key key = {PP_TRACK_LOCK, object, NULL};

	return g_hash_table_lookup(tracks->known, &key);
}

void pp_tracks_forget(struct pp_tracks *tracks, const struct pp_object *object)
{
	struct pp_track *track = main_track(tracks, object);

	if (track && track->has_aside)
		g_hash_table_foreach_remove(tracks->known, is_of_object, (void *)object);
	else if (track)
		g_hash_table_remove(tracks->known, track);
}

const struct pp_track *pp_tracks_get(struct pp_tracks *tracks, struct pp_track_key key,
				     bool *ret_is_new)
{
	struct pp_track *track = g_hash_table_lookup(tracks->known, &key);

	*ret_is_new = !track;
	if (track)
		return track;
	if (key.kind == PP_TRACK_LOCK && key.by)
		main_track(tracks, key.of)->has_aside = true;
	track = g_new0(struct pp_track, 1);
	track->key = key;
	track->number = ++tracks->n_ever;
	g_hash_table_add(tracks->known, track);
	return track;
}

struct pp_track_key pp_track_of_slice(const struct pp_slice *slice)
{
	switch (slice->kind) {
	case PP_SLICE_STATE:
		return (struct pp_track_key){PP_TRACK_STATES, slice->thread, NULL};
	case PP_SLICE_HOLD:
		return (struct pp_track_key){PP_TRACK_LOCK, slice->object,
					     slice->is_aside ? slice->thread : NULL};
	default:
		return (struct pp_track_key){PP_TRACK_OPERATIONS, slice->thread, NULL};
	}
}

static const struct pp_process *process_of(const struct pp_track_key *key)
{
	switch (key->kind) {
	case PP_TRACK_LOCK:
		return ((const struct pp_object *)key->of)->process;
	case PP_TRACK_OPERATIONS:
	case PP_TRACK_STATES:
		return ((const struct pp_thread *)key->of)->process;
	default:
		return key->of;
	}
}

bool pp_track_parent(const struct pp_track_key *key, struct pp_track_key *ret)
{
	static const enum pp_track_kind parents[] = {
	    [PP_TRACK_LOCKS] = PP_TRACK_PROCESS,
	    [PP_TRACK_OPERATIONS] = PP_TRACK_PROCESS,
	    [PP_TRACK_STATES] = PP_TRACK_OPERATIONS,
	    [PP_TRACK_LOCK] = PP_TRACK_LOCKS,
	};

	if (key->kind == PP_TRACK_PROCESS)
		return false;
	*ret = (struct pp_track_key){
	    parents[key->kind], key->kind == PP_TRACK_STATES ? key->of : process_of(key), NULL};
	return true;
}

char *pp_track_process_name(const struct pp_process *process)
{
	const struct pp_thread *first = pp_process_thread(process, 0);

	return first && first->name ? pp_printable(g_strdup(first->name)) : NULL;
}
