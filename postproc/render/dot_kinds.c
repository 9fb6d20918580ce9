/* SPDX-License-Identifier: MIT */
/* The description of each kind of graph. */
#include "render/dot.h"
#include "render/dot_table.h"

#include <string.h>

#define COLUMNS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* "sem_wait in take (fork.c:12)", as far as known. */
static char *call_text(const char *function, const char *site)
{
	if (!site)
		return g_strdup(function ? function : "?");
	return function && strcmp(function, site) != 0 ? g_strdup_printf("%s in %s", function, site)
						       : g_strdup(site);
}

static char *switch_detail(const struct pp_table *sites, const struct pp_cell *row)
{
	const char *after = pp_dot_text(sites, row, "after_function");
	g_autofree char *text =
	    call_text(pp_dot_text(sites, row, "function"), pp_dot_text(sites, row, "site"));
	g_autofree char *last = NULL;

	if (!after)
		return g_steal_pointer(&text);
	last = call_text(after, pp_dot_text(sites, row, "after_site"));
	return g_strdup_printf("%s after %s", text, last);
}

/* A graph of threads, with the node and edge columns of analysis/graph/thread_nodes.h. */
#define THREADS                                                                                    \
	.shape = "ellipse", .node_key = COLUMNS("pid", "image", "index"),                          \
	.from_key = COLUMNS("from_pid", "from_image", "from_index"),                               \
	.to_key = COLUMNS("to_pid", "to_image", "to_index"), .label = COLUMNS("name", "tid"),      \
	.group_key = COLUMNS("pid", "image", "group"), .group_label = COLUMNS("group"),            \
	.members = "threads", .alike = "start routine or name"

const struct pp_dot_kind pp_dot_switch = {
    .name = "switches",
    .meaning = "A -> B: how often B ran next on the CPU that A left",
    .counted = "switches",
    .layout = "rankdir=LR",
    THREADS,
    .weight = "count",
    .details = "sites",
    .detail_weight = "count",
    .detail = switch_detail,
};

const struct pp_dot_kind pp_dot_calls = {
    .name = "calls",
    .meaning = "A -> B: how often A called B; with each function, how often it was called, and its "
	       "CPU time",
    .counted = "calls",
    .layout = "rankdir=TB",
    .shape = "box",
    .node_key = COLUMNS("id"),
    .from_key = COLUMNS("from"),
    .to_key = COLUMNS("to"),
    .label = COLUMNS("label"),
    .weight = "count",
};

/* The relation to the other thread in words; has_call: the other thread's call follows. */
static const char *how_text(const char *how, bool has_call)
{
	static const char *const texts[][3] = {{"held", "held", "held since"},
					       {"woke", "", "woken by"},
					       {"released", "", "until"},
					       {"ended", "", ""}};

	for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++)
		if (strcmp(how, texts[i][0]) == 0)
			return texts[i][has_call ? 2 : 1];
	return how;
}

static char *wait_detail(const struct pp_table *waits, const struct pp_cell *row)
{
	const char *function = pp_dot_text(waits, row, "other_function");
	const char *how = how_text(pp_dot_text(waits, row, "how"), function);
	bool is_call = strcmp(pp_dot_text(waits, row, "type"), "call") == 0;
	g_autofree char *call =
	    call_text(pp_dot_text(waits, row, "function"), pp_dot_text(waits, row, "site"));
	g_autofree char *other =
	    function ? call_text(function, pp_dot_text(waits, row, "other_site")) : NULL;

	return g_strdup_printf("%s%s%s%s%s%s%s", is_call ? "" : pp_dot_text(waits, row, "name"),
			       is_call ? "" : ": ", call, *how ? ", " : "", how, other ? " " : "",
			       other ? other : "");
}

const struct pp_dot_kind pp_dot_wait = {
    .name = "waits",
    .meaning = "A -> B: how long (and how often) A waited for B",
    .counted = "waits",
    .layout = "rankdir=LR",
    THREADS,
    .weight = "wait_ns",
    .details = "waits",
    .detail_weight = "wait_ns",
    .detail = wait_detail,
};

static char *order_detail(const struct pp_table *sites, const struct pp_cell *row)
{
	const char *name = pp_dot_text(sites, row, "name");
	g_autofree char *held = call_text(pp_dot_text(sites, row, "held_function"),
					  pp_dot_text(sites, row, "held_site"));
	g_autofree char *wanted =
	    call_text(pp_dot_text(sites, row, "function"), pp_dot_text(sites, row, "site"));

	return g_strdup_printf("%s: %s, then %s", name ? name : "?", held, wanted);
}

