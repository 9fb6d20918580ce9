/* SPDX-License-Identifier: MIT */
/*
 * Computes the offset of each field from the metadata.  Stops at the first construct that our
 * writers do not use.
 */
#include "ctf/layout.h"

#include <string.h>

#include "ctf/tsdl.h"

#define UUID_BYTES 16
#define MAX_ID	   65535
#define MAX_FIXED  256

/* --- packet headers ------------------------------------------------------------------------- */

static unsigned bytes_of(const struct pp_tsdl_member *member)
{
	return (member->type.bits + 7) / 8 * MAX(member->length, 1);
}

/* Adds the offsets of the members; false: they have no fixed offset. */
static bool place_members(const GArray *members, unsigned *offset, struct pp_head_field *fields,
			  const char *const *names, unsigned n_names)
{
	for (guint i = 0; i < members->len; i++) {
		const struct pp_tsdl_member *member =
		    &g_array_index(members, struct pp_tsdl_member, i);

		if (member->type.kind != PP_TSDL_INTEGER)
			return false;
		for (unsigned n = 0; n < n_names; n++)
			if (strcmp(names[n], member->name) == 0)
				fields[n] = (struct pp_head_field){
				    *offset, member->length ? 8 : (uint8_t)member->type.bits};
		*offset += bytes_of(member);
	}
	return true;
}

static bool place_head(struct pp_layout *layout, const struct pp_tsdl *tsdl)
{
	static const char *const header_names[] = {"magic", "uuid", "stream_id"};
	static const char *const context_names[] = {
	    "content_size", "packet_size", "timestamp_begin", "timestamp_end", "events_discarded",
	    "cpu_id",	    "tid",	   "index",	      "child"};
	struct pp_head_field header[G_N_ELEMENTS(header_names)] = {0};
	struct pp_head_field context[G_N_ELEMENTS(context_names)] = {0};

	if (!place_members(tsdl->header, &layout->head_bytes, header, header_names,
			   G_N_ELEMENTS(header)) ||
	    !place_members(tsdl->context, &layout->head_bytes, context, context_names,
			   G_N_ELEMENTS(context)))
		return false;
	layout->magic = header[0];
	layout->uuid_at = header[1];
	layout->stream_id = header[2];
	layout->content_size = context[0];
	layout->packet_size = context[1];
	layout->timestamp_begin = context[2];
	layout->timestamp_end = context[3];
	layout->discarded = context[4];
	layout->cpu = context[5];
	layout->tid = context[6];
	layout->index = context[7].bits ? context[7] : context[8];
	return layout->magic.bits == 32 && layout->content_size.bits == 64 &&
	       layout->packet_size.bits == 64 && layout->timestamp_begin.bits == 64;
}

/* "00112233-4455-4677-8899-aabbccddeeff" */
static bool parse_uuid(const char *text, uint8_t uuid[UUID_BYTES])
{
	unsigned n = 0;

	for (; *text && n < UUID_BYTES; text++) {
		if (*text == '-')
			continue;
		if (!g_ascii_isxdigit(text[0]) || !g_ascii_isxdigit(text[1]))
			return false;
		uuid[n++] =
		    (uint8_t)(g_ascii_xdigit_value(text[0]) << 4 | g_ascii_xdigit_value(text[1]));
		text++;
	}
	return n == UUID_BYTES && !*text;
}

/* --- event classes -------------------------------------------------------------------------- */

static enum pp_member_type sequence_of(const GArray *element)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (guint i = 0; i < element->len; i++) {
		const struct pp_tsdl_member *part =
		    &g_array_index(element, struct pp_tsdl_member, i);

		if (!part->type.is_signed)
			pp_member_append(text, part->name, part->type.bits);
	}
	return pp_member_sequence(text->str);
}

static enum pp_member_type type_of(const struct pp_tsdl_member *member)
{
	if (member->element)
		return sequence_of(member->element);
	if (member->type.kind == PP_TSDL_STRING)
		return PP_MEMBER_STRING;
	return member->length ? PP_MEMBER_OTHER : PP_MEMBER_INTEGER;
}

static struct pp_members describe(const GArray *members, struct pp_member *to)
{
	for (guint i = 0; members && i < members->len; i++) {
		const struct pp_tsdl_member *member =
		    &g_array_index(members, struct pp_tsdl_member, i);

		to[i] = (struct pp_member){
		    .name = member->name,
		    .type = type_of(member),
		    .is_signed = member->type.is_signed,
		};
	}
	return (struct pp_members){to, members ? members->len : 0};
}

/* Finds the slots of the record that receive the member. */
static void find_slots(const struct pp_event_class *class, int member, bool in_context,
		       struct pp_step *step)
{
	const struct pp_field *fields = class->syscall ? class->syscall->fields : class->fields;
	unsigned n = class->syscall ? class->syscall->n : PP_MAX_FIELDS;

	step->slot = step->more_slot = PP_NO_SLOT;
	step->is_tid = in_context && class->tid == member;
	if (class->what == PP_CLASS_IGNORED)
		return;
	for (unsigned i = 0; i < n; i++) {
		if (fields[i].index != member || fields[i].in_context != in_context)
			continue;
		if (step->slot == PP_NO_SLOT)
			step->slot = (uint8_t)i;
		else
			step->more_slot = (uint8_t)i;
	}
}

