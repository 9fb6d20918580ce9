/* SPDX-License-Identifier: MIT */
/*
 * Finds and reads the configuration file (config.h). Refuses files that would block the reader, and
 * files that another user may have put there.
 */
#include <errno.h>

#include "runtime/config/config.h"
#include "runtime/files/dir.h"
#include "runtime/sys/sys.h"

#define CONFIG_FILE_MAX 65536
#define NULL_DEVICE	0x103 /* /dev/null */

#define CANNOT_OPEN	 "cannot open the configuration"
#define OTHERS_MAY_WRITE "it belongs to another user, or others may write to it"

static struct gm_text diagnose(struct gm_config_error *error, const char *path)
{
	struct gm_text text = GM_TEXT(error->text);

	gm_text_add(&text, path);
	gm_text_add(&text, ": ");
	return text;
}

static int read_error(const char *path, const char *what, long code, struct gm_config_error *error)
{
	struct gm_text text = diagnose(error, path);

	gm_text_add(&text, what);
	gm_text_add(&text, ": ");
	gm_text_add_errno(&text, code);
	return (int)code;
}

/* Reads the file to its end. Closes fd. */
static int read_file(int fd, const char *path, struct gm_config *config,
		     struct gm_config_error *error)
{
	char *buffer = gm_sys_mmap(CONFIG_FILE_MAX, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t length = 0;
	long n = 0;
	int code;

	if (buffer == NULL) {
		gm_sys_close(fd);
		return read_error(path, "no memory to read the configuration", -ENOMEM, error);
	}
	while (length < CONFIG_FILE_MAX &&
	       (n = gm_sys_read(fd, buffer + length, CONFIG_FILE_MAX - length)) > 0)
		length += (size_t)n;
	gm_sys_close(fd);

	if (n < 0)
		code = read_error(path, "cannot read the configuration", n, error);
	else if (length == CONFIG_FILE_MAX)
		code = read_error(path, "cannot read 64 KiB or more", -E2BIG, error);
	else
		code = gm_config_parse(path, buffer, length, config, error);
	gm_sys_munmap(buffer, CONFIG_FILE_MAX);
	return code;
}

static int refuse(const char *path, const char *why, const char *advice,
		  struct gm_config_error *error)
{
	struct gm_text text = diagnose(error, path);

	gm_text_add(&text, why);
	gm_text_add(&text, advice);
	return -EPERM;
}

/* read() fails on a directory with its own message. */
static bool can_be_read(const struct stat *status)
{
	return S_ISREG(status->st_mode) || S_ISDIR(status->st_mode) ||
	       (S_ISCHR(status->st_mode) && status->st_rdev == NULL_DEVICE);
}

/*
 * Does not wait for the writer of a FIFO. Returns a descriptor, or -errno with a diagnosis except
 * for -ENOENT.
 */
static int open_file(const char *path, struct stat *status, struct gm_config_error *error)
{
	int fd = gm_sys_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);

	if (fd < 0)
		return fd == -ENOENT ? fd : read_error(path, CANNOT_OPEN, fd, error);
	if (gm_syscall3(SYS_fstat, fd, (long)status, 0) == 0 && can_be_read(status))
		return fd;
	gm_sys_close(fd);
	return refuse(path, CANNOT_OPEN ": it is not a regular file", "", error);
}

int gm_config_read(const char *path, struct gm_config *config, struct gm_config_error *error)
{
	struct stat status;
	int fd = open_file(path, &status, error);

	if (fd == -ENOENT)
		return read_error(path, CANNOT_OPEN, fd, error);
	return fd < 0 ? fd : read_file(fd, path, config, error);
}

int gm_config_read_environment(const char *path, struct gm_config *config,
			       struct gm_config_error *error)
{
	const char *name = path;
	struct stat status;
	int fd;

	for (const char *p = path; *p != '\0'; p++)
		if (*p == '/')
			name = p + 1;
	if (gm_strcmp(name, GM_CONFIG_CAPTURE) != 0)
		return gm_config_read(path, config, error);
	fd = open_file(path, &status, error);
	if (fd == -ENOENT)
		return read_error(path, CANNOT_OPEN, fd, error);
	if (fd < 0 || gm_is_trusted(&status))
		return fd < 0 ? fd : read_file(fd, path, config, error);
	gm_sys_close(fd);
	return refuse(path, OTHERS_MAY_WRITE, "", error);
}

int gm_config_read_local(struct gm_config *config, struct gm_config_error *error)
{
	static const char path[] = GM_CONFIG_LOCAL;
	struct stat status, directory;
	int fd = open_file(path, &status, error);

	if (fd < 0)
		return fd;
	if (gm_syscall3(SYS_stat, (long)".", (long)&directory, 0) == 0 && gm_is_trusted(&status) &&
	    gm_is_trusted(&directory))
		return read_file(fd, path, config, error);
	gm_sys_close(fd);
	return refuse(path,
		      gm_is_trusted(&status) ? "another user may write to the working directory"
					     : OTHERS_MAY_WRITE,
		      "; to use it, set GPROF_MT_CONFIG or use record --config", error);
}
