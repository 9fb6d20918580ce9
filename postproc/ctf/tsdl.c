/* SPDX-License-Identifier: MIT */
/*
 * A recursive-descent parser over GLib's tokens: one function per construct, which returns false
 * for any other construct.
 */
#include "ctf/tsdl.h"

#include <string.h>

#define MAX_BITS   64
#define MAX_ARRAY  1024
#define MAX_EVENTS 65536

struct parser {
	GScanner *scanner;
	GHashTable *types; /* name -> struct pp_tsdl_type * */
	struct pp_tsdl *tsdl;
};

/* --- tokens --------------------------------------------------------------------------------- */

static bool take_char(struct parser *parser, char c)
{
	if (g_scanner_peek_next_token(parser->scanner) != (GTokenType)(guchar)c)
		return false;
	g_scanner_get_next_token(parser->scanner);
	return true;
}

/* Returns a name that is valid until the next token. */
static const char *take_identifier(struct parser *parser)
{
	if (g_scanner_get_next_token(parser->scanner) != G_TOKEN_IDENTIFIER)
		return NULL;
	return parser->scanner->value.v_identifier;
}

static bool take_word(struct parser *parser, const char *word)
{
	const char *got = take_identifier(parser);

	return got && strcmp(got, word) == 0;
}

static bool take_number(struct parser *parser, uint64_t *ret)
{
	if (g_scanner_get_next_token(parser->scanner) != G_TOKEN_INT)
		return false;
	*ret = parser->scanner->value.v_int64;
	return true;
}

static bool take_assignment(struct parser *parser)
{
	return take_char(parser, ':') && take_char(parser, '=');
}

/* Skips a value that is not needed, up to its ';'. */
static bool skip_value(struct parser *parser)
{
	for (;;) {
		GTokenType token = g_scanner_get_next_token(parser->scanner);

		if (token == ';')
			return true;
		if (token == '{' || token == '}' || token == G_TOKEN_EOF || token == G_TOKEN_ERROR)
			return false;
	}
}

static char *take_string(struct parser *parser)
{
	if (g_scanner_get_next_token(parser->scanner) != G_TOKEN_STRING)
		return NULL;
	return g_strdup(parser->scanner->value.v_string);
}

/* --- types ---------------------------------------------------------------------------------- */

static bool take_bool(struct parser *parser, bool *ret)
{
	const char *word = take_identifier(parser);

	if (!word || (strcmp(word, "true") != 0 && strcmp(word, "false") != 0))
		return false;
	*ret = word[0] == 't';
	return true;
}

/* clock.NAME.value */
static bool take_map(struct parser *parser)
{
	return take_word(parser, "clock") && take_char(parser, '.') && take_identifier(parser) &&
	       take_char(parser, '.') && take_word(parser, "value");
}

static bool take_attribute(struct parser *parser, struct pp_tsdl_type *type, uint64_t *align)
{
	const char *word = take_identifier(parser);
	g_autofree char *name = g_strdup(word);
	uint64_t number;

	if (!name || !take_char(parser, '='))
		return false;
	if (strcmp(name, "size") == 0) {
		if (!take_number(parser, &number) || number == 0 || number > MAX_BITS)
			return false;
		type->bits = (unsigned)number;
		return true;
	}
	if (strcmp(name, "align") == 0)
		return take_number(parser, align);
	if (strcmp(name, "signed") == 0)
		return take_bool(parser, &type->is_signed);
	if (strcmp(name, "byte_order") == 0)
		return take_word(parser, "le");
	if (strcmp(name, "base") == 0)
		return take_number(parser, &number);
	if (strcmp(name, "map") == 0)
		return type->is_time = take_map(parser);
	return false;
}

/* Parses { size = 32; align = 8; ... } after "integer". */
static bool take_integer(struct parser *parser, struct pp_tsdl_type *ret)
{
	struct pp_tsdl_type type = {.kind = PP_TSDL_INTEGER};
	uint64_t align = 0;

	if (!take_char(parser, '{'))
		return false;
	while (!take_char(parser, '}'))
		if (!take_attribute(parser, &type, &align) || !take_char(parser, ';'))
			return false;
	*ret = type;
	return type.bits && align == 8;
}

static bool take_type(struct parser *parser, struct pp_tsdl_type *ret)
{
	const char *word = take_identifier(parser);
	const struct pp_tsdl_type *known;

	if (!word)
		return false;
	if (strcmp(word, "integer") == 0)
		return take_integer(parser, ret);
	if (strcmp(word, "string") == 0) {
		*ret = (struct pp_tsdl_type){.kind = PP_TSDL_STRING};
		return true;
	}
	known = g_hash_table_lookup(parser->types, word);
	if (known)
		*ret = *known;
	return known;
}

