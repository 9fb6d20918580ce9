/* SPDX-License-Identifier: MIT */
/*
 * The symbol cache, as bytes and as files in a folder: an entry is read as it was stored, or not at
 * all. No file in the folder is trusted, followed as a symlink, or waited for.
 */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "symbols/cached_names.h"
#include "symbols/symbol_cache.h"

#define FOLDER "cache/gprof-mt/symbols"
#define KEY    "key"

static struct pp_cached_names *make_cached_names(void)
{
	static const struct pp_symbol function = {.start = 0x1000, .name = "_Z1fv"};
	static const struct pp_symbol variable = {
	    .start = 0x4000, .name = "calls.0", .is_local = true};
	static const struct pp_symbol none = {0};
	static const struct pp_raw_frame raw[] = {
	    {"inlined", "a.h", 3}, {NULL, NULL, 0}, {"_Z1fv", "a.c", 70000}};
	struct pp_cached_names *cached = pp_cached_names_new();
	g_autoptr(GArray) frames = g_array_new(FALSE, FALSE, sizeof(struct pp_raw_frame));

	CHECK(!pp_cached_names_have_grown(cached));
	pp_cached_names_add_symbol(cached, PP_SYMBOL_FUNCTION, 0x1005, &function);
	pp_cached_names_add_symbol(cached, PP_SYMBOL_FUNCTION, 0x9005, &none);
	pp_cached_names_add_symbol(cached, PP_SYMBOL_VARIABLE, UINT64_MAX, &variable);
	pp_cached_names_add_frames(cached, 0x9005, frames);
	g_array_append_vals(frames, raw, G_N_ELEMENTS(raw));
	pp_cached_names_add_frames(cached, 0x1005, frames);
	CHECK(pp_cached_names_have_grown(cached));
	return cached;
}

static void check_cached_names(const struct pp_cached_names *cached)
{
	const struct pp_symbol *symbol = pp_cached_names_symbol(cached, PP_SYMBOL_FUNCTION, 0x1005);
	const GArray *frames = pp_cached_names_frames(cached, 0x1005);
	const struct pp_raw_frame *raw = (const struct pp_raw_frame *)(const void *)frames->data;

	CHECK_STR(symbol->name, "_Z1fv");
	CHECK_INT(symbol->start, 0x1000);
	CHECK(!symbol->is_local);
	CHECK(!pp_cached_names_symbol(cached, PP_SYMBOL_VARIABLE, 0x1005));
	CHECK(!pp_cached_names_symbol(cached, PP_SYMBOL_FUNCTION, 0x9005)->name);
	symbol = pp_cached_names_symbol(cached, PP_SYMBOL_VARIABLE, UINT64_MAX);
	CHECK_STR(symbol->name, "calls.0");
	CHECK(symbol->is_local);
	CHECK_INT(pp_cached_names_frames(cached, 0x9005)->len, 0);
	CHECK_INT(frames->len, 3);
	CHECK_STR(raw[0].function, "inlined");
	CHECK(!raw[1].function && !raw[1].file && !raw[1].line);
	CHECK_STR(raw[2].file, "a.c");
	CHECK_INT(raw[2].line, 70000);
	CHECK(!pp_cached_names_frames(cached, 0x1006));
}

/* Tells whether the names are accepted; rejected data leaves no names. */
static bool is_taken(const uint8_t *data, gsize len, const char *key)
{
	struct pp_cached_names *cached = pp_cached_names_new();
	g_autoptr(GBytes) bytes = g_bytes_new(data, len);
	bool taken = pp_cached_names_read(cached, bytes, key);

	if (taken)
		check_cached_names(cached);
	else
		CHECK(!pp_cached_names_symbol(cached, PP_SYMBOL_FUNCTION, 0x1005));
	CHECK(!pp_cached_names_have_grown(cached));
	pp_cached_names_free(cached);
	return taken;
}

