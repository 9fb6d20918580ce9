/* SPDX-License-Identifier: MIT */
/* The text becomes tokens with their lines; statements are read by recursive descent. */
#include "suggest/statements.h"

#include <string.h>

#define MAX_LINES 20000
#define MAX_DEPTH 200

/* Words that begin statements, or leave them. */
enum word {
	OTHER,
	IF,
	FOR,
	WHILE,
	SWITCH,
	DO,
	ELSE,
	TRY,
	CATCH,
	CASE,
	DEFAULT,
	BREAK,
	CONTINUE,
	JUMP
};

static const struct {
	const char *text;
	enum word word;
} words[] = {
    {"if", IF},	      {"for", FOR},	    {"while", WHILE}, {"switch", SWITCH},
    {"do", DO},	      {"else", ELSE},	    {"try", TRY},     {"catch", CATCH},
    {"case", CASE},   {"default", DEFAULT}, {"break", BREAK}, {"continue", CONTINUE},
    {"return", JUMP}, {"goto", JUMP},	    {"throw", JUMP},  {"co_return", JUMP},
};

struct token {
	int line;
	char kind; /* 'w': a word; ';', ':' and brackets; '.': anything else; '\0': the end */
	enum word word;
};

/* --- tokens ----------------------------------------------------------------------------------- */

struct text {
	const char *at;
	int line;
	bool is_line_begin;
};

static bool is_word(char c)
{
	return g_ascii_isalnum(c) || c == '_' || c == '$';
}

static void step(struct text *text)
{
	text->line += *text->at == '\n';
	text->is_line_begin =
	    *text->at == '\n' || (text->is_line_begin && g_ascii_isspace(*text->at));
	text->at++;
}

static void skip_to(struct text *text, const char *end)
{
	while (*text->at && text->at < end)
		step(text);
}

/* A directive, or a comment: up to the end of the line, which a backslash continues. */
static void skip_line(struct text *text)
{
	while (*text->at && *text->at != '\n') {
		if (*text->at == '\\' && text->at[1])
			step(text);
		step(text);
	}
}

static void skip_comment(struct text *text)
{
	const char *end = strstr(text->at + 2, "*/");

	skip_to(text, end ? end + 2 : text->at + strlen(text->at));
}

static void skip_quoted(struct text *text)
{
	char quote = *text->at;

	step(text);
	while (*text->at && *text->at != quote && *text->at != '\n') {
		if (*text->at == '\\' && text->at[1])
			step(text);
		step(text);
	}
	if (*text->at == quote)
		step(text);
}

/* R"x(...)x" of C++; the text is at the quote. */
static void skip_raw(struct text *text)
{
	const char *open = strchr(text->at, '('), *end;
	g_autofree char *close = NULL;

	if (!open) {
		skip_quoted(text);
		return;
	}
	close = g_strdup_printf(")%.*s\"", (int)(open - text->at - 1), text->at + 1);
	end = strstr(open, close);
	skip_to(text, end ? end + strlen(close) : text->at + strlen(text->at));
}

static enum word word_of(const char *begin, size_t n)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(words); i++)
		if (strlen(words[i].text) == n && memcmp(begin, words[i].text, n) == 0)
			return words[i].word;
	return OTHER;
}

/* A word or a number, whose digits may be grouped by single quotes. */
static struct token read_word(struct text *text)
{
	const char *begin = text->at;
	bool is_number = g_ascii_isdigit(*begin);
	struct token token = {text->line, is_number ? '.' : 'w', OTHER};

	while (is_word(*text->at) || (is_number && *text->at == '\'' && is_word(text->at[1])))
		step(text);
	token.word = word_of(begin, (size_t)(text->at - begin));
	if (*text->at == '"' && text->at[-1] == 'R' && text->at - begin <= 3)
		skip_raw(text);
	return token;
}

/* Skips what is no token.  Returns false if there was nothing to skip. */
static bool skip_space(struct text *text)
{
	if (*text->at == '#' && text->is_line_begin)
		skip_line(text);
	else if (text->at[0] == '/' && text->at[1] == '/')
		skip_line(text);
	else if (text->at[0] == '/' && text->at[1] == '*')
		skip_comment(text);
	else if (g_ascii_isspace(*text->at) || *text->at == '\\')
		step(text);
	else
		return false;
	return true;
}

static struct token read_token(struct text *text)
{
	struct token token = {text->line, '.', OTHER};

	if (is_word(*text->at))
		return read_word(text);
	if (*text->at == '"' || *text->at == '\'') {
		skip_quoted(text);
		return token;
	}
	if (text->at[0] == ':' && text->at[1] == ':')
		step(text);
	else if (strchr(";:{}()[]", *text->at))
		token.kind = *text->at;
	step(text);
	return token;
}

/* The tokens from line `from` on, with one of kind 0 as the last one. */
static GArray *read_tokens(const char *all, int from)
{
	GArray *tokens = g_array_new(FALSE, FALSE, sizeof(struct token));
	struct text text = {all, 1, true};
	struct token end = {0, 0, OTHER};

	while (*text.at && text.line < from)
		step(&text);
	while (*text.at && text.line < from + MAX_LINES) {
		struct token token;

		if (skip_space(&text))
			continue;
		token = read_token(&text);
		g_array_append_val(tokens, token);
	}
	end.line = text.line;
	g_array_append_val(tokens, end);
	return tokens;
}

/* --- statements ------------------------------------------------------------------------------- */

