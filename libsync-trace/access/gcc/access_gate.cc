/* SPDX-License-Identifier: MIT */
/*
 * access_gate.so: a plugin of gcc that puts the test of the hooks into the program (-fplugin=).
 *
 * After the pass that adds calls of __tsan_read4() etc., it makes each of them conditional:
 *
 *     if (gate != 0)
 *             __tsan_read4(address);
 *
 * `gate` is a variable of the function, a copy of st_access_depth (sync-trace/collector.h). It is
 * loaded at the start of the function and after each call of another function, since only
 * libsync_trace changes the depth, in calls of the program. Between two calls it does not change,
 * so gcc's own passes (jump threading, loop unswitching) make two copies of such code: one with the
 * hooks, and one without any trace of them. Calls of __tsan_func_entry() and __tsan_func_exit(),
 * which libaccess_trace does not use, are removed.
 *
 * This file is in C++ because the interface of gcc's plugins is (GCC Internals, "Plugins"). It is
 * compiled for one version of gcc, and refuses others. gcc -O0 has another pass, and its calls
 * stay as they are.
 */
#include <gcc-plugin.h>
#include <plugin-version.h>

#include <tree.h>
#include <basic-block.h>
#include <cfganal.h>
#include <cfgloop.h>
#include <context.h>
#include <diagnostic-core.h>
#include <dominance.h>
#include <gimple.h>
#include <gimple-expr.h>
#include <gimple-iterator.h>
#include <ssa.h>
#include <stringpool.h>
#include <tree-cfg.h>
#include <tree-into-ssa.h>
#include <tree-pass.h>
#include <varasm.h>

int plugin_is_GPL_compatible; /* the license of this project is */

static const char prefix[] = "__tsan_";

/* The names of hooks that only record, without the prefix. The atomic functions do the operation.
 */
static const char *const gated[] = {"read", "write", "unaligned_", "volatile_", "vptr_"};
static const char *const unused[] = {"func_entry", "func_exit"};

/* The thread's depth; gcc's garbage collector knows it. */
static tree depth;

static const struct ggc_root_tab roots[] = {
    {&depth, 1, sizeof(depth), &gt_ggc_mx_tree_node, &gt_pch_nx_tree_node}, LAST_GGC_ROOT_TAB};

static bool begins_with_any(const char *name, const char *const *starts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (startswith(name, starts[i]))
			return true;
	return false;
}

/* Returns the part behind the prefix if the statement calls such a function, or else NULL. */
static const char *tsan_function(const gimple *statement)
{
	tree function = is_gimple_call(statement) ? gimple_call_fndecl(statement) : NULL_TREE;
	const char *name;

	if (function == NULL_TREE || DECL_NAME(function) == NULL_TREE)
		return NULL;
	name = IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(function));
	return startswith(name, prefix) ? name + sizeof(prefix) - 1 : NULL;
}

/* True for a call, or assembly, in which another function may lock or unlock. */
static bool may_change_depth(const gimple *statement)
{
	return (is_gimple_call(statement) || gimple_code(statement) == GIMPLE_ASM) &&
	       gimple_vdef(statement) != NULL_TREE;
}

/* Sorts the function's statements into both vectors, and removes calls that are not used. */
static void find_statements(function *fun, vec<gimple *> *ret_hooks, vec<gimple *> *ret_calls)
{
	basic_block block;

	FOR_EACH_BB_FN(block, fun)
	{
		gimple_stmt_iterator at = gsi_start_bb(block);

		while (!gsi_end_p(at)) {
			gimple *statement = gsi_stmt(at);
			const char *name = tsan_function(statement);

			if (name != NULL && begins_with_any(name, unused, ARRAY_SIZE(unused))) {
				unlink_stmt_vdef(statement);
				gsi_remove(&at, true);
				release_defs(statement);
				continue;
			}
			if (name != NULL && begins_with_any(name, gated, ARRAY_SIZE(gated)))
				ret_hooks->safe_push(statement);
			else if (name == NULL && may_change_depth(statement))
				ret_calls->safe_push(statement);
			gsi_next(&at);
		}
	}
}

static void make_depth(void)
{
	if (depth != NULL_TREE)
		return;
	depth = build_decl(UNKNOWN_LOCATION, VAR_DECL, get_identifier("st_access_depth"),
			   unsigned_type_node);
	TREE_PUBLIC(depth) = 1;
	TREE_USED(depth) = 1;
	DECL_EXTERNAL(depth) = 1;
	DECL_ARTIFICIAL(depth) = 1;
	set_decl_tls_model(depth, TLS_MODEL_INITIAL_EXEC);
}

