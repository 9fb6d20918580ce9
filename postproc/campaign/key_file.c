/* SPDX-License-Identifier: MIT */
/* See key_file.h.  Checks the lines first, so that a message never has one of a binary file. */
#include "campaign/key_file.h"

#include <errno.h>
#include <string.h>

struct lines {
	unsigned number;	   /* of the current line */
	char *group;		   /* NULL: no group yet */
	GHashTable *groups, *keys; /* sets of names; keys: of the current group */
};

static int check_group(struct lines *lines, const char *line, struct pp_error *err)
{
	g_free(lines->group);
	lines->group = g_strdup(line);
	g_hash_table_remove_all(lines->keys);
	if (g_hash_table_add(lines->groups, g_strdup(line)))
		return 0;
	return pp_error_add(err, -EINVAL, "line %u: a second %s: give each group a name of its own",
			    lines->number, line);
}

static int check_line(struct lines *lines, const char *line, struct pp_error *err)
{
	const char *equals = strchr(line, '=');
	char *key;

	if (!*line || *line == '#')
		return 0;
	if (*line == '[')
		return check_group(lines, line, err);
	if (!equals || equals == line)
		return pp_error_add(err, -EINVAL,
				    "line %u: expected [GROUP], KEY=VALUE or # COMMENT",
				    lines->number);
	key = g_strchomp(g_strndup(line, (gsize)(equals - line)));
	if (g_hash_table_add(lines->keys, key))
		return 0;
	return pp_error_add(err, -EINVAL, "line %u: a second %s= in %s: remove one of them",
			    lines->number, key, lines->group);
}

static int check_text(const char *text, gsize len, struct pp_error *err)
{
	struct lines lines = {.groups =
				  g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
			      .keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
	g_auto(GStrv) all = g_strsplit(text, "\n", -1);
	const char *end;
	int rc = 0;

	if (!g_utf8_validate(text, (gssize)len, &end))
		rc = pp_error_add(err, -EINVAL, "no key file: the byte at %zu is not UTF-8",
				  (size_t)(end - text));
	for (char **line = all; *line && rc == 0; line++) {
		lines.number++;
		rc = check_line(&lines, g_strstrip(*line), err);
	}
	g_hash_table_unref(lines.groups);
	g_hash_table_unref(lines.keys);
	g_free(lines.group);
	return rc;
}

int pp_key_file_read(const char *path, GKeyFile **ret, struct pp_error *err)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_autoptr(GError) failure = NULL;
	g_autofree char *text = NULL;
	gsize len = 0;
	int rc;

	if (g_file_test(path, G_FILE_TEST_EXISTS) && !g_file_test(path, G_FILE_TEST_IS_REGULAR))
		return pp_error_add(err, -EINVAL, "%s: not a regular file", path);
	if (!g_file_get_contents(path, &text, &len, &failure))
		return pp_error_add(err, -EIO, "%s", failure->message);
	rc = check_text(text, len, err);
	if (rc == 0 && !g_key_file_load_from_data(file, text, len, G_KEY_FILE_NONE, &failure))
		rc = pp_error_add(err, -EINVAL, "%s", failure->message);
	if (rc)
		return pp_error_add(err, rc, "%s", path);
	*ret = g_steal_pointer(&file);
	return 0;
}
