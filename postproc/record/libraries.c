/* SPDX-License-Identifier: MIT */
/* Searches the directories for both libraries, and composes LD_PRELOAD. */
#include "record/libraries.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define PROVIDER "libsync_trace_ust.so"
#define OPENMP	 "libsync_trace_openmp.so"
#define STEP	 "libaccess_step.so"
#define BLOCKS	 "libaccess_step_blocks.so"
#define TREE	 "gprof-mt.preload"

static const char *const names[] = {"libgmon_mt.so", "libsync_trace.so"};

static bool has_all(const char *dir)
{
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *path = g_build_filename(dir, names[i], NULL);

		if (access(path, R_OK))
			return false;
	}
	return true;
}

int pp_libraries_find(GStrv *ret_paths, struct pp_error *err)
{
	g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
	g_autofree char *beside = g_path_get_dirname(self ?: "/");
	g_autofree char *lib = g_canonicalize_filename("../lib", beside);
	const char *asked = g_getenv("GPROF_MT_LIBDIR");
	g_autofree char *absolute = asked && *asked ? g_canonicalize_filename(asked, NULL) : NULL;
	const char *const dirs[] = {beside, lib, GM_LIBDIR};
	const char *dir = absolute;

	for (size_t i = 0; !dir && i < G_N_ELEMENTS(dirs); i++)
		if (has_all(dirs[i]))
			dir = dirs[i];
	if (!dir || !has_all(dir))
		return pp_error_add(err, -ENOENT,
				    "libgmon_mt.so and libsync_trace.so are not in %s%s%s%s%s; run "
				    "make install, or set GPROF_MT_LIBDIR",
				    dir ?: beside, dir ? "" : ", ", dir ? "" : lib, dir ? "" : ", ",
				    dir ? "" : GM_LIBDIR);
	*ret_paths = g_new0(char *, G_N_ELEMENTS(names) + 1);
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		(*ret_paths)[i] = g_build_filename(dir, names[i], NULL);
	return 0;
}

/* Checks a library beside the others, which `package` of the distribution is needed to build. */
static int check_beside(char *const *paths, const char *user, const char *name, const char *package,
			struct pp_error *err)
{
	g_autofree char *dir = g_path_get_dirname(paths[0]);
	g_autofree char *path = g_build_filename(dir, name, NULL);

	if (access(path, R_OK) == 0)
		return 0;
	return pp_error_add(err, -ENOENT,
			    "%s needs %s, which is not in %s; build it (install %s, make, make "
			    "install), or set GPROF_MT_LIBDIR",
			    user, name, dir, package);
}

int pp_libraries_check_ust(char *const *paths, struct pp_error *err)
{
	return check_beside(paths, "sync.sink", PROVIDER, "liblttng-ust-dev", err);
}

int pp_libraries_check_step(char *const *paths, bool blocks, struct pp_error *err)
{
	return check_beside(paths, "--accesses=sampled", blocks ? BLOCKS : STEP, "libzydis-dev",
			    err);
}

/*
 * Returns the path for LD_PRELOAD: through the tree whose $LIB the loader of each program expands
 * (see libgmon-mt/preload/make-tree).  If there is no such tree, or it does not fit this machine,
 * the library's own path.
 */
static char *preload_path(const char *path)
{
	g_autofree char *dir = g_path_get_dirname(path);
	g_autofree char *name = g_path_get_basename(path);
	g_autofree char *tree = g_build_filename(dir, TREE, "$LIB", name, NULL);

	/*
	 * RTLD_NOLOAD loads nothing; the loader of this program reports whether the tree has the
	 * library.
	 */
	dlerror();
	dlopen(tree, RTLD_LAZY | RTLD_NOLOAD);
	return dlerror() ? g_strdup(path) : g_steal_pointer(&tree);
}

bool pp_libraries_have_tree(char *const *paths)
{
	g_autofree char *path = preload_path(paths[0]);

	return strcmp(path, paths[0]) != 0;
}

bool pp_libraries_have_stub(char *const *paths, bool is_x32)
{
	g_autofree char *dir = g_path_get_dirname(paths[0]);
	g_autofree char *stub =
	    g_build_filename(dir, TREE, is_x32 ? "stub-x32.so" : "stub-i386.so", NULL);

	return pp_libraries_have_tree(paths) && access(stub, R_OK) == 0;
}

/* Behind libsync_trace.so, which it needs. */
GStrv pp_libraries_with_step(char *const *paths, bool blocks)
{
	g_autofree char *dir = g_path_get_dirname(paths[0]);
	g_autofree char *path = g_build_filename(dir, blocks ? BLOCKS : STEP, NULL);
	GStrvBuilder *builder = g_strv_builder_new();
	GStrv all;

	g_strv_builder_addv(builder, (const char **)paths);
	g_strv_builder_add(builder, path);
	all = g_strv_builder_end(builder);
	g_strv_builder_unref(builder);
	return all;
}

GStrv pp_libraries_with_openmp(char *const *paths)
{
	g_autofree char *dir = g_path_get_dirname(paths[0]);
	g_autofree char *path = g_build_filename(dir, OPENMP, NULL);
	GStrvBuilder *builder = g_strv_builder_new();
	GStrv all;

	/* Before libsync_trace.so, which finds libgomp behind itself. */
	if (access(path, R_OK) == 0)
		g_strv_builder_add(builder, path);
	g_strv_builder_addv(builder, (const char **)paths);
	all = g_strv_builder_end(builder);
	g_strv_builder_unref(builder);
	return all;
}

int pp_libraries_preload(char *const *paths, const char *old, char **ret_value,
			 struct pp_error *err)
{
	g_autoptr(GString) value = g_string_new(NULL);

	for (char *const *path = paths; *path; path++) {
		g_autofree char *name = preload_path(*path);

		if (strpbrk(name, " :"))
			return pp_error_add(
			    err, -EINVAL,
			    "%s: LD_PRELOAD cannot hold a path with a space or colon; "
			    "move gprof-mt, or set GPROF_MT_LIBDIR to a symlink to its "
			    "directory",
			    *path);
		g_string_append_printf(value, "%s%s", value->len ? ":" : "", name);
	}
	if (old && *old)
		g_string_append_printf(value, ":%s", old);
	*ret_value = g_string_free(g_steal_pointer(&value), FALSE);
	return 0;
}