static gimple *load(tree gate)
{
	return gimple_build_assign(gate, depth);
}

/* Behind a statement that ends its block, on each way on: also where it throws or returns again. */
static void load_after_end(tree gate, const gimple *statement)
{
	edge_iterator i;
	edge way;

	FOR_EACH_EDGE(way, i, gimple_bb(statement)->succs)
	{
		if (way->dest == EXIT_BLOCK_PTR_FOR_FN(cfun))
			continue;
		if (way->flags & (EDGE_EH | EDGE_ABNORMAL)) {
			gimple_stmt_iterator at = gsi_after_labels(way->dest);

			gsi_insert_before(&at, load(gate), GSI_SAME_STMT);
		} else {
			gsi_insert_on_edge(way, load(gate));
		}
	}
}

static void load_gate(function *fun, tree gate, const vec<gimple *> &calls)
{
	gsi_insert_on_edge(single_succ_edge(ENTRY_BLOCK_PTR_FOR_FN(fun)), load(gate));
	for (gimple *call : calls) {
		if (stmt_ends_bb_p(call)) {
			load_after_end(gate, call);
		} else {
			gimple_stmt_iterator at = gsi_for_stmt(call);

			gsi_insert_after(&at, load(gate), GSI_NEW_STMT);
		}
	}
	gsi_commit_edge_inserts();
}

static void make_conditional(gimple *hook, tree gate)
{
	gimple_stmt_iterator at = gsi_for_stmt(hook);
	basic_block before = gimple_bb(hook), with_hook, behind;
	gcond *test =
	    gimple_build_cond(NE_EXPR, gate, build_zero_cst(TREE_TYPE(gate)), NULL_TREE, NULL_TREE);
	edge to_hook, past_hook;

	gimple_set_location(test, gimple_location(hook));
	gsi_insert_before(&at, test, GSI_SAME_STMT);
	to_hook = split_block(before, test);
	with_hook = to_hook->dest;
	behind = split_block(with_hook, hook)->dest;
	to_hook->flags = (to_hook->flags & ~EDGE_FALLTHRU) | EDGE_TRUE_VALUE;
	to_hook->probability = profile_probability::unlikely();
	with_hook->count = to_hook->count();
	past_hook = make_edge(before, behind, EDGE_FALSE_VALUE);
	past_hook->probability = to_hook->probability.invert();
}

namespace
{

const pass_data data = {GIMPLE_PASS,
			"access_gate",
			OPTGROUP_NONE,
			TV_NONE,
			PROP_ssa | PROP_cfg,
			0,
			0,
			0,
			TODO_update_ssa | TODO_cleanup_cfg};

class pass_gate : public gimple_opt_pass
{
      public:
	explicit pass_gate(gcc::context *context) : gimple_opt_pass(data, context)
	{
	}

	opt_pass *clone() override
	{
		return new pass_gate(m_ctxt);
	}

	unsigned execute(function *fun) override
	{
		auto_vec<gimple *> hooks, calls;
		tree gate;

		find_statements(fun, &hooks, &calls);
		if (hooks.is_empty())
			return 0;
		make_depth();
		gate = create_tmp_reg(TREE_TYPE(depth), "access_gate");
		load_gate(fun, gate, calls);
		for (gimple *hook : hooks)
			make_conditional(hook, gate);
		free_dominance_info(CDI_DOMINATORS);
		mark_virtual_operands_for_renaming(fun);
		return 0;
	}
};

} // namespace

int plugin_init(struct plugin_name_args *arguments, struct plugin_gcc_version *version)
{
	struct register_pass_info info = {};

	if (!plugin_default_version_check(version, &gcc_version)) {
		error("%qs is for gcc %s; build gprof-mt with this gcc, or leave out %<-fplugin%>",
		      arguments->full_name, gcc_version.basever);
		return 1;
	}
	info.pass = new pass_gate(g);
	info.reference_pass_name = "tsan";
	info.ref_pass_instance_number = 0; /* each of them */
	info.pos_op = PASS_POS_INSERT_AFTER;
	register_callback(arguments->base_name, PLUGIN_PASS_MANAGER_SETUP, NULL, &info);
	register_callback(arguments->base_name, PLUGIN_REGISTER_GGC_ROOTS, NULL,
			  const_cast<struct ggc_root_tab *>(roots));
	return 0;
}
