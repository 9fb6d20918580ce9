/* SPDX-License-Identifier: MIT */
#include "runtime/recorder.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/time.h>

#include "runtime/config.h"
#include "runtime/files.h"
#include "runtime/runtime.h"
#include "runtime/seal.h"
#include "runtime/sys.h"

#define WAIT_US 100000 /* for a `record` that has not read the last few yet */

/* A system-call filter may be in force; the socket calls were not run through it (seal.c). */
static bool may_be_filtered(void)
{
	return gm_seal_is_set() || gm_syscall3(SYS_prctl, PR_GET_SECCOMP, 0, 0) != 0;
}

/* Any other failure the user may mend, and is to read of. */
static bool is_out_of_reach(long code)
{
	return code == -EACCES || code == -EPERM || code == -ENOENT || code == -EROFS ||
	       code == -ESTALE;
}

static long told_code; /* 0: nothing was told */

bool gm_recorder_told(long code)
{
	const char *config = gm_environment("GPROF_MT_CONFIG");
	struct gm_recorder_word word = {.magic = GM_RECORDER_MAGIC, .code = (int32_t)code};
	struct sockaddr_un address = {0};
	socklen_t n_bytes;
	const struct timeval wait = {0, WAIT_US};
	long sent;
	int fd;

	if (!is_out_of_reach(code) || config == NULL ||
	    gm_strcmp(gm_base_name(config), GM_CONFIG_CAPTURE) != 0 || may_be_filtered())
		return false;
	n_bytes = gm_recorder_address(config, &address);
	fd = (int)gm_syscall3(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	gm_syscall6(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, (long)&wait, sizeof(wait), 0);
	sent = gm_syscall6(SYS_sendto, fd, (long)&word, sizeof(word), MSG_NOSIGNAL, (long)&address,
			   n_bytes);
	gm_sys_close(fd);
	if (sent == (long)sizeof(word))
		told_code = code;
	return sent == (long)sizeof(word);
}

static long tell_step(void *unused)
{
	(void)unused;
	gm_recorder_told(told_code);
	return 0;
}

void gm_recorder_forked(void)
{
	if (told_code == 0)
		return;
	gm_files_forget();
	gm_files_run(tell_step, NULL);
}
