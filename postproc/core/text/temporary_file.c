/* SPDX-License-Identifier: MIT */
/* A temporary file without a name disappears with its last descriptor, also after a kill. */
#include "core/text/temporary_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <glib.h>

int pp_temporary_file(void)
{
	g_autofree char *path = g_build_filename(g_get_tmp_dir(), "gprof-mt.XXXXXX", NULL);
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}
