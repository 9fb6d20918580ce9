/* SPDX-License-Identifier: MIT */
#include "core/loss.h"

#include "gmon-mt/format.h"

static const struct {
	enum gm_loss why;
	const char *text;
} reasons[] = {
    {GM_LOSS_DISK, "no room on the disk"},
    {GM_LOSS_FILE_LIMIT, "the limit on the size of files (ulimit -f)"},
    {GM_LOSS_MEMORY, "no memory or address space"},
    {GM_LOSS_FILE, "a file could not be made, opened or written to"},
    {GM_LOSS_TOO_MANY, "more than can be numbered"},
    {GM_LOSS_TOO_EARLY, "before the program was relocated (IFUNC resolvers)"},
    {GM_LOSS_NO_FUNCTION, "made by hand, of no function"},
    {GM_LOSS_SECOND_COPY, "the program has libgmon_mt twice"},
};

char *pp_loss_text(const char *what, unsigned whys)
{
	GString *text = g_string_new(what);
	const char *before = ": ";

	for (guint i = 0; i < G_N_ELEMENTS(reasons); i++) {
		if (!(whys & reasons[i].why))
			continue;
		g_string_append(text, before);
		g_string_append(text, reasons[i].text);
		before = ", ";
	}
	return g_string_free(text, FALSE);
}
