/* SPDX-License-Identifier: MIT */
/* Sorts the symbols by address once, and finds one by binary search. */
#include "symbols/symbol_table.h"

#include <string.h>

#include <gelf.h>

/* The number of preceding symbols that are checked for one that contains the address. */
#define MAX_NESTED 16

struct symbol {
	uint64_t start, size;
	const char *name;
	uint8_t rank; /* of symbols with the same start, the lowest rank is shown */
	bool is_local;
};

struct pp_symbol_table {
	GArray *symbols[PP_N_SYMBOL_KINDS]; /* of struct symbol, by start and rank */
};

static int compare_symbols(const void *a, const void *b)
{
	const struct symbol *sa = a, *sb = b;

	if (sa->start != sb->start)
		return sa->start < sb->start ? -1 : 1;
	if (sa->rank != sb->rank)
		return sa->rank < sb->rank ? -1 : 1;
	return strcmp(sa->name, sb->name);
}

/* Prefers names used in programs to internal names of libraries. */
static uint8_t rank_of(const char *name, const GElf_Sym *sym)
{
	size_t underscores = strspn(name, "_");
	uint8_t rank = (uint8_t)MIN(underscores, 3);

	if (strncmp(name, "_Z", 2) == 0)
		rank = 0;
	if (GELF_ST_BIND(sym->st_info) == STB_WEAK)
		rank += 4;
	if (GELF_ST_BIND(sym->st_info) == STB_LOCAL)
		rank += 8;
	if (!sym->st_size)
		rank += 16;
	return rank;
}

static void read_symbols(struct pp_symbol_table *table, Dwfl_Module *module)
{
	int n = dwfl_module_getsymtab(module);

	for (int i = 1; i < n; i++) {
		GElf_Sym sym;
		GElf_Addr address;
		const char *name =
		    dwfl_module_getsym_info(module, i, &sym, &address, NULL, NULL, NULL);
		unsigned type = GELF_ST_TYPE(sym.st_info);
		struct symbol symbol;

		if (!name || !*name || sym.st_shndx == SHN_UNDEF)
			continue;
		symbol = (struct symbol){
		    .start = address,
		    .size = sym.st_size,
		    .name = name,
		    .rank = rank_of(name, &sym),
		    .is_local = GELF_ST_BIND(sym.st_info) == STB_LOCAL,
		};
		if (type == STT_FUNC || type == STT_GNU_IFUNC)
			g_array_append_val(table->symbols[PP_SYMBOL_FUNCTION], symbol);
		else if (type == STT_OBJECT && sym.st_size)
			g_array_append_val(table->symbols[PP_SYMBOL_VARIABLE], symbol);
	}
	for (unsigned kind = 0; kind < PP_N_SYMBOL_KINDS; kind++)
		g_array_sort(table->symbols[kind], compare_symbols);
}

struct pp_symbol_table *pp_symbol_table_new(Dwfl_Module *module)
{
	struct pp_symbol_table *table = g_new0(struct pp_symbol_table, 1);

	for (unsigned kind = 0; kind < PP_N_SYMBOL_KINDS; kind++)
		table->symbols[kind] = g_array_new(FALSE, FALSE, sizeof(struct symbol));
	read_symbols(table, module);
	return table;
}

void pp_symbol_table_free(struct pp_symbol_table *table)
{
	if (!table)
		return;
	for (unsigned kind = 0; kind < PP_N_SYMBOL_KINDS; kind++)
		g_array_unref(table->symbols[kind]);
	g_free(table);
}

static bool holds(const struct symbol *symbol, const struct symbol *next, uint64_t address)
{
	if (symbol->size)
		return address - symbol->start < symbol->size;
	/* Code without a size, for example from assembly, extends to the next symbol. */
	return !next || address < next->start;
}

static const struct symbol *find_symbol(const GArray *symbols, uint64_t address)
{
	unsigned low = 0, high = symbols->len;
	struct symbol *next;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;

		if (g_array_index(symbols, struct symbol, middle).start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	next = low < symbols->len ? &g_array_index(symbols, struct symbol, low) : NULL;
	for (unsigned back = 0; back < MAX_NESTED && back < low; back++) {
		unsigned at = low - 1 - back;
		struct symbol *symbol = &g_array_index(symbols, struct symbol, at);

		if (back && symbol->start != symbol[1].start)
			next = &symbol[1];
		if (!holds(symbol, next, address))
			continue;
		while (at > 0 && symbol[-1].start == symbol->start &&
		       holds(&symbol[-1], next, address))
			symbol--, at--;
		return symbol;
	}
	return NULL;
}

struct pp_symbol pp_symbol_table_find(const struct pp_symbol_table *table, enum pp_symbol_kind kind,
				      uint64_t address)
{
	const struct symbol *symbol = find_symbol(table->symbols[kind], address);

	return symbol ? (struct pp_symbol){symbol->start, symbol->name, symbol->is_local}
		      : (struct pp_symbol){0};
}

uint64_t pp_symbol_table_start(const struct pp_symbol_table *table, const char *name, size_t n)
{
	const GArray *functions = table->symbols[PP_SYMBOL_FUNCTION];

	for (guint i = 0; i < functions->len; i++) {
		const struct symbol *symbol = &g_array_index(functions, struct symbol, i);

		if (strncmp(symbol->name, name, n) == 0 && !symbol->name[n])
			return symbol->start;
	}
	return 0;
}
