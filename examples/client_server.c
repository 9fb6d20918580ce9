/* SPDX-License-Identifier: MIT */
/*
 * Client and server: one listener, and a dedicated server thread for each client.
 *
 * A client hands its connection to the listener's queue (a mutex and a condition variable).  The
 * listener starts a dedicated server for it and goes on listening; client and server then talk
 * through the connection alone: a mutex, and a condition variable for each direction.  In the
 * paper's Figure 7 these threads are C, S and RS.
 *
 * Checked: every request is answered once; each client computes its first answer again itself.
 */
#define _GNU_SOURCE
#include <stdbool.h>

#include "example.h"

#define REQUESTS_IN_ALL 8000
#define CLIENT_UNITS	150
#define SERVER_UNITS	350

enum turn { CLIENTS_TURN, SERVERS_TURN, CLOSED };

struct connection {
	struct connection *next; /* the next one in the listener's queue */
	unsigned client;
	pthread_mutex_t lock;
	pthread_cond_t request_ready, reply_ready;
	enum turn turn; /* protected by lock, like the members below */
	uint64_t request, reply;
	unsigned served;
	pthread_t server; /* set by the listener */
};

struct client {
	pthread_t thread;
	unsigned number;
	unsigned wrong;
	uint64_t result;
	struct connection connection;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t arrived;
	struct connection *first, **last; /* protected by lock */
	unsigned clients, requests;
} listener = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .arrived = PTHREAD_COND_INITIALIZER,
    .last = &listener.first,
};

/* The service: a number computed from the request, which takes some CPU time. */
EXAMPLE_FUNCTION uint64_t compute_reply(uint64_t request)
{
	return example_work(request, SERVER_UNITS);
}

EXAMPLE_FUNCTION bool next_request(struct connection *connection, uint64_t *ret_request)
{
	bool open;

	pthread_mutex_lock(&connection->lock);
	while (connection->turn == CLIENTS_TURN)
		pthread_cond_wait(&connection->request_ready, &connection->lock);
	open = connection->turn != CLOSED;
	*ret_request = connection->request;
	pthread_mutex_unlock(&connection->lock);
	return open;
}

EXAMPLE_FUNCTION void send_reply(struct connection *connection, uint64_t reply)
{
	pthread_mutex_lock(&connection->lock);
	connection->reply = reply;
	connection->served++;
	connection->turn = CLIENTS_TURN;
	pthread_cond_signal(&connection->reply_ready);
	pthread_mutex_unlock(&connection->lock);
}

EXAMPLE_FUNCTION void *serve(void *arg)
{
	struct connection *connection = arg;
	uint64_t request;

	example_name_thread("server-%u", connection->client);
	while (next_request(connection, &request))
		send_reply(connection, compute_reply(request));
	return NULL;
}

EXAMPLE_FUNCTION struct connection *accept_connection(void)
{
	struct connection *connection;

	pthread_mutex_lock(&listener.lock);
	while (!listener.first)
		pthread_cond_wait(&listener.arrived, &listener.lock);
	connection = listener.first;
	listener.first = connection->next;
	if (!listener.first)
		listener.last = &listener.first;
	pthread_mutex_unlock(&listener.lock);
	return connection;
}

EXAMPLE_FUNCTION void *listen_for_clients(void *arg)
{
	struct connection **accepted = example_alloc(listener.clients, sizeof(struct connection *));

	(void)arg;
	example_name_thread("listener");
	for (unsigned i = 0; i < listener.clients; i++) {
		accepted[i] = accept_connection();
		example_check(pthread_create(&accepted[i]->server, NULL, serve, accepted[i]),
			      "pthread_create");
	}
	for (unsigned i = 0; i < listener.clients; i++)
		pthread_join(accepted[i]->server, NULL);
	free(accepted);
	return NULL;
}

EXAMPLE_FUNCTION void connect_to_server(struct connection *connection)
{
	pthread_mutex_lock(&listener.lock);
	*listener.last = connection;
	listener.last = &connection->next;
	pthread_cond_signal(&listener.arrived);
	pthread_mutex_unlock(&listener.lock);
}

