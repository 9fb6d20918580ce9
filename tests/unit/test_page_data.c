/* SPDX-License-Identifier: MIT */
/*
 * Data of the page: sums with merged bins, the selection of rows to keep, the packing, and the
 * source files that may be included.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-glib/json-glib.h>

#include "check.h"
#include "core/source_file.h"
#include "export/html/html.h"

/* --- sums ----------------------------------------------------------------------------------- */

static const struct pp_sums_kind kind = {"of", {"bin", "what"}, {"sum", "most", "null"}, 1u << 1};

static uint64_t *at(struct pp_sums *sums, uint32_t bin, uint32_t what)
{
	uint32_t key[PP_SUMS_KEYS] = {bin, what};

	return pp_sums_at(sums, key);
}

/* Every bin of 3,000 keys, so that the table grows; then half of them, and so on. */
static void check_halves(void)
{
	struct pp_sums sums;

	pp_sums_init(&sums, &kind);
	for (uint32_t i = 0; i < 3000 * 8; i++) {
		uint64_t *figures = at(&sums, i % 8, i / 8);

		figures[0] += i % 8 + 1;
		figures[1] = i % 8 * 10;
		figures[2] = i % 8 == 5 ? PP_SUMS_NOT_KNOWN : 1;
	}
	at(&sums, PP_SUMS_NONE, 7)[0] = 99;
	CHECK_INT(sums.rows->len, 3000 * 8 + 1);
	pp_sums_halve(&sums);
	CHECK_INT(sums.rows->len, 3000 * 4 + 1);
	CHECK_INT(at(&sums, 2, 1234)[0], 5 + 6);
	CHECK_INT(at(&sums, 2, 1234)[1], 50);
	CHECK_INT(at(&sums, 2, 1234)[2], PP_SUMS_NOT_KNOWN);
	CHECK_INT(at(&sums, 3, 1234)[2], 2);
	CHECK_INT(at(&sums, PP_SUMS_NONE, 7)[0], 99);
	pp_sums_halve(&sums);
	pp_sums_halve(&sums);
	CHECK_INT(sums.rows->len, 3000 + 1);
	CHECK_INT(at(&sums, 0, 2999)[0], 36);
	CHECK_INT(at(&sums, 0, 2999)[1], 70);
	pp_sums_done(&sums);
}

/* --- what is kept --------------------------------------------------------------------------- */

static void note(struct pp_html_choice *choice, uint32_t what, uint32_t first, uint32_t last,
		 uint64_t cost)
{
	uint32_t key[PP_SUMS_KEYS] = {0, what};

	pp_html_choice_note(choice, key, first, last, cost);
}

static bool is_chosen(const struct pp_html_choice *choice, uint32_t what)
{
	uint32_t key[PP_SUMS_KEYS] = {0, what};

	return pp_html_is_chosen(choice, key);
}

/* The number of bins of each key decides; the same bin twice is one row. */
static void check_choice(void)
{
	struct pp_html_choice choice = {0};

	CHECK(is_chosen(&choice, 5));
	pp_html_choice_init(&choice);
	note(&choice, 1, 0, 255, 10);
	note(&choice, 2, 3, 3, 50);
	note(&choice, 2, 3, 4, 50);
	note(&choice, 3, 70, 70, 90);
	note(&choice, 4, 0, 0, 5);
	pp_html_choose(&choice, 3);
	CHECK(is_chosen(&choice, 2));
	CHECK(is_chosen(&choice, 3));
	CHECK(!is_chosen(&choice, 1));
	CHECK(!is_chosen(&choice, 4));
	CHECK(!is_chosen(&choice, 9));
	CHECK_INT(choice.n_kept, 2);
	pp_html_choice_done(&choice);
}

/* Each instant lies in exactly one bin, whatever the total length. */
static void check_bins(void)
{
	struct pp_html html = {.from_ns = 1000};

	for (int64_t length_ns = PP_HTML_BINS; length_ns < 3 * PP_HTML_BINS; length_ns += 7) {
		html.to_ns = html.from_ns + length_ns;
		for (int64_t at_ns = 0; at_ns < length_ns; at_ns++) {
			int64_t bin = pp_html_bin(&html, html.from_ns + at_ns);

			CHECK(length_ns * bin / PP_HTML_BINS <= at_ns);
			CHECK(length_ns * (bin + 1) / PP_HTML_BINS > at_ns);
			CHECK_INT(pp_html_bin_end(&html, html.from_ns + at_ns),
				  html.from_ns + length_ns * (bin + 1) / PP_HTML_BINS);
		}
		CHECK_INT(pp_html_bin(&html, html.to_ns), PP_HTML_BINS - 1);
	}
}

