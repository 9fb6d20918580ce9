/* SPDX-License-Identifier: MIT */
/* Finds the names of start routines, which threads without a name of their own are shown with. */
#ifndef PP_ANALYSIS_THREAD_ROUTINES_H
#define PP_ANALYSIS_THREAD_ROUTINES_H

#include "core/model.h"
#include "core/namer.h"

/*
 * Sets the routine of each thread whose start routine has a name.  That of a std::thread is the
 * function that it was given, or its class, if the thread's counted calls tell it, and not the
 * library's routine, which calls it.
 */
void pp_name_routines(const struct pp_model *model, const struct pp_namer *namer);

#endif