static bool take_typealias(struct parser *parser)
{
	struct pp_tsdl_type type;
	const char *name;

	if (!take_word(parser, "integer") || !take_integer(parser, &type) ||
	    !take_assignment(parser))
		return false;
	name = take_identifier(parser);
	if (!name || g_hash_table_contains(parser->types, name))
		return false;
	g_hash_table_insert(parser->types, g_strdup(name), g_memdup2(&type, sizeof(type)));
	return take_char(parser, ';');
}

/* --- structures ----------------------------------------------------------------------------- */

static void member_clear(void *data)
{
	struct pp_tsdl_member *member = data;

	g_free(member->name);
	g_free(member->length_name);
	if (member->element)
		g_array_unref(member->element);
}

static GArray *members_new(void)
{
	GArray *members = g_array_new(FALSE, TRUE, sizeof(struct pp_tsdl_member));

	g_array_set_clear_func(members, member_clear);
	return members;
}

static int find_member(const GArray *members, const char *name)
{
	for (guint i = 0; i < members->len; i++)
		if (strcmp(g_array_index(members, struct pp_tsdl_member, i).name, name) == 0)
			return (int)i;
	return -1;
}

/* Drops the underscore that TSDL puts before names. */
static const char *plain_name(const char *name)
{
	return name && name[0] == '_' ? name + 1 : name;
}

/* Parses an optional [16]. */
static bool take_length(struct parser *parser, struct pp_tsdl_member *member)
{
	uint64_t number;

	if (!take_char(parser, '['))
		return true;
	if (!take_number(parser, &number) || number == 0 || number > MAX_ARRAY)
		return false;
	member->length = (unsigned)number;
	return member->type.kind == PP_TSDL_INTEGER && take_char(parser, ']');
}

/* Parses { uint64_t a; uint32_t b; } after "struct": the element of a sequence. */
static bool take_element(struct parser *parser, struct pp_tsdl_member *member)
{
	if (!take_char(parser, '{'))
		return false;
	member->type = (struct pp_tsdl_type){.kind = PP_TSDL_STRUCT};
	member->element = members_new();
	while (!take_char(parser, '}')) {
		struct pp_tsdl_member part = {0};
		const char *name;

		if (!take_type(parser, &part.type) || part.type.kind != PP_TSDL_INTEGER)
			return false;
		name = plain_name(take_identifier(parser));
		if (!name)
			return false;
		part.name = g_strdup(name);
		g_array_append_val(member->element, part);
		if (!take_char(parser, ';'))
			return false;
	}
	return true;
}

/* Parses [n], where n is the member before. */
static bool take_sequence(struct parser *parser, const GArray *members,
			  struct pp_tsdl_member *member)
{
	const char *name;

	if (!take_char(parser, '['))
		return false;
	name = plain_name(take_identifier(parser));
	if (!name || !members->len || find_member(members, name) != (int)members->len - 1)
		return false;
	member->length_name = g_strdup(name);
	return take_char(parser, ']');
}

/* The caller clears the member. */
static bool take_parts(struct parser *parser, const GArray *members, struct pp_tsdl_member *member)
{
	bool is_struct = g_scanner_peek_next_token(parser->scanner) == G_TOKEN_IDENTIFIER &&
			 strcmp(parser->scanner->next_value.v_identifier, "struct") == 0;
	const char *name;

	if (is_struct) {
		g_scanner_get_next_token(parser->scanner);
		if (!take_element(parser, member))
			return false;
	} else if (!take_type(parser, &member->type)) {
		return false;
	}
	name = plain_name(take_identifier(parser));
	if (!name || find_member(members, name) >= 0)
		return false;
	member->name = g_strdup(name);
	return (is_struct ? take_sequence(parser, members, member) : take_length(parser, member)) &&
	       take_char(parser, ';');
}

static bool take_member(struct parser *parser, GArray *members)
{
	struct pp_tsdl_member member = {0};

	if (!take_parts(parser, members, &member)) {
		member_clear(&member);
		return false;
	}
	g_array_append_val(members, member);
	return true;
}

/* Parses := struct { ... };  Fails if it occurs twice. */
static bool take_structure(struct parser *parser, GArray **ret)
{
	if (*ret || !take_assignment(parser) || !take_word(parser, "struct") ||
	    !take_char(parser, '{'))
		return false;
	*ret = members_new();
	while (!take_char(parser, '}'))
		if (!take_member(parser, *ret))
			return false;
	return take_char(parser, ';');
}

/* --- the header of events ------------------------------------------------------------------- */

