/* SPDX-License-Identifier: MIT */
/* Accepts connections without blocking, checks the peer's credentials, and answers requests. */
#include "record/requests.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "runtime/process/children.h"
#include "runtime/files/dir.h"
#include "runtime/capture/session.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#define UNRECORDED_MAX 1000000u
#define BACKLOG	       1024
#define WAITING_MAX    256u
#define WAITING_US     1000000 /* limit for a request after its connection */
#define AT_ONCE	       64
#define ROUND_MAX      256u /* connections per call, before the kernel's events are read again */
#define KIN_MAX	       64   /* ancestors to check */

static bool watch(const struct pp_mailbox *mailbox, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(mailbox->fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

void pp_mailbox_open(struct pp_mailbox *mailbox, const struct gm_capture *capture, int dir_fd,
		     uint64_t max_bytes)
{
	g_autofree char *config = g_build_filename(capture->dir, GM_CONFIG_CAPTURE, NULL);
	struct sockaddr_un address = {0};
	socklen_t n_bytes = gm_recorder_address(config, &address);

	*mailbox = (struct pp_mailbox){
	    .capture = capture,
	    .waiting = g_hash_table_new_full(NULL, NULL, NULL, g_free),
	    .unrecorded = g_array_new(FALSE, FALSE, sizeof(struct pp_unrecorded)),
	};
	pp_grants_init(&mailbox->grants, dir_fd, max_bytes);
	mailbox->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mailbox->fd = epoll_create1(EPOLL_CLOEXEC);
	if (mailbox->listener < 0 || mailbox->fd < 0 ||
	    bind(mailbox->listener, (const struct sockaddr *)&address, n_bytes) ||
	    listen(mailbox->listener, BACKLOG) || !watch(mailbox, mailbox->listener))
		pp_mailbox_stop(mailbox);
}

static void hang_up(struct pp_mailbox *mailbox, int fd)
{
	g_hash_table_remove(mailbox->waiting, GINT_TO_POINTER(fd));
	close(fd);
}

void pp_mailbox_done(struct pp_mailbox *mailbox)
{
	pp_mailbox_stop(mailbox);
	pp_grants_done(&mailbox->grants);
	g_clear_pointer(&mailbox->waiting, g_hash_table_unref);
	g_clear_pointer(&mailbox->unrecorded, g_array_unref);
}

/* --- authentication --- */

static bool is_in_capture(const struct pp_mailbox *mailbox, int pid)
{
	struct gm_session session;
	int dir = mailbox->grants.dir_fd;

	return gm_session_read(dir, &session) == 0 &&
	       (gm_session_has_member(dir, &session, pid) || gm_children_have(dir, pid));
}

/*
 * Uses the kernel's process tree; a process whose parents have ended may be listed in the capture.
 */
static bool is_of_run(const struct pp_mailbox *mailbox, int pid)
{
	for (unsigned i = 0; i < KIN_MAX && pid > 1; i++) {
		if (pid == getpid() || is_in_capture(mailbox, pid))
			return true;
		pid = gm_proc_parent(pid);
	}
	return false;
}

/*
 * Does the process that connected still run?  Its pid may be another process's by now.  1: yes; 0:
 * no; -1: this kernel cannot tell (before Linux 6.5).
 */
static int peer_runs(int connection)
{
	struct pollfd poll_fd = {.fd = -1, .events = POLLIN};
	socklen_t n_bytes = sizeof(poll_fd.fd);
	int n;

	if (getsockopt(connection, SOL_SOCKET, SO_PEERPIDFD, &poll_fd.fd, &n_bytes))
		return errno == ENOPROTOOPT ? -1 : 0;
	n = poll(&poll_fd, 1, 0);
	close(poll_fd.fd);
	return n == 0;
}

static bool has_proof(const struct pp_mailbox *mailbox, const struct gm_recorder_request *request)
{
	const uint64_t *secret = mailbox->capture->secret;

	return secret[0] != 0 && request->proof[0] == secret[0] && request->proof[1] == secret[1];
}

/*
 * Result as peer_runs().  The order matters: checking the peer last ensures that the lookup was
 * about this process.
 */
static int is_believed(const struct pp_mailbox *mailbox, int connection, const struct ucred *peer)
{
	if (peer->pid <= 0 || (geteuid() != 0 && peer->uid != geteuid()) ||
	    !is_of_run(mailbox, peer->pid))
		return 0;
	return peer_runs(connection);
}

/* --- requests --- */

static void add_unrecorded(struct pp_mailbox *mailbox, int32_t pid, int32_t code)
{
	const struct pp_unrecorded unrecorded = {pid, -code};

	/* Both libraries report a process, one after the other; keep one entry. */
	for (guint i = mailbox->unrecorded->len; pid && i-- > 0;)
		if (g_array_index(mailbox->unrecorded, struct pp_unrecorded, i).pid == pid)
			return;
	if (mailbox->unrecorded->len < UNRECORDED_MAX)
		g_array_append_val(mailbox->unrecorded, unrecorded);
}

/*
 * A program that a process of the run executed reads from these files the state of its predecessor.
 */
static int open_for_all(const struct pp_mailbox *mailbox, const struct gm_recorder_request *request)
{
	const char *name = request->name;

	if (request->kind != GM_RECORDER_OPEN || request->flags & (O_ACCMODE | O_CREAT | O_TRUNC) ||
	    !memchr(name, '\0', sizeof(request->name)) ||
	    (strcmp(name, GM_CONFIG_CAPTURE) != 0 && strcmp(name, GM_SESSION_FILE) != 0))
		return -EBADRQC;
	return gm_open_below(mailbox->grants.dir_fd, name, O_RDONLY, 0);
}

/* Result as pp_grant(). */
static int answer(struct pp_mailbox *mailbox, int connection,
		  const struct gm_recorder_request *request, const struct ucred *peer)
{
	bool is_proven = has_proof(mailbox, request);

	if (request->kind != GM_RECORDER_NOTICE && is_proven)
		return peer->pid > 0 ? pp_grant(&mailbox->grants, request, peer->pid) : -EBADRQC;
	if (request->kind != GM_RECORDER_NOTICE)
		return is_believed(mailbox, connection, peer) > 0 ? open_for_all(mailbox, request)
								  : -EBADRQC;
	if (!is_proven && is_believed(mailbox, connection, peer) == 0)
		return -EBADRQC;
	add_unrecorded(mailbox, peer->pid, request->code);
	return 0;
}

static void reply(const struct pp_mailbox *mailbox, int to, int code, bool is_proven)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr header;
	} control = {0};
	struct gm_recorder_reply text = {.code = code < 0 ? code : 0};
	struct iovec part = {&text, sizeof(text)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (is_proven)
		memcpy(text.proof, mailbox->capture->secret + 2, sizeof(text.proof));
	if (code > 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.header = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
						  .cmsg_type = SCM_RIGHTS,
						  .cmsg_len = CMSG_LEN(sizeof(int))};
		memcpy(CMSG_DATA(&control.header), &code, sizeof(code));
	}
	sendmsg(to, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* --- connections --- */

static void serve(struct pp_mailbox *mailbox, int fd)
{
	struct gm_recorder_request request;
	struct ucred peer = {0};
	socklen_t peer_bytes = sizeof(peer);
	ssize_t n = recv(fd, &request, sizeof(request), MSG_DONTWAIT | MSG_TRUNC);
	int code = -EBADRQC;

	if (n < 0 && errno == EAGAIN)
		return;
	if (n == (ssize_t)sizeof(request) && request.magic == GM_RECORDER_MAGIC &&
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_bytes) == 0)
		code = answer(mailbox, fd, &request, &peer);
	if (code == -EBADRQC)
		mailbox->n_refused++;
	if (n == (ssize_t)sizeof(request))
		reply(mailbox, fd, code, has_proof(mailbox, &request));
	if (code > 0)
		close(code);
	hang_up(mailbox, fd);
}

/* Closes connections that sent no request in time. */
static void hang_up_late(struct pp_mailbox *mailbox, int64_t now_us)
{
	GHashTableIter iter;
	gpointer key, since_us;

	g_hash_table_iter_init(&iter, mailbox->waiting);
	while (g_hash_table_iter_next(&iter, &key, &since_us))
		if (now_us - *(int64_t *)since_us > WAITING_US) {
			close(GPOINTER_TO_INT(key));
			g_hash_table_iter_remove(&iter);
			mailbox->n_refused++;
		}
}

/*
 * Closes the connection that has been silent longest: a request normally follows its connection at
 * once.
 */
static void make_room(struct pp_mailbox *mailbox)
{
	GHashTableIter iter;
	gpointer key, since_us;
	int64_t oldest_us = INT64_MAX;
	int oldest = -1;

	if (g_hash_table_size(mailbox->waiting) < WAITING_MAX)
		return;
	g_hash_table_iter_init(&iter, mailbox->waiting);
	while (g_hash_table_iter_next(&iter, &key, &since_us))
		if (*(int64_t *)since_us < oldest_us) {
			oldest_us = *(int64_t *)since_us;
			oldest = GPOINTER_TO_INT(key);
		}
	mailbox->n_refused++;
	hang_up(mailbox, oldest);
}

/* Accepts up to `most` connections.  Returns their number. */
static unsigned take_connections(struct pp_mailbox *mailbox, unsigned most)
{
	int64_t now_us = g_get_monotonic_time(), *since_us;
	unsigned n = 0;
	int fd;

	while (n < most &&
	       (fd = accept4(mailbox->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		n++;
		make_room(mailbox);
		if (!watch(mailbox, fd)) {
			mailbox->n_refused++;
			close(fd);
			continue;
		}
		since_us = g_new(int64_t, 1);
		*since_us = now_us;
		g_hash_table_insert(mailbox->waiting, GINT_TO_POINTER(fd), since_us);
		serve(mailbox, fd);
	}
	return n;
}

/*
 * Connections that arrive meanwhile wait for the next call: other processes could connect
 * endlessly.
 */
static void read_some(struct pp_mailbox *mailbox, unsigned most)
{
	struct epoll_event events[AT_ONCE];
	unsigned n_done = 0;
	int n = 0;

	if (mailbox->fd < 0)
		return;
	hang_up_late(mailbox, g_get_monotonic_time());
	do {
		n = epoll_wait(mailbox->fd, events, AT_ONCE, 0);
		for (int i = 0; i < n; i++)
			if (events[i].data.fd != mailbox->listener) {
				serve(mailbox, events[i].data.fd);
				n_done++;
			}
		n_done += take_connections(mailbox, n_done < most ? most - n_done : 0);
	} while (n == AT_ONCE && n_done < most);
}

void pp_mailbox_read(struct pp_mailbox *mailbox)
{
	read_some(mailbox, ROUND_MAX);
}

void pp_mailbox_stop(struct pp_mailbox *mailbox)
{
	GHashTableIter iter;
	gpointer key;

	/* Serve all that are pending at the end. */
	read_some(mailbox, WAITING_MAX + BACKLOG + 1);
	g_hash_table_iter_init(&iter, mailbox->waiting);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		close(GPOINTER_TO_INT(key));
	g_hash_table_remove_all(mailbox->waiting);
	if (mailbox->listener >= 0)
		close(mailbox->listener);
	if (mailbox->fd >= 0)
		close(mailbox->fd);
	mailbox->listener = mailbox->fd = -1;
}
