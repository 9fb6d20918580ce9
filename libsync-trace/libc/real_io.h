/* SPDX-License-Identifier: MIT */
/*
 * The wrapped functions that block for other reasons than a pthread object, and their real
 * counterparts. Each has one version in glibc that new programs use, which dlsym() finds; functions
 * that glibc may lack come last (real_io.c).
 */
#ifndef ST_REAL_IO_H
#define ST_REAL_IO_H

#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

struct rusage;

/* Type, name, parameters. */
#define ST_IO_REALS(X)                                                                             \
	X(ssize_t, read, (int, void *, size_t))                                                    \
	X(ssize_t, write, (int, const void *, size_t))                                             \
	X(int, fcntl, (int, int, ...))                                                             \
	X(int, fcntl64, (int, int, ...))                                                           \
	X(int, nanosleep, (const struct timespec *, struct timespec *))                            \
	X(int, usleep, (useconds_t))                                                               \
	X(unsigned, sleep, (unsigned))                                                             \
	X(int, clock_nanosleep, (clockid_t, int, const struct timespec *, struct timespec *))      \
	X(int, poll, (struct pollfd *, nfds_t, int))                                               \
	X(int, ppoll, (struct pollfd *, nfds_t, const struct timespec *, const sigset_t *))        \
	X(int, select, (int, fd_set *, fd_set *, fd_set *, struct timeval *))                      \
	X(int, pselect,                                                                            \
	  (int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *))          \
	X(int, epoll_wait, (int, struct epoll_event *, int, int))                                  \
	X(int, epoll_pwait, (int, struct epoll_event *, int, int, const sigset_t *))               \
	X(ssize_t, readv, (int, const struct iovec *, int))                                        \
	X(ssize_t, pread, (int, void *, size_t, off_t))                                            \
	X(ssize_t, pread64, (int, void *, size_t, off64_t))                                        \
	X(ssize_t, preadv, (int, const struct iovec *, int, off_t))                                \
	X(ssize_t, preadv64, (int, const struct iovec *, int, off64_t))                            \
	X(ssize_t, writev, (int, const struct iovec *, int))                                       \
	X(ssize_t, pwrite, (int, const void *, size_t, off_t))                                     \
	X(ssize_t, pwrite64, (int, const void *, size_t, off64_t))                                 \
	X(ssize_t, pwritev, (int, const struct iovec *, int, off_t))                               \
	X(ssize_t, pwritev64, (int, const struct iovec *, int, off64_t))                           \
	X(ssize_t, recv, (int, void *, size_t, int))                                               \
	X(ssize_t, recvfrom, (int, void *, size_t, int, void *, socklen_t *))                      \
	X(ssize_t, recvmsg, (int, struct msghdr *, int))                                           \
	X(int, recvmmsg, (int, struct mmsghdr *, unsigned, int, struct timespec *))                \
	X(ssize_t, send, (int, const void *, size_t, int))                                         \
	X(ssize_t, sendto, (int, const void *, size_t, int, const void *, socklen_t))              \
	X(ssize_t, sendmsg, (int, const struct msghdr *, int))                                     \
	X(int, sendmmsg, (int, struct mmsghdr *, unsigned, int))                                   \
	X(ssize_t, sendfile, (int, int, off_t *, size_t))                                          \
	X(ssize_t, sendfile64, (int, int, off64_t *, size_t))                                      \
	X(ssize_t, splice, (int, off64_t *, int, off64_t *, size_t, unsigned))                     \
	X(int, accept, (int, void *, socklen_t *))                                                 \
	X(int, accept4, (int, void *, socklen_t *, int))                                           \
	X(int, connect, (int, const void *, socklen_t))                                            \
	X(int, eventfd_read, (int, uint64_t *))                                                    \
	X(int, eventfd_write, (int, uint64_t))                                                     \
	X(int, fsync, (int))                                                                       \
	X(int, fdatasync, (int))                                                                   \
	X(int, syncfs, (int))                                                                      \
	X(void, sync, (void))                                                                      \
	X(int, msync, (void *, size_t, int))                                                       \
	X(pid_t, wait, (int *))                                                                    \
	X(pid_t, wait3, (int *, int, struct rusage *))                                             \
	X(pid_t, wait4, (pid_t, int *, int, struct rusage *))                                      \
	X(pid_t, waitpid, (pid_t, int *, int))                                                     \
	X(int, waitid, (idtype_t, id_t, siginfo_t *, int))                                         \
	X(int, flock, (int, int))                                                                  \
	X(int, lockf, (int, int, off_t))                                                           \
	X(int, lockf64, (int, int, off64_t))                                                       \
	X(void, flockfile, (FILE *))                                                               \
	X(int, msgsnd, (int, const void *, size_t, int))                                           \
	X(ssize_t, msgrcv, (int, void *, size_t, long, int))                                       \
	X(int, semop, (int, struct sembuf *, size_t))                                              \
	X(int, semtimedop, (int, struct sembuf *, size_t, const struct timespec *))                \
	X(int, sigwait, (const sigset_t *, int *))                                                 \
	X(int, sigwaitinfo, (const sigset_t *, siginfo_t *))                                       \
	X(int, sigtimedwait, (const sigset_t *, siginfo_t *, const struct timespec *))             \
	X(int, sigsuspend, (const sigset_t *))                                                     \
	X(int, sigpause, (int))                                                                    \
	X(int, __xpg_sigpause, (int))                                                              \
	X(int, __sigpause, (int, int))                                                             \
	X(int, pause, (void))                                                                      \
	/* fortified */                                                                            \
	X(ssize_t, __read_chk, (int, void *, size_t, size_t))                                      \
	X(ssize_t, __pread_chk, (int, void *, size_t, off_t, size_t))                              \
	X(ssize_t, __pread64_chk, (int, void *, size_t, off64_t, size_t))                          \
	X(ssize_t, __recv_chk, (int, void *, size_t, size_t, int))                                 \
	X(ssize_t, __recvfrom_chk, (int, void *, size_t, size_t, int, void *, socklen_t *))        \
	X(int, __poll_chk, (struct pollfd *, nfds_t, int, size_t))                                 \
	X(int, __ppoll_chk,                                                                        \
	  (struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t))            \
	/* since glibc 2.26 and later, or in other libraries before glibc 2.34 */                  \
	X(ssize_t, preadv2, (int, const struct iovec *, int, off_t, int))                          \
	X(ssize_t, preadv64v2, (int, const struct iovec *, int, off64_t, int))                     \
	X(ssize_t, pwritev2, (int, const struct iovec *, int, off_t, int))                         \
	X(ssize_t, pwritev64v2, (int, const struct iovec *, int, off64_t, int))                    \
	X(ssize_t, copy_file_range, (int, off64_t *, int, off64_t *, size_t, unsigned))            \
	X(int, thrd_sleep, (const struct timespec *, struct timespec *))                           \
	X(int, epoll_pwait2,                                                                       \
	  (int, struct epoll_event *, int, const struct timespec *, const sigset_t *))             \
	X(int, mq_send, (mqd_t, const char *, size_t, unsigned))                                   \
	X(int, mq_timedsend, (mqd_t, const char *, size_t, unsigned, const struct timespec *))     \
	X(ssize_t, mq_receive, (mqd_t, char *, size_t, unsigned *))                                \
	X(ssize_t, mq_timedreceive, (mqd_t, char *, size_t, unsigned *, const struct timespec *))