static void test_bytes(void)
{
	struct pp_cached_names *cached = make_cached_names();
	g_autoptr(GBytes) bytes = pp_cached_names_write(cached, KEY);
	g_autoptr(GBytes) again = NULL;
	gsize len;
	const uint8_t *data = g_bytes_get_data(bytes, &len);
	g_autofree uint8_t *changed = g_memdup2(data, len);

	check_cached_names(cached);
	CHECK(is_taken(data, len, KEY));
	CHECK(!is_taken(data, len, "another"));
	CHECK(!is_taken(data, len, ""));
	for (gsize cut = 0; cut < len; cut++)
		CHECK(!is_taken(data, cut, KEY));
	for (gsize i = 0; i < len * 8; i++) {
		changed[i / 8] ^= (uint8_t)(1u << i % 8);
		CHECK(!is_taken(changed, len, KEY));
		changed[i / 8] ^= (uint8_t)(1u << i % 8);
	}
	/* The same names give the same bytes. */
	pp_cached_names_free(cached);
	cached = pp_cached_names_new();
	CHECK(pp_cached_names_read(cached, bytes, KEY));
	again = pp_cached_names_write(cached, KEY);
	CHECK(g_bytes_equal(bytes, again));
	pp_cached_names_free(cached);
}

static void put(const char *name, const char *text)
{
	g_autoptr(GBytes) bytes = g_bytes_new(text, strlen(text));

	pp_symbol_cache_write(name, bytes);
}

/* expected NULL: the file does not exist. */
static void check_file(const char *name, const char *expected)
{
	g_autoptr(GBytes) bytes = pp_symbol_cache_read(name);
	gsize len = 0;
	const char *data = bytes ? g_bytes_get_data(bytes, &len) : NULL;
	g_autofree char *text = data ? g_strndup(data, len) : NULL;

	if (expected)
		CHECK_STR(text, expected);
	else
		CHECK(!text);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	CHECK(lstat(path, &st) == 0);
	return st.st_mode & 07777;
}

static unsigned n_files(void)
{
	GDir *dir = g_dir_open(FOLDER, 0, NULL);
	unsigned n = 0;

	while (g_dir_read_name(dir))
		n++;
	g_dir_close(dir);
	return n;
}

static void test_file(void)
{
	umask(0);
	check_file("one", NULL);
	put("one", "first");
	check_file("one", "first");
	put("one", "second");
	check_file("one", "second");
	CHECK_INT(mode_of("cache"), 0700);
	CHECK_INT(mode_of("cache/gprof-mt"), 0700);
	CHECK_INT(mode_of(FOLDER), 0700);
	CHECK_INT(mode_of(FOLDER "/one"), 0600);
	CHECK_INT(n_files(), 1);
	umask(022);
}

