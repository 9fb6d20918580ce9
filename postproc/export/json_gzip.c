/* SPDX-License-Identifier: MIT */
/* Writes JSON tokens through gzip and base64 incrementally. */
#include "export/json_gzip.h"

#include "core/text/printable.h"

static void put_base64(void *data, const char *bytes, size_t n_bytes)
{
	struct pp_put *put = data;
	GString *out = put->out->text;
	size_t at = out->len;

	g_string_set_size(out, at + (n_bytes / 3 + 1) * 4 + 4);
	at += g_base64_encode_step((const guchar *)bytes, n_bytes, FALSE, out->str + at,
				   &put->state, &put->save);
	g_string_truncate(out, at);
	pp_out_flush(put->out);
}

void pp_put_init(struct pp_put *put, struct pp_out *out)
{
	*put = (struct pp_put){.out = out, .json = {.to = g_string_new(NULL)}};
	pp_gzip_init(&put->gzip, put_base64, put);
}

void pp_put_done(struct pp_put *put)
{
	pp_gzip_done(&put->gzip);
	if (put->json.to)
		g_string_free(put->json.to, TRUE);
	put->json.to = NULL;
}

int pp_put_finish(struct pp_put *put, struct pp_error *err)
{
	GString *out = put->out->text;
	int rc = pp_gzip_finish(&put->gzip, put->json.to->str, put->json.to->len, err);
	size_t at;

	if (rc)
		return pp_error_add(err, rc, "the data of the page");
	at = out->len;
	g_string_set_size(out, at + 8);
	at += g_base64_encode_close(FALSE, out->str + at, &put->state, &put->save);
	g_string_truncate(out, at);
	return 0;
}

/* Returns the writer for the next value, after compressing a long buffer. */
struct pp_json_writer *pp_put_writer(struct pp_put *put)
{
	GString *text = put->json.to;

	if (text->len >= PP_GZIP_BATCH_BYTES) {
		pp_gzip_add(&put->gzip, text->str, text->len);
		g_string_truncate(text, 0);
	}
	return &put->json;
}

void pp_put_open(struct pp_put *put, const char *key, char bracket)
{
	pp_json_write_open(pp_put_writer(put), key, bracket);
}

void pp_put_close(struct pp_put *put, char bracket)
{
	pp_json_write_close(&put->json, bracket);
}

void pp_put_null(struct pp_put *put, const char *key)
{
	pp_json_write_null(pp_put_writer(put), key);
}

void pp_put_text(struct pp_put *put, const char *key, const char *text)
{
	g_autofree char *shown = text ? pp_printable(g_strdup(text)) : NULL;

	pp_json_write_text(pp_put_writer(put), key, shown);
}

void pp_put_number(struct pp_put *put, const char *key, int64_t number)
{
	pp_json_write_int(pp_put_writer(put), key, number);
}

void pp_put_double(struct pp_put *put, const char *key, double number)
{
	pp_json_write_double(pp_put_writer(put), key, number);
}

void pp_put_reference(struct pp_put *put, const char *key, uint32_t reference)
{
	pp_put_number(put, key, reference == UINT32_MAX ? -1 : (int64_t)reference);
}
