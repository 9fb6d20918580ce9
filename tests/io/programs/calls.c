/* SPDX-License-Identifier: MIT */
/*
 * calls MODE [ACCOUNT]: makes each blocking call once, and prints its result.  MODE:
 *   ends     it blocks until another thread ends that
 *   signal   a signal interrupts it, and another thread ends it if it is restarted
 *   restart  the same, with SA_RESTART
 *   cancel   the thread is cancelled in it;  async: with asynchronous cancellation
 *   errors   it fails at once
 *
 * The program's own account goes to the file ACCOUNT: "NAME TID OBJECT RESULT BEGIN END BLOCKED"
 * for each call, with the times around it and how long another thread saw it blocked, at least, in
 * ns.
 */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

ssize_t __read_chk(int fd, void *data, size_t n, size_t size);
ssize_t __pread_chk(int fd, void *data, size_t n, off_t at, size_t size);
ssize_t __pread64_chk(int fd, void *data, size_t n, off64_t at, size_t size);
ssize_t __recv_chk(int fd, void *data, size_t n, size_t size, int flags);
ssize_t __recvfrom_chk(int fd, void *data, size_t n, size_t size, int flags, void *from,
		       socklen_t *from_bytes);
int __poll_chk(struct pollfd *files, nfds_t n, int timeout, size_t size);
int __ppoll_chk(struct pollfd *files, nfds_t n, const struct timespec *timeout,
		const sigset_t *mask, size_t size);
ssize_t __read(int fd, void *data, size_t n);
int __poll(struct pollfd *files, nfds_t n, int timeout);
int __select(int n, fd_set *read, fd_set *write, fd_set *other, struct timeval *timeout);
int __nanosleep(const struct timespec *time, struct timespec *left);
pid_t __wait(int *status);
pid_t __waitpid(pid_t pid, int *status, int options);
int __fcntl(int fd, int command, ...);
int __sigsuspend(const sigset_t *mask);
int __sigpause(int number_or_mask, int is_number);
int __xpg_sigpause(int number);
void _IO_flockfile(FILE *file);

union semun {
	int val;
};

/* --- what the calls use -------------------------------------------------------------------- */

static int in, out, storage, epoll, queue_id, semaphores;
static mqd_t messages = -1;
static FILE *locked;
static pid_t child;
static atomic_uint word;
static char data[1 << 16];
static struct iovec part = {data, 1};
static struct pollfd polled;
static struct timespec brief; /* how long sleeps take */
static pthread_t target;
static sigset_t awaited; /* SIGUSR2 */

static long raw(long number, long a, long b, long c)
{
	return syscall(number, a, b, c, 0, 0, 0);
}

static void files_close(void)
{
	close(in);
	close(out);
	in = out = -1;
}

static void pipe_new(void)
{
	int ends[2];

	assert(pipe(ends) == 0);
	in = ends[0];
	out = ends[1];
	polled = (struct pollfd){in, POLLIN, 0};
}

static void fill(int fd)
{
	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (raw(SYS_write, fd, (long)data, sizeof(data)) > 0)
		;
	while (raw(SYS_write, fd, (long)data, 1) > 0)
		;
	fcntl(fd, F_SETFL, 0);
}

static void pipe_full(void)
{
	pipe_new();
	fill(out);
}

static void sockets_new(void)
{
	int ends[2];

	assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	in = ends[0];
	out = ends[1];
}

static void sockets_full(void)
{
	sockets_new();
	fill(out);
}

/* A byte arrives; the pipe or socket is emptied. */
static void put(void)
{
	raw(SYS_write, out, (long)"x", 1);
}

static void drain(void)
{
	fcntl(in, F_SETFL, O_NONBLOCK);
	while (raw(SYS_read, in, (long)data, sizeof(data)) > 0)
		;
	fcntl(in, F_SETFL, 0);
}

/* A terminal, from which pread() reads; its other end is `out`. */
static void terminal_new(void)
{
	struct termios mode;
	char name[64];

	out = posix_openpt(O_RDWR | O_NOCTTY);
	assert(out >= 0 && grantpt(out) == 0 && unlockpt(out) == 0 &&
	       ptsname_r(out, name, sizeof(name)) == 0);
	in = open(name, O_RDWR | O_NOCTTY);
	assert(in >= 0 && tcgetattr(in, &mode) == 0);
	cfmakeraw(&mode);
	assert(tcsetattr(in, TCSANOW, &mode) == 0);
}

static void epoll_new(void)
{
	struct epoll_event event = {.events = EPOLLIN};

	pipe_new();
	epoll = epoll_create1(0);
	assert(epoll_ctl(epoll, EPOLL_CTL_ADD, in, &event) == 0);
}

static void epoll_close(void)
{
	close(epoll);
	files_close();
}

static struct sockaddr_un address = {.sun_family = AF_UNIX};

static void listen_new(void)
{
	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "calls-%d", getpid());
	in = socket(AF_UNIX, SOCK_STREAM, 0);
	assert(bind(in, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(in, 0) == 0);
	out = socket(AF_UNIX, SOCK_STREAM, 0);
}

