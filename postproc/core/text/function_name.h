/* SPDX-License-Identifier: MIT */
/* Facts that the name of a function tells. */
#ifndef PP_CORE_TEXT_FUNCTION_NAME_H
#define PP_CORE_TEXT_FUNCTION_NAME_H

#include <stdbool.h>

/*
 * True for functions of the C++ library: "std::mutex::lock()", "void std::__invoke<...>(...)"; also
 * those of libgcc's interface to threads, "__gthread_mutex_lock".
 */
bool pp_is_library_function(const char *name);

/* False for the substitute of a name: "0x1234", "libc.so.6+0x1234", "libc.so.6, no symbols". */
bool pp_is_function_name(const char *name);

#endif
