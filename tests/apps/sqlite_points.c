/* SPDX-License-Identifier: MIT */
/*
 * sqlite_points URI QUERIES: six threads make that many small queries each, every one of them as a
 * new statement, through a connection of their own.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <sqlite3.h>

#define N_THREADS 6
#define N_KEYS	  40000
#define QUERY	  "select sum(length(value)) from entries where key between ? and ?"

static const char *uri;
static int n_queries;

static void expect(int result, int expected, sqlite3 *db)
{
	if (result == expected)
		return;
	fprintf(stderr, "sqlite_points: %s\n", sqlite3_errmsg(db));
	exit(1);
}

static void *read_some(void *data)
{
	sqlite3_int64 *sum = data;
	unsigned seed = 1;
	sqlite3 *db;
	sqlite3_stmt *query;

	expect(sqlite3_open_v2(uri, &db,
			       SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL),
	       SQLITE_OK, db);
	for (int i = 0; i < n_queries; i++) {
		int key = rand_r(&seed) % N_KEYS;

		expect(sqlite3_prepare_v2(db, QUERY, -1, &query, NULL), SQLITE_OK, db);
		expect(sqlite3_bind_int(query, 1, key), SQLITE_OK, db);
		expect(sqlite3_bind_int(query, 2, key + 20), SQLITE_OK, db);
		expect(sqlite3_step(query), SQLITE_ROW, db);
		*sum += sqlite3_column_int64(query, 0);
		sqlite3_finalize(query);
	}
	sqlite3_close(db);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[N_THREADS];
	sqlite3_int64 sums[N_THREADS] = {0};

	if (argc != 3)
		return 2;
	uri = argv[1];
	n_queries = atoi(argv[2]);
	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], NULL, read_some, &sums[i]);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < N_THREADS; i++)
		printf("%lld\n", sums[i]);
	return 0;
}
