/* SPDX-License-Identifier: MIT */
/* See access_text.h. */
#include "access_text.h"

#include <glib.h>

enum mask { READ, WRITTEN, CHANGED };

static struct pp_access_line *line_at(GArray *lines, uint64_t address, uint64_t site)
{
	struct pp_access_line line = {
	    .address = address / 64 * 64, .first_site = site, .last_site = site};

	for (guint i = 0; i < lines->len; i++)
		if (g_array_index(lines, struct pp_access_line, i).address == line.address)
			return &g_array_index(lines, struct pp_access_line, i);
	g_array_append_val(lines, line);
	return &g_array_index(lines, struct pp_access_line, lines->len - 1);
}

static void add_byte(GArray *lines, uint64_t address, enum mask mask, uint64_t site)
{
	struct pp_access_line *line = line_at(lines, address, site);
	uint64_t bit = UINT64_C(1) << address % 64;

	switch (mask) {
	case READ:
		line->read |= bit;
		break;
	case WRITTEN:
		line->written |= bit;
		break;
	case CHANGED:
		line->changed |= bit & line->written;
		break;
	}
}

static bool add_ranges(GArray *lines, const char *text, enum mask mask, uint64_t site)
{
	g_auto(GStrv) parts = g_strsplit(text ? text : "", ",", -1);

	for (char **part = parts; *part; part++) {
		char *end;
		uint64_t address = g_ascii_strtoull(*part, &end, 0), n;

		if (*end++ != '+')
			return false;
		n = g_ascii_strtoull(end, &end, 0);
		if (*end || !n || n > 4096)
			return false;
		for (uint64_t i = 0; i < n; i++)
			add_byte(lines, address + i, mask, site);
	}
	return true;
}

struct pp_access_set *pp_access_text_set(struct pp_access_sets *sets, const char *read,
					 const char *written, const char *changed, uint64_t site)
{
	g_autoptr(GArray) lines = g_array_new(FALSE, TRUE, sizeof(struct pp_access_line));

	if (!add_ranges(lines, read, READ, site) || !add_ranges(lines, written, WRITTEN, site) ||
	    !add_ranges(lines, changed ? changed : written, CHANGED, site))
		return NULL;
	return pp_access_set_get(sets, (struct pp_access_line *)lines->data, lines->len);
}

static void add_access(GArray *order, uint64_t address, uint32_t number)
{
	struct pp_access_order new = {address, number, number};

	for (guint i = 0; i < order->len; i++) {
		struct pp_access_order *line = &g_array_index(order, struct pp_access_order, i);

		if (line->address != address)
			continue;
		line->last = number;
		return;
	}
	g_array_append_val(order, new);
}

GArray *pp_access_text_order(const char *read, const char *written)
{
	GArray *order = g_array_new(FALSE, FALSE, sizeof(struct pp_access_order));
	const char *const texts[] = {read, written};
	uint32_t number = 0;

	for (unsigned t = 0; t < G_N_ELEMENTS(texts); t++) {
		g_auto(GStrv) parts = g_strsplit(texts[t] ? texts[t] : "", ",", -1);

		for (char **part = parts; *part; part++) {
			char *end;
			uint64_t address = g_ascii_strtoull(*part, &end, 0);
			uint64_t last = address + g_ascii_strtoull(end + 1, NULL, 0) - 1;

			number++;
			for (address &= ~UINT64_C(63); address <= last; address += 64)
				add_access(order, address, number);
		}
	}
	return order;
}

unsigned pp_access_text_count(const char *ranges)
{
	g_auto(GStrv) parts = g_strsplit(ranges ? ranges : "", ",", -1);

	return g_strv_length(parts);
}
