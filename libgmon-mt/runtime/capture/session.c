/* SPDX-License-Identifier: MIT */
/* The file `session`, and the processes of a capture (session.h). */
#include <errno.h>
#include <sys/random.h>

#include "gmon-mt/format.h"
#include "runtime/files/dir.h"
#include "runtime/capture/in_use.h"
#include "runtime/capture/session.h"

#define NO_BOOT_ID   "00000000-0000-0000-0000-000000000000"
#define STAT_STATE   3
#define STAT_PARENT  4
#define STAT_THREADS 20
#define STAT_START   22
#define STAT_HEAP    47

/* Returns field `number` of `stat`, the contents of /proc/PID/stat; NULL: no such field. */
static const char *stat_field(const char *stat, unsigned number)
{
	const char *field = NULL;

	/*
	 * Field 2 is the name in parentheses, which may contain any character: count from the last
	 * ')'.
	 */
	for (const char *p = stat; *p != '\0'; p++)
		if (*p == ')')
			field = p;
	for (unsigned n = 2; field != NULL && n < number; n++) {
		while (*field != '\0' && *field != ' ')
			field++;
		while (*field == ' ')
			field++;
	}
	return field;
}

static bool read_stat(int pid, char *stat, size_t size_bytes)
{
	char path[32];
	struct gm_text text = GM_TEXT(path);

	gm_text_add(&text, "/proc/");
	if (pid == 0)
		gm_text_add(&text, "self");
	else
		gm_text_add_u64(&text, (uint64_t)pid);
	gm_text_add(&text, "/stat");
	return gm_read_text(path, stat, size_bytes) > 0;
}

uint64_t gm_proc_start(int pid)
{
	char stat[1024];
	const char *field =
	    read_stat(pid, stat, sizeof(stat)) ? stat_field(stat, STAT_START) : NULL;

	return field != NULL ? gm_parse_u64(field, NULL) : 0;
}

uint64_t gm_proc_heap_start(void)
{
	char stat[1024];
	const char *field = read_stat(0, stat, sizeof(stat)) ? stat_field(stat, STAT_HEAP) : NULL;

	return field != NULL ? gm_parse_u64(field, NULL) : 0;
}

int gm_proc_tracer(int pid)
{
	static const char key[] = "\nTracerPid:\t";
	char path[32], status[1024];
	struct gm_text text = GM_TEXT(path);

	gm_text_add(&text, "/proc/");
	gm_text_add_u64(&text, (uint64_t)pid);
	gm_text_add(&text, "/status");
	if (gm_read_text(path, status, sizeof(status)) <= 0)
		return 0;
	for (const char *at = status; *at != '\0'; at++) {
		unsigned n = 0;

		while (key[n] != '\0' && at[n] == key[n])
			n++;
		if (key[n] == '\0')
			return (int)gm_parse_u64(at + n, NULL);
	}
	return 0;
}

int gm_proc_parent(int pid)
{
	char stat[1024];
	const char *field =
	    read_stat(pid, stat, sizeof(stat)) ? stat_field(stat, STAT_PARENT) : NULL;

	return field != NULL ? (int)gm_parse_u64(field, NULL) : 0;
}

bool gm_proc_runs(int pid, uint64_t start)
{
	char stat[1024];
	const char *state;

	if (start == 0 || pid <= 0 || !read_stat(pid, stat, sizeof(stat)))
		return false;
	state = stat_field(stat, STAT_STATE);
	if (state == NULL || gm_parse_u64(stat_field(stat, STAT_START), NULL) != start)
		return false;
	/* The first thread may be a zombie while other threads of the process run. */
	return (*state != 'Z' && *state != 'X') ||
	       gm_parse_u64(stat_field(stat, STAT_THREADS), NULL) > 1;
}

/* The number in a line that may be there; 0: it is not. */
static uint64_t take_number(const char **at, const char *key)
{
	size_t n = gm_strlen(key);

	return gm_strlen(*at) > n && memcmp(*at, key, n) == 0 ? gm_parse_u64(*at + n, at) : 0;
}

int gm_session_parse(const char *text, struct gm_session *session)
{
	const char *p = text;
	bool negative;

	if (memcmp(p, GM_SESSION_MAGIC " ", sizeof(GM_SESSION_MAGIC)) != 0 ||
	    gm_parse_u64(p + sizeof(GM_SESSION_MAGIC), &p) != GM_CAPTURE_SCHEMA)
		return -EINVAL;
	if (memcmp(p, "\nowner ", 7) != 0)
		return -EINVAL;
	session->owner = (int)gm_parse_u64(p + 7, &p);
	session->owner_start = gm_parse_u64(p + (*p == ' '), &p);
	if (memcmp(p, "\nclock_offset_ns ", 17) != 0)
		return -EINVAL;
	p += 17;
	negative = *p == '-';
	session->clock_offset_ns = (int64_t)gm_parse_u64(p + negative, &p);
	if (negative)
		session->clock_offset_ns = -session->clock_offset_ns;
	if (memcmp(p, "\nclock_uuid ", 12) != 0 || gm_strlen(p) < 12 + 36)
		return -EINVAL;
	memcpy(session->boot_id, p + 12, 36);
	session->boot_id[36] = '\0';
	p += 12 + 36;
	memset(session->secret, 0, sizeof(session->secret));
	if (memcmp(p, "\nsecret ", 8) == 0)
		p += 7;
	for (unsigned i = 0; i < GM_SECRET_WORDS && *p == ' '; i++)
		session->secret[i] = gm_parse_u64(p + 1, &p);
	session->pid_namespace = (uint32_t)take_number(&p, "\npid_namespace ");
	session->is_locked = take_number(&p, "\nlock ") != 0;
	session->has_ended = take_number(&p, "\nended ") != 0;
	return 0;
}

