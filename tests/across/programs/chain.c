/* SPDX-License-Identifier: MIT */
/*
 * A request through four programs and back, with the programs' own log of its times.
 *
 * chain KIND ROUNDS WORK_US: KIND is pipe, unix, tcp, or poll (pipes, with a poll() before each
 * read). The program executes itself four times, as stages 0 to 3. In each round stage 0 works and
 * sends a byte to stage 1; the others receive, work and send to the next one, and stage 3 to
 * stage 0. A stage works for WORK_US after the next one has fallen asleep, so each byte ends a wait
 * in whatever order the kernel runs the programs. After the last round stage 0 closes its channel,
 * and the others end one after the other, each while the next one sleeps; stage 0 ends last.
 *
 * Each stage writes "STAGE PID ASKS RECEIVED ASLEEP SENDS" to log.STAGE for each byte: when it was
 * about to read, when it returned from that, when the next stage was asleep, and when it was about
 * to write, in ns of CLOCK_MONOTONIC. In the first line of stage 0 the first two are the time when
 * it began to work. The last lines are of the last answer and of the end of the bytes, with 0 for
 * the last two.
 */
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STAGES 4

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* --- channels ------------------------------------------------------------------------------- */

static void connect_tcp(int ends[2])
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) != 0 ||
	    listen(listener, 1) != 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &size) != 0)
		err(1, "listen");
	ends[1] = socket(AF_INET, SOCK_STREAM, 0);
	if (ends[1] < 0 || connect(ends[1], (struct sockaddr *)&address, size) != 0 ||
	    setsockopt(ends[1], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0)
		err(1, "connect");
	ends[0] = accept(listener, NULL, NULL);
	if (ends[0] < 0)
		err(1, "accept");
	close(listener);
}

/* ends[0] receives what is sent to ends[1]. */
static void open_channel(const char *kind, int ends[2])
{
	if (strcmp(kind, "tcp") == 0)
		connect_tcp(ends);
	else if (strcmp(kind, "unix") == 0 ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0
					   : pipe(ends) != 0)
		err(1, "%s", kind);
}

/* --- a stage -------------------------------------------------------------------------------- */

static bool has_arrived(int stage)
{
	char name[32];

	snprintf(name, sizeof(name), "pid.%d", stage);
	return access(name, F_OK) == 0;
}

static void arrive(int stage)
{
	char name[32], before[32];
	FILE *file;

	snprintf(before, sizeof(before), "new.%d", stage);
	file = fopen(before, "w");
	if (!file || fprintf(file, "%d", (int)getpid()) < 0 || fclose(file) != 0)
		err(1, "%s", before);
	snprintf(name, sizeof(name), "pid.%d", stage);
	if (rename(before, name) != 0)
		err(1, "%s", name);
}

static int pid_of(int stage)
{
	char name[32];
	FILE *file;
	int pid;

	snprintf(name, sizeof(name), "pid.%d", stage);
	file = fopen(name, "r");
	if (!file || fscanf(file, "%d", &pid) != 1)
		err(1, "%s", name);
	fclose(file);
	return pid;
}

static bool sleeps(int pid)
{
	char name[32], text[256] = "";
	const char *after;
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	fd = open(name, O_RDONLY);
	n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	if (n <= 0)
		err(1, "%s", name);
	close(fd);
	after = strrchr(text, ')');
	if (!after || after[1] != ' ' || strchr("ZXx", after[2]))
		errx(1, "a program has ended early: %s", text);
	return after[2] == 'S';
}

static void await_sleep(int pid)
{
	while (!sleeps(pid))
		;
}

struct times {
	int64_t asks_ns, received_ns, asleep_ns, sends_ns;
};

static void work(int64_t work_ns, int next_pid, struct times *times)
{
	await_sleep(next_pid);
	times->asleep_ns = now_ns();
	do
		times->sends_ns = now_ns();
	while (times->sends_ns < times->asleep_ns + work_ns);
}

