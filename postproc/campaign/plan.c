/* SPDX-License-Identifier: MIT */
/* Reads and checks tests, so that a mistake is found before the first run. */
#include "campaign/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "campaign/key_file.h"
#include "campaign/measure.h"
#include "core/text/json_writer.h"

/* Far more than can be run; protects against 1..1000000000. */
#define MAX_NUMBERS 10000

#define GROUP	 "test "
#define WORKLOAD "{w}"
#define THREADS	 "{t}"
#define SHARE	 "{w/t}"

unsigned pp_point_cpus(const struct pp_point *point)
{
	return point->cpus ? (unsigned)point->cpus : pp_measure_cpus();
}

void pp_test_free(void *data)
{
	struct pp_test *test = data;

	if (!test)
		return;
	g_free(test->name);
	g_strfreev(test->command);
	g_clear_pointer(&test->workload, g_array_unref);
	g_clear_pointer(&test->threads, g_array_unref);
	g_clear_pointer(&test->cpus, g_array_unref);
	g_free(test->check);
	g_free(test);
}

/* --- numbers -------------------------------------------------------------------------------- */

static bool read_number(const char **text, int64_t *ret)
{
	char *end;

	if (!g_ascii_isdigit(**text))
		return false;
	errno = 0;
	*ret = (int64_t)g_ascii_strtoull(*text, &end, 10);
	*text = end;
	return errno == 0 && *ret >= 1;
}

/* Adds FIRST, or FIRST..LAST[:STEP|*FACTOR]; false: the text is malformed. */
static bool add_range(const char *text, GArray *numbers)
{
	int64_t first, last, step = 1;
	bool multiplies = false;

	if (!read_number(&text, &first))
		return false;
	last = first;
	if (g_str_has_prefix(text, "..")) {
		text += 2;
		if (!read_number(&text, &last) || last < first)
			return false;
		multiplies = *text == '*';
		if (*text == ':' || *text == '*') {
			text++;
			if (!read_number(&text, &step) || (multiplies && step < 2))
				return false;
		}
	}
	if (*text)
		return false;
	while (first <= last && numbers->len < MAX_NUMBERS) {
		g_array_append_val(numbers, first);
		if (first > (multiplies ? INT64_MAX / step : INT64_MAX - step))
			break;
		first = multiplies ? first * step : first + step;
	}
	return true;
}

static bool rise(const GArray *numbers)
{
	for (guint i = 1; i < numbers->len; i++)
		if (g_array_index(numbers, int64_t, i) <= g_array_index(numbers, int64_t, i - 1))
			return false;
	return true;
}

int pp_numbers_read(const char *text, GArray **ret, struct pp_error *err)
{
	g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(int64_t));
	g_auto(GStrv) parts = g_strsplit(text, ",", -1);
	bool is_valid = true;

	for (char **part = parts; *part && is_valid; part++)
		is_valid = add_range(g_strstrip(*part), numbers);
	if (!is_valid || !numbers->len || !rise(numbers))
		return pp_error_add(err, -EINVAL,
				    "'%s' is not FIRST..LAST:STEP, FIRST..LAST*FACTOR or N,N,... "
				    "with rising numbers from 1 on",
				    text);
	*ret = g_steal_pointer(&numbers);
	return 0;
}

int pp_thread_numbers_read(const char *text, GArray **ret, struct pp_error *err)
{
	return pp_numbers_read(
	    text + (g_str_has_prefix(text, THREADS "=") ? strlen(THREADS "=") : 0), ret, err);
}

/* --- checks --------------------------------------------------------------------------------- */

static guint length(const GArray *numbers)
{
	return numbers ? numbers->len : 0;
}

static bool has_placeholder(const struct pp_test *test, const char *placeholder)
{
	for (char **word = test->command; *word; word++)
		if (strstr(*word, placeholder))
			return true;
	return false;
}

bool pp_test_shares_work(const struct pp_test *test)
{
	return has_placeholder(test, SHARE);
}

static int check_placeholders(const struct pp_test *test, struct pp_error *err)
{
	const char *share = pp_test_shares_work(test) ? SHARE : NULL;
	bool has_workload = share || has_placeholder(test, WORKLOAD);
	bool has_threads = share || has_placeholder(test, THREADS);

	if (length(test->workload) && !has_workload)
		return pp_error_add(err, -EINVAL,
				    "the command has no {w}: put it where the workload belongs");
	if (!length(test->workload) && has_workload)
		return pp_error_add(err, -EINVAL,
				    "the command has %s, but no workload is given: add a range, "
				    "such as 1000..20000:1000",
				    share ? share : WORKLOAD);
	if (length(test->threads) > 1 && !has_threads)
		return pp_error_add(err, -EINVAL,
				    "the command has no {t}: put it where the number of threads "
				    "belongs");
	if (!length(test->threads) && has_threads)
		return pp_error_add(err, -EINVAL,
				    "the command has %s, but no number of threads is given: add "
				    "threads, such as {t}=1,2,4",
				    share ? share : THREADS);
	return 0;
}