int gm_session_read(int dir, struct gm_session *session)
{
	char file[GM_SESSION_BYTES];
	long n = gm_read_below(dir, GM_SESSION_FILE, file, sizeof(file));

	return n < 0 ? (int)n : gm_session_parse(file, session);
}

static void read_boot_id(char *boot_id)
{
	char uuid[64];

	if (gm_read_text("/proc/sys/kernel/random/boot_id", uuid, sizeof(uuid)) < 36)
		memcpy(uuid, NO_BOOT_ID, sizeof(NO_BOOT_ID));
	memcpy(boot_id, uuid, 36);
	boot_id[36] = '\0';
}

void gm_session_begin(struct gm_session *session)
{
	session->owner = gm_sys_getpid();
	session->owner_start = gm_proc_start(session->owner);
	/* Take the closest of three pairs: the error of the offset is half their distance. */
	for (unsigned i = 0, best = ~0u; i < 3; i++) {
		uint64_t before = gm_sys_clock_ns(CLOCK_MONOTONIC);
		uint64_t real = gm_sys_clock_ns(CLOCK_REALTIME);
		uint64_t after = gm_sys_clock_ns(CLOCK_MONOTONIC);

		if (after - before < best) {
			best = (unsigned)(after - before);
			session->clock_offset_ns = (int64_t)(real - before - (after - before) / 2);
		}
	}
	read_boot_id(session->boot_id);
	if (gm_syscall3(SYS_getrandom, (long)session->secret, sizeof(session->secret),
			GRND_NONBLOCK) != (long)sizeof(session->secret))
		memset(session->secret, 0, sizeof(session->secret));
}

void gm_session_format(const struct gm_session *session, struct gm_text *text)
{
	gm_text_add(text, GM_SESSION_MAGIC " ");
	gm_text_add_u64(text, GM_CAPTURE_SCHEMA);
	gm_text_add(text, "\nowner ");
	gm_text_add_u64(text, (uint64_t)session->owner);
	gm_text_add(text, " ");
	gm_text_add_u64(text, session->owner_start);
	gm_text_add(text, "\nclock_offset_ns ");
	gm_text_add_i64(text, session->clock_offset_ns);
	gm_text_add(text, "\nclock_uuid ");
	gm_text_add(text, session->boot_id);
	gm_text_add(text, "\nsecret");
	for (unsigned i = 0; i < GM_SECRET_WORDS; i++) {
		gm_text_add(text, " ");
		gm_text_add_u64(text, session->secret[i]);
	}
	gm_text_add(text, "\npid_namespace ");
	gm_text_add_u64(text, session->pid_namespace);
	gm_text_add(text, session->is_locked ? "\nlock 1\n" : "\n");
}

void gm_session_end(int dir)
{
	static const char line[] = "ended 1\n";
	int fd = gm_open_below(dir, GM_SESSION_FILE, O_WRONLY | O_APPEND, 0);

	if (fd < 0)
		return;
	/* A write that is cut short changes nothing for readers. */
	if (gm_is_own_file(fd))
		gm_write_quietly(fd, line, sizeof(line) - 1);
	gm_sys_close(fd);
}

bool gm_session_is_of_this_boot(const struct gm_session *session)
{
	char boot_id[37];

	read_boot_id(boot_id);
	return gm_strcmp(boot_id, NO_BOOT_ID) == 0 ||
	       gm_strcmp(session->boot_id, NO_BOOT_ID) == 0 ||
	       gm_strcmp(boot_id, session->boot_id) == 0;
}

/*
 * Numbers and start times, in steps of 10 ms, identify processes in one PID namespace only: the
 * first processes of two containers that start together may have the same.
 */
bool gm_session_has_our_numbers(const struct gm_session *session)
{
	uint32_t own = session->pid_namespace != 0 ? gm_pid_namespace() : 0;

	return gm_session_is_of_this_boot(session) && (own == 0 || own == session->pid_namespace);
}

bool gm_session_owner_runs(const struct gm_session *session)
{
	return gm_proc_runs(session->owner, session->owner_start) &&
	       gm_session_has_our_numbers(session);
}

bool gm_session_has_member(int dir, const struct gm_session *session, int pid)
{
	static GM_LARGE struct gm_threads_header header;
	const size_t head_bytes = offsetof(struct gm_threads_header, bucket);
	char path[32];
	struct gm_text text = GM_TEXT(path);

	gm_text_add_u64(&text, (uint64_t)pid);
	gm_text_add(&text, "/threads");
	return gm_read_below(dir, path, (char *)&header, head_bytes + 1) == (long)head_bytes &&
	       memcmp(header.magic, GM_THREADS_MAGIC, 8) == 0 && header.proc_start != 0 &&
	       header.proc_start == gm_proc_start(pid) && gm_session_has_our_numbers(session);
}
