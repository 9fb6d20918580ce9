/* SPDX-License-Identifier: MIT */
/*
 * Locks outside the normal code of threads: in constructors, destructors, those of thread_local
 * objects and of thread-specific data, handlers of exit() and of signals, and around dlopen(). With
 * -DPLUGIN, the library that is opened. Prints each context as it is reached; only one thread
 * prints at a time.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "wait_blocked.h"

extern "C" {
extern pthread_mutex_t places_mutex, held;
extern std::atomic<int> blocked_tid;
void places_pass(const char *where);
void plugin_work(void);
}

#ifdef PLUGIN

__attribute__((constructor)) static void begin(void)
{
	std::thread([] { places_pass("a thread of a plugin's constructor"); }).join();
	blocked_tid = gettid();
	pthread_mutex_lock(&held); /* under the loader's lock */
	places_pass("a plugin's constructor");
	pthread_mutex_unlock(&held);
}

__attribute__((destructor)) static void end(void)
{
	places_pass("a plugin's destructor");
}

void plugin_work(void)
{
	places_pass("a plugin");
}

#else

pthread_mutex_t places_mutex = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
std::atomic<int> blocked_tid;

void places_pass(const char *where)
{
	pthread_mutex_lock(&places_mutex);
	printf("%s\n", where);
	pthread_mutex_unlock(&places_mutex);
}

struct passer {
	const char *begin, *end;
	passer(const char *at_begin, const char *at_end) : begin(at_begin), end(at_end)
	{
		places_pass(begin);
	}
	~passer()
	{
		places_pass(end);
	}
};

static passer of_program("a constructor", "a destructor");
static thread_local passer of_thread("a thread's constructor", "a thread's destructor");

/* --- thread-specific data ----------------------------------------------------------------------
 */

static pthread_key_t key;

static void key_destructor(void *rounds)
{
	places_pass("a key's destructor");
	if ((long)rounds > 1)
		pthread_setspecific(key, (void *)((long)rounds - 1));
}

static void thread_ends(void)
{
	pthread_key_create(&key, key_destructor);
	std::thread([] {
		pthread_setspecific(key, (void *)4); /* glibc's last round */
		places_pass(of_thread.begin);
	}).join();
}

/* --- handlers -----------------------------------------------------------------------------------
 */

static pthread_mutex_t of_handler = PTHREAD_MUTEX_INITIALIZER;
static sem_t handled;

/* Locks in a handler, and in another handler that interrupts it. */
static void on_signal(int number)
{
	pthread_mutex_lock(&of_handler);
	pthread_mutex_unlock(&of_handler);
	if (number == SIGUSR1)
		raise(SIGUSR2);
	else
		sem_post(&handled);
}

static void handlers(void)
{
	sem_init(&handled, 0, 0);
	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_signal);
	pthread_mutex_lock(&held);
	blocked_tid = 0;
	std::thread waiter([] {
		blocked_tid = gettid();
		pthread_mutex_lock(&held);
		pthread_mutex_unlock(&held);
	});
	while (blocked_tid == 0)
		usleep(50);
	until_asleep(blocked_tid);
	pthread_kill(waiter.native_handle(), SIGUSR1);
	while (sem_wait(&handled) != 0)
		;
	places_pass("two handlers in a thread that waits");
	pthread_mutex_unlock(&held);
	waiter.join();
}

/* --- the loader ---------------------------------------------------------------------------------
 */

static int in_callback(dl_phdr_info *, size_t, void *)
{
	blocked_tid = gettid();
	pthread_mutex_lock(&held); /* under another lock of the loader */
	pthread_mutex_unlock(&held);
	return 1;
}

/* A thread that holds the loader's lock waits for a lock that this thread releases. */
static void while_blocked(void (*with_lock)(void), const char *where)
{
	pthread_mutex_lock(&held);
	blocked_tid = 0;
	std::thread thread(with_lock);
	while (blocked_tid == 0)
		usleep(50);
	until_asleep(blocked_tid);
	places_pass(where);
	std::thread([] { places_pass("a thread made meanwhile"); }).join();
	pthread_mutex_unlock(&held);
	thread.join();
}

static void loader(void)
{
	while_blocked(
	    [] {
		    void *plugin = dlopen("./libplugin.so", RTLD_NOW);
		    auto work = reinterpret_cast<void (*)()>(dlsym(plugin, "plugin_work"));

		    work();
		    dlclose(plugin);
	    },
	    "while another opens a library");
	while_blocked([] { dl_iterate_phdr(in_callback, nullptr); },
		      "while another goes through them");
}

/* --- exceptions ---------------------------------------------------------------------------------
 */

static void exceptions(void)
{
	static std::once_flag once;
	static pthread_once_t plain = PTHREAD_ONCE_INIT;

	for (int i = 0; i < 2; i++) {
		try {
			std::call_once(once, [i] {
				places_pass("a routine done once");
				if (i == 0)
					throw std::runtime_error("thrown through call_once");
			});
		} catch (const std::exception &error) {
			places_pass(error.what());
		}
	}
	try {
		pthread_once(&plain,
			     [] { throw std::runtime_error("thrown through pthread_once"); });
	} catch (const std::exception &error) {
		places_pass(error.what());
	}
	pthread_once(&plain, [] { places_pass("done after all"); });
}

int main()
{
	setvbuf(stdout, nullptr, _IOLBF, 0);
	alarm(100);
	atexit([] { places_pass("a handler of exit()"); });
	thread_ends();
	handlers();
	loader();
	exceptions();
	return 8;
}

#endif
