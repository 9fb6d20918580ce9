/* SPDX-License-Identifier: MIT */
/*
 * sequence WHAT [THREADS]: makes calls and writes its own log of them to log.<tid>, to be compared
 * with the recording: a letter for each function entered, its capital for each return. WHAT:
 *
 *	tree    each thread calls fa, fb, fc and fd, which call each other as chance will have it
 *	jump    the same, but some calls end by longjmp() into one of those above
 *	fork    the same; half-way, the first thread forks, and the child has a log of its own
 *	ends    threads one after the other end by returning, pthread_exit(), and cancellation
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE   __attribute__((noinline, noipa))
#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))

#define LOG_BYTES 10000
#define DEPTH_MAX 12

struct thread {
	char log[LOG_BYTES];
	size_t n;
	unsigned seed;
	unsigned depth;
	jmp_buf above[DEPTH_MAX + 1]; /* of the frames below which this one is */
};

static const char *what;
static __thread struct thread *self;
static pthread_barrier_t all;
static void (*function[4])(void);

UNPROFILED static void note(char letter)
{
	if (self->n < sizeof(self->log))
		self->log[self->n] = letter;
	self->n++;
}

UNPROFILED static unsigned chance(unsigned n)
{
	self->seed = self->seed * 1103515245u + 12345u;
	return (self->seed >> 16) % n;
}

/* Sometimes ends the innermost calls without a return. */
UNPROFILED static void maybe_jump(void)
{
	if (strcmp(what, "jump") == 0 && self->depth > 2 && chance(8) == 0)
		longjmp(self->above[chance(self->depth - 1)], 1);
}

UNPROFILED static void call_some(void)
{
	volatile unsigned depth = self->depth;

	if (depth == DEPTH_MAX)
		return;
	for (volatile unsigned n = chance(4); n > 0 && self->n < LOG_BYTES - 100; n--) {
		if (setjmp(self->above[depth]) == 0) {
			self->depth = depth + 1;
			function[chance(4)]();
		}
		self->depth = depth;
	}
	maybe_jump();
}

#define FUNCTION(name, letter)                                                                     \
	NOINLINE void name(void)                                                                   \
	{                                                                                          \
		note(letter);                                                                      \
		call_some();                                                                       \
		note(letter + 'A' - 'a');                                                          \
	}
FUNCTION(fa, 'a')
FUNCTION(fb, 'b')
FUNCTION(fc, 'c')
FUNCTION(fd, 'd')

static void (*function[4])(void) = {fa, fb, fc, fd};

/* Without stdio: a child forked meanwhile would write the rest of the buffer a second time. */
UNPROFILED static void write_log(void)
{
	char name[32];
	int fd;

	if (self->n > sizeof(self->log)) {
		fprintf(stderr, "the log is too small\n");
		exit(1);
	}
	snprintf(name, sizeof(name), "log.%ld", syscall(SYS_gettid));
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0 || write(fd, self->log, self->n) != (ssize_t)self->n || close(fd) != 0)
		exit(1);
}

UNPROFILED static void begin(unsigned number)
{
	self = calloc(1, sizeof(*self));
	if (self == NULL)
		exit(1);
	self->seed = number * 7919 + 1;
}

UNPROFILED static void *run(void *arg)
{
	pid_t child = 0;

	begin((unsigned)(unsigned long)arg);
	while (self->n < LOG_BYTES / 2)
		fa();
	if (strcmp(what, "fork") == 0 && arg == NULL) {
		child = fork();
		if (child == 0)
			self->n = 0;
	}
	while (self->n < LOG_BYTES - 200)
		fb();
	write_log();
	if (strcmp(what, "fork") == 0 && arg == NULL) {
		int status;

		if (child == 0)
			exit(0);
		if (waitpid(child, &status, 0) != child || status != 0)
			exit(1);
	}
	pthread_barrier_wait(&all); /* no two threads have the same tid */
	return NULL;
}

static void freed(void *unused)
{
	(void)unused;
	fc();
	write_log();
}

UNPROFILED static void *end(void *arg)
{
	begin((unsigned)(unsigned long)arg);
	pthread_cleanup_push(freed, NULL);
	fa();
	if ((unsigned long)arg % 3 == 1)
		pthread_exit(NULL);
	if ((unsigned long)arg % 3 == 2) {
		pthread_cancel(pthread_self());
		pthread_testcancel();
	}
	pthread_cleanup_pop(1);
	return NULL;
}

UNPROFILED int main(int argc, char **argv)
{
	unsigned n_threads = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	pthread_t threads[64];

	what = argc > 1 ? argv[1] : "tree";
	if (n_threads > 64)
		return 2;
	pthread_barrier_init(&all, NULL, n_threads);
	for (unsigned long i = 0; i < n_threads; i++) {
		if (strcmp(what, "ends") == 0) {
			pthread_create(&threads[i], NULL, end, (void *)i);
			pthread_join(threads[i], NULL);
		} else {
			pthread_create(&threads[i], NULL, run, (void *)i);
		}
	}
	for (unsigned i = 0; i < n_threads && strcmp(what, "ends") != 0; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
