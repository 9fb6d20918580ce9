/* SPDX-License-Identifier: MIT */
/*
 * The CTF metadata of a process' events, in TSDL, from a list of event classes.
 *
 * The clock has the boot id as uuid and the capture's common offset, so a reader can merge the
 * streams of all processes and of the kernel.
 */
#include "runtime/stream/metadata.h"

static void add_uuid(struct gm_text *text, const uint8_t uuid[16])
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned i = 0; i < 16; i++) {
		char pair[2] = {digits[uuid[i] >> 4], digits[uuid[i] & 15]};

		if (i == 4 || i == 6 || i == 8 || i == 10)
			gm_text_add(text, "-");
		gm_text_add_bytes(text, pair, 2);
	}
}

static void add_trace(struct gm_text *text, const uint8_t uuid[16])
{
	gm_text_add(text,
		    "/* CTF 1.8 */\n\n"
		    "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
		    "typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
		    "typealias integer { size = 24; align = 8; signed = false; } := uint24_t;\n"
		    "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
		    "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
		    "typealias integer { size = 24; align = 8; signed = false; base = 16; } := "
		    "address24_t;\n"
		    "typealias integer { size = 64; align = 8; signed = false; base = 16; } := "
		    "address_t;\n\n"
		    "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"");
	add_uuid(text, uuid);
	gm_text_add(text, "\";\n\tbyte_order = le;\n"
			  "\tpacket.header := struct {\n"
			  "\t\tuint32_t magic;\n"
			  "\t\tuint8_t uuid[16];\n"
			  "\t\tuint32_t stream_id;\n"
			  "\t\tuint64_t stream_instance_id;\n"
			  "\t};\n};\n\n");
}

static void add_environment(struct gm_text *text, const struct gm_metadata *metadata)
{
	gm_text_add(text, "env {\n\ttracer_name = \"gprof-mt\";\n\ttracer_version = \"" GM_VERSION
			  "\";\n\tvpid = ");
	gm_text_add_u64(text, metadata->pid);
	gm_text_add(text, ";\n};\n\n");
}

static void add_clock(struct gm_text *text, const struct gm_metadata *metadata)
{
	gm_text_add(text, "clock {\n\tname = \"monotonic\";\n\tuuid = \"");
	gm_text_add(text, metadata->clock_uuid);
	gm_text_add(text, "\";\n\tdescription = \"CLOCK_MONOTONIC\";\n\tfreq = 1000000000;\n"
			  "\toffset = ");
	gm_text_add_i64(text, metadata->clock_offset_ns);
	gm_text_add(text, ";\n};\n\n"
			  "typealias integer { size = 32; align = 8; signed = false; "
			  "map = clock.monotonic.value; } := clock32_t;\n"
			  "typealias integer { size = 64; align = 8; signed = false; "
			  "map = clock.monotonic.value; } := clock64_t;\n\n");
}

static void add_stream(struct gm_text *text)
{
	/* The bits above are GM_PACKET_FOLLOWED_*, which readers of events ignore. */
	gm_text_add(text, "typealias integer { size = 30; align = 8; signed = false; } := "
			  "tid_t;\n\nstream {\n\tid = 0;\n"
			  "\tpacket.context := struct {\n"
			  "\t\tuint64_t content_size;\n"
			  "\t\tuint64_t packet_size;\n"
			  "\t\tclock64_t timestamp_begin;\n"
			  "\t\tuint64_t events_discarded;\n"
			  "\t\ttid_t tid;\n"
			  "\t\tuint32_t index;\n"
			  "\t};\n"
			  "\tevent.header := struct {\n"
			  "\t\tenum : uint8_t { compact = 0 ... 254, extended = 255 } id;\n"
			  "\t\tvariant <id> {\n"
			  "\t\t\tstruct { clock32_t timestamp; } compact;\n"
			  "\t\t\tstruct { uint8_t id; clock64_t timestamp; } extended;\n"
			  "\t\t} v;\n"
			  "\t};\n};\n");
}

static void add_events(struct gm_text *text, const struct gm_event_class *events, unsigned n_events)
{
	for (unsigned i = 0; i < n_events; i++) {
		if (events[i].name == NULL)
			continue;
		gm_text_add(text, "\nevent {\n\tname = \"");
		gm_text_add(text, events[i].name);
		gm_text_add(text, "\";\n\tid = ");
		gm_text_add_u64(text, i);
		gm_text_add(text, ";\n\tstream_id = 0;\n\tfields := struct { ");
		gm_text_add(text, events[i].fields);
		gm_text_add(text, "};\n};\n");
	}
}

void gm_metadata_add(struct gm_text *text, const struct gm_metadata *metadata)
{
	add_trace(text, metadata->uuid);
	add_environment(text, metadata);
	add_clock(text, metadata);
	add_stream(text);
	add_events(text, metadata->events, metadata->n_events);
}
