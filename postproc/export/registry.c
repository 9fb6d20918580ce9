/* SPDX-License-Identifier: MIT */
/* The list of export formats, in the order of --help. */
#include "export/exporter.h"

#define EXPORTERS(X)                                                                               \
	X(folded_calls)                                                                            \
	X(folded_time)                                                                             \
	X(folded_samples)                                                                          \
	X(folded_off_cpu)                                                                          \
	X(folded_off_wake)                                                                         \
	X(folded_wall)                                                                             \
	X(folded_blame)                                                                            \
	X(gmon_merged)                                                                             \
	X(gmon_threads)                                                                            \
	X(callgrind)                                                                               \
	X(perfetto)                                                                                \
	X(speedscope_time)                                                                         \
	X(speedscope_calls)                                                                        \
	X(speedscope_samples)                                                                      \
	X(speedscope_off_cpu)                                                                      \
	X(speedscope_off_wake)                                                                     \
	X(speedscope_wall)                                                                         \
	X(speedscope_blame)                                                                        \
	X(pprof)                                                                                   \
	X(html)

#define DECLARE(name) extern const struct pp_exporter pp_exporter_##name;
#define LIST(name)    &pp_exporter_##name,

EXPORTERS(DECLARE)

const struct pp_exporter *const pp_exporters[] = {EXPORTERS(LIST) NULL};

void pp_export_note(const struct pp_export *export, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_ptr_array_add(export->notes, g_strdup_vprintf(format, args));
	va_end(args);
}
