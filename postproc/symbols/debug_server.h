/* SPDX-License-Identifier: MIT */
/*
 * Requests to the servers in DEBUGINFOD_URLS, which libdwfl makes by itself while it searches for a
 * debug file.  A server that sends nothing for DEBUGINFOD_TIMEOUT seconds (10 if it is not set) is
 * given up, and none is asked again by this process.  How much has arrived is shown (progress.h).
 */
#ifndef PP_SYMBOLS_DEBUG_SERVER_H
#define PP_SYMBOLS_DEBUG_SERVER_H

#include <stdbool.h>

#include <elfutils/libdwfl.h>

/* Around a search by this thread; `name` is the object that needs the file. */
void pp_debug_server_begin(Dwfl *dwfl, const char *name);
void pp_debug_server_end(bool found);

/* True if a server was given up: a file that is not here may be there. */
bool pp_debug_server_is_silent(void);

#endif
