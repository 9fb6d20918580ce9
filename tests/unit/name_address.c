/* SPDX-License-Identifier: MIT */
/*
 * name_address OBJECT BUILD_ID|- BIAS {f|s|i|o|b}ADDRESS...: prints names for run-time addresses in
 * an object loaded at BIAS (all numbers are hexadecimal). f: function of a return address; s: call
 * site; i: inlined frames of a call site, one per line; o: variable; bADDRESS:SIZE:OFFSET: part of
 * a heap block allocated by the call that returns there. "-" also reads addresses from standard
 * input. GM_DEMANGLE=full|simple|no and GM_NO_INLINE=1 correspond to options of gprof-mt.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/capture.h"
#include "symbols/symbols.h"

static void print_frames(const struct pp_namer *namer, const struct pp_process *process,
			 uint64_t address)
{
	g_autoptr(GPtrArray) frames = namer->frames(namer->data, process, address);

	for (guint i = 0; i < frames->len; i++)
		printf("%s\n", ((struct pp_frame *)frames->pdata[i])->site);
}

static void print_name(const struct pp_namer *namer, const struct pp_process *process,
		       const char *asked)
{
	char *end;
	uint64_t address = strtoull(asked + 1, &end, 16), size;
	char *name;

	if (asked[0] == 'i') {
		print_frames(namer, process, address);
		return;
	}
	if (asked[0] == 'b') {
		size = strtoull(end + 1, &end, 16);
		name = namer->allocated(namer->data, process, address, size,
					strtoull(end + 1, NULL, 16));
	} else {
		name = (asked[0] == 'f'	  ? namer->function
			: asked[0] == 's' ? namer->site
					  : namer->object)(namer->data, process, address);
	}
	printf("%s\n", name ? name : "-");
	g_free(name);
}

static struct pp_symbols_options options_of_environment(void)
{
	const char *how = g_getenv("GM_DEMANGLE");

	return (struct pp_symbols_options){
	    .demangle = g_strcmp0(how, "simple") == 0 ? PP_DEMANGLE_SIMPLE
			: g_strcmp0(how, "no") == 0   ? PP_DEMANGLE_NO
						      : PP_DEMANGLE_FULL,
	    .no_inline = g_getenv("GM_NO_INLINE") != NULL,
	};
}

int main(int argc, char **argv)
{
	struct pp_symbols_options options = options_of_environment();
	struct pp_model *model = pp_model_new("none");
	struct pp_process *process = pp_model_add_process(model, 1, "1");
	struct pp_symbols *symbols = pp_symbols_new(model, &options);
	struct pp_namer namer = pp_symbols_namer(symbols);
	struct pp_load load = {.end = UINT64_MAX};
	char line[64];

	if (argc < 5)
		return 2;
	load.path = argv[1];
	load.build_id = strcmp(argv[2], "-") == 0 ? NULL : argv[2];
	load.bias = strtoull(argv[3], NULL, 16);
	process->maps = g_array_new(FALSE, FALSE, sizeof(load));
	g_array_append_val(process->maps, load);
	for (int i = 4; i < argc; i++)
		if (strcmp(argv[i], "-") != 0)
			print_name(&namer, process, argv[i]);
		else
			while (fgets(line, sizeof(line), stdin))
				print_name(&namer, process, line);
	pp_symbols_free(symbols);
	pp_model_free(model);
	/* libdwfl closes descriptors that it does not own if it is called the wrong way. */
	if (fcntl(STDIN_FILENO, F_GETFD) < 0)
		printf("standard input was closed\n");
	return 0;
}