/* Rounded shares would be other work. */
static int check_shares(const struct pp_test *test, struct pp_error *err)
{
	if (!pp_test_shares_work(test))
		return 0;
	for (guint w = 0; w < test->workload->len; w++)
		for (guint t = 0; t < test->threads->len; t++) {
			int64_t workload = g_array_index(test->workload, int64_t, w);
			int64_t threads = g_array_index(test->threads, int64_t, t);

			if (workload % threads)
				return pp_error_add(err, -EINVAL,
						    "the command has {w/t}, but workload %" PRId64
						    " is no multiple of %" PRId64
						    " threads: choose multiples",
						    workload, threads);
		}
	return 0;
}

static int check_cpus(const struct pp_test *test, struct pp_error *err)
{
	unsigned n = pp_measure_cpus();

	for (guint i = 0; i < length(test->cpus); i++)
		if (g_array_index(test->cpus, int64_t, i) > n)
			return pp_error_add(err, -EINVAL,
					    "cpus: %" G_GINT64_FORMAT " of %u CPUs: name fewer",
					    g_array_index(test->cpus, int64_t, i), n);
	return 0;
}

static int check_program(const struct pp_test *test, struct pp_error *err)
{
	struct pp_point first = {
	    length(test->workload) ? g_array_index(test->workload, int64_t, 0) : 0, 0,
	    length(test->threads) ? g_array_index(test->threads, int64_t, 0) : 0};
	g_auto(GStrv) command = pp_test_command(test, &first);
	g_autofree char *path = g_find_program_in_path(command[0]);

	return path ? 0
		    : pp_error_add(err, -ENOENT,
				   "%s: no such command: give the path of an executable file",
				   command[0]);
}

int pp_test_check(const struct pp_test *test, struct pp_error *err)
{
	int rc = check_placeholders(test, err);

	if (rc)
		return rc;
	if (length(test->workload) < 2 && length(test->threads) < 2 && length(test->cpus) < 2)
		return pp_error_add(err, -EINVAL,
				    "nothing varies: give two workloads at least, or several "
				    "numbers of threads or CPUs");
	rc = check_shares(test, err);
	if (rc == 0)
		rc = check_cpus(test, err);
	return rc ? rc : check_program(test, err);
}

/* --- key file ------------------------------------------------------------------------------- */

static int read_numbers_key(GKeyFile *file, const char *group, const char *key,
			    int (*read)(const char *, GArray **, struct pp_error *), GArray **ret,
			    struct pp_error *err)
{
	g_autofree char *value = g_key_file_get_value(file, group, key, NULL);
	int rc = value ? read(value, ret, err) : 0;

	return rc ? pp_error_add(err, rc, "%s", key) : 0;
}

static int read_command(GKeyFile *file, const char *group, struct pp_test *test,
			struct pp_error *err)
{
	g_autofree char *command = g_key_file_get_value(file, group, "command", NULL);
	g_autoptr(GError) failure = NULL;

	if (!command)
		return pp_error_add(err, -EINVAL, "no command: add command=");
	if (!g_shell_parse_argv(command, NULL, &test->command, &failure))
		return pp_error_add(err, -EINVAL, "command: %s", failure->message);
	return 0;
}

static int read_warmup(GKeyFile *file, const char *group, struct pp_test *test,
		       struct pp_error *err)
{
	g_autofree char *value = g_key_file_get_value(file, group, "warmup", NULL);

	if (value && !g_ascii_string_to_signed(value, 10, 0, G_MAXINT, &test->warmup, NULL))
		return pp_error_add(err, -EINVAL, "warmup: '%s' is not a number of runs", value);
	return 0;
}

static int check_keys(GKeyFile *file, const char *group, struct pp_error *err)
{
	static const char *const known[] = {"command", "workload", "warmup", "check",
					    "threads", "cpus",	   NULL};
	g_auto(GStrv) keys = g_key_file_get_keys(file, group, NULL, NULL);

	for (char **key = keys; key && *key; key++)
		if (!g_strv_contains(known, *key))
			return pp_error_add(err, -EINVAL,
					    "unknown key '%s' (expected command, workload, "
					    "warmup, check, threads or cpus)",
					    *key);
	return 0;
}