enum { ORDER_PLAIN, ORDER_HARMLESS, ORDER_DEADLOCK };

static unsigned order_style(const struct pp_table *edges, const struct pp_cell *row)
{
	const char *verdict = pp_dot_text(edges, row, "verdict");

	if (!verdict)
		return ORDER_PLAIN;
	return strcmp(verdict, "possible deadlock") == 0 || strcmp(verdict, "not decided") == 0
		   ? ORDER_DEADLOCK
		   : ORDER_HARMLESS;
}

const struct pp_dot_kind pp_dot_lock_order = {
    .name = "lock_order",
    .meaning = "A -> B: how often B was wanted while A was held\n"
	       "red: in a cycle that can deadlock; dashed: in one that cannot",
    .counted = "acquisitions",
    .layout = "rankdir=LR",
    .shape = "box",
    .node_key = COLUMNS("id"),
    .from_key = COLUMNS("from"),
    .to_key = COLUMNS("to"),
    .label = COLUMNS("name", "type"),
    .group_key = COLUMNS("pid", "image", "type", "group"),
    .group_label = COLUMNS("group", "type"),
    .members = "objects",
    .alike = "name or origin",
    .weight = "count",
    .details = "sites",
    .detail_weight = "count",
    .detail = order_detail,
    .style = order_style,
    .styles = {[ORDER_HARMLESS] = "style=dashed, color=gray50",
	       [ORDER_DEADLOCK] = "color=red, fontcolor=red"},
    .kept_style = ORDER_DEADLOCK,
};

static char *precedence_detail(const struct pp_table *objects, const struct pp_cell *row)
{
	return g_strdup(pp_dot_text(objects, row, "name"));
}

const struct pp_dot_kind pp_dot_precedence = {
    .name = "precedence",
    .meaning = "A -> B: how often A happened before B, by synchronization; in a box, one thread's",
    .counted = "orders",
    .layout = "rankdir=LR, newrank=true", /* newrank: dot's default ranking fails with many boxes */
    .shape = "box",
    .node_key = COLUMNS("id"),
    .from_key = COLUMNS("from"),
    .to_key = COLUMNS("to"),
    .label = COLUMNS("function", "site", "object"),
    .group_key = COLUMNS("pid", "image", "function", "site", "group"),
    .group_label = COLUMNS("function", "site"),
    .members = "threads",
    .alike = "start routine or name",
    .box_key = COLUMNS("pid", "image", "index"),
    .box_label = COLUMNS("name", "tid"),
    .group_box_key = COLUMNS("pid", "image", "group"),
    .group_box_label = COLUMNS("group"),
    .weight = "count",
    .apart = "kind",
    .details = "objects",
    .detail_weight = "count",
    .detail = precedence_detail,
};

enum { DEPENDENCE_DIRECT, DEPENDENCE_INDIRECT, DEPENDENCE_NESTED, DEPENDENCE_BARRIER };

static unsigned dependence_style(const struct pp_table *edges, const struct pp_cell *row)
{
	static const char *const kinds[] = {[DEPENDENCE_DIRECT] = "direct",
					    [DEPENDENCE_INDIRECT] = "indirect",
					    [DEPENDENCE_NESTED] = "nested",
					    [DEPENDENCE_BARRIER] = "barrier"};
	const char *kind = pp_dot_text(edges, row, "kind");

	for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (g_strcmp0(kind, kinds[i]) == 0)
			return i;
	return DEPENDENCE_DIRECT;
}

const struct pp_dot_kind pp_dot_sydg = {
    .name = "sydg",
    .meaning =
	"A -> B: how long B waited for A (and in how many pairs of instances)\n"
	"solid: A held the lock when the wait began; dotted: A obtained it during the wait\n"
	"dashed: the holder of the lock waited for A; double: A arrived later at the barrier\n"
	"node: section, lock, entered at, left at, how long others waited for it",
    .counted = "pairs of instances",
    .layout = "rankdir=TB, newrank=true",
    .shape = "box",
    .node_key = COLUMNS("id"),
    .from_key = COLUMNS("from"),
    .to_key = COLUMNS("to"),
    .label = COLUMNS("name", "lock", "entry", "exit", "apwt_ns"),
    .box_key = COLUMNS("pid", "image", "box"),
    .box_label = COLUMNS("box"),
    .weight = "wait_ns",
    .apart = "kind",
    .style = dependence_style,
    .styles = {[DEPENDENCE_INDIRECT] = "style=dotted",
	       [DEPENDENCE_NESTED] = "style=dashed",
	       [DEPENDENCE_BARRIER] = "color=\"black:black\""},
};
