/* SPDX-License-Identifier: MIT */
/*
 * /proc/PID/status lists the numbers of a process in all namespaces from that of this /proc
 * inwards.  A process outside of that namespace is not in /proc, so its end cannot be detected.
 */
#include "core/pid_namespace.h"

#include <glib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/clock.h"

#define FIRST_NAMESPACE 0xeffffffcu /* the kernel's PROC_PID_INIT_INO */

struct number {
	pid_t own;
	pid_t pid;     /* in the namespace of this /proc */
	bool is_below; /* its namespace is below that of this /proc */
};

struct pp_numbers {
	uint64_t time_ns;
	uint32_t pid_namespace; /* of this process; 0: not known */
	GArray *all;		/* of struct number, sorted by own */
};

static gint compare(gconstpointer a, gconstpointer b)
{
	const struct number *x = a, *y = b;

	return x->own != y->own ? (x->own < y->own ? -1 : 1)
				: (x->pid > y->pid) - (x->pid < y->pid);
}

/* The process's number in its innermost namespace; 0 if it has ended. */
static pid_t own_number(const char *name, bool *ret_is_below)
{
	g_autofree char *path = g_strdup_printf("/proc/%s/status", name);
	g_autofree char *status = NULL;
	char *at, *end;

	if (!g_file_get_contents(path, &status, NULL, NULL))
		return 0;
	at = strstr(status, "\nNSpid:");
	if (!at) /* before Linux 4.1 */
		return (pid_t)g_ascii_strtoll(name, NULL, 10);
	at++;
	end = strchr(at, '\n');
	if (end)
		*end = '\0';
	end = strrchr(at, '\t');
	*ret_is_below = end != strchr(at, '\t');
	return end ? (pid_t)g_ascii_strtoll(end, NULL, 10) : 0;
}

struct pp_numbers *pp_numbers_new(void)
{
	struct pp_numbers *numbers = g_new0(struct pp_numbers, 1);
	GDir *dir = g_dir_open("/proc", 0, NULL);
	const char *name;
	struct stat st;

	numbers->time_ns = (uint64_t)pp_clock_now_ns();
	numbers->all = g_array_new(FALSE, FALSE, sizeof(struct number));
	if (stat("/proc/self/ns/pid", &st) == 0)
		numbers->pid_namespace = (uint32_t)st.st_ino;
	while (dir && (name = g_dir_read_name(dir))) {
		struct number number = {.pid = (pid_t)g_ascii_strtoll(name, NULL, 10)};

		if (number.pid <= 0)
			continue;
		number.own = own_number(name, &number.is_below);
		if (number.own > 0)
			g_array_append_val(numbers->all, number);
	}
	if (dir)
		g_dir_close(dir);
	g_array_sort(numbers->all, compare);
	return numbers;
}

void pp_numbers_free(struct pp_numbers *numbers)
{
	if (!numbers)
		return;
	g_array_unref(numbers->all);
	g_free(numbers);
}

uint64_t pp_numbers_time_ns(const struct pp_numbers *numbers)
{
	return numbers->time_ns;
}

static bool is_own(const struct pp_numbers *numbers, uint32_t pid_namespace)
{
	return pid_namespace == 0 || pid_namespace == numbers->pid_namespace;
}

static guint first_of(const struct pp_numbers *numbers, pid_t own)
{
	guint low = 0, high = numbers->all->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(numbers->all, struct number, middle).own < own)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool pp_numbers_may_have(const struct pp_numbers *numbers, uint32_t pid_namespace, pid_t own,
			 bool (*is_it)(pid_t pid, void *arg), void *arg)
{
	bool is_below = !is_own(numbers, pid_namespace);

	if (is_below && numbers->pid_namespace != FIRST_NAMESPACE)
		return true;
	for (guint i = first_of(numbers, own); i < numbers->all->len; i++) {
		const struct number *number = &g_array_index(numbers->all, struct number, i);

		if (number->own != own)
			break;
		if ((number->is_below || !is_below) && is_it(number->pid, arg))
			return true;
	}
	return false;
}
