/* SPDX-License-Identifier: MIT */
#ifndef PP_CORE_COMMAND_H
#define PP_CORE_COMMAND_H

#include "core/json.h"

/* The command of info.json, as a shell takes it; NULL: it tells of none.  The caller frees it. */
char *pp_command_text(JsonObject *info);

#endif
