/* SPDX-License-Identifier: MIT */
/* Derives getopt's tables and the help text from a subcommand's table of options. */
#include "cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/progress.h"

static struct pp_symbols_options symbols;
static bool is_quiet, is_wide;

const struct pp_symbols_options *pp_cli_symbols(void)
{
	return &symbols;
}

bool pp_cli_is_quiet(void)
{
	return is_quiet;
}

bool pp_cli_is_wide(void)
{
	return is_wide;
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
	return pp_cli_usage(command, "invalid --demangle '%s' (expected full, simple or no)",
			    value);
}

/* --- help ----------------------------------------------------------------------------------- */

/* Programs that parse the help recognize names and texts by at least two spaces between them. */
#define NAME_WIDTH 18
#define SECOND_AT  44
#define WIDTH	   80

/* "-i, --input DIR".  The caller frees the text. */
static char *option_name(const struct pp_cli_options *options, const struct pp_cli_option *option)
{
	char letter[] = {'-', (char)option->number, ',', ' ', '\0'};
	bool has_letter = g_ascii_isalpha(option->number) && strchr(options->letters, letter[1]);

	return g_strconcat(has_letter ? letter : "", "--", option->name, option->value ? " " : "",
			   option->value, NULL);
}

/* Prints two options per line if they fit.  The help of one whose value says all is empty. */
static void print_options(const struct pp_cli_options *options)
{
	size_t column = 0; /* 0: at the start of a line */

	for (const struct pp_cli_option *option = options->table; option->name; option++) {
		g_autofree char *name = option_name(options, option);
		size_t text_len;

		if (!option->help)
			continue;
		text_len = strlen(option->help);
		if (column && column + 2 <= SECOND_AT &&
		    SECOND_AT + strlen(name) + 2 + text_len <= WIDTH) {
			printf("%*s%s%s%s\n", (int)(SECOND_AT - column), "", name,
			       text_len ? "  " : "", option->help);
			column = 0;
			continue;
		}
		printf("%s  %-*s  %s", column ? "\n" : "", NAME_WIDTH, name, option->help);
		column = 2 + MAX(strlen(name), NAME_WIDTH) + 2 + text_len;
	}
	if (column)
		putchar('\n');
}

static void print_help(const struct pp_cli_options *options)
{
	printf("usage: gprof-mt %s\n", options->usage);
	/* With a list at its end, the help would not fit a screen. */
	if (options->table->name && !options->print_further)
		putchar('\n');
	print_options(options);
	if (options->print_further)
		options->print_further();
	printf("More: man gprof-mt-%s\n", options->command);
}

/* --- parsing -------------------------------------------------------------------------------- */

/* The table for getopt_long().  The caller frees it. */
static struct option *long_options(const struct pp_cli_options *options)
{
	GArray *table = g_array_new(TRUE, TRUE, sizeof(struct option));
	struct option help = {"help", no_argument, NULL, 'h'};

	for (const struct pp_cli_option *option = options->table; option->name; option++) {
		struct option to = {option->name, option->value ? required_argument : no_argument,
				    NULL, option->number};

		g_array_append_val(table, to);
	}
	g_array_append_val(table, help);
	return (struct option *)g_array_free(table, FALSE);
}

int pp_cli_count_behind(int argc, char *const *argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return argc - i - 1;
	return 0;
}

int pp_cli_options_read(const struct pp_cli_options *options, int argc, char **argv, void *data)
{
	g_autofree struct option *table = long_options(options);
	int option, status = PP_EXIT_GOOD;

	opterr = 0;
	while (status == PP_EXIT_GOOD &&
	       (option = getopt_long(argc, argv, options->letters, table, NULL)) != -1) {
		switch (option) {
		case 'h':
			print_help(options);
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
		case 'q':
			is_quiet = true;
			pp_cli_progress_silence();
			break;
		case PP_OPTION_WIDE:
			is_wide = true;
			break;
		default:
			status = options->take(data, option, optarg);
		}
	}
	return status == PP_EXIT_GOOD ? -1 : status;
}

/* Returns false if the format is none of these. */
static bool find_format(const char *value, enum pp_cli_format *ret_format)
{
	static const char *const words[] = {
	    [PP_CLI_TEXT] = "text",
	    [PP_CLI_JSON] = "json",
	    [PP_CLI_CSV] = "csv",
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(words); i++)
		if (strcmp(words[i], value) == 0) {
			*ret_format = (enum pp_cli_format)i;
			return true;
		}
	return false;
}

int pp_cli_take_format(const char *command, const char *value, enum pp_cli_format *ret_format)
{
	return find_format(value, ret_format)
		   ? PP_EXIT_GOOD
		   : pp_cli_usage(command, "invalid --format '%s' (expected text, json or csv)",
				  value);
}

int pp_cli_take_page_format(const char *command, const char *value, enum pp_cli_format *ret_format,
			    bool *ret_is_page)
{
	*ret_is_page = strcmp(value, "html") == 0;
	return *ret_is_page || find_format(value, ret_format)
		   ? PP_EXIT_GOOD
		   : pp_cli_usage(command,
				  "invalid --format '%s' (expected text, json, csv or html)",
				  value);
}