static void connect_raw(void)
{
	raw(SYS_connect, out, (long)&address, sizeof(address));
}

/* Its queue of one connection is full. */
static int first_in_queue;

static void listen_full(void)
{
	listen_new();
	first_in_queue = socket(AF_UNIX, SOCK_STREAM, 0);
	raw(SYS_connect, first_in_queue, (long)&address, sizeof(address));
}

static void accept_raw(void)
{
	close((int)raw(SYS_accept, in, 0, 0));
}

static void listen_close(void)
{
	close(first_in_queue);
	files_close();
}

static void events_new(void)
{
	in = eventfd(0, 0);
	out = dup(in);
}

static void events_full(void)
{
	uint64_t most = UINT64_MAX - 1;

	events_new();
	raw(SYS_write, out, (long)&most, sizeof(most));
}

static void events_add(void)
{
	uint64_t one = 1;

	raw(SYS_write, out, (long)&one, sizeof(one));
}

static void events_take(void)
{
	uint64_t value;

	raw(SYS_read, in, (long)&value, sizeof(value));
}

/* A child that ends when a byte arrives. */
static void child_new(void)
{
	pipe_new();
	child = fork();
	if (child == 0) {
		close(out);
		raw(SYS_read, in, (long)data, 1);
		raw(SYS_exit_group, 7, 0, 0);
	}
}

static void child_close(void)
{
	files_close();
	while (waitpid(-1, NULL, 0) > 0)
		;
}

/* A lock of the file that another open file description, or another process, holds. */
static void file_new(void)
{
	in = open("storage", O_RDWR);
	out = open("storage", O_RDWR);
}

static void flock_taken(void)
{
	file_new();
	flock(out, LOCK_EX);
}

static void flock_release(void)
{
	flock(out, LOCK_UN);
}

static void ofd_taken(void)
{
	struct flock lock = {.l_type = F_WRLCK};

	file_new();
	fcntl(out, F_OFD_SETLK, &lock);
}

static void ofd_release(void)
{
	struct flock lock = {.l_type = F_UNLCK};

	fcntl(out, F_OFD_SETLK, &lock);
}

static void lock_taken(void)
{
	int ready[2];

	pipe_new();
	assert(pipe(ready) == 0);
	child = fork();
	if (child == 0) {
		close(out);
		lockf(storage, F_LOCK, 0);
		raw(SYS_write, ready[1], (long)"x", 1);
		raw(SYS_read, in, (long)data, 1);
		raw(SYS_exit_group, 0, 0, 0);
	}
	raw(SYS_read, ready[0], (long)data, 1);
	close(ready[0]);
	close(ready[1]);
	lseek(storage, 0, SEEK_SET);
}

static void lock_close(void)
{
	child_close();
	lockf(storage, F_ULOCK, 0);
}

static void stream_new(void)
{
	locked = fopen("storage", "r");
}

/* By the thread that ends the call. */
static void stream_take(void)
{
	flockfile(locked);
}

static void stream_release(void)
{
	funlockfile(locked);
}

static void stream_close(void)
{
	locked = NULL; /* if its thread was cancelled, it stays locked */
}

struct message {
	long type;
	char text[1024];
};
static struct message message = {1, ""};

static void queue_new(void)
{
	queue_id = msgget(IPC_PRIVATE, 0600);
}

static void queue_full(void)
{
	queue_new();
	while (msgsnd(queue_id, &message, sizeof(message.text), IPC_NOWAIT) == 0)
		;
}

static void queue_put(void)
{
	msgsnd(queue_id, &message, 1, IPC_NOWAIT);
}

static void queue_take(void)
{
	msgrcv(queue_id, &message, sizeof(message.text), 0, IPC_NOWAIT);
}

static void queue_close(void)
{
	msgctl(queue_id, IPC_RMID, NULL);
}

static struct sembuf down = {0, -1, 0}, up = {0, 1, 0};

static void semaphores_new(void)
{
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	semctl(semaphores, 0, SETVAL, (union semun){0});
}

static void semaphores_up(void)
{
	semop(semaphores, &up, 1);
}

static void semaphores_close(void)
{
	semctl(semaphores, 0, IPC_RMID);
}

static void mq_new(void)
{
	struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
	char name[32];

	snprintf(name, sizeof(name), "/calls-%d", getpid());
	messages = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
	mq_unlink(name);
}

static void mq_put(void)
{
	mq_send(messages, "x", 1, 0);
}

static void mq_full(void)
{
	mq_new();
	mq_put();
}

static void mq_take(void)
{
	mq_receive(messages, data, sizeof(data), NULL);
}

static void mq_done(void)
{
	mq_close(messages);
}

static void nothing(void)
{
}

static void send_awaited(void)
{
	pthread_kill(target, SIGUSR2);
}

static void send_handled(void)
{
	pthread_kill(target, SIGUSR1);
}

static void word_new(void)
{
	word = 0;
}