EXAMPLE_FUNCTION uint64_t call_server(struct connection *connection, uint64_t request)
{
	uint64_t reply;

	pthread_mutex_lock(&connection->lock);
	connection->request = request;
	connection->turn = SERVERS_TURN;
	pthread_cond_signal(&connection->request_ready);
	while (connection->turn == SERVERS_TURN)
		pthread_cond_wait(&connection->reply_ready, &connection->lock);
	reply = connection->reply;
	pthread_mutex_unlock(&connection->lock);
	return reply;
}

EXAMPLE_FUNCTION void hang_up(struct connection *connection)
{
	pthread_mutex_lock(&connection->lock);
	connection->turn = CLOSED;
	pthread_cond_signal(&connection->request_ready);
	pthread_mutex_unlock(&connection->lock);
}

EXAMPLE_FUNCTION uint64_t prepare_request(unsigned client, unsigned number)
{
	return example_work((uint64_t)client << 32 | (uint64_t)number << 12, CLIENT_UNITS);
}

EXAMPLE_FUNCTION void *run_client(void *arg)
{
	struct client *self = arg;

	example_name_thread("client-%u", self->number);
	connect_to_server(&self->connection);
	for (unsigned i = 0; i < listener.requests; i++) {
		uint64_t request = prepare_request(self->number, i);
		uint64_t reply = call_server(&self->connection, request);

		self->result += reply;
		self->wrong += i == 0 && reply != compute_reply(request);
	}
	hang_up(&self->connection);
	return NULL;
}

static void start_client(struct client *client, unsigned number)
{
	struct connection *connection = &client->connection;

	client->number = number;
	connection->client = number;
	connection->turn = CLIENTS_TURN;
	example_check(pthread_mutex_init(&connection->lock, NULL), "mutex");
	example_check(pthread_cond_init(&connection->request_ready, NULL), "cond");
	example_check(pthread_cond_init(&connection->reply_ready, NULL), "cond");
	example_check(pthread_create(&client->thread, NULL, run_client, client), "pthread_create");
}

static void clear_connection(struct connection *connection)
{
	pthread_cond_destroy(&connection->reply_ready);
	pthread_cond_destroy(&connection->request_ready);
	pthread_mutex_destroy(&connection->lock);
}

int main(int argc, char **argv)
{
	struct client *clients;
	pthread_t listener_thread;
	unsigned served = 0, wrong = 0;
	uint64_t result = 0;

	example_start(
	    argc, argv, 2,
	    "[CLIENTS [REQUESTS]]\n"
	    "CLIENTS (30) connect to a listener, which gives each a server thread of its\n"
	    "own, and make REQUESTS (8000 / CLIENTS) requests each.\n");
	listener.clients = example_number(argc, argv, 1, 1, 10000, 30);
	listener.requests = example_number(
	    argc, argv, 2, 1, 1000000, (REQUESTS_IN_ALL + listener.clients - 1) / listener.clients);

	clients = example_alloc(listener.clients, sizeof(*clients));
	example_check(pthread_create(&listener_thread, NULL, listen_for_clients, NULL),
		      "pthread_create");
	for (unsigned i = 0; i < listener.clients; i++)
		start_client(&clients[i], i);
	for (unsigned i = 0; i < listener.clients; i++)
		pthread_join(clients[i].thread, NULL);
	pthread_join(listener_thread, NULL);

	for (unsigned i = 0; i < listener.clients; i++) {
		served += clients[i].connection.served;
		wrong += clients[i].wrong;
		result += clients[i].result;
		clear_connection(&clients[i].connection);
	}
	free(clients);
	printf("%u clients, %u requests each: %u served, %u wrong, result %016jx\n",
	       listener.clients, listener.requests, served, wrong, (uintmax_t)result);
	return served != listener.clients * listener.requests || wrong;
}