/* Returns false at the end. */
static bool receive(int fd, bool polls, struct times *times)
{
	struct pollfd file = {.fd = fd, .events = POLLIN};
	char byte;
	ssize_t n;

	times->asks_ns = now_ns();
	if (polls && poll(&file, 1, -1) != 1)
		err(1, "poll");
	n = read(fd, &byte, 1);
	if (n < 0)
		err(1, "read");
	times->received_ns = now_ns();
	return n == 1;
}

static void write_log(int stage, const struct times *times, int n)
{
	char name[32];
	FILE *file;

	snprintf(name, sizeof(name), "log.%d", stage);
	file = fopen(name, "w");
	for (int i = 0; file && i < n; i++)
		fprintf(file, "%d %d %lld %lld %lld %lld\n", stage, (int)getpid(),
			(long long)times[i].asks_ns, (long long)times[i].received_ns,
			(long long)times[i].asleep_ns, (long long)times[i].sends_ns);
	if (!file || fclose(file) != 0)
		err(1, "%s", name);
}

static void run_stage(int stage, const char *kind, int rounds, int64_t work_ns, int in, int out)
{
	/* More for the last answer and the end. */
	struct times *times = calloc((size_t)rounds + 2, sizeof(*times));
	bool polls = strcmp(kind, "poll") == 0;
	int n = 0, next_pid;

	arrive(stage);
	while (!has_arrived((stage + 1) % STAGES))
		;
	next_pid = pid_of((stage + 1) % STAGES);
	if (stage == 0)
		times[0].asks_ns = times[0].received_ns = now_ns();
	for (; n < rounds && (stage == 0 || receive(in, polls, &times[n])); n++) {
		work(work_ns, next_pid, &times[n]);
		if (write(out, "x", 1) != 1)
			err(1, "write");
		if (stage == 0 && !receive(in, polls, &times[n + 1]))
			errx(1, "no answer");
	}
	if (stage != 0 && receive(in, polls, &times[n++]))
		errx(1, "a byte too many");
	await_sleep(next_pid);
	close(out);
	if (stage == 0 && receive(in, polls, &times[++n]))
		errx(1, "a byte too many");
	while (stage == 0 && wait(NULL) > 0)
		;
	write_log(stage, times, stage == 0 ? n + 1 : n);
}

/* --- the programs --------------------------------------------------------------------------- */

/* Stage `stage` takes the place of this process. */
static void execute(char **argv, int stage, int ends[STAGES][2])
{
	int in = ends[(stage + STAGES - 1) % STAGES][0], out = ends[stage][1];
	char texts[3][16];

	for (int i = 0; i < STAGES; i++) {
		if (ends[i][0] != in)
			close(ends[i][0]);
		if (ends[i][1] != out)
			close(ends[i][1]);
	}
	snprintf(texts[0], sizeof(texts[0]), "%d", stage);
	snprintf(texts[1], sizeof(texts[1]), "%d", in);
	snprintf(texts[2], sizeof(texts[2]), "%d", out);
	execl(argv[0], argv[0], argv[1], argv[2], argv[3], texts[0], texts[1], texts[2], NULL);
	err(1, "exec");
}

int main(int argc, char **argv)
{
	int ends[STAGES][2];

	if (argc == 7) {
		run_stage(atoi(argv[4]), argv[1], atoi(argv[2]), atol(argv[3]) * INT64_C(1000),
			  atoi(argv[5]), atoi(argv[6]));
		return 0;
	}
	if (argc != 4)
		errx(2, "chain KIND ROUNDS WORK_US");
	for (int i = 0; i < STAGES; i++)
		open_channel(argv[1], ends[i]);
	for (int stage = 1; stage < STAGES; stage++) {
		pid_t pid = fork();

		if (pid < 0)
			err(1, "fork");
		if (pid == 0)
			execute(argv, stage, ends);
	}
	execute(argv, 0, ends);
	return 1;
}
