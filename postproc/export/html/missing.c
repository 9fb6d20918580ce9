/* SPDX-License-Identifier: MIT */
/* Lists data that the page does not show, with reasons. */
#include "export/html/html.h"

void pp_html_miss(struct pp_html *html, const char *what, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_ptr_array_add(html->missing, g_strdup(what));
	g_ptr_array_add(html->missing, g_strdup_vprintf(format, args));
	va_end(args);
}
