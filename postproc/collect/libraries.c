/* SPDX-License-Identifier: MIT */
#include "collect/libraries.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define PROVIDER "libsync_trace_ust.so"

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
	g_autofree char *absolute = asked ? g_canonicalize_filename(asked, NULL) : NULL;
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

int pp_libraries_check_ust(char *const *paths, struct pp_error *err)
{
	g_autofree char *dir = g_path_get_dirname(paths[0]);
	g_autofree char *path = g_build_filename(dir, PROVIDER, NULL);

	if (access(path, R_OK) == 0)
		return 0;
	return pp_error_add(err, -ENOENT,
			    "sync.sink needs " PROVIDER ", which is not in %s; run make install, "
			    "or set GPROF_MT_LIBDIR",
			    dir);
}

int pp_libraries_preload(char *const *paths, const char *old, char **ret_value,
			 struct pp_error *err)
{
	for (char *const *path = paths; *path; path++)
		if (strpbrk(*path, " :"))
			return pp_error_add(
			    err, -EINVAL,
			    "%s: LD_PRELOAD cannot hold a path with a space or colon; "
			    "move gprof-mt, or set GPROF_MT_LIBDIR to a link to its "
			    "directory",
			    *path);
	*ret_value = g_strjoinv(":", (char **)paths);
	if (old && *old) {
		char *own = *ret_value;

		*ret_value = g_strconcat(own, ":", old, NULL);
		g_free(own);
	}
	return 0;
}
