/* SPDX-License-Identifier: MIT */
/* Creates the capture directory and the configuration in it. */
#include "cli/recording/new_capture.h"

#include <errno.h>
#include <string.h>

#include "runtime/capture/in_use.h"
#include "runtime/capture/session.h"

/* Writes DIR/config, which every process of the run reads. */
static int write_config(struct gm_config *config, const struct gm_capture *capture,
			struct pp_error *err)
{
	g_autofree char *path = g_build_filename(capture->dir, "config", NULL);
	g_autofree char *text = g_malloc(2 * GM_PATH_MAX);
	g_autofree struct gm_config *check = g_new(struct gm_config, 1);
	struct gm_config_error error;
	size_t len;
	int rc;

	g_strlcpy(config->dir, capture->dir, sizeof(config->dir));
	config->existing = GM_EXISTING_JOIN;
	config->gmon_writer = GM_GMON_RECORD;
	len = gm_config_format(config, text, 2 * GM_PATH_MAX);
	rc = gm_file_write(path, text, len);
	if (rc)
		return pp_error_add(err, rc, "%s: %s", path, g_strerror(-rc));
	/*
	 * A file of lines cannot represent a directory name with a newline, or with a space at an
	 * end.
	 */
	gm_config_defaults(check);
	if (gm_config_read(path, check, &error) || strcmp(check->dir, config->dir) != 0)
		return pp_error_add(
		    err, -EINVAL,
		    "%s: a configuration file cannot hold this name; choose another "
		    "directory (-o)",
		    capture->dir);
	return 0;
}

int pp_record_make_capture(struct gm_config *config, struct gm_capture *capture, struct pp_run *run,
			   struct pp_error *err)
{
	struct gm_config_error error;
	int rc = gm_capture_open(config, capture, &error);

	if (rc)
		return pp_error_add(err, rc, "%s", error.text);
	rc = write_config(config, capture, err);
	if (rc == 0) {
		run->dir_fd = gm_capture_dir_open(capture);
		if (run->dir_fd < 0)
			rc = pp_error_add(err, run->dir_fd, "%s: %s", capture->dir,
					  g_strerror(-run->dir_fd));
	}
	if (rc)
		gm_capture_remove(capture);
	return rc;
}

void pp_record_end_capture(struct gm_capture *capture, const struct pp_run *run,
			   struct pp_discard *discard, bool is_good)
{
	if (is_good)
		gm_session_end(run->dir_fd);
	else
		gm_capture_remove(capture);
	gm_in_use_end();
	close(run->dir_fd);
	pp_discard_end(discard);
}