/*
 * Second names, and the functions. A library between us and glibc may use one to reach glibc from
 * its own wrapper of the function, so where both differ, it is not recorded.
 */
#define ST_IO_ALIASES(X)                                                                           \
	X(__read, read)                                                                            \
	X(__write, write)                                                                          \
	X(__pread64, pread64)                                                                      \
	X(__pwrite64, pwrite64)                                                                    \
	X(__send, send)                                                                            \
	X(__connect, connect)                                                                      \
	X(__poll, poll)                                                                            \
	X(__select, select)                                                                        \
	X(__nanosleep, nanosleep)                                                                  \
	X(__wait, wait)                                                                            \
	X(__waitpid, waitpid)                                                                      \
	X(__fcntl, fcntl)                                                                          \
	X(__sigsuspend, sigsuspend)                                                                \
	X(_IO_flockfile, flockfile)

struct st_io_real {
#define ST_IO_REAL_MEMBER(type, name, parameters) type(*name) parameters;
	ST_IO_REALS(ST_IO_REAL_MEMBER)
#undef ST_IO_REAL_MEMBER
};

/* Complete after st_io_resolve() has returned. */
extern struct st_io_real st_io_real __attribute__((visibility("hidden")));

/* Looks up the real functions. The same thread may enter it again, as st_real_resolve(). */
void st_io_resolve(void);

/*
 * True if the real function is glibc's, or that of a library whose purpose is to wrap glibc's: a
 * sanitizer, or a preloaded library. Any other function that happens to have the same name may have
 * other parameters.
 */
bool st_io_is_known(const void *real);

#endif