static void word_change(void)
{
	word = 1;
	raw(SYS_futex, (long)&word, FUTEX_WAKE_PRIVATE, 1);
}

/* --- the calls ----------------------------------------------------------------------------- */

enum { NONE = 0, ANY = -1 };

struct call {
	const char *text, *name;
	void (*setup)(void);
	long (*call)(void);
	void (*end)(void);
	void (*close)(void);
	long (*object)(void);
	void (*take)(void); /* by the ending thread, before the call */
	bool returns_error; /* an error number */
};

static struct timespec *later(void)
{
	static struct timespec deadline;

	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec += 100;
	return &deadline;
}

static long futex(int operation)
{
	return syscall(SYS_futex, &word, operation, 0, NULL, NULL, FUTEX_BITSET_MATCH_ANY);
}

struct futex_of_vector {
	uint64_t value, address;
	uint32_t flags, reserved;
};

static long futex_vector(void)
{
	struct futex_of_vector vector = {0, (uintptr_t)&word, 2 | FUTEX_PRIVATE_FLAG, 0};

	return syscall(449, &vector, 1, 0, NULL, 0);
}

static long set_lock(int command)
{
	struct flock lock = {.l_type = F_WRLCK};
	long value = fcntl(command == F_SETLKW ? storage : in, command, &lock);

	return value;
}

static long set_lock64(void)
{
	struct flock64 lock = {.l_type = F_WRLCK};

	return fcntl64(storage, F_SETLKW64, &lock);
}

static long select_one(bool precise)
{
	fd_set files;

	FD_ZERO(&files);
	FD_SET(in, &files);
	return precise ? pselect(in + 1, &files, NULL, NULL, NULL, NULL)
		       : select(in + 1, &files, NULL, NULL, NULL);
}

static long select_old(void)
{
	fd_set files;

	FD_ZERO(&files);
	FD_SET(in, &files);
	return __select(in + 1, &files, NULL, NULL, NULL);
}

static long receive(bool many)
{
	struct mmsghdr header = {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}};

	return many ? recvmmsg(in, &header, 1, 0, NULL) : recvmsg(in, &header.msg_hdr, 0);
}

static long transmit(bool many)
{
	struct mmsghdr header = {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}};

	return many ? sendmmsg(out, &header, 1, 0) : sendmsg(out, &header.msg_hdr, 0);
}

static long from_storage(bool by_splice)
{
	off_t at = 0;

	return by_splice ? splice(storage, &at, out, NULL, 1, 0) : sendfile(out, storage, &at, 1);
}

static long wait_one(void)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t)child, &info, WEXITED);
}

static long event_read(void)
{
	eventfd_t value;

	return eventfd_read(in, &value);
}

static long signal_wait(void)
{
	int number;

	return sigwait(&awaited, &number);
}

static sigset_t *all_but_usr1(void)
{
	static sigset_t mask;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	sigdelset(&mask, SIGUSR1);
	return &mask;
}

static struct epoll_event ready;

#define OBJECT(id, expression)                                                                     \
	static long object_##id(void)                                                              \
	{                                                                                          \
		return (long)(expression);                                                         \
	}
OBJECT(in, in)
OBJECT(out, out)
OBJECT(storage, storage)
OBJECT(epoll, epoll)
OBJECT(none, NONE)
OBJECT(any, ANY)
OBJECT(child, child)
OBJECT(stream, locked)
OBJECT(queue, queue_id)
OBJECT(semaphores, semaphores)
OBJECT(messages, messages)
OBJECT(word, &word)

