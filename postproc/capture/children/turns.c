/* SPDX-License-Identifier: MIT */
/*
 * Locks between the readers of one capture, on its file `session`; the kernel drops those of a
 * killed reader.
 *
 * A turn (flock) is for moving children of fork: one reader at a time.  It changes the time of the
 * file now and then, so that waiting readers distinguish a long turn from a reader that was
 * stopped.  They do not take the turn away from a stopped reader, which could go on at any time and
 * write older data over newer: they read what is there, and report the rest.
 *
 * A read lock of byte 1 (F_OFD_SETLK; byte 0: runtime/capture/in_use.c) keeps the folders of the
 * capture where they are.  A reader that wants to remove a folder takes a write lock there first.
 */
#include "capture/children/turns.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/children/fill.h"
#include "gmon-mt/format.h"

/* Rounds, so that the time in which this process is stopped does not count. */
#define PATIENCE_ROUNDS 500
#define ROUND_US	10000
#define SHOW_US		500000
#define READERS_AT	1

static struct timespec time_of(int fd)
{
	struct stat st = {0};

	fstat(fd, &st);
	return st.st_mtim;
}

int pp_turn_take(struct pp_turn *turn)
{
	struct timespec seen = time_of(turn->fd);

	for (unsigned i = 0; i < PATIENCE_ROUNDS; i++) {
		struct timespec now;

		if (flock(turn->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
			return 0; /* as before: a file system without locks has no turns */
		g_usleep(ROUND_US);
		now = time_of(turn->fd);
		if (now.tv_sec != seen.tv_sec || now.tv_nsec != seen.tv_nsec)
			i = 0;
		seen = now;
	}
	return -ETIMEDOUT;
}

void pp_turn_show(struct pp_turn *turn)
{
	int64_t now_us = g_get_monotonic_time();

	if (turn->fd < 0)
		return;
	if (turn->shown_us == 0)
		turn->shown_us = now_us;
	if (now_us - turn->shown_us < SHOW_US)
		return;
	turn->shown_us = now_us;
	futimens(turn->fd, NULL);
}

static int lock_readers(int fd, short type)
{
	struct flock lock = {
	    .l_type = type, .l_whence = SEEK_SET, .l_start = READERS_AT, .l_len = 1};

	return fcntl(fd, F_OFD_SETLK, &lock) == 0 ? 0 : -errno;
}

static bool is_taken(int code)
{
	return code == -EAGAIN || code == -EACCES;
}

bool pp_turn_keep_out(const struct pp_turn *turn)
{
	return turn->fd >= 0 && is_taken(lock_readers(turn->fd, F_WRLCK));
}

void pp_turn_let_in(const struct pp_turn *turn)
{
	if (turn->fd >= 0)
		lock_readers(turn->fd, F_UNLCK);
}

int pp_turn_read(int dir, int *ret_fd)
{
	int fd = pp_child_open(dir, GM_SESSION_FILE, O_RDONLY), code;

	*ret_fd = -1;
	if (fd < 0)
		return -errno;
	for (unsigned i = 0; is_taken(code = lock_readers(fd, F_RDLCK)); i++) {
		if (i == PATIENCE_ROUNDS) {
			code = -ETIMEDOUT;
			break;
		}
		g_usleep(ROUND_US);
	}
	if (code == 0)
		*ret_fd = fd;
	else
		close(fd);
	return code;
}
