/* SPDX-License-Identifier: MIT */
#include "collect/mailbox.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "runtime/recorder.h"

#define WORDS_MAX 1000000u

void pp_mailbox_open(struct pp_mailbox *mailbox, const char *config)
{
	struct sockaddr_un address = {0};
	socklen_t n_bytes = gm_recorder_address(config, &address);
	int on = 1;

	mailbox->config = g_strdup(config);
	mailbox->words = g_array_new(FALSE, FALSE, sizeof(struct pp_word));
	mailbox->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (mailbox->fd < 0)
		return;
	if (setsockopt(mailbox->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) == 0 &&
	    bind(mailbox->fd, (const struct sockaddr *)&address, n_bytes) == 0)
		return;
	close(mailbox->fd);
	mailbox->fd = -1;
}

void pp_mailbox_done(struct pp_mailbox *mailbox)
{
	if (mailbox->fd >= 0)
		close(mailbox->fd);
	mailbox->fd = -1;
	g_clear_pointer(&mailbox->config, g_free);
	g_clear_pointer(&mailbox->words, g_array_unref);
}

/* Anybody may send: a process that runs and has another configuration is none of ours. */
static bool is_ours(const struct pp_mailbox *mailbox, int32_t pid)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/environ", pid);
	g_autofree char *entry = g_strconcat("GPROF_MT_CONFIG=", mailbox->config, NULL);
	g_autofree char *text = NULL;
	gsize n_bytes;

	return !g_file_get_contents(path, &text, &n_bytes, NULL) || n_bytes == 0 ||
	       memmem(text, n_bytes, entry, strlen(entry) + 1);
}

static void add(struct pp_mailbox *mailbox, int32_t pid, int32_t code)
{
	const struct pp_word word = {pid, -code};

	/* Both libraries tell of a process, one after the other. */
	for (guint i = mailbox->words->len; pid && i-- > 0;)
		if (g_array_index(mailbox->words, struct pp_word, i).pid == pid)
			return;
	if (mailbox->words->len < WORDS_MAX && is_ours(mailbox, pid))
		g_array_append_val(mailbox->words, word);
}

void pp_mailbox_read(struct pp_mailbox *mailbox)
{
	union {
		char bytes[CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr header;
	} control;
	struct gm_recorder_word word;
	struct iovec part = {&word, sizeof(word)};

	while (mailbox->fd >= 0) {
		struct msghdr message = {.msg_iov = &part,
					 .msg_iovlen = 1,
					 .msg_control = &control,
					 .msg_controllen = sizeof(control)};
		ssize_t n = recvmsg(mailbox->fd, &message, MSG_DONTWAIT);
		const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
		struct ucred sender;

		if (n < 0)
			return;
		if (n != sizeof(word) || word.magic != GM_RECORDER_MAGIC || !header ||
		    header->cmsg_type != SCM_CREDENTIALS)
			continue;
		memcpy(&sender, CMSG_DATA(header), sizeof(sender));
		add(mailbox, sender.pid, word.code);
	}
}
