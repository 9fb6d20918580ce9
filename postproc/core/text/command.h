/* SPDX-License-Identifier: MIT */
#ifndef PP_CORE_TEXT_COMMAND_H
#define PP_CORE_TEXT_COMMAND_H

#include "core/text/json.h"

/*
 * The command of info.json, quoted for a shell; NULL if info.json has none.  The caller frees it.
 */
char *pp_command_text(JsonObject *info);

#endif