struct reading {
	const GArray *tokens;
	guint at;
	unsigned depth, n_loops, n_switches; /* around this place */
	int last;			     /* line of the last token */
	bool jumps;
};

static const struct token *peek(const struct reading *self, guint ahead)
{
	return &g_array_index(self->tokens, struct token,
			      MIN(self->at + ahead, self->tokens->len - 1));
}

static bool is(const struct reading *self, guint ahead, char kind)
{
	return peek(self, ahead)->kind == kind;
}

static void take(struct reading *self)
{
	const struct token *token = peek(self, 0);

	self->jumps |= token->word == JUMP ||
		       (token->word == BREAK && !self->n_loops && !self->n_switches) ||
		       (token->word == CONTINUE && !self->n_loops);
	self->last = token->line;
	self->at += token->kind != 0;
}

static bool opens(const struct reading *self)
{
	return is(self, 0, '(') || is(self, 0, '[') || is(self, 0, '{');
}

static bool closes(const struct reading *self)
{
	return is(self, 0, ')') || is(self, 0, ']') || is(self, 0, '}');
}

/* All up to the bracket that closes this one. */
static void take_brackets(struct reading *self)
{
	unsigned n = 0;

	do {
		n = opens(self) ? n + 1 : closes(self) ? n - 1 : n;
		take(self);
	} while (n && !is(self, 0, 0));
}

/* Up to a semicolon, or to the end of the block. */
static void take_expression(struct reading *self)
{
	while (!is(self, 0, 0) && !is(self, 0, ';') && !is(self, 0, '}')) {
		if (opens(self))
			take_brackets(self);
		else
			take(self);
	}
	if (is(self, 0, ';'))
		take(self);
}

static void take_statement(struct reading *self);

static void take_block(struct reading *self)
{
	take(self);
	while (!is(self, 0, 0) && !is(self, 0, '}'))
		take_statement(self);
	take(self);
}

/* A word, brackets, and a statement. */
static void take_headed(struct reading *self)
{
	take(self);
	while (is(self, 0, 'w') && peek(self, 0)->word == OTHER) /* if constexpr */
		take(self);
	if (is(self, 0, '('))
		take_brackets(self);
	take_statement(self);
}

static void take_loop(struct reading *self)
{
	self->n_loops++;
	take_headed(self);
	self->n_loops--;
}

static void take_do(struct reading *self)
{
	self->n_loops++;
	take(self);
	take_statement(self);
	self->n_loops--;
	take_expression(self);
}

/* With all the parts that such a word begins. */
static void take_with(struct reading *self, enum word part)
{
	take_headed(self);
	while (peek(self, 0)->word == part)
		take_headed(self);
}

static void take_label(struct reading *self)
{
	while (!is(self, 0, 0) && !is(self, 0, ':') && !is(self, 0, ';'))
		take(self);
	take(self);
}

/* name (...) and no operator or semicolon: a loop, as far as one can see. */
static bool take_macro(struct reading *self)
{
	guint begin = self->at;

	if (!is(self, 0, 'w') || !is(self, 1, '('))
		return false;
	take(self);
	take_brackets(self);
	if (!is(self, 0, 'w') && !is(self, 0, '{')) {
		self->at = begin;
		return false;
	}
	self->n_loops++;
	take_statement(self);
	self->n_loops--;
	return true;
}

static void take_by_word(struct reading *self)
{
	switch (peek(self, 0)->word) {
	case IF:
		take_with(self, ELSE);
		break;
	case TRY:
		take_with(self, CATCH);
		break;
	case FOR:
	case WHILE:
		take_loop(self);
		break;
	case SWITCH:
		self->n_switches++;
		take_headed(self);
		self->n_switches--;
		break;
	case DO:
		take_do(self);
		break;
	case ELSE:
	case CATCH:
		take_headed(self);
		break;
	case CASE:
	case DEFAULT:
		take_label(self);
		break;
	default:
		if (is(self, 0, 'w') && is(self, 1, ':'))
			take_label(self);
		else if (!take_macro(self))
			take_expression(self);
	}
}

/* Takes at least one token, but for the end of a block. */
static void take_statement(struct reading *self)
{
	if (++self->depth > MAX_DEPTH)
		self->at = self->tokens->len - 1;
	else if (is(self, 0, '{'))
		take_block(self);
	else if (!is(self, 0, '}'))
		take_by_word(self);
	self->depth--;
}

static void add(GArray *all, struct pp_suggest_statement statement)
{
	struct pp_suggest_statement *before =
	    all->len ? &g_array_index(all, struct pp_suggest_statement, all->len - 1) : NULL;

	if (before && before->last >= statement.first) {
		before->last = MAX(before->last, statement.last);
		before->jumps |= statement.jumps;
		return;
	}
	g_array_append_val(all, statement);
}

GArray *pp_suggest_statements(const char *text, int from, int to)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct pp_suggest_statement));
	g_autoptr(GArray) tokens = read_tokens(text, from);
	struct reading reading = {.tokens = tokens};

	while (!is(&reading, 0, 0) && peek(&reading, 0)->line <= to) {
		int first = peek(&reading, 0)->line;
		bool is_end = closes(&reading); /* of a block around the lines */

		reading.jumps = false;
		if (is_end)
			take(&reading);
		else
			take_statement(&reading);
		if (!is_end)
			add(all, (struct pp_suggest_statement){first, reading.last, reading.jumps});
	}
	return all;
}
