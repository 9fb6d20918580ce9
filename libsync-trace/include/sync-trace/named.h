/* SPDX-License-Identifier: MIT */
/*
 * Compares a function's symbol with names as users write them: "mutex_enter", "Mutex::lock", or the
 * symbol itself. For the library, and for readers of symbol tables.
 */
#ifndef ST_NAMED_H
#define ST_NAMED_H

#include <stdbool.h>
#include <stddef.h>

/* A part of a name, to the next "::" or the end of the list's element. */
struct st_name_part {
	const char *start;
	size_t n;
};

static inline size_t st_name_length(const char *name)
{
	size_t n = 0;

	while (name[n] != '\0' && name[n] != ',')
		n++;
	return n;
}

static inline struct st_name_part st_name_part(const char *at, const char *end)
{
	struct st_name_part part = {at, 0};

	while (at + part.n < end &&
	       !(at[part.n] == ':' && at + part.n + 1 < end && at[part.n + 1] == ':'))
		part.n++;
	return part;
}

static inline bool st_part_is(const struct st_name_part *part, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (i >= part->n || part->start[i] != text[i])
			return false;
	return part->n == n;
}

/* Skips `<length>text` of a mangled name. Returns false, with *at unchanged, if it is another. */
static inline bool st_skip_mangled(const char **at, const struct st_name_part *part)
{
	const char *symbol = *at;
	size_t n = 0;

	while (*symbol >= '0' && *symbol <= '9' && n <= part->n)
		n = n * 10 + (size_t)(*symbol++ - '0');
	for (size_t i = 0; i < n; i++)
		if (symbol[i] == '\0')
			return false;
	if (n == 0 || !st_part_is(part, symbol, n))
		return false;
	*at = symbol + n;
	return true;
}

/*
 * Skips one part of a nested mangled name: also "std", a constructor (C1) or a destructor (D1) of
 * the part before it. Returns false if it is another.
 */
static inline bool st_skip_nested(const char **at, const struct st_name_part *part,
				  const struct st_name_part *before)
{
	const char *symbol = *at;
	bool is_first = before->n == 0, is_destructor = part->n > 0 && part->start[0] == '~';
	const struct st_name_part of = {part->start + is_destructor, part->n - is_destructor};

	if (is_first && symbol[0] == 'S' && symbol[1] == 't' && st_part_is(part, "std", 3)) {
		*at += 2;
		return true;
	}
	if (!is_first && symbol[0] == (is_destructor ? 'D' : 'C') && symbol[1] >= '0' &&
	    symbol[1] <= '5' && st_part_is(&of, before->start, before->n)) {
		*at += 2;
		return true;
	}
	return st_skip_mangled(at, part);
}

/* Skips "(anonymous namespace)", which names do not mention. */
static inline void st_skip_anonymous(const char **at)
{
	static const char anonymous[] = "12_GLOBAL__N_1";
	size_t n = 0;

	while (anonymous[n] != '\0' && (*at)[n] == anonymous[n])
		n++;
	if (anonymous[n] == '\0')
		*at += n;
}

/* The symbol is mangled by the Itanium C++ ABI; templates are named without their arguments. */
static inline bool st_is_named_mangled(const char *symbol, const char *name, const char *end)
{
	struct st_name_part before = {NULL, 0}, part = st_name_part(name, end);
	bool is_nested;

	symbol += 2;
	if (*symbol == 'L')
		symbol++;
	is_nested = *symbol == 'N';
	if (!is_nested)
		return part.start + part.n == end && st_skip_mangled(&symbol, &part);
	for (symbol++; *symbol == 'r' || *symbol == 'V' || *symbol == 'K' || *symbol == 'R' ||
		       *symbol == 'O';)
		symbol++;
	for (;; before = part, part = st_name_part(part.start + part.n + 2, end)) {
		st_skip_anonymous(&symbol);
		if (*symbol == 'L')
			symbol++;
		if (!st_skip_nested(&symbol, &part, &before))
			return false;
		if (part.start + part.n == end)
			return *symbol == 'E' || *symbol == 'I' || *symbol == 'B';
	}
}

/*
 * `name` ends at a comma or 0. True if the symbol is that function, one of its overloads, or a part
 * or copy of it that the compiler made ("mutex_enter.part.0").
 */
static inline bool st_is_named(const char *symbol, const char *name)
{
	size_t n = st_name_length(name), i = 0;

	while (i < n && symbol[i] == name[i])
		i++;
	if (i == n && n > 0 && (symbol[n] == '\0' || symbol[n] == '.' || symbol[n] == '@'))
		return true;
	return n > 0 && symbol[0] == '_' && symbol[1] == 'Z' &&
	       st_is_named_mangled(symbol, name, name + n);
}

/* Returns the position in the list of the first name that the symbol has; -1: none. */
static inline int st_find_named(const char *symbol, const char *list)
{
	int i = 0;

	while (*list != '\0') {
		if (st_is_named(symbol, list))
			return i;
		list += st_name_length(list);
		list += *list == ',';
		i++;
	}
	return -1;
}

#endif
