/* SPDX-License-Identifier: MIT */
/* Waits for message queues and for semaphores of System V. */
#include "io/io.h"

ST_IO_WRAPPER(int, msgsnd, (int id, const void *message, size_t n, int flags),
	      (id, message, n, flags), msgsnd, st_io_number(id))
ST_IO_WRAPPER(ssize_t, msgrcv, (int id, void *message, size_t n, long type, int flags),
	      (id, message, n, type, flags), msgrcv, st_io_number(id))
ST_IO_WRAPPER(int, semop, (int id, struct sembuf *operations, size_t n), (id, operations, n), semop,
	      st_io_number(id))
ST_IO_WRAPPER(int, semtimedop,
	      (int id, struct sembuf *operations, size_t n, const struct timespec *timeout),
	      (id, operations, n, timeout), semtimedop, st_io_number(id))
ST_IO_WRAPPER(int, mq_send, (mqd_t queue, const char *message, size_t n, unsigned priority),
	      (queue, message, n, priority), mq_send, st_io_number(queue))
ST_IO_WRAPPER(int, mq_timedsend,
	      (mqd_t queue, const char *message, size_t n, unsigned priority,
	       const struct timespec *deadline),
	      (queue, message, n, priority, deadline), mq_timedsend, st_io_number(queue))
ST_IO_WRAPPER(ssize_t, mq_receive, (mqd_t queue, char *message, size_t n, unsigned *priority),
	      (queue, message, n, priority), mq_receive, st_io_number(queue))
ST_IO_WRAPPER(ssize_t, mq_timedreceive,
	      (mqd_t queue, char *message, size_t n, unsigned *priority,
	       const struct timespec *deadline),
	      (queue, message, n, priority, deadline), mq_timedreceive, st_io_number(queue))