/* --- packing -------------------------------------------------------------------------------- */

static char *unpack(const char *text, gsize *ret_len)
{
	gsize n, n_read, n_written;
	g_autofree guchar *packed = g_base64_decode(text, &n);
	g_autoptr(GZlibDecompressor) gzip = g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP);
	char *plain = g_malloc(1 << 20);

	CHECK_INT(g_converter_convert(G_CONVERTER(gzip), packed, n, plain, 1 << 20,
				      G_CONVERTER_INPUT_AT_END, &n_read, &n_written, NULL),
		  G_CONVERTER_FINISHED);
	CHECK_INT(n_read, n);
	*ret_len = n_written;
	return plain;
}

/* More than one batch, with every kind of character. */
static void check_put(void)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_out out = {.text = g_string_new(NULL), .fd = -1};
	struct pp_put put;
	g_autofree char *plain = NULL;
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *document;
	JsonArray *numbers;
	gsize len;

	pp_put_init(&put, &out);
	pp_put_open(&put, NULL, '{');
	pp_put_text(&put, "text", "</script>\"\\\n\x1b\xff\xc3\xa9\xe2\x80\xae");
	pp_put_null(&put, "nothing");
	pp_put_open(&put, "numbers", '[');
	for (uint32_t i = 0; i < 20000; i++)
		pp_put_reference(&put, NULL, i % 2 ? i : UINT32_MAX);
	pp_put_close(&put, ']');
	pp_put_number(&put, "last", INT64_MIN);
	pp_put_close(&put, '}');
	CHECK_INT(pp_put_finish(&put, &err), 0);
	CHECK(!strpbrk(out.text->str, "<>\n"));
	plain = unpack(out.text->str, &len);
	CHECK(json_parser_load_from_data(parser, plain, (gssize)len, NULL));
	document = json_node_get_object(json_parser_get_root(parser));
	CHECK_STR(json_object_get_string_member(document, "text"), "</script>\"\\???\xc3\xa9?");
	CHECK(json_object_get_null_member(document, "nothing"));
	CHECK_INT(json_object_get_int_member(document, "last"), INT64_MIN);
	numbers = json_object_get_array_member(document, "numbers");
	CHECK_INT(json_array_get_length(numbers), 20000);
	CHECK_INT(json_array_get_int_element(numbers, 19999), 19999);
	CHECK_INT(json_array_get_int_element(numbers, 19998), -1);
	pp_put_done(&put);
	g_string_free(out.text, TRUE);
}

/* --- source files --------------------------------------------------------------------------- */

static void write_file(const char *path, const char *bytes, gssize n)
{
	CHECK(g_file_set_contents(path, bytes, n, NULL));
}

/*
 * why: NULL if any user may read the file; otherwise the reason why only its owner may include it.
 */
static void check_source(const char *path, const char *why, bool for_oneself)
{
	const char *told;
	g_autofree char *shared = pp_source_file_read(path, true, &told);
	g_autofree char *own = NULL;

	CHECK(!shared == !!told);
	CHECK_STR(told ?: "", why ?: "");
	own = pp_source_file_read(path, false, &told);
	CHECK(!own == !for_oneself);
}

static void check_sources(void)
{
	g_autofree char *line = pp_source_line("a\tb\x1b[1m\xff");

	CHECK_STR(line, "a       b?[1m?");
	write_file("plain.c", "int x;\n", -1);
	write_file("id_rsa", "secret\n", -1);
	write_file("zero.c", "a\0b", 3);
	CHECK_INT(symlink("id_rsa", "link.c"), 0);
	CHECK_INT(symlink("plain.c", "other.h"), 0);
	CHECK_INT(symlink("plain.c", "secret"), 0);
	CHECK_INT(mkfifo("pipe.c", 0600), 0);
	CHECK_INT(mkdir("folder.c", 0700), 0);
	CHECK_INT(close(open("long.c", O_CREAT | O_WRONLY, 0600)), 0);
	CHECK_INT(truncate("long.c", (16 << 20) + 1), 0);
	check_source("plain.c", NULL, true);
	check_source("other.h", NULL, true);
	check_source("id_rsa", "not the name of a source file", true);
	check_source("link.c", "not the name of a source file", true);
	check_source("secret", "not the name of a source file", true);
	check_source("zero.c", "no text", true);
	check_source("pipe.c", "no regular file", false);
	check_source("folder.c", "no regular file", false);
	check_source("long.c", "too long", false);
	check_source("none.c", g_strerror(ENOENT), false);
}

int main(void)
{
	check_halves();
	check_choice();
	check_bins();
	check_put();
	check_sources();
	return 0;
}