/* Returns the size of an element of a sequence; 0: not supported here. */
static unsigned element_bytes(const GArray *element)
{
	unsigned total = 0;

	for (guint i = 0; i < element->len; i++) {
		const struct pp_tsdl_member *part =
		    &g_array_index(element, struct pp_tsdl_member, i);

		if (part->type.bits % 8)
			return 0;
		total += part->type.bits / 8;
	}
	return total <= UINT8_MAX ? total : 0;
}

static enum pp_step_kind step_kind(const struct pp_tsdl_member *member)
{
	if (member->element)
		return PP_STEP_SEQUENCE;
	return member->type.kind == PP_TSDL_STRING ? PP_STEP_TEXT : PP_STEP_INTEGER;
}

/* Returns false for a type that is not supported here. */
static bool add_steps(struct pp_layout_class *class, const GArray *members, bool in_context)
{
	for (guint i = 0; members && i < members->len; i++) {
		const struct pp_tsdl_member *member =
		    &g_array_index(members, struct pp_tsdl_member, i);
		struct pp_step *step = &class->steps[class->n_steps++];

		if (member->type.bits % 8 || member->length)
			return false;
		find_slots(&class->class, (int)i, in_context, step);
		step->bytes = (uint8_t)(member->element ? element_bytes(member->element)
							: member->type.bits / 8);
		step->is_signed = member->type.is_signed;
		step->kind = step_kind(member);
		if (member->element && !step->bytes)
			return false;
	}
	return true;
}

/* Returns the sum of the sizes if all fields are integers. */
static unsigned find_fixed(const struct pp_layout_class *class)
{
	unsigned total = 0;

	for (unsigned i = 0; i < class->n_steps; i++) {
		if (class->steps[i].kind != PP_STEP_INTEGER)
			return 0;
		total += class->steps[i].bytes;
	}
	return total <= MAX_FIXED ? total : 0;
}

static int find_object(const struct pp_layout_class *class)
{
	unsigned at = 0;

	for (unsigned i = 0; class->fixed_bytes && i < class->n_steps; i++) {
		const struct pp_step *step = &class->steps[i];

		if (class->class.what == PP_CLASS_SYNC && step->slot == PP_SYNC_OBJECT)
			return step->bytes == sizeof(uint64_t) ? (int)at : -1;
		at += step->bytes;
	}
	return -1;
}

static bool add_class(struct pp_layout *layout, const struct pp_tsdl_event *event,
		      enum pp_class_names names)
{
	unsigned n_context = event->context ? event->context->len : 0;
	unsigned n_payload = event->payload ? event->payload->len : 0;
	g_autofree struct pp_member *context = g_new0(struct pp_member, n_context + 1);
	g_autofree struct pp_member *payload = g_new0(struct pp_member, n_payload + 1);
	struct pp_class_description description = {
	    .name = event->name,
	    .payload = describe(event->payload, payload),
	    .context = describe(event->context, context),
	};
	struct pp_layout_class *class;

	if (event->id > MAX_ID || n_context + n_payload > PP_MAX_STEPS)
		return false;
	if (event->id >= layout->classes->len)
		g_ptr_array_set_size(layout->classes, (gint)event->id + 1);
	if (layout->classes->pdata[event->id])
		return false;
	class = layout->classes->pdata[event->id] = g_new0(struct pp_layout_class, 1);
	class->name = g_strdup(event->name);
	class->steps = g_new0(struct pp_step, n_context + n_payload + 1);
	class->missing = pp_event_class_learn(&class->class, &description, names);
	if (!add_steps(class, event->context, true) || !add_steps(class, event->payload, false))
		return false;
	class->fixed_bytes = find_fixed(class);
	class->object_at = find_object(class);
	return true;
}

/* --- creation and release ------------------------------------------------------------------- */

static void class_free(void *data)
{
	struct pp_layout_class *class = data;

	if (!class)
		return;
	g_free(class->class.syscall);
	g_free(class->name);
	g_free(class->steps);
	g_free(class);
}

static bool fill(struct pp_layout *layout, const struct pp_tsdl *tsdl, enum pp_class_names names)
{
	layout->extended_id_bytes = tsdl->extended_id_bits / 8;
	layout->has_uuid = tsdl->uuid && parse_uuid(tsdl->uuid, layout->uuid);
	if (!place_head(layout, tsdl) || (tsdl->uuid && !layout->has_uuid))
		return false;
	for (guint i = 0; i < tsdl->events->len; i++)
		if (!add_class(layout, tsdl->events->pdata[i], names))
			return false;
	return true;
}

struct pp_layout *pp_layout_new(const char *trace_dir, enum pp_class_names names)
{
	g_autofree char *path = g_build_filename(trace_dir, "metadata", NULL);
	g_autofree char *text = NULL;
	struct pp_layout *layout;
	struct pp_tsdl *tsdl;
	bool good;
	gsize len;

	if (!g_file_get_contents(path, &text, &len, NULL))
		return NULL;
	tsdl = pp_tsdl_parse(text, len);
	if (!tsdl)
		return NULL;
	layout = g_new0(struct pp_layout, 1);
	layout->classes = g_ptr_array_new_with_free_func(class_free);
	good = fill(layout, tsdl, names);
	pp_tsdl_free(tsdl);
	if (good)
		return layout;
	pp_layout_free(layout);
	return NULL;
}

void pp_layout_free(struct pp_layout *layout)
{
	if (!layout)
		return;
	g_ptr_array_unref(layout->classes);
	g_free(layout);
}
