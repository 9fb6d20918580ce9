/* SPDX-License-Identifier: MIT */
/*
 * The blocking calls beyond those of pthread, in one table: the function, what it waits for, and
 * what its `object` is in an io_call event (events.h).
 *
 * A call's number is its place in the table, which only grows. Other names of a function
 * (__read_chk, pread64) count as the function.
 */
#ifndef SYNC_TRACE_CALLS_H
#define SYNC_TRACE_CALLS_H

/* Kinds of calls, by the thing that a call waits for. */
#define ST_IO_KINDS(X)                                                                             \
	X(sleep)      /* a time */                                                                 \
	X(poll)	      /* any of several descriptors */                                             \
	X(read)	      /* data that arrive in a file, pipe or socket */                             \
	X(write)      /* room for data in one */                                                   \
	X(connection) /* a connection to be accepted or established */                             \
	X(storage)    /* data to reach the storage */                                              \
	X(process)    /* a child */                                                                \
	X(lock)	      /* a lock of a file or FILE */                                               \
	X(queue)      /* message queues and semaphores of System V, message queues of POSIX */     \
	X(signal)     /* a signal */                                                               \
	X(futex)      /* a futex, waited for by syscall(): std::atomic::wait() and others */

enum st_io_kind {
#define ST_IO_KIND_ID(name) ST_IO_KIND_##name,
	ST_IO_KINDS(ST_IO_KIND_ID)
#undef ST_IO_KIND_ID
	    ST_N_IO_KINDS
};

/* Meanings of the object of an io_call. */
enum st_io_object {
	ST_IO_NO_OBJECT, /* 0 */
	ST_IO_FD,	 /* a file descriptor, sign-extended; -1: none, or several */
	ST_IO_ID,	 /* a pid, or an identifier of System V's queues, sign-extended */
	ST_IO_ADDRESS,	 /* of a FILE or a futex */
};

/* Function, kind, object. */
#define ST_IO_CALLS(X)                                                                             \
	X(sleep, sleep, NO_OBJECT)                                                                 \
	X(usleep, sleep, NO_OBJECT)                                                                \
	X(nanosleep, sleep, NO_OBJECT)                                                             \
	X(clock_nanosleep, sleep, NO_OBJECT)                                                       \
	X(thrd_sleep, sleep, NO_OBJECT)                                                            \
	/* fd: of the only entry, if the call did not fail */                                      \
	X(poll, poll, FD)                                                                          \
	X(ppoll, poll, FD)                                                                         \
	X(select, poll, FD)                                                                        \
	X(pselect, poll, FD)                                                                       \
	/* fd: of the epoll instance */                                                            \
	X(epoll_wait, poll, FD)                                                                    \
	X(epoll_pwait, poll, FD)                                                                   \
	X(epoll_pwait2, poll, FD)                                                                  \
	X(read, read, FD)                                                                          \
	X(readv, read, FD)                                                                         \
	X(pread, read, FD)                                                                         \
	X(preadv, read, FD)                                                                        \
	X(preadv2, read, FD)                                                                       \
	X(recv, read, FD)                                                                          \
	X(recvfrom, read, FD)                                                                      \
	X(recvmsg, read, FD)                                                                       \
	X(recvmmsg, read, FD)                                                                      \
	X(eventfd_read, read, FD)                                                                  \
	X(write, write, FD)                                                                        \
	X(writev, write, FD)                                                                       \
	X(pwrite, write, FD)                                                                       \
	X(pwritev, write, FD)                                                                      \
	X(pwritev2, write, FD)                                                                     \
	X(send, write, FD)                                                                         \
	X(sendto, write, FD)                                                                       \
	X(sendmsg, write, FD)                                                                      \
	X(sendmmsg, write, FD)                                                                     \
	X(eventfd_write, write, FD)                                                                \
	/* fd: the one written to */                                                               \
	X(sendfile, write, FD)                                                                     \
	X(splice, write, FD)                                                                       \
	X(copy_file_range, write, FD)                                                              \
	X(accept, connection, FD)                                                                  \
	X(accept4, connection, FD)                                                                 \
	X(connect, connection, FD)                                                                 \
	X(fsync, storage, FD)                                                                      \
	X(fdatasync, storage, FD)                                                                  \
	X(syncfs, storage, FD)                                                                     \
	X(sync, storage, NO_OBJECT)                                                                \
	X(msync, storage, ADDRESS)                                                                 \
	/* id: the pid or group asked for, as by waitpid(); -1: any child */                       \
	X(wait, process, ID)                                                                       \
	X(wait3, process, ID)                                                                      \
	X(wait4, process, ID)                                                                      \
	X(waitpid, process, ID)                                                                    \
	X(waitid, process, ID)                                                                     \
	X(flock, lock, FD)                                                                         \
	X(lockf, lock, FD)                                                                         \
	X(fcntl, lock, FD)                                                                         \
	X(flockfile, lock, ADDRESS)                                                                \
	X(msgsnd, queue, ID)                                                                       \
	X(msgrcv, queue, ID)                                                                       \
	X(semop, queue, ID)                                                                        \
	X(semtimedop, queue, ID)                                                                   \
	X(mq_send, queue, FD)                                                                      \
	X(mq_timedsend, queue, FD)                                                                 \
	X(mq_receive, queue, FD)                                                                   \
	X(mq_timedreceive, queue, FD)                                                              \
	X(sigwait, signal, NO_OBJECT)                                                              \
	X(sigwaitinfo, signal, NO_OBJECT)                                                          \
	X(sigtimedwait, signal, NO_OBJECT)                                                         \
	X(sigsuspend, signal, NO_OBJECT)                                                           \
	X(sigpause, signal, NO_OBJECT)                                                             \
	X(pause, signal, NO_OBJECT)                                                                \
	X(futex, futex, ADDRESS)                                                                   \
	/* address: of the first of its futexes */                                                 \
	X(futex_waitv, futex, ADDRESS)

enum st_io_call {
#define ST_IO_CALL_ID(name, kind, object) ST_IO_##name,
	ST_IO_CALLS(ST_IO_CALL_ID)
#undef ST_IO_CALL_ID
	    ST_N_IO_CALLS
};
_Static_assert(ST_N_IO_CALLS <= 255, "a call is one byte");

#endif
