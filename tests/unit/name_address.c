/* SPDX-License-Identifier: MIT */
/*
 * name_address OBJECT BUILD_ID|- BIAS {f|s|o}ADDRESS...: names for run-time addresses in an object
 * loaded at BIAS (all hexadecimal): f: function of a return address, s: call site, o: variable.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/capture.h"
#include "input/symbols.h"

int main(int argc, char **argv)
{
	struct pp_model *model = pp_model_new("none");
	struct pp_process *process = pp_model_add_process(model, 1, "1");
	struct pp_symbols *symbols = pp_symbols_new(model);
	struct pp_namer namer = pp_symbols_namer(symbols);
	struct pp_load load = {.end = UINT64_MAX};

	if (argc < 5)
		return 2;
	load.path = argv[1];
	load.build_id = strcmp(argv[2], "-") == 0 ? NULL : argv[2];
	load.bias = strtoull(argv[3], NULL, 16);
	process->maps = g_array_new(FALSE, FALSE, sizeof(load));
	g_array_append_val(process->maps, load);
	for (int i = 4; i < argc; i++) {
		uint64_t address = strtoull(argv[i] + 1, NULL, 16);
		char *name = (argv[i][0] == 'f'	  ? namer.function
			      : argv[i][0] == 's' ? namer.site
						  : namer.object)(namer.data, process, address);

		printf("%s\n", name ? name : "-");
		g_free(name);
	}
	pp_symbols_free(symbols);
	pp_model_free(model);
	return 0;
}