/* X(id, name, setup, end, close, object, call) */
#define CALLS(X)                                                                                   \
	X(usleep, usleep, nothing, nothing, nothing, none,                                         \
	  usleep(brief.tv_sec * 1000000 + brief.tv_nsec / 1000))                                   \
	X(sleep, sleep, nothing, nothing, nothing, none, sleep(brief.tv_sec + 1) != 0)             \
	X(nanosleep, nanosleep, nothing, nothing, nothing, none, nanosleep(&brief, NULL))          \
	X(__nanosleep, nanosleep, nothing, nothing, nothing, none, __nanosleep(&brief, NULL))      \
	X(thrd_sleep, thrd_sleep, nothing, nothing, nothing, none, thrd_sleep(&brief, NULL))       \
	X(clock_nanosleep, clock_nanosleep, nothing, nothing, nothing, none,                       \
	  clock_nanosleep(CLOCK_MONOTONIC, 0, &brief, NULL))                                       \
	X(poll, poll, pipe_new, put, files_close, in, poll(&polled, 1, -1))                        \
	X(__poll, poll, pipe_new, put, files_close, in, __poll(&polled, 1, -1))                    \
	X(__poll_chk, poll, pipe_new, put, files_close, in,                                        \
	  __poll_chk(&polled, 1, -1, sizeof(polled)))                                              \
	X(ppoll, ppoll, pipe_new, put, files_close, in, ppoll(&polled, 1, NULL, NULL))             \
	X(__ppoll_chk, ppoll, pipe_new, put, files_close, in,                                      \
	  __ppoll_chk(&polled, 1, NULL, NULL, sizeof(polled)))                                     \
	X(select, select, pipe_new, put, files_close, any, select_one(false))                      \
	X(__select, select, pipe_new, put, files_close, any, select_old())                         \
	X(pselect, pselect, pipe_new, put, files_close, any, select_one(true))                     \
	X(epoll_wait, epoll_wait, epoll_new, put, epoll_close, epoll,                              \
	  epoll_wait(epoll, &ready, 1, -1))                                                        \
	X(epoll_pwait, epoll_pwait, epoll_new, put, epoll_close, epoll,                            \
	  epoll_pwait(epoll, &ready, 1, -1, NULL))                                                 \
	X(epoll_pwait2, epoll_pwait2, epoll_new, put, epoll_close, epoll,                          \
	  epoll_pwait2(epoll, &ready, 1, NULL, NULL))                                              \
	X(read, read, pipe_new, put, files_close, in, read(in, data, 1))                           \
	X(__read, read, pipe_new, put, files_close, in, __read(in, data, 1))                       \
	X(__read_chk, read, pipe_new, put, files_close, in, __read_chk(in, data, 1, 1))            \
	X(readv, readv, pipe_new, put, files_close, in, readv(in, &part, 1))                       \
	X(pread, pread, terminal_new, put, files_close, in, pread(in, data, 1, 0))                 \
	X(pread64, pread, terminal_new, put, files_close, in, pread64(in, data, 1, 0))             \
	X(__pread_chk, pread, terminal_new, put, files_close, in, __pread_chk(in, data, 1, 0, 1))  \
	X(__pread64_chk, pread, terminal_new, put, files_close, in,                                \
	  __pread64_chk(in, data, 1, 0, 1))                                                        \
	X(preadv, preadv, terminal_new, put, files_close, in, preadv(in, &part, 1, 0))             \
	X(preadv64, preadv, terminal_new, put, files_close, in, preadv64(in, &part, 1, 0))         \
	X(preadv2, preadv2, pipe_new, put, files_close, in, preadv2(in, &part, 1, -1, 0))          \
	X(preadv64v2, preadv2, pipe_new, put, files_close, in, preadv64v2(in, &part, 1, -1, 0))    \
	X(recv, recv, sockets_new, put, files_close, in, recv(in, data, 1, 0))                     \
	X(__recv_chk, recv, sockets_new, put, files_close, in, __recv_chk(in, data, 1, 1, 0))      \
	X(recvfrom, recvfrom, sockets_new, put, files_close, in,                                   \
	  recvfrom(in, data, 1, 0, NULL, NULL))                                                    \
	X(__recvfrom_chk, recvfrom, sockets_new, put, files_close, in,                             \
	  __recvfrom_chk(in, data, 1, 1, 0, NULL, NULL))                                           \
	X(recvmsg, recvmsg, sockets_new, put, files_close, in, receive(false))                     \
	X(recvmmsg, recvmmsg, sockets_new, put, files_close, in, receive(true))                    \
	X(eventfd_read, eventfd_read, events_new, events_add, files_close, in, event_read())       \
	X(write, write, pipe_full, drain, files_close, out, write(out, data, 1))                   \
	X(writev, writev, pipe_full, drain, files_close, out, writev(out, &part, 1))               \
	X(pwritev2, pwritev2, pipe_full, drain, files_close, out, pwritev2(out, &part, 1, -1, 0))  \
	X(pwritev64v2, pwritev2, pipe_full, drain, files_close, out,                               \
	  pwritev64v2(out, &part, 1, -1, 0))                                                       \
	X(send, send, sockets_full, drain, files_close, out, send(out, data, 1, 0))                \
	X(sendto, sendto, sockets_full, drain, files_close, out, sendto(out, data, 1, 0, NULL, 0)) \
	X(sendmsg, sendmsg, sockets_full, drain, files_close, out, transmit(false))                \
	X(sendmmsg, sendmmsg, sockets_full, drain, files_close, out, transmit(true))               \
	X(eventfd_write, eventfd_write, events_full, events_take, files_close, out,                \
	  eventfd_write(out, 2))                                                                   \
	X(sendfile, sendfile, pipe_full, drain, files_close, out, from_storage(false))             \
	X(splice, splice, pipe_full, drain, files_close, out, from_storage(true))                  \
	X(accept, accept, listen_new, connect_raw, files_close, in,                                \
	  accept(in, NULL, NULL) >= 0 ? 1 : -1)                                                    \
	X(accept4, accept4, listen_new, connect_raw, files_close, in,                              \
	  accept4(in, NULL, NULL, SOCK_CLOEXEC) >= 0 ? 1 : -1)                                     \
	X(connect, connect, listen_full, accept_raw, listen_close, out,                            \
	  connect(out, (struct sockaddr *)&address, sizeof(address)))                              \
	X(wait, wait, child_new, put, child_close, any, wait(NULL) > 0 ? 1 : -1)                   \
	X(__wait, wait, child_new, put, child_close, any, __wait(NULL) > 0 ? 1 : -1)               \
	X(wait3, wait3, child_new, put, child_close, any, wait3(NULL, 0, NULL) > 0 ? 1 : -1)       \
	X(wait4, wait4, child_new, put, child_close, child,                                        \
	  wait4(child, NULL, 0, NULL) > 0 ? 1 : -1)                                                \
	X(waitpid, waitpid, child_new, put, child_close, child,                                    \
	  waitpid(child, NULL, 0) > 0 ? 1 : -1)                                                    \
	X(waitid, waitid, child_new, put, child_close, child, wait_one())                          \
	X(flock, flock, flock_taken, flock_release, files_close, in, flock(in, LOCK_EX))           \
	X(lockf, lockf, lock_taken, put, lock_close, storage, lockf(storage, F_LOCK, 0))           \
	X(lockf64, lockf, lock_taken, put, lock_close, storage, lockf64(storage, F_LOCK, 0))       \
	X(setlkw, fcntl, lock_taken, put, lock_close, storage, set_lock(F_SETLKW))                 \
	X(setlkw64, fcntl, lock_taken, put, lock_close, storage, set_lock64())                     \
	X(ofd_setlkw, fcntl, ofd_taken, ofd_release, files_close, in, set_lock(F_OFD_SETLKW))      \
	X(msgsnd, msgsnd, queue_full, queue_take, queue_close, queue,                              \
	  msgsnd(queue_id, &message, sizeof(message.text), 0))                                     \
	X(msgrcv, msgrcv, queue_new, queue_put, queue_close, queue,                                \
	  msgrcv(queue_id, &message, sizeof(message.text), 0, 0))                                  \
	X(semop, semop, semaphores_new, semaphores_up, semaphores_close, semaphores,               \
	  semop(semaphores, &down, 1))                                                             \
	X(semtimedop, semtimedop, semaphores_new, semaphores_up, semaphores_close, semaphores,     \
	  semtimedop(semaphores, &down, 1, NULL))                                                  \
	X(mq_send, mq_send, mq_full, mq_take, mq_done, messages, mq_send(messages, data, 1, 0))    \
	X(mq_timedsend, mq_timedsend, mq_full, mq_take, mq_done, messages,                         \
	  mq_timedsend(messages, data, 1, 0, later()))                                             \
	X(mq_receive, mq_receive, mq_new, mq_put, mq_done, messages,                               \
	  mq_receive(messages, data, sizeof(data), NULL))                                          \
	X(mq_timedreceive, mq_timedreceive, mq_new, mq_put, mq_done, messages,                     \
	  mq_timedreceive(messages, data, sizeof(data), NULL, later()))                            \
	X(sigwaitinfo, sigwaitinfo, nothing, send_awaited, nothing, none,                          \
	  sigwaitinfo(&awaited, NULL) == SIGUSR2 ? 1 : -1)                                         \
	X(sigtimedwait, sigtimedwait, nothing, send_awaited, nothing, none,                        \
	  sigtimedwait(&awaited, NULL, NULL) == SIGUSR2 ? 1 : -1)                                  \
	X(sigsuspend, sigsuspend, nothing, send_handled, nothing, none,                            \
	  sigsuspend(all_but_usr1()))                                                              \
	X(__sigsuspend, sigsuspend, nothing, send_handled, nothing, none,                          \
	  __sigsuspend(all_but_usr1()))                                                            \
	X(__sigpause, sigpause, nothing, send_handled, nothing, none, __sigpause(SIGUSR1, 1))      \
	X(__xpg_sigpause, sigpause, nothing, send_handled, nothing, none, __xpg_sigpause(SIGUSR1)) \
	X(pause, pause, nothing, send_handled, nothing, none, pause())                             \
	X(futex, futex, word_new, word_change, nothing, word, futex(FUTEX_WAIT_PRIVATE))           \
	X(futex_bitset, futex, word_new, word_change, nothing, word,                               \
	  futex(FUTEX_WAIT_BITSET_PRIVATE))                                                        \
	X(futex_waitv, futex_waitv, word_new, word_change, nothing, word, futex_vector())          \
	X(sigwait, sigwait, nothing, send_awaited, nothing, none, signal_wait())                   \
	X(flockfile, flockfile, stream_new, stream_release, stream_close, stream,                  \
	  (flockfile(locked), 0))                                                                  \
	X(_IO_flockfile, flockfile, stream_new, stream_release, stream_close, stream,              \
	  (_IO_flockfile(locked), 0))

