/* SPDX-License-Identifier: MIT */
/*
 * server SOCKET: main() waits in epoll_wait() for a client's bytes, and answers each with a mutex
 * held, until the client ends the connection.  Prints its process number when it listens.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static pthread_mutex_t state_mutex = PTHREAD_MUTEX_INITIALIZER;

static void compute(void)
{
	for (volatile long i = 0; i < 1000000; i++)
		;
}

static int answer(int client)
{
	char byte;

	if (read(client, &byte, 1) != 1)
		return 0;
	pthread_mutex_lock(&state_mutex);
	compute();
	pthread_mutex_unlock(&state_mutex);
	return write(client, &byte, 1) == 1;
}

static void wait_for_input(int epoll)
{
	struct epoll_event event;

	while (epoll_wait(epoll, &event, 1, -1) != 1)
		;
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), epoll = epoll_create1(0), client;
	struct epoll_event event = {.events = EPOLLIN};

	if (argc != 2 || listener < 0 || epoll < 0)
		return 2;
	strncpy(address.sun_path, argv[1], sizeof(address.sun_path) - 1);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(listener, 1) != 0)
		return 1;
	printf("%d\n", (int)getpid());
	fflush(stdout);
	client = accept(listener, NULL, NULL);
	epoll_ctl(epoll, EPOLL_CTL_ADD, client, &event);
	do
		wait_for_input(epoll);
	while (answer(client));
	return 0;
}
