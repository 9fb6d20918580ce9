/* SPDX-License-Identifier: MIT */
/*
 * Who cuts short a file that is mapped takes pages away from whoever looks at them, and so does a
 * disk that fails: a signal, SIGBUS, which would end the program.  Guarded, zeros are in their
 * place, which are as good as any: what is read from an index is checked when it is followed.
 *
 * One index at a time.
 */
#ifndef PP_INDEX_GUARD_H
#define PP_INDEX_GUARD_H

#include "index/index.h"

/* From now on, until it is freed. */
void pp_index_guard(const struct pp_index *index);
void pp_index_unguard(const struct pp_index *index);

/* Has anything been missing? */
bool pp_index_is_torn(void);

#endif
