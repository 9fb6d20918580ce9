/* SPDX-License-Identifier: MIT */
/*
 * bench_memcached PORT PID ROUNDS: loads the memcached on loopback and compares all its answers.
 * Four threads have a connection each; a round sends BATCH commands, one in eight a set, and waits
 * for the answers.  Prints operations per second, and nanoseconds of the server's CPU time per
 * operation.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS 4
#define BATCH	    16
#define SET_EVERY   8
#define KEYS	    64
#define VALUE_BYTES 100
#define BUFFER	    16384

struct batch {
	char command[BUFFER], answer[BUFFER];
	size_t command_bytes, answer_bytes;
};

static int port;
static unsigned long n_rounds;

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void add(char *text, size_t *len, const char *format, int client, int key)
{
	char value[VALUE_BYTES + 1];

	memset(value, 'a' + key % 26, VALUE_BYTES);
	value[VALUE_BYTES] = '\0';
	*len +=
	    (size_t)snprintf(text + *len, BUFFER - *len, format, client, key, VALUE_BYTES, value);
}

/* Every set stores the same value, so that all answers are known. */
static void make_batch(struct batch *batch, int client, unsigned n, bool sets_only)
{
	batch->command_bytes = batch->answer_bytes = 0;
	for (unsigned i = 0; i < BATCH; i++) {
		int key = (int)((n * BATCH + i) % KEYS);

		if (sets_only || i % SET_EVERY == 0) {
			add(batch->command, &batch->command_bytes, "set k%d.%d 0 0 %d\r\n%s\r\n",
			    client, key);
			add(batch->answer, &batch->answer_bytes, "STORED\r\n", client, key);
		} else {
			add(batch->command, &batch->command_bytes, "get k%d.%d\r\n", client, key);
			add(batch->answer, &batch->answer_bytes,
			    "VALUE k%d.%d 0 %d\r\n%s\r\nEND\r\n", client, key);
		}
	}
}

static void exchange(int fd, const struct batch *batch)
{
	char answer[BUFFER];

	for (size_t done = 0; done < batch->command_bytes;) {
		ssize_t n = write(fd, batch->command + done, batch->command_bytes - done);

		if (n <= 0)
			fail("write");
		done += (size_t)n;
	}
	for (size_t done = 0; done < batch->answer_bytes;) {
		ssize_t n = read(fd, answer + done, batch->answer_bytes - done);

		if (n <= 0)
			fail("read");
		done += (size_t)n;
	}
	if (memcmp(answer, batch->answer, batch->answer_bytes) != 0) {
		fprintf(stderr, "expected the value that was set, got: %.80s\n", answer);
		exit(1);
	}
}

static int dial(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		fail("connect");
	return fd;
}

static void *client_run(void *argument)
{
	struct batch batches[KEYS / BATCH];
	int client = (int)(intptr_t)argument, fd = dial();

	for (unsigned i = 0; i < KEYS / BATCH; i++) {
		make_batch(&batches[i], client, i, true);
		exchange(fd, &batches[i]);
		make_batch(&batches[i], client, i, false);
	}
	for (unsigned long i = 0; i < n_rounds; i++)
		exchange(fd, &batches[i % (KEYS / BATCH)]);
	close(fd);
	return NULL;
}

/* The CPU time of all threads of a process. */
static double cpu_seconds(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		fail("the server's CPU clock");
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	pthread_t threads[CONNECTIONS];
	double start, cpu, operations;
	pid_t pid;

	if (argc != 4)
		return 2;
	port = atoi(argv[1]);
	pid = atoi(argv[2]);
	n_rounds = strtoul(argv[3], NULL, 10);
	operations = (double)CONNECTIONS * BATCH * (double)n_rounds;
	start = seconds();
	cpu = cpu_seconds(pid);
	for (intptr_t i = 0; i < CONNECTIONS; i++)
		if (pthread_create(&threads[i], NULL, client_run, (void *)i))
			fail("pthread_create");
	for (int i = 0; i < CONNECTIONS; i++)
		pthread_join(threads[i], NULL);
	printf("%.0f %.1f\n", operations / (seconds() - start),
	       (cpu_seconds(pid) - cpu) * 1e9 / operations);
	return 0;
}
