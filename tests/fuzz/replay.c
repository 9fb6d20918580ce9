/* SPDX-License-Identifier: MIT */
/*
 * replay [-m N] TARGET FILE...: runs the target on each file, then N times with a few changed
 * bytes, the same in each run. A sanitizer, or the target, aborts on an error.
 *
 * replay -w FILE DIR: writes the bytes of FILE to a file of DIR.
 *
 * replay: prints the targets.
 *
 * FILE.hex has bytes as hexadecimal digits; '#' starts a comment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "fuzz.h"

#define HEX ".hex"

static GByteArray *bytes_of(const char *path)
{
	GByteArray *bytes = g_byte_array_new();
	g_autofree char *text = NULL;
	char digits[3] = "";
	gsize len;

	if (!g_file_get_contents(path, &text, &len, NULL)) {
		fprintf(stderr, "replay: cannot read %s\n", path);
		exit(2);
	}
	if (!g_str_has_suffix(path, HEX))
		return g_byte_array_append(bytes, (const uint8_t *)text, (guint)len);
	for (char *at = text; *at; at++) {
		if (*at == '#')
			at += strcspn(at, "\n");
		if (!g_ascii_isxdigit(*at))
			continue;
		digits[digits[0] ? 1 : 0] = *at;
		if (digits[1]) {
			uint8_t byte = (uint8_t)strtoul(digits, NULL, 16);

			g_byte_array_append(bytes, &byte, 1);
			memset(digits, 0, sizeof(digits));
		}
	}
	return bytes;
}

static void change(GByteArray *bytes, GRand *rand)
{
	for (int n = g_rand_int_range(rand, 1, 5); n > 0 && bytes->len; n--) {
		guint at = (guint)g_rand_int_range(rand, 0, (gint32)bytes->len);

		switch (g_rand_int_range(rand, 0, 8)) {
		case 0:
			g_byte_array_set_size(bytes, at);
			break;
		case 1:
			g_byte_array_remove_index(bytes, at);
			break;
		case 2:
			bytes->data[at] = 0xff;
			break;
		default:
			bytes->data[at] = (uint8_t)g_rand_int(rand);
		}
	}
}

static void replay(const struct fuzz_target *target, const char *path, unsigned n_changed)
{
	g_autoptr(GByteArray) bytes = bytes_of(path);
	g_autoptr(GRand) rand = g_rand_new_with_seed(1);

	printf("%s %s, %u bytes\n", target->name, path, bytes->len);
	fflush(stdout);
	target->run(bytes->data ? bytes->data : (const uint8_t *)"", bytes->len);
	for (unsigned i = 0; i < n_changed; i++) {
		g_autoptr(GByteArray) changed = g_byte_array_new();

		g_byte_array_append(changed, bytes->data, bytes->len);
		change(changed, rand);
		target->run(changed->data ? changed->data : (const uint8_t *)"", changed->len);
	}
}

static int write_bytes(const char *path, const char *dir)
{
	g_autoptr(GByteArray) bytes = bytes_of(path);
	g_autofree char *name = g_path_get_basename(path);
	g_autofree char *to = NULL;

	/* The bytes would be read as digits. */
	if (g_str_has_suffix(name, HEX))
		name[strlen(name) - strlen(HEX)] = '\0';
	to = g_build_filename(dir, name, NULL);
	return g_file_set_contents(to, (const char *)bytes->data, (gssize)bytes->len, NULL) ? 0 : 1;
}

int main(int argc, char **argv)
{
	const struct fuzz_target *target;
	unsigned n_changed = 0;
	int first = 1;

	if (argc == 1) {
		fuzz_target_list();
		return 0;
	}
	if (argc == 4 && strcmp(argv[1], "-w") == 0)
		return write_bytes(argv[2], argv[3]);
	if (argc > 2 && strcmp(argv[1], "-m") == 0) {
		n_changed = (unsigned)strtoul(argv[2], NULL, 10);
		first = 3;
	}
	target = argc > first ? fuzz_target_find(argv[first]) : NULL;
	if (!target) {
		fprintf(stderr, "replay: unknown target\n");
		return 2;
	}
	for (int i = first + 1; i < argc; i++)
		replay(target, argv[i], n_changed);
	return 0;
}