#define DEFINE(id, name, setup, end, close, object, expression)                                    \
	static long call_##id(void)                                                                \
	{                                                                                          \
		return (long)(expression);                                                         \
	}
CALLS(DEFINE)

static const struct call calls[] = {
#define ROW(id, name, setup, end, close, object, expression)                                       \
	{#id,                                                                                      \
	 #name,                                                                                    \
	 setup,                                                                                    \
	 call_##id,                                                                                \
	 end,                                                                                      \
	 close,                                                                                    \
	 object_##object,                                                                          \
	 setup == stream_new ? stream_take : NULL,                                                 \
	 !strcmp(#name, "sigwait") || !strcmp(#name, "clock_nanosleep")},
    CALLS(ROW)
#undef ROW
};
#define N_CALLS (sizeof(calls) / sizeof(calls[0]))

/* --- another thread ends the call ---------------------------------------------------------- */

static struct {
	const struct call *call;
	int tid; /* of the thread that makes it */
	atomic_bool ready, begun, returned, done;
	int signal; /* 0: it is only ended */
	int64_t blocked_ns;
} work;

static atomic_int handled;
static int own_pipe[2];

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Calls that are async-signal-safe. */
static void handle(int number)
{
	struct pollfd own = {own_pipe[0], POLLIN, 0};
	int saved_errno = errno;
	char byte;

	(void)number;
	if (write(own_pipe[1], "h", 1) != 1 || read(own_pipe[0], &byte, 1) != 1)
		abort();
	poll(&own, 1, 0);
	errno = saved_errno;
	atomic_fetch_add(&handled, 1);
}

static void let_pass(void)
{
	struct timespec time = {0, 300000};

	raw(SYS_nanosleep, (long)&time, 0, 0);
}

/* Waits until the thread sleeps.  Returns false if the call has returned. */
static bool is_blocked(int tid)
{
	char path[64], line[512];
	struct timespec time = {0, 50000};

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	while (!work.returned) {
		FILE *file = fopen(path, "r");
		bool known = file != NULL && fgets(line, sizeof(line), file) != NULL;

		if (file != NULL)
			fclose(file);
		if (!known)
			return false;
		if (strrchr(line, ')')[2] == 'S')
			return !work.returned;
		raw(SYS_nanosleep, (long)&time, 0, 0); /* it may need the CPU of this thread */
	}
	return false;
}

static bool ends_itself(void)
{
	return work.call->setup == nothing && work.call->end == nothing;
}

static void *end_call(void *arg)
{
	int before = handled;
	int64_t since;

	if (work.call->take != NULL)
		work.call->take();
	work.ready = true;
	while (!work.begun)
		sched_yield();
	if (work.signal == 0 && ends_itself())
		goto out;
	if (!is_blocked(work.tid))
		goto out;
	since = now_ns();
	let_pass();
	if (work.signal != 0) {
		pthread_kill(target, work.signal);
		while (handled == before)
			sched_yield();
		/* It returns, or it is restarted and sleeps again. */
		is_blocked(work.tid);
	}
	work.blocked_ns = now_ns() - since;
	if (work.signal == 0 || !work.returned || work.call->take != NULL)
		work.call->end();
out:
	while (!work.returned)
		sched_yield();
	if (work.signal != 0)
		work.blocked_ns = 0; /* it may have returned before the time was taken */
	work.done = true;
	return arg;
}

static FILE *account;

static void print_result(const char *mode, const struct call *call, long value, int error)
{
	printf("%s %s %s%ld %s\n", mode, call->text, value > 8 ? ">" : "", value > 8 ? 8 : value,
	       value < 0 ? strerror(error) : "");
}

static bool is_available(const struct call *call)
{
	if (call->setup == mq_new || call->setup == mq_full) {
		mq_new();
		if (messages < 0)
			return false;
		mq_close(messages);
	}
	if (call->call == call_futex_waitv)
		return syscall(449, NULL, 0, 0, NULL, 0) == -1 && errno != ENOSYS;
	return true;
}

static int error_of(const struct call *call, long value, int error)
{
	if (call->returns_error)
		return (int)value;
	if (strcmp(call->name, "sleep") == 0 && value != 0)
		return EINTR;
	if (strcmp(call->name, "thrd_sleep") == 0 && value < 0)
		return value == -1 ? EINTR : EINVAL;
	return value < 0 ? error : 0;
}

static void make_call(const char *mode, const struct call *call, int number)
{
	pthread_t ender;
	int64_t begin, end;
	long value, object;
	int error;

	call->setup();
	memset(&work, 0, sizeof(work));
	work.call = call;
	work.tid = gettid();
	work.signal = number;
	target = pthread_self();
	pthread_create(&ender, NULL, end_call, NULL);
	while (!work.ready)
		sched_yield();
	begin = now_ns();
	work.begun = true;
	errno = 77;
	value = call->call();
	error = errno;
	end = now_ns();
	work.returned = true;
	while (!work.done)
		sched_yield();
	pthread_join(ender, NULL);
	object = call->object();
	if (value < 0 && object == in && strstr(call->text, "poll") != NULL &&
	    strstr(call->text, "epoll") == NULL)
		object = ANY;
	if (value < 0 && strcmp(call->name, "futex_waitv") == 0)
		object = NONE;
	call->close();
	print_result(mode, call, value, error);
	if (account != NULL)
		fprintf(account, "%s %d %ld %d %ld %ld %ld\n", call->name, work.tid, object,
			error_of(call, value, error), begin, end, work.blocked_ns);
}

/* --- cancellation -------------------------------------------------------------------------- */

static atomic_int canceled_tid;
static atomic_bool cleaned;
static int cancel_type;

static void clean_up(void *arg)
{
	(void)arg;
	cleaned = true;
}

static void *be_cancelled(void *arg)
{
	const struct call *call = arg;

	pthread_cleanup_push(clean_up, NULL);
	pthread_setcanceltype(cancel_type, NULL);
	target = pthread_self();
	canceled_tid = gettid();
	call->call();
	work.returned = true;
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *hold_and_wait(void *arg)
{
	(void)arg;
	work.call->take();
	work.ready = true;
	while (!work.done)
		sched_yield();
	work.call->end();
	return NULL;
}

static void cancel_call(const char *mode, const struct call *call)
{
	pthread_t thread, holder;
	struct timespec until;
	void *value;
	int tid;

	call->setup();
	memset(&work, 0, sizeof(work));
	work.call = call;
	canceled_tid = 0;
	cleaned = false;
	if (call->take != NULL) {
		pthread_create(&holder, NULL, hold_and_wait, NULL);
		while (!work.ready)
			sched_yield();
	}
	pthread_create(&thread, NULL, be_cancelled, (void *)call);
	while ((tid = canceled_tid) == 0)
		sched_yield();
	is_blocked(tid);
	let_pass();
	pthread_cancel(thread);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 200000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	/* Not every call is a cancellation point. */
	if (pthread_timedjoin_np(thread, &value, &until) != 0) {
		if (call->take != NULL)
			work.done = true;
		else
			call->end();
		pthread_join(thread, &value);
	}
	work.done = true;
	if (call->take != NULL)
		pthread_join(holder, NULL);
	printf("%s %s %s %d\n", mode, call->text,
	       value == PTHREAD_CANCELED ? "cancelled" : "returned", cleaned);
	if (account != NULL)
		fprintf(account, "%s %d %d\n", call->name, tid, value == PTHREAD_CANCELED);
	call->close();
}

/* --- errors -------------------------------------------------------------------------------- */

#define FAIL(expression)                                                                           \
	do {                                                                                       \
		errno = 77;                                                                        \
		value = (long)(expression);                                                        \
		printf("%s: %ld %d\n", #expression, value, errno);                                 \
	} while (0)

static void fail_at_once(void)
{
	struct timespec bad = {0, -1}, none = {0, 0};
	struct timeval past = {0, 0};
	struct pollfd files[2] = {{-1, 0, 0}, {-1, 0, 0}};
	void *volatile nowhere = NULL;
	siginfo_t info;
	sigset_t set;
	long value;
	int i;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	FAIL(nanosleep(&bad, NULL));
	FAIL(clock_nanosleep(CLOCK_MONOTONIC, 0, &bad, NULL));
	FAIL(clock_nanosleep(1000, 0, &none, NULL));
	FAIL(thrd_sleep(&bad, NULL));
	FAIL(sleep(0));
	FAIL(usleep(0));
	FAIL(poll(files, 2, 0));
	FAIL(poll(nowhere, 1, 0));
	FAIL(ppoll(files, 1, &bad, NULL));
	FAIL(select(0, NULL, NULL, NULL, &past));
	FAIL(select(-1, NULL, NULL, NULL, &past));
	FAIL(pselect(0, NULL, NULL, NULL, &bad, NULL));
	FAIL(epoll_wait(-1, &ready, 1, 0));
	FAIL(epoll_pwait(-1, &ready, 1, 0, NULL));
	FAIL(epoll_pwait2(-1, &ready, 1, NULL, NULL));
	FAIL(read(-1, data, 1));
	FAIL(read(storage, nowhere, 1));
	FAIL(read(storage, data, 0));
	FAIL(readv(-1, &part, 1));
	FAIL(readv(storage, nowhere, 1));
	FAIL(pread(-1, data, 1, 0));
	FAIL(pread(storage, data, 1, -1));
	FAIL(pread64(storage, data, 1, 1 << 20));
	FAIL(preadv(-1, &part, 1, 0));
	FAIL(preadv2(-1, &part, 1, 0, 0));
	FAIL(preadv2(storage, &part, 1, 0, 0x40000000));
	FAIL(write(-1, data, 1));
	FAIL(writev(-1, &part, 1));
	FAIL(pwrite(storage, data, 1, 0));
	FAIL(pwrite64(-1, data, 1, 0));
	FAIL(pwritev(storage, &part, 1, 0));
	FAIL(pwritev64(-1, &part, 1, 0));
	FAIL(pwritev2(-1, &part, 1, 0, 0));
	FAIL(pwritev64v2(-1, &part, 1, 0, 0));
	FAIL(recv(-1, data, 1, 0));
	FAIL(recv(storage, data, 1, 0));
	FAIL(recvfrom(-1, data, 1, 0, NULL, NULL));
	FAIL(recvmsg(-1, NULL, 0));
	FAIL(recvmmsg(-1, NULL, 1, 0, NULL));
	FAIL(send(-1, data, 1, 0));
	FAIL(sendto(-1, data, 1, 0, NULL, 0));
	FAIL(sendmsg(-1, NULL, 0));
	FAIL(sendmmsg(-1, NULL, 1, 0));
	FAIL(sendfile(-1, storage, NULL, 1));
	FAIL(sendfile64(-1, storage, NULL, 1));
	FAIL(splice(-1, NULL, -1, NULL, 1, 0));
	FAIL(copy_file_range(storage, NULL, -1, NULL, 1, 0));
	FAIL(accept(-1, NULL, NULL));
	FAIL(accept4(-1, NULL, NULL, 0));
	FAIL(connect(-1, NULL, 0));
	FAIL(eventfd_read(-1, NULL));
	FAIL(eventfd_write(-1, 1));
	FAIL(fsync(-1));
	FAIL(fsync(storage));
	FAIL(fdatasync(-1));
	FAIL(fdatasync(storage));
	FAIL(syncfs(-1));
	FAIL(msync((void *)1, 1, MS_SYNC));
	FAIL(wait(NULL));
	FAIL(wait3(NULL, 0, NULL));
	FAIL(wait4(-1, NULL, WNOHANG, NULL));
	FAIL(waitpid(-1, NULL, WNOHANG));
	FAIL(waitid(P_ALL, 0, &info, WEXITED));
	FAIL(waitid(77, 0, &info, WEXITED));
	FAIL(flock(-1, LOCK_EX));
	FAIL(flock(storage, LOCK_EX | LOCK_NB));
	FAIL(flock(storage, LOCK_UN));
	FAIL(lockf(-1, F_LOCK, 0));
	FAIL(lockf(storage, 99, 0));
	FAIL(lockf64(storage, F_TEST, 0));
	FAIL(fcntl(-1, F_GETFD));
	FAIL(fcntl(storage, F_GETFD));
	FAIL(fcntl(storage, F_SETFD, FD_CLOEXEC));
	FAIL(fcntl(storage, F_GETFD));
	FAIL(fcntl64(storage, F_GETFL) & O_ACCMODE);
	FAIL(__fcntl(storage, F_SETLKW, NULL));
	FAIL(fcntl(-1, F_SETLKW, NULL));
	FAIL(msgsnd(-1, &message, 1, 0));
	FAIL(msgrcv(-1, &message, 1, 0, 0));
	FAIL(semop(-1, &up, 1));
	FAIL(semtimedop(-1, &up, 1, &none));
	FAIL(mq_send(-1, data, 1, 0));
	FAIL(mq_timedsend(-1, data, 1, 0, &none));
	FAIL(mq_receive(-1, data, 1, NULL));
	FAIL(mq_timedreceive(-1, data, 1, NULL, &none));
	FAIL(sigtimedwait(&set, &info, &none));
	FAIL(sigtimedwait(&set, &info, &bad));
	FAIL(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 99, NULL, NULL, 0));
	FAIL(syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
	FAIL(syscall(SYS_futex, NULL, FUTEX_WAIT, 0, NULL, NULL, 0));
	FAIL(syscall(SYS_futex, &word, 99, 0, NULL, NULL, 0));
	FAIL(syscall(SYS_gettid) == gettid());
	FAIL(syscall(-1, 1, 2, 3, 4, 5, 6));
	/* The sixth argument is on the stack. */
	FAIL(syscall(SYS_mmap, 0, 4096, PROT_READ, MAP_PRIVATE, storage, 4096) != -1);
	for (i = 0; i < 2; i++)
		FAIL((flockfile(stdout), funlockfile(stdout), 0));
	sync();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "ends";
	struct sigaction action = {.sa_handler = handle};
	int number = strcmp(mode, "signal") == 0 || strcmp(mode, "restart") == 0 ? SIGUSR1 : 0;
	bool cancels = strcmp(mode, "cancel") == 0 || strcmp(mode, "async") == 0;

	account = argc > 2 ? fopen(argv[2], "w") : NULL;
	action.sa_flags = strcmp(mode, "restart") == 0 ? SA_RESTART : 0;
	sigaction(SIGUSR1, &action, NULL);
	sigemptyset(&awaited);
	sigaddset(&awaited, SIGUSR2);
	sigprocmask(SIG_BLOCK, &awaited, NULL);
	assert(pipe(own_pipe) == 0);
	storage = open("storage", O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert(ftruncate(storage, 8192) == 0);
	cancel_type =
	    strcmp(mode, "async") == 0 ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED;
	brief = number != 0 || cancels ? (struct timespec){100, 0} : (struct timespec){0, 2000000};
	if (strcmp(mode, "errors") == 0)
		fail_at_once();
	for (unsigned i = 0; strcmp(mode, "errors") != 0 && i < N_CALLS; i++) {
		if (!is_available(&calls[i]))
			printf("%s %s is not available\n", mode, calls[i].text);
		else if (cancels)
			cancel_call(mode, &calls[i]);
		else
			make_call(mode, &calls[i], number);
		fflush(stdout);
	}
	if (account != NULL)
		fclose(account);
	unlink("storage");
	return 0;
}
