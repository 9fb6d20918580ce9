/* SPDX-License-Identifier: MIT */
#ifndef PP_CORE_TEXT_HOST_H
#define PP_CORE_TEXT_HOST_H

#include "core/text/json.h"

/*
 * The machine of info.json, as "NAME: Linux 6.1.0 x86_64, 8 CPUs"; NULL if info.json has none.  The
 * caller frees it.
 */
char *pp_host_text(JsonObject *info);

#endif