/* Without flags glib does not wait for the disk. */
static void make_text(const char *path, const char *text)
{
	CHECK(g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
}

/* Something else in place of a cache file. */
static void test_strange_files(void)
{
	g_autofree char *text = NULL;

	make_text("precious", "precious");
	CHECK(symlink("../../../precious", FOLDER "/link") == 0);
	check_file("link", NULL);
	put("link", "mine");
	check_file("link", "mine");
	CHECK(g_file_get_contents("precious", &text, NULL, NULL));
	CHECK_STR(text, "precious");
	CHECK(mkfifo(FOLDER "/pipe", 0600) == 0);
	check_file("pipe", NULL);
	CHECK(unlink(FOLDER "/pipe") == 0);
	CHECK(mkdir(FOLDER "/folder", 0700) == 0);
	check_file("folder", NULL);
	put("folder", "mine");
	CHECK(rmdir(FOLDER "/folder") == 0);
	make_text(FOLDER "/shared", "anybody's");
	CHECK(chmod(FOLDER "/shared", 0666) == 0);
	check_file("shared", NULL);
	make_text(FOLDER "/large", "");
	CHECK(truncate(FOLDER "/large", PP_SYMBOL_CACHE_FILE_BYTES + 1) == 0);
	check_file("large", NULL);
	CHECK(unlink(FOLDER "/large") == 0);
}

/* If the folder cannot be used, nothing is stored and no error is reported. */
static void test_no_folder(void)
{
	struct rlimit limit, small;

	check_file("one", "second");
	CHECK(chmod(FOLDER, 0720) == 0);
	check_file("one", NULL);
	CHECK(chmod(FOLDER, 0700) == 0);
	CHECK(rename(FOLDER, "elsewhere") == 0 && symlink("../../elsewhere", FOLDER) == 0);
	check_file("one", NULL);
	CHECK(unlink(FOLDER) == 0 && rename("elsewhere", FOLDER) == 0);
	check_file("one", "second");

	CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
	small = (struct rlimit){.rlim_cur = 3, .rlim_max = limit.rlim_max};
	CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
	put("one", "longer");
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	check_file("one", "second");

	g_setenv("XDG_CACHE_HOME", "/proc/none", TRUE);
	put("one", "nowhere");
	check_file("one", NULL);
	g_setenv("XDG_CACHE_HOME", "cache", TRUE);
	g_unsetenv("HOME");
	put("one", "nowhere");
	check_file("one", NULL);
}

static void set_age(const char *path, int64_t seconds)
{
	struct timespec times[2] = {{.tv_sec = time(NULL) - seconds}};

	times[1] = times[0];
	CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
}

static void make_file(const char *name, int64_t age_seconds, off_t bytes)
{
	g_autofree char *path = g_build_filename(FOLDER, name, NULL);

	make_text(path, "x");
	CHECK(truncate(path, bytes) == 0);
	set_age(path, age_seconds);
}

static bool is_there(const char *name)
{
	g_autofree char *path = g_build_filename(FOLDER, name, NULL);

	return access(path, F_OK) == 0;
}

/* The files that were not used for longest are deleted first; reading counts as use. */
static void test_number(void)
{
	make_file("used", 20000, 1);
	make_file("old", 10000, 1);
	/* New names, since replacing a file is slow on some disks. */
	for (unsigned i = 0; i < PP_SYMBOL_CACHE_FILES; i++) {
		g_autofree char *path = g_strdup_printf(FOLDER "/old-%u", i);

		CHECK(link(FOLDER "/old", path) == 0);
	}
	check_file("used", "x");
	put("new", "new");
	CHECK_INT(n_files(), PP_SYMBOL_CACHE_FILES);
	CHECK(is_there("used") && is_there("new") && is_there("one"));
	for (unsigned i = 0; i < PP_SYMBOL_CACHE_FILES; i++) {
		g_autofree char *path = g_strdup_printf(FOLDER "/old-%u", i);

		unlink(path);
	}
	unlink(FOLDER "/old");
}

static void test_size(void)
{
	static const char *const names[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8"};

	/* The files from before are too small to matter. */
	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
		make_file(names[i], 20000 - i, PP_SYMBOL_CACHE_FILE_BYTES);
	check_file("one", "second");
	put("newer", "newer");
	CHECK(!is_there("0") && !is_there("1") && is_there("2"));
	CHECK(is_there("one") && is_there("newer"));

	/* A temporary file of a killed process, and one of a running process. */
	make_text(FOLDER "/.new-1-a", "x");
	make_text(FOLDER "/.new-2-b", "x");
	set_age(FOLDER "/.new-1-a", 7200);
	put("newest", "newest");
	CHECK(!is_there(".new-1-a") && is_there(".new-2-b"));
}

int main(void)
{
	g_autofree char *here = g_get_current_dir();
	g_autofree char *base = g_build_filename(here, "cache", NULL);

	test_bytes();
	g_setenv("XDG_CACHE_HOME", base, TRUE);
	test_file();
	test_strange_files();
	test_no_folder();
	g_setenv("XDG_CACHE_HOME", base, TRUE);
	test_number();
	test_size();
	return 0;
}
