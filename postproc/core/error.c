/* SPDX-License-Identifier: MIT */
/* The chain is one string per cause, joined for output. */
#include "core/error.h"

#include "core/text/printable.h"

int pp_error_add(struct pp_error *err, int code, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	if (!err->causes)
		err->causes = g_ptr_array_new_with_free_func(g_free);
	va_start(args, format);
	g_ptr_array_add(err->causes, g_strdup_vprintf(format, args));
	va_end(args);
	return code;
}

char *pp_error_text(const struct pp_error *err)
{
	GString *text = g_string_new(NULL);

	if (!err->causes || !err->causes->len)
		g_string_append(text, "unknown error");
	else
		for (guint i = err->causes->len; i-- > 0;) {
			g_string_append(text, err->causes->pdata[i]);
			if (i)
				g_string_append(text, ": ");
		}
	/* A cause may quote untrusted data: keep it in one line. */
	return pp_printable(g_strdelimit(g_string_free(text, FALSE), "\n\t", ' '));
}

void pp_error_done(struct pp_error *err)
{
	g_clear_pointer(&err->causes, g_ptr_array_unref);
}
