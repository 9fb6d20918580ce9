/* SPDX-License-Identifier: MIT */
/*
 * Reads only those events of streams that are in some windows of the time, at a cost that does not
 * depend on the size of the capture.
 *
 * A stream goes from window to window by the times of its packets.  It passes over a packet's
 * events before the window, but for the last few: with these, the passes know what the thread is
 * waiting for and which locks it holds.  The first event after a window is read, too, since it may
 * end a wait.  Passes thus see a thread's events with gaps (PP_EVENT_LOST), and select by the
 * windows what to count.
 */
#ifndef PP_CTF_WINDOWED_H
#define PP_CTF_WINDOWED_H

#include "core/windows.h"
#include "ctf/direct.h"
#include "ctf/sweep.h"

struct pp_windowed;

/* `windows` is filled in when the windows are placed; it is borrowed. */
struct pp_windowed *pp_windowed_new(struct pp_windows *windows, uint64_t max_bytes);
void pp_windowed_free(struct pp_windowed *windowed);

/* Adds a stream.  Returns its feed, which the caller frees with g_free(). */
struct pp_feed *pp_windowed_add(struct pp_windowed *windowed, struct pp_direct_stream *stream);

/*
 * To be called when all streams are added: places the windows in that time, so long that about
 * max_bytes are read.  Does nothing if the caller has placed them.
 */
void pp_windowed_place(struct pp_windowed *windowed, int64_t from_ns, int64_t to_ns);

#endif