static int read_test(GKeyFile *file, const char *group, struct pp_test *test, struct pp_error *err)
{
	int rc = check_keys(file, group, err);

	if (rc == 0)
		rc = read_command(file, group, test, err);
	if (rc == 0)
		rc = read_warmup(file, group, test, err);
	if (rc == 0)
		rc = read_numbers_key(file, group, "workload", pp_numbers_read, &test->workload,
				      err);
	if (rc == 0)
		rc = read_numbers_key(file, group, "threads", pp_thread_numbers_read,
				      &test->threads, err);
	if (rc == 0)
		rc = read_numbers_key(file, group, "cpus", pp_numbers_read, &test->cpus, err);
	test->check = g_key_file_get_value(file, group, "check", NULL);
	return rc ? rc : pp_test_check(test, err);
}

static bool is_name(const char *name)
{
	return *name && *name != '.' &&
	       !name[strspn(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_.-")];
}

static int read_group(GKeyFile *file, const char *group, GPtrArray *tests, struct pp_error *err)
{
	struct pp_test *test;
	int rc;

	if (!g_str_has_prefix(group, GROUP) || !is_name(group + strlen(GROUP)))
		return pp_error_add(err, -EINVAL,
				    "[%s]: expected [test NAME], with a name of letters, digits, "
				    "'_', '.' and '-'",
				    group);
	test = g_new0(struct pp_test, 1);
	g_ptr_array_add(tests, test);
	test->name = g_strdup(group + strlen(GROUP));
	rc = read_test(file, group, test, err);
	return rc ? pp_error_add(err, rc, "[%s]", group) : 0;
}

int pp_plan_read(const char *path, GPtrArray **ret_tests, struct pp_error *err)
{
	g_autoptr(GPtrArray) tests = g_ptr_array_new_with_free_func(pp_test_free);
	g_autoptr(GKeyFile) file = NULL;
	g_auto(GStrv) groups = NULL;
	int rc = pp_key_file_read(path, &file, err);

	if (rc)
		return rc;
	groups = g_key_file_get_groups(file, NULL);
	for (char **group = groups; *group && rc == 0; group++)
		rc = read_group(file, *group, tests, err);
	if (rc == 0 && !tests->len)
		rc = pp_error_add(err, -EINVAL, "no tests: add a group [test NAME]");
	if (rc)
		return pp_error_add(err, rc, "%s", path);
	*ret_tests = g_steal_pointer(&tests);
	return 0;
}

/* -------------------------------------------------------------------------------------------- */

static void replace(GString *word, const char *placeholder, int64_t number)
{
	g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, number);

	if (number)
		g_string_replace(word, placeholder, text, 0);
}

char **pp_test_command(const struct pp_test *test, const struct pp_point *point)
{
	guint n = g_strv_length(test->command);
	char **command = g_new0(char *, n + 1);

	for (guint i = 0; i < n; i++) {
		GString *word = g_string_new(test->command[i]);

		if (point->threads)
			replace(word, SHARE, point->workload / point->threads);
		replace(word, WORKLOAD, point->workload);
		replace(word, THREADS, point->threads);
		command[i] = g_string_free(word, FALSE);
	}
	return command;
}

static void write_numbers(struct pp_json_writer *json, const char *key, const GArray *numbers)
{
	pp_json_write_open(json, key, '[');
	for (guint i = 0; i < length(numbers); i++)
		pp_json_write_int(json, NULL, g_array_index(numbers, int64_t, i));
	pp_json_write_close(json, ']');
}

char *pp_plan_text(const GPtrArray *tests)
{
	struct pp_json_writer writer = {.to = g_string_new(NULL)}, *json = &writer;

	pp_json_write_open(json, NULL, '[');
	for (guint i = 0; i < tests->len; i++) {
		const struct pp_test *test = tests->pdata[i];

		pp_json_write_open(json, NULL, '{');
		pp_json_write_text(json, "test", test->name);
		pp_json_write_open(json, "command", '[');
		for (char **word = test->command; *word; word++)
			pp_json_write_text(json, NULL, *word);
		pp_json_write_close(json, ']');
		write_numbers(json, "workload", test->workload);
		write_numbers(json, "threads", test->threads);
		write_numbers(json, "cpus", test->cpus);
		pp_json_write_text(json, "check", test->check);
		pp_json_write_int(json, "warmup", test->warmup);
		pp_json_write_close(json, '}');
	}
	pp_json_write_close(json, ']');
	return g_string_free(writer.to, FALSE);
}
