/* SPDX-License-Identifier: MIT */
/* Passes on events of wanted kinds, and finds the thread on a stream's CPU. */
#include "ctf/stream.h"

void pp_stream_hand_over(struct pp_stream *stream, const struct pp_event *event)
{
	struct pp_decoder *decoder = stream->decoder;

	if (decoder->kinds & PP_EVENT_MASK(event->kind))
		decoder->take(decoder->data, event);
}

bool pp_stream_is_ours(struct pp_stream *stream, const struct pp_thread *thread,
		       const struct pp_thread *other, int64_t time_ns)
{
	if (!stream->all_programs)
		return true;
	if (!thread && !other)
		return false;
	pp_model_widen(stream->decoder->capture->model, time_ns);
	return true;
}

struct pp_thread *pp_stream_on_cpu(const struct pp_stream *stream)
{
	const GPtrArray *on_cpu = stream->decoder->on_cpu;

	return stream->cpu >= 0 && (guint)stream->cpu < on_cpu->len ? on_cpu->pdata[stream->cpu]
								    : NULL;
}
