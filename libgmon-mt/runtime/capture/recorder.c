/* SPDX-License-Identifier: MIT */
/*
 * The process's side of the requests to `record`: one connection per request, in a helper task;
 * both sides prove their identity before any content is sent.
 */
#include "runtime/capture/recorder.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/time.h>

#include "runtime/capture/session.h"
#include "runtime/config/config.h"
#include "runtime/files/file.h"
#include "runtime/files/helper_task.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"

#define NO_USER	  65534 /* the overflow uid: a user without a number in this user namespace */
#define WAIT_S	  1	/* for a `record` that is busy */
#define SILENT_NS UINT64_C(30000000000) /* no further request for this time after a timeout */

static const struct gm_capture *recording; /* NULL: no `record`, or not known yet */
static uint64_t silent_until_ns;
static long reported_code; /* the error already reported to `record`; 0: none */

void gm_recorder_set(const struct gm_capture *capture)
{
	recording = capture;
}

/*
 * A seccomp filter may be in force, possibly inherited; the socket calls were not checked against
 * it (seal.c).
 */
static bool may_be_filtered(void)
{
	return gm_seal_is_set() || gm_seal_has_filter() ||
	       gm_syscall3(SYS_prctl, PR_GET_SECCOMP, 0, 0) != 0;
}

/*
 * Returns true if the listener is `record`: another user may have taken the address first. Its pid
 * is not visible from another PID namespace; root and this user are trusted anyway.
 */
static bool is_record(int fd)
{
	struct ucred peer = {0};
	socklen_t n_bytes = sizeof(peer);

	if (gm_syscall6(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, (long)&peer, (long)&n_bytes,
			0) != 0)
		return false;
	return (peer.pid > 0 && recording != NULL && peer.pid == recording->owner) ||
	       peer.uid == 0 ||
	       (peer.uid != NO_USER && peer.uid == (unsigned)gm_syscall3(SYS_geteuid, 0, 0, 0));
}

static int receive(int fd, struct gm_recorder_reply *reply)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr header;
	} control;
	struct iovec part = {reply, sizeof(*reply)};
	struct msghdr message = {
	    .msg_iov = &part,
	    .msg_iovlen = 1,
	    .msg_control = &control,
	    .msg_controllen = CMSG_LEN(sizeof(int)), /* no room for a second one */
	};
	long n = gm_syscall3(SYS_recvmsg, fd, (long)&message, MSG_CMSG_CLOEXEC);
	const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int passed = -1;

	if (n < 0)
		return (int)n;
	if (header != NULL && header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&passed, CMSG_DATA(header), sizeof(passed));
	if (n == sizeof(*reply) && reply->code == 0 &&
	    (recording == NULL ||
	     (reply->proof[0] == recording->secret[2] && reply->proof[1] == recording->secret[3])))
		return passed >= 0 ? passed : 0;
	if (passed >= 0)
		gm_sys_close(passed);
	return n == sizeof(*reply) && reply->code < 0 ? (int)reply->code : -EPROTO;
}

static int exchange(const char *config, const struct gm_recorder_request *request)
{
	struct sockaddr_un address = {0};
	socklen_t n_bytes = gm_recorder_address(config, &address);
	const struct timeval wait = {WAIT_S, 0};
	struct gm_recorder_reply reply = {.code = 0};
	long code;
	int fd = (int)gm_syscall3(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -ENOTCONN;
	gm_syscall6(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, (long)&wait, sizeof(wait), 0);
	gm_syscall6(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, (long)&wait, sizeof(wait), 0);
	code = gm_syscall3(SYS_connect, fd, (long)&address, n_bytes);
	if (code == 0 && is_record(fd)) {
		code = gm_syscall6(SYS_sendto, fd, (long)request, sizeof(*request), MSG_NOSIGNAL, 0,
				   0);
		if (code == (long)sizeof(*request))
			code = receive(fd, &reply);
	} else if (code != -EAGAIN) {
		code = -ENOTCONN;
	}
	gm_sys_close(fd);
	if (code == -EAGAIN || code == -EPIPE || code == -ECONNRESET) {
		if (code == -EAGAIN)
			__atomic_store_n(&silent_until_ns, gm_clock_ns() + SILENT_NS,
					 __ATOMIC_RELAXED);
		code = -ENOTCONN;
	}
	return (int)code;
}

static bool may_ask(void)
{
	uint64_t until_ns = __atomic_load_n(&silent_until_ns, __ATOMIC_RELAXED);

	return !may_be_filtered() && (until_ns == 0 || gm_clock_ns() >= until_ns);
}

static bool add_name(char *buffer, const char *name)
{
	struct gm_text text = {buffer, GM_RECORDER_NAME_BYTES, 0};

	gm_text_add(&text, name);
	return text.length < GM_RECORDER_NAME_BYTES;
}

/* The files that `record` passes to a process of the run that does not know the secret yet. */
static bool is_for_all(const char *name)
{
	return gm_strcmp(name, GM_CONFIG_CAPTURE) == 0 || gm_strcmp(name, GM_SESSION_FILE) == 0;
}

int gm_recorder_ask(enum gm_recorder_kind kind, const char *name, const char *to, int flags)
{
	struct gm_recorder_request request = {
	    .magic = GM_RECORDER_MAGIC, .kind = (int32_t)kind, .flags = flags};
	char *config;
	int code;

	if (recording == NULL || (recording->secret[0] == 0 && !is_for_all(name)) || !may_ask())
		return -ENOTCONN;
	request.proof[0] = recording->secret[0];
	request.proof[1] = recording->secret[1];
	if (!add_name(request.name, name) || (to != NULL && !add_name(request.to, to)))
		return -ENOTCONN;
	config = gm_path_new(recording->dir, GM_CONFIG_CAPTURE);
	if (config == NULL)
		return -ENOTCONN;
	code = exchange(config, &request);
	gm_path_free(config);
	return code;
}

/* Returns false for other failures, which the user can fix and should be informed of. */
static bool is_out_of_reach(long code)
{
	return code == -EACCES || code == -EPERM || code == -ENOENT || code == -EROFS ||
	       code == -ESTALE;
}

bool gm_recorder_report(long code)
{
	const char *config = gm_environment("GPROF_MT_CONFIG");
	struct gm_recorder_request request = {
	    .magic = GM_RECORDER_MAGIC, .kind = GM_RECORDER_NOTICE, .code = (int32_t)code};

	if (!is_out_of_reach(code) || config == NULL ||
	    gm_strcmp(gm_base_name(config), GM_CONFIG_CAPTURE) != 0 || !may_ask())
		return false;
	if (recording != NULL) {
		request.proof[0] = recording->secret[0];
		request.proof[1] = recording->secret[1];
	}
	code = exchange(config, &request);
	if (code < 0 && code != -EBADRQC) /* refused requests are counted by `record` */
		return false;
	reported_code = request.code;
	return true;
}

static long report_step(void *unused)
{
	(void)unused;
	gm_recorder_report(reported_code);
	return 0;
}

void gm_recorder_forked(void)
{
	if (reported_code == 0)
		return;
	gm_files_forget();
	gm_files_run(report_step, NULL);
}
