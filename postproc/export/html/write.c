/* SPDX-License-Identifier: MIT */
/* See write.h. */
#include "export/html/write.h"

#include <errno.h>
#include <string.h>

#include "export/html/page/page.h"

bool pp_html_is_built(void)
{
	return pp_page_size > 0;
}

int pp_html_write(struct pp_out *out, struct pp_put *put, void (*put_document)(void *data),
		  void *data, struct pp_error *err)
{
	const char *marker = pp_page_size ? strstr(pp_page, PP_PAGE_MARKER) : NULL;
	int ret;

	if (!marker)
		return pp_error_add(err, -ENOTSUP,
				    "this gprof-mt was built without its page: install esbuild "
				    "and build again");
	g_string_append_len(out->text, pp_page, marker - pp_page);
	pp_put_init(put, out);
	put_document(data);
	ret = pp_put_finish(put, err);
	g_string_append(out->text, marker + strlen(PP_PAGE_MARKER));
	return ret;
}
