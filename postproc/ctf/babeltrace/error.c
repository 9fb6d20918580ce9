/* SPDX-License-Identifier: MIT */
/* Takes the causes from Babeltrace's error of the current thread. */
#include "ctf/babeltrace/error.h"

#include <errno.h>
#include <string.h>

#include <babeltrace2/babeltrace.h>

void pp_bt_error_take(struct pp_error *err)
{
	const bt_error *error = bt_current_thread_take_error();

	if (!error)
		return;
	for (uint64_t i = 0; i < bt_error_get_cause_count(error); i++)
		pp_error_add(err, -EIO, "%s",
			     bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, i)));
	bt_error_release(error);
}

char *pp_bt_cause_take(void)
{
	struct pp_error err = PP_ERROR_INIT;
	char *cause, *details;

	pp_bt_error_take(&err);
	cause = err.causes ? g_strdup(err.causes->pdata[0]) : NULL;
	pp_error_done(&err);
	/* Strip details for Babeltrace's developers: ": msg-it-addr=0x55f0, state=...". */
	details = cause ? strstr(cause, "addr=") : NULL;
	while (details && details > cause && *details != ':')
		*details-- = '\0';
	if (details && *details == ':')
		*details = '\0';
	return cause;
}
