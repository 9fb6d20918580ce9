/* SPDX-License-Identifier: MIT */
/* Writes the TSDL declarations of event classes, for all writers of the kernel's metadata. */
#ifndef PP_RECORD_CTF_DECLARATION_H
#define PP_RECORD_CTF_DECLARATION_H

#include <stdbool.h>

#include <glib.h>

/*
 * Appends an integer member.  An underscore is put before its name, which readers remove: some
 * names are keywords of TSDL.  is_hex: readers show it in hexadecimal.
 */
void pp_declare_integer(GString *members, const char *name, unsigned bytes, bool is_signed,
			bool is_hex);

/* Appends an event class.  context, fields: their members, "int32_t tid;"; may be "". */
void pp_declare_event(GString *text, const char *name, unsigned id, const char *context,
		      const char *fields);

#endif