static bool take_time(struct parser *parser, unsigned bits)
{
	struct pp_tsdl_type type;

	return take_type(parser, &type) && type.kind == PP_TSDL_INTEGER && type.bits == bits &&
	       type.is_time && !type.is_signed && take_word(parser, "timestamp") &&
	       take_char(parser, ';');
}

static bool take_exact_number(struct parser *parser, uint64_t number)
{
	uint64_t got;

	return take_number(parser, &got) && got == number;
}

/* enum : uint8_t { compact = 0 ... 254, extended = 255 } id; */
static bool take_id(struct parser *parser)
{
	struct pp_tsdl_type type;

	return take_word(parser, "enum") && take_char(parser, ':') && take_type(parser, &type) &&
	       type.kind == PP_TSDL_INTEGER && type.bits == 8 && !type.is_signed &&
	       take_char(parser, '{') && take_word(parser, "compact") && take_char(parser, '=') &&
	       take_exact_number(parser, 0) && take_char(parser, '.') && take_char(parser, '.') &&
	       take_char(parser, '.') && take_exact_number(parser, 254) && take_char(parser, ',') &&
	       take_word(parser, "extended") && take_char(parser, '=') &&
	       take_exact_number(parser, 255) && take_char(parser, '}') &&
	       take_word(parser, "id") && take_char(parser, ';');
}

/* struct { uint32_t timestamp; } compact; */
static bool take_compact(struct parser *parser)
{
	return take_word(parser, "struct") && take_char(parser, '{') && take_time(parser, 32) &&
	       take_char(parser, '}') && take_word(parser, "compact") && take_char(parser, ';');
}

/* struct { uint16_t id; uint64_t timestamp; } extended; */
static bool take_extended(struct parser *parser)
{
	struct pp_tsdl_type type;

	if (!take_word(parser, "struct") || !take_char(parser, '{') || !take_type(parser, &type) ||
	    type.kind != PP_TSDL_INTEGER || type.is_signed || type.bits > 16 || type.bits % 8)
		return false;
	parser->tsdl->extended_id_bits = type.bits;
	return take_word(parser, "id") && take_char(parser, ';') && take_time(parser, 64) &&
	       take_char(parser, '}') && take_word(parser, "extended") && take_char(parser, ';');
}

static bool take_event_header(struct parser *parser)
{
	return !parser->tsdl->extended_id_bits && take_assignment(parser) &&
	       take_word(parser, "struct") && take_char(parser, '{') && take_id(parser) &&
	       take_word(parser, "variant") && take_char(parser, '<') && take_word(parser, "id") &&
	       take_char(parser, '>') && take_char(parser, '{') && take_compact(parser) &&
	       take_extended(parser) && take_char(parser, '}') && take_word(parser, "v") &&
	       take_char(parser, ';') && take_char(parser, '}') && take_char(parser, ';');
}

/* --- blocks --------------------------------------------------------------------------------- */

/* Each block occurs once. */
static bool take_once(bool *taken)
{
	bool first = !*taken;

	*taken = true;
	return first;
}

static bool take_trace_statement(struct parser *parser, const char *word)
{
	uint64_t number;

	if (strcmp(word, "packet") == 0)
		return take_char(parser, '.') && take_word(parser, "header") &&
		       take_structure(parser, &parser->tsdl->header);
	if (strcmp(word, "byte_order") == 0)
		return take_once(&parser->tsdl->is_little_endian) && take_char(parser, '=') &&
		       take_word(parser, "le") && take_char(parser, ';');
	if (strcmp(word, "uuid") == 0)
		return !parser->tsdl->uuid && take_char(parser, '=') &&
		       (parser->tsdl->uuid = take_string(parser)) && take_char(parser, ';');
	if (strcmp(word, "major") == 0 || strcmp(word, "minor") == 0)
		return take_char(parser, '=') && take_number(parser, &number) &&
		       take_char(parser, ';');
	return false;
}

static bool take_clock_statement(struct parser *parser, const char *word)
{
	if (strcmp(word, "freq") == 0)
		return take_char(parser, '=') && take_exact_number(parser, 1000000000) &&
		       take_char(parser, ';');
	return take_char(parser, '=') && skip_value(parser);
}

static bool take_env_statement(struct parser *parser, const char *word)
{
	(void)word;
	return take_char(parser, '=') && skip_value(parser);
}

static bool take_stream_statement(struct parser *parser, const char *word)
{
	if (strcmp(word, "id") == 0)
		return take_char(parser, '=') && take_exact_number(parser, 0) &&
		       take_char(parser, ';');
	if (strcmp(word, "packet") == 0)
		return take_char(parser, '.') && take_word(parser, "context") &&
		       take_structure(parser, &parser->tsdl->context);
	if (strcmp(word, "event") == 0)
		return take_char(parser, '.') && take_word(parser, "header") &&
		       take_event_header(parser);
	return false;
}

