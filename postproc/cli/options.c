/* SPDX-License-Identifier: MIT */
#include "cli/options.h"

#include <inttypes.h>
#include <string.h>

#include "cli/commands.h"

static struct pp_symbols_options symbols;

const struct pp_symbols_options *pp_cli_symbols(void)
{
	return &symbols;
}

static int take_demangle(const char *command, const char *value)
{
	static const char *const words[] = {
	    [PP_DEMANGLE_FULL] = "full",
	    [PP_DEMANGLE_SIMPLE] = "simple",
	    [PP_DEMANGLE_NO] = "no",
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(words); i++)
		if (strcmp(words[i], value) == 0) {
			symbols.demangle = (enum pp_demangle)i;
			return PP_EXIT_GOOD;
		}
	return pp_cli_usage(command, "--demangle %s: it is full, simple or no", value);
}

int pp_cli_options_read(const struct pp_cli_options *options, int argc, char **argv, void *data)
{
	int option, status = PP_EXIT_GOOD;

	opterr = 0;
	while (status == PP_EXIT_GOOD &&
	       (option = getopt_long(argc, argv, options->letters, options->table, NULL)) != -1) {
		switch (option) {
		case 'h':
			options->print_help();
			return PP_EXIT_GOOD;
		case ':':
			return pp_cli_usage(options->command, "%s needs a value", argv[optind - 1]);
		case '?':
			return pp_cli_usage(options->command, "no option %s", argv[optind - 1]);
		case PP_OPTION_DEMANGLE:
			status = take_demangle(options->command, optarg);
			break;
		case PP_OPTION_NO_INLINE:
			symbols.no_inline = true;
			break;
		case PP_OPTION_NO_CACHE:
			symbols.no_cache = true;
			break;
		default:
			status = options->take(data, option, optarg);
		}
	}
	return status == PP_EXIT_GOOD ? -1 : status;
}

int pp_cli_take_format(const char *command, const char *value, enum pp_cli_format *ret_format)
{
	static const char *const words[] = {
	    [PP_CLI_TEXT] = "text",
	    [PP_CLI_JSON] = "json",
	    [PP_CLI_CSV] = "csv",
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(words); i++)
		if (strcmp(words[i], value) == 0) {
			*ret_format = (enum pp_cli_format)i;
			return PP_EXIT_GOOD;
		}
	return pp_cli_usage(command, "--format %s: it is text, json or csv", value);
}
