/* SPDX-License-Identifier: MIT */
#include "export/gzip.h"

#include <errno.h>

#define BATCH_BYTES 65536

void pp_gzip_init(struct pp_gzip *gzip, struct pp_out *out)
{
	*gzip = (struct pp_gzip){
	    .bytes = g_byte_array_new(),
	    .compressor = g_zlib_compressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP, -1),
	    .out = out,
	};
}

void pp_gzip_done(struct pp_gzip *gzip)
{
	g_byte_array_unref(gzip->bytes);
	g_object_unref(gzip->compressor);
	g_free(gzip->failure);
}

static void compress(struct pp_gzip *gzip, GConverterFlags flags)
{
	g_autofree char *step = g_malloc(BATCH_BYTES);
	GConverterResult result = G_CONVERTER_CONVERTED;
	size_t at = 0;

	while (!gzip->failure && (flags & G_CONVERTER_INPUT_AT_END ? result != G_CONVERTER_FINISHED
								   : at < gzip->bytes->len)) {
		g_autoptr(GError) error = NULL;
		gsize n_read, n_written;

		result = g_converter_convert(G_CONVERTER(gzip->compressor), gzip->bytes->data + at,
					     gzip->bytes->len - at, step, BATCH_BYTES, flags,
					     &n_read, &n_written, &error);
		if (result == G_CONVERTER_ERROR) {
			gzip->failure = g_strdup(error->message);
			break;
		}
		at += n_read;
		g_string_append_len(gzip->out->text, step, (gssize)n_written);
		pp_out_flush(gzip->out);
	}
	g_byte_array_set_size(gzip->bytes, 0);
}

void pp_gzip_flush(struct pp_gzip *gzip)
{
	if (gzip->bytes->len >= BATCH_BYTES)
		compress(gzip, G_CONVERTER_NO_FLAGS);
}

int pp_gzip_finish(struct pp_gzip *gzip, struct pp_error *err)
{
	compress(gzip, G_CONVERTER_INPUT_AT_END);
	return gzip->failure ? pp_error_add(err, -EIO, "cannot compress: %s", gzip->failure) : 0;
}
