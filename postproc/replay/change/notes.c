/* SPDX-License-Identifier: MIT */
/* Notes about a change say what the prediction cannot know. */
#include <stdarg.h>

#include "replay/change/internal.h"

void pp_change_note(GPtrArray *notes, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	g_ptr_array_add(notes, g_strdup_vprintf(format, arguments));
	va_end(arguments);
}