static struct pp_tsdl_event *last_event(const struct parser *parser)
{
	return parser->tsdl->events->pdata[parser->tsdl->events->len - 1];
}

static bool take_event_statement(struct parser *parser, const char *word)
{
	struct pp_tsdl_event *event = last_event(parser);

	if (strcmp(word, "name") == 0)
		return !event->name && take_char(parser, '=') &&
		       (event->name = take_string(parser)) && take_char(parser, ';');
	if (strcmp(word, "id") == 0)
		return take_char(parser, '=') && take_number(parser, &event->id) &&
		       take_char(parser, ';');
	if (strcmp(word, "stream_id") == 0)
		return take_char(parser, '=') && take_exact_number(parser, 0) &&
		       take_char(parser, ';');
	if (strcmp(word, "context") == 0)
		return take_structure(parser, &event->context);
	if (strcmp(word, "fields") == 0)
		return take_structure(parser, &event->payload);
	return false;
}

static bool take_block(struct parser *parser,
		       bool (*take_statement)(struct parser *parser, const char *word))
{
	if (!take_char(parser, '{'))
		return false;
	while (!take_char(parser, '}')) {
		g_autofree char *word = g_strdup(take_identifier(parser));

		if (!word || !take_statement(parser, word))
			return false;
	}
	return take_char(parser, ';');
}

static void event_free(void *data)
{
	struct pp_tsdl_event *event = data;

	g_free(event->name);
	if (event->context)
		g_array_unref(event->context);
	if (event->payload)
		g_array_unref(event->payload);
	g_free(event);
}

static bool take_event(struct parser *parser)
{
	if (parser->tsdl->events->len == MAX_EVENTS)
		return false;
	g_ptr_array_add(parser->tsdl->events, g_new0(struct pp_tsdl_event, 1));
	return take_block(parser, take_event_statement) && last_event(parser)->name;
}

static bool take_top(struct parser *parser)
{
	const char *word = take_identifier(parser);

	if (!word)
		return false;
	if (strcmp(word, "typealias") == 0)
		return take_typealias(parser);
	if (strcmp(word, "trace") == 0)
		return take_once(&parser->tsdl->has_trace) &&
		       take_block(parser, take_trace_statement);
	if (strcmp(word, "env") == 0)
		return take_block(parser, take_env_statement);
	if (strcmp(word, "clock") == 0)
		return take_once(&parser->tsdl->has_clock) &&
		       take_block(parser, take_clock_statement);
	if (strcmp(word, "stream") == 0)
		return take_once(&parser->tsdl->has_stream) &&
		       take_block(parser, take_stream_statement);
	return strcmp(word, "event") == 0 && take_event(parser);
}

/* --- creation and release ------------------------------------------------------------------- */

static void stay_silent(GScanner *scanner, char *message, gboolean is_error)
{
	(void)scanner;
	(void)message;
	(void)is_error;
}

static GScanner *scanner_new(const char *text, gsize len)
{
	GScanner *scanner = g_scanner_new(NULL);

	scanner->msg_handler = stay_silent;
	scanner->config->scan_identifier_1char = TRUE;
	scanner->config->scan_float = FALSE;
	scanner->config->store_int64 = TRUE;
	scanner->config->case_sensitive = TRUE;
	scanner->config->skip_comment_single = FALSE;
	scanner->config->scan_symbols = FALSE;
	g_scanner_input_text(scanner, text, (guint)len);
	return scanner;
}

struct pp_tsdl *pp_tsdl_parse(const char *text, gsize len)
{
	struct parser parser = {.tsdl = g_new0(struct pp_tsdl, 1)};
	bool good = len <= INT32_MAX && !memchr(text, '\0', len);

	parser.tsdl->events = g_ptr_array_new_with_free_func(event_free);
	parser.types = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	parser.scanner = scanner_new(text, good ? len : 0);
	while (good && g_scanner_peek_next_token(parser.scanner) != G_TOKEN_EOF)
		good = take_top(&parser);
	good = good && parser.tsdl->is_little_endian && parser.tsdl->has_clock &&
	       parser.tsdl->header && parser.tsdl->context && parser.tsdl->extended_id_bits;
	g_scanner_destroy(parser.scanner);
	g_hash_table_unref(parser.types);
	if (good)
		return parser.tsdl;
	pp_tsdl_free(parser.tsdl);
	return NULL;
}

void pp_tsdl_free(struct pp_tsdl *tsdl)
{
	g_free(tsdl->uuid);
	if (tsdl->header)
		g_array_unref(tsdl->header);
	if (tsdl->context)
		g_array_unref(tsdl->context);
	g_ptr_array_unref(tsdl->events);
	g_free(tsdl);
}
