/* SPDX-License-Identifier: MIT */
/*
 * The profile configuration: one table of keys, one parser, one writer (config.h).
 *
 * The parser is strict: with a mistyped key, something other than intended would be profiled
 * silently.
 */
#include <errno.h>
#include <stdbool.h>

#include "gmon-mt/format.h"
#include "runtime/config/config.h"
#include "runtime/files/file.h"
#include "runtime/sys/sys.h"

#define WORDS_MAX 12
#define NS_PER_S  UINT64_C(1000000000)

#define RING_MAX_NS (3600 * NS_PER_S)

enum key_type {
	KEY_WORD,
	KEY_SET,
	KEY_SIZE,
	KEY_NUMBER,
	KEY_RATE,
	KEY_TIME,
	KEY_PATH,
	KEY_GLOBS,
	KEY_NAMES,
	KEY_RING
};

struct key {
	const char *group, *name;
	enum key_type type;
	size_t offset;
	/* name of value i (KEY_WORD) or of bit i (KEY_SET); NULL ends the list */
	const char *words[WORDS_MAX];
	/*
	 * KEY_SIZE: bytes; KEY_NUMBER; KEY_RATE: 0 is off; KEY_TIME: ns, ~0 is off; KEY_GLOBS: 0
	 * permits none; KEY_RING: bytes.
	 */
	uint64_t least, most;
};

#define FIELD(member)	offsetof(struct gm_config, member)
#define ALL_TYPES	((1u << GM_N_SYNC_TYPES) - 1)
#define TYPE_NAME(name) #name,

static const struct key keys[] = {
    {"profile", "level", KEY_WORD, FIELD(level), {"applic-only", "full-sched", "full"}, 0, 0},
    {"calls", "mode", KEY_WORD, FIELD(calls_mode), {"count", "history", "off"}, 0, 0},
    {"calls", "buffer", KEY_SIZE, FIELD(calls_buffer_bytes), {NULL}, 4096, 1u << 30},
    {"calls", "gmon", KEY_WORD, FIELD(gmon_writer), {"program", "record"}, 0, 0},
    {"calls", "gmon_threads", KEY_NUMBER, FIELD(gmon_threads), {NULL}, 0, 1u << 30},
    {"sync", "mode", KEY_WORD, FIELD(sync_mode), {"all", "contended", "off", "auto"}, 0, 0},
    {"sync", "budget", KEY_NUMBER, FIELD(sync_budget_percent), {NULL}, 1, 100},
    {"sync", "holds", KEY_WORD, FIELD(sync_holds), {"no", "yes"}, 0, 0},
    {"sync", "order", KEY_WORD, FIELD(sync_order), {"off", "on"}, 0, 0},
    {"sync", "buffer", KEY_SIZE, FIELD(sync_buffer_bytes), {NULL}, 16384, 1u << 30},
    {"sync", "sink", KEY_WORD, FIELD(sync_sink), {"native", "lttng", "both"}, 0, 0},
    {"sync", "types", KEY_SET, FIELD(sync_types), {GM_SYNC_TYPES(TYPE_NAME)}, 0, 0},
    {"sync", "include", KEY_GLOBS, FIELD(sync_include), {NULL}, 1, 0},
    {"sync", "exclude", KEY_GLOBS, FIELD(sync_exclude), {NULL}, 0, 0},
    {"sync", "paths", KEY_TIME, FIELD(sync_path_ns), {NULL}, 0, 3600 * NS_PER_S},
    {"sync", "path_depth", KEY_NUMBER, FIELD(sync_path_depth), {NULL}, 2, 240},
    {"sync", "path_sample", KEY_RATE, FIELD(sync_path_sample), {NULL}, 0, 1000000000},
    {"names", "wrappers", KEY_NAMES, FIELD(names_wrappers), {NULL}, 0, 0},
    {"access", "mode", KEY_WORD, FIELD(access_mode), {"compiled", "sampled", "off"}, 0, 0},
    {"access", "budget", KEY_NUMBER, FIELD(access_budget_percent), {NULL}, 1, 100},
    {"access", "steps", KEY_NUMBER, FIELD(access_steps), {NULL}, 10, 100000000},
    {"access", "blocks", KEY_WORD, FIELD(access_blocks), {"off", "on"}, 0, 0},
    {"io", "threshold", KEY_TIME, FIELD(io_threshold_ns), {NULL}, 0, 3600 * NS_PER_S},
    {"kernel",
     "source",
     KEY_WORD,
     FIELD(kernel),
     {"auto", "lttng", "bpf", "perf", "switches", "none"},
     0,
     0},
    {"kernel", "buffer", KEY_SIZE, FIELD(kernel_buffer_bytes), {NULL}, 16384, 1u << 30},
    {"kernel", "buffer_max", KEY_SIZE, FIELD(kernel_buffer_max_bytes), {NULL}, 16384, 1u << 30},
    {"sample", "hz", KEY_NUMBER, FIELD(sample_hz), {NULL}, 0, 1000},
    {"sample", "stacks", KEY_WORD, FIELD(sample_stacks), {"off", "on"}, 0, 0},
    {"output", "dir", KEY_PATH, FIELD(dir), {NULL}, 0, 0},
    {"output", "max", KEY_SIZE, FIELD(output_max_bytes), {NULL}, 1u << 20, UINT64_C(1) << 50},
    {"output", "ring", KEY_RING, FIELD(ring), {NULL}, 1u << 20, UINT64_C(1) << 50},
    {"output", "existing", KEY_WORD, FIELD(existing), {"rename", "join"}, 0, 0},
};
#define N_KEYS (sizeof(keys) / sizeof(keys[0]))

void gm_config_defaults(struct gm_config *config)
{
	*config = (struct gm_config){
	    .level = GM_LEVEL_FULL_SCHED,
	    .calls_mode = GM_CALLS_COUNT,
	    .calls_buffer_bytes = 4u << 20,
	    .gmon_writer = GM_GMON_PROGRAM,
	    .gmon_threads = 200,
	    .sync_mode = GM_SYNC_AUTO,
	    .sync_budget_percent = 5,
	    .sync_buffer_bytes = 1u << 20,
	    .sync_types = ALL_TYPES,
	    .sync_include = "*",
	    .sync_path_ns = 10000,
	    .sync_path_depth = 128,
	    .sync_path_sample = 1000,
	    .access_budget_percent = 5,
	    .access_steps = 10000,
	    .io_threshold_ns = 10000,
	    .kernel = GM_KERNEL_AUTO,
	    .kernel_buffer_bytes = 2u << 20,
	    .kernel_buffer_max_bytes = 16u << 20,
	    .sample_hz = 100,
	    .output_max_bytes = GM_OUTPUT_MAX,
	    .existing = GM_EXISTING_RENAME,
	    .dir = "gprof-mt.data",
	};
}

static const char *word_of(size_t offset, unsigned value)
{
	unsigned i = 0;

	while (keys[i].offset != offset)
		i++;
	return keys[i].words[value];
}

const char *gm_level_name(enum gm_level level)
{
	return word_of(FIELD(level), level);
}

const char *gm_kernel_source_name(enum gm_kernel_source source)
{
	return word_of(FIELD(kernel), source);
}

/* A part of the text: the file is parsed in place, without changes. */
struct span {
	const char *start, *end;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct span span_trim(struct span span)
{
	while (span.start < span.end && is_blank(*span.start))
		span.start++;
	while (span.start < span.end && is_blank(span.end[-1]))
		span.end--;
	return span;
}

static size_t span_length(struct span span)
{
	return (size_t)(span.end - span.start);
}

static bool span_is(struct span span, const char *word)
{
	size_t n = gm_strlen(word);

	return span_length(span) == n && memcmp(span.start, word, n) == 0;
}

/* The prefix of a diagnosis: "FILE:LINE: " or "--set: ". */
struct place {
	const char *file;
	unsigned line; /* 0: none */
};

static struct gm_text diagnose(struct gm_config_error *error, struct place place)
{
	struct gm_text text = GM_TEXT(error->text);

	gm_text_add(&text, place.file);
	if (place.line > 0) {
		gm_text_add(&text, ":");
		gm_text_add_u64(&text, place.line);
	}
	gm_text_add(&text, ": ");
	return text;
}

static void add_span(struct gm_text *text, struct span span)
{
	size_t n = span_length(span);

	gm_text_add(text, "'");
	/* The text goes to a terminal. */
	for (size_t i = 0; i < n && i < 64; i++) {
		unsigned char c = (unsigned char)span.start[i];

		gm_text_add_bytes(text, c < 0x20 || c == 0x7f ? "?" : &span.start[i], 1);
	}
	gm_text_add(text, "'");
}

static void add_accepted_values(struct gm_text *text, const struct key *key)
{
	switch (key->type) {
	case KEY_WORD:
	case KEY_SET:
		for (unsigned i = 0; key->words[i] != NULL; i++) {
			gm_text_add(text, i > 0 ? " | " : "");
			gm_text_add(text, key->words[i]);
		}
		if (key->type == KEY_SET)
			gm_text_add(text, " | all, separated by commas, - before excluded ones");
		break;
	case KEY_SIZE:
		gm_text_add(text, "bytes from ");
		gm_text_add_u64(text, key->least);
		gm_text_add(text, " to ");
		gm_text_add_u64(text, key->most);
		gm_text_add(text, ", optionally followed by K, M or G");
		break;
	case KEY_RATE:
		gm_text_add(text, "off, or ");
		__attribute__((fallthrough));
	case KEY_NUMBER:
		gm_text_add(text, "a number from ");
		gm_text_add_u64(text, key->least);
		gm_text_add(text, " to ");
		gm_text_add_u64(text, key->most);
		break;
	case KEY_TIME:
		gm_text_add(text, "off, 0, or a time of at most an hour, in ns, us, ms or s");
		break;
	case KEY_PATH:
		gm_text_add(text, "a path of fewer than ");
		gm_text_add_u64(text, GM_PATH_MAX - 256);
		gm_text_add(text, " bytes");
		break;
	case KEY_GLOBS:
		gm_text_add(text,
			    "module names without directory, with * and ?, separated by commas, ");
		gm_text_add(text, key->least == 0 ? "or none; fewer than " : "fewer than ");
		gm_text_add_u64(text, GM_GLOBS_MAX);
		gm_text_add(text, " bytes");
		break;
	case KEY_RING:
		gm_text_add(text, "off, 1s to 3600s, or bytes from ");
		gm_text_add_u64(text, key->least);
		break;
	case KEY_NAMES:
		gm_text_add(text, "names of functions without parameters, separated by commas, or "
				  "none; fewer than ");
		gm_text_add_u64(text, GM_GLOBS_MAX);
		gm_text_add(text, " bytes");
		break;
	}
}

static bool parse_size(struct span value, bool has_unit, uint64_t *ret_bytes)
{
	uint64_t bytes = 0;
	const char *p = value.start;

	for (; p < value.end && *p >= '0' && *p <= '9' && bytes < UINT64_MAX / 16; p++)
		bytes = bytes * 10 + (uint64_t)(*p - '0');
	if (p == value.start)
		return false;
	if (has_unit && p < value.end && bytes < UINT64_MAX >> 32) {
		unsigned shift = *p == 'K' ? 10 : *p == 'M' ? 20 : *p == 'G' ? 30 : 0;

		bytes <<= shift;
		p += shift > 0;
	}
	*ret_bytes = bytes;
	return p == value.end;
}

static const struct unit {
	const char *name;
	uint64_t ns;
} units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", NS_PER_S}};

static bool parse_time(struct span value, uint64_t most_ns, uint64_t *ret_ns)
{
	struct span digits = {value.start, value.start};
	uint64_t number;

	if (span_is(value, "off")) {
		*ret_ns = UINT64_MAX;
		return true;
	}
	while (digits.end < value.end && *digits.end >= '0' && *digits.end <= '9')
		digits.end++;
	if (!parse_size(digits, false, &number))
		return false;
	value = span_trim((struct span){digits.end, value.end});
	if (number == 0 && span_length(value) == 0) {
		*ret_ns = 0;
		return true;
	}
	for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (span_is(value, units[i].name) && number <= most_ns / units[i].ns) {
			*ret_ns = number * units[i].ns;
			return true;
		}
	return false;
}

/* A number alone is a size. */
static bool parse_ring(struct span value, const struct key *key, struct gm_ring *ring)
{
	struct gm_ring parsed = {0, 0};

	if (parse_size(value, true, &parsed.bytes)) {
		if (parsed.bytes < key->least || parsed.bytes > key->most)
			return false;
	} else {
		parsed.bytes = 0;
		if (!parse_time(value, RING_MAX_NS, &parsed.ns))
			return false;
		if (parsed.ns == UINT64_MAX) /* off */
			parsed.ns = 0;
		else if (parsed.ns < NS_PER_S)
			return false;
	}
	*ring = parsed;
	return true;
}

/*
 * Parses a set of words: "a, b"; "-b" is all but b. Returns false if one is unknown, or none is
 * left.
 */
static bool parse_set(struct span value, const char *const *words, uint64_t *ret_bits)
{
	uint64_t all = 0, bits = 0, chosen;
	const char *end;

	for (unsigned i = 0; words[i] != NULL; i++)
		all |= (uint64_t)1 << i;
	if (value.start < value.end && *value.start == '-')
		bits = all;
	for (;; value.start = end + 1) {
		struct span word;
		bool without;

		for (end = value.start; end < value.end && *end != ','; end++)
			;
		word = span_trim((struct span){value.start, end});
		without = word.start < word.end && *word.start == '-';
		word.start += without;
		chosen = span_is(word, "all") ? all : 0;
		for (unsigned i = 0; words[i] != NULL; i++)
			chosen |= span_is(word, words[i]) ? (uint64_t)1 << i : 0;
		if (chosen == 0)
			return false;
		bits = without ? bits & ~chosen : bits | chosen;
		if (end == value.end)
			break;
	}
	*ret_bits = bits;
	return bits != 0;
}

static bool span_has(struct span span, const char *characters)
{
	for (; span.start < span.end; span.start++)
		for (const char *c = characters; *c != '\0'; c++)
			if (*span.start == *c)
				return true;
	return false;
}

/*
 * Turns "a, b*" into "a,b*". Returns false if one is empty or contains a forbidden character, or
 * there is no room.
 */
static bool parse_list(struct span value, bool may_be_none, const char *forbidden, char *list)
{
	char *at = list;
	const char *end;

	*list = '\0';
	if (may_be_none && span_is(value, "none"))
		return true;
	if (span_length(value) >= GM_GLOBS_MAX)
		return false;
	for (;; value.start = end + 1) {
		struct span part;

		for (end = value.start; end < value.end && *end != ','; end++)
			;
		part = span_trim((struct span){value.start, end});
		if (span_length(part) == 0 || span_has(part, forbidden))
			return false;
		memcpy(at, part.start, span_length(part));
		at += span_length(part);
		*at++ = end == value.end ? '\0' : ',';
		if (end == value.end)
			return true;
	}
}

static bool key_set(const struct key *key, struct span value, struct gm_config *config)
{
	char *field = (char *)config + key->offset;
	uint64_t bytes;

	switch (key->type) {
	case KEY_WORD:
		for (int i = 0; key->words[i] != NULL; i++)
			if (span_is(value, key->words[i])) {
				*(int *)field = i;
				return true;
			}
		return false;
	case KEY_SET:
		return parse_set(value, key->words, (uint64_t *)field);
	case KEY_RATE:
		if (span_is(value, "off")) {
			*(uint64_t *)field = 0;
			return true;
		}
		__attribute__((fallthrough));
	case KEY_SIZE:
	case KEY_NUMBER:
		if (!parse_size(value, key->type == KEY_SIZE, &bytes) || bytes < key->least ||
		    bytes > key->most)
			return false;
		*(uint64_t *)field = bytes;
		return true;
	case KEY_TIME:
		return parse_time(value, key->most, (uint64_t *)field);
	case KEY_GLOBS:
		return parse_list(value, key->least == 0, "/", field);
	case KEY_RING:
		return parse_ring(value, key, (struct gm_ring *)field);
	case KEY_NAMES:
		return parse_list(value, true, " ()<>", field);
	case KEY_PATH:
		/* The rest of GM_PATH_MAX is for the names of the files in the directory. */
		if (span_length(value) == 0 || span_length(value) >= GM_PATH_MAX - 256)
			return false;
		memcpy(field, value.start, span_length(value));
		field[span_length(value)] = '\0';
		return true;
	}
	return false;
}

static int assign(struct span group, struct span name, struct span value, struct place place,
		  struct gm_config *config, struct gm_config_error *error)
{
	struct gm_text text;
	bool group_known = false;

	for (unsigned i = 0; i < N_KEYS; i++) {
		const struct key *key = &keys[i];

		if (!span_is(group, key->group))
			continue;
		group_known = true;
		if (!span_is(name, key->name))
			continue;
		if (key_set(key, value, config)) {
			config->kernel_asked |= key->offset == FIELD(kernel);
			return 0;
		}
		text = diagnose(error, place);
		gm_text_add(&text, "invalid value ");
		add_span(&text, value);
		gm_text_add(&text, " for ");
		gm_text_add(&text, key->group);
		gm_text_add(&text, ".");
		gm_text_add(&text, key->name);
		gm_text_add(&text, ": use ");
		add_accepted_values(&text, key);
		return -EINVAL;
	}

	text = diagnose(error, place);
	gm_text_add(&text, group_known ? "unknown key " : "unknown group ");
	add_span(&text, group_known ? name : group);
	if (group_known) {
		gm_text_add(&text, " in ");
		add_span(&text, group);
	}
	gm_text_add(&text, ": use ");
	for (unsigned i = 0, n = 0; i < N_KEYS; i++) {
		if (group_known && !span_is(group, keys[i].group))
			continue;
		if (!group_known && i > 0 && gm_strcmp(keys[i].group, keys[i - 1].group) == 0)
			continue;
		gm_text_add(&text, n++ > 0 ? " | " : "");
		gm_text_add(&text, group_known ? keys[i].name : keys[i].group);
	}
	return -EINVAL;
}

static bool has_zero(struct span line)
{
	while (line.start < line.end && *line.start != '\0')
		line.start++;
	return line.start < line.end;
}

static int parse_line(struct span line, struct span *group, struct place place,
		      struct gm_config *config, struct gm_config_error *error)
{
	struct gm_text text;
	const char *equals;

	/* A zero byte would end the value before the end of the line. */
	if (has_zero(line)) {
		text = diagnose(error, place);
		gm_text_add(&text, "zero byte in a text file");
		return -EINVAL;
	}
	line = span_trim(line);
	if (span_length(line) == 0 || *line.start == '#')
		return 0;
	if (*line.start == '[' && line.end[-1] == ']') {
		*group = span_trim((struct span){line.start + 1, line.end - 1});
		return 0;
	}
	for (equals = line.start; equals < line.end && *equals != '='; equals++)
		;
	if (equals == line.end || group->start == NULL) {
		text = diagnose(error, place);
		gm_text_add(&text, "cannot read ");
		add_span(&text, line);
		gm_text_add(&text, equals == line.end ? ": use KEY = VALUE or [GROUP]"
						      : ": a [GROUP] line must come before");
		return -EINVAL;
	}
	return assign(*group, span_trim((struct span){line.start, equals}),
		      span_trim((struct span){equals + 1, line.end}), place, config, error);
}

static int parse_file(const char *path, struct span file, struct gm_config *config,
		      struct gm_config_error *error)
{
	struct place place = {path, 0};
	struct span group = {NULL, NULL};
	const char *line = file.start;

	while (line < file.end) {
		const char *end = line;
		int result;

		while (end < file.end && *end != '\n')
			end++;
		place.line++;
		result = parse_line((struct span){line, end}, &group, place, config, error);
		if (result < 0)
			return result;
		line = end + 1;
	}
	return 0;
}

int gm_config_parse(const char *path, const char *text, size_t length, struct gm_config *config,
		    struct gm_config_error *error)
{
	struct gm_config result = *config;
	int code = parse_file(path, (struct span){text, text + length}, &result, error);

	if (code == 0)
		*config = result;
	return code;
}

int gm_config_set(const char *assignment, struct gm_config *config, struct gm_config_error *error)
{
	const char *end = assignment + gm_strlen(assignment);
	const char *dot = assignment, *equals = assignment;
	struct place place = {"--set", 0};

	while (*equals != '\0' && *equals != '=')
		equals++;
	while (dot < equals && *dot != '.')
		dot++;
	if (dot == equals || *equals == '\0') {
		struct gm_text text = diagnose(error, place);

		gm_text_add(&text, "cannot read ");
		add_span(&text, (struct span){assignment, end});
		gm_text_add(&text, ": use GROUP.KEY=VALUE");
		return -EINVAL;
	}
	return assign(span_trim((struct span){assignment, dot}),
		      span_trim((struct span){dot + 1, equals}),
		      span_trim((struct span){equals + 1, end}), place, config, error);
}

void gm_config_settle(struct gm_config *config)
{
	if (config->sync_order == GM_ORDER_ON && config->sync_mode != GM_SYNC_OFF)
		config->sync_mode = GM_SYNC_ALL;
	if (!gm_config_has_ring(config))
		return;
	config->sample_stacks = GM_STACKS_OFF;
	if (config->access_mode == GM_ACCESS_COMPILED)
		config->access_mode = GM_ACCESS_OFF;
}

static uint64_t ring_bytes(const struct gm_config *config)
{
	return config->ring.bytes != 0 && config->ring.bytes < config->output_max_bytes
		   ? config->ring.bytes
		   : config->output_max_bytes;
}

uint64_t gm_config_ring_of_kernel(const struct gm_config *config)
{
	bool has_kernel = config->kernel != GM_KERNEL_NONE && config->level != GM_LEVEL_APPLIC_ONLY;

	return has_kernel ? ring_bytes(config) / 4 : 0;
}

uint64_t gm_config_ring_of_streams(const struct gm_config *config)
{
	return ring_bytes(config) - gm_config_ring_of_kernel(config);
}

int gm_config_check(const struct gm_config *config, struct gm_config_error *error)
{
	struct gm_text text = GM_TEXT(error->text);

	if (!gm_config_has_ring(config) ||
	    (config->calls_mode != GM_CALLS_HISTORY && config->access_mode != GM_ACCESS_SAMPLED &&
	     config->sync_sink == GM_SINK_NATIVE && config->kernel != GM_KERNEL_LTTNG))
		return 0;
	gm_text_add(&text, "output.ring excludes calls.mode=history, access.mode=sampled, "
			   "and lttng as sync.sink or kernel.source");
	return -EINVAL;
}

static void add_ring(struct gm_text *text, const struct gm_ring *ring)
{
	if (ring->bytes != 0) {
		gm_text_add_u64(text, ring->bytes);
		return;
	}
	gm_text_add_u64(text, ring->ns);
	gm_text_add(text, "ns");
}

static void add_time(struct gm_text *text, uint64_t ns)
{
	if (ns == UINT64_MAX) {
		gm_text_add(text, "off");
		return;
	}
	gm_text_add_u64(text, ns);
	gm_text_add(text, "ns");
}

static void add_set(struct gm_text *text, uint64_t bits, const char *const *words)
{
	bool any = false;

	for (unsigned i = 0; words[i] != NULL; i++) {
		if ((bits >> i & 1) == 0)
			continue;
		gm_text_add(text, any ? ", " : "");
		gm_text_add(text, words[i]);
		any = true;
	}
}

static void add_setting(struct gm_text *text, const struct key *key, const char *word)
{
	gm_text_add(text, key->group);
	gm_text_add(text, ".");
	gm_text_add(text, key->name);
	gm_text_add(text, "=");
	gm_text_add(text, word);
	gm_text_add(text, "\n");
}

size_t gm_config_list(char *buffer, size_t size_bytes)
{
	struct gm_text text = {buffer, size_bytes, 0};

	for (unsigned i = 0; i < N_KEYS; i++) {
		add_setting(&text, &keys[i], "");
		for (unsigned w = 0; keys[i].words[w] != NULL; w++)
			add_setting(&text, &keys[i], keys[i].words[w]);
		if (keys[i].type == KEY_SET)
			add_setting(&text, &keys[i], "all");
	}
	return text.length;
}

size_t gm_config_format(const struct gm_config *config, char *buffer, size_t size_bytes)
{
	struct gm_text text = {buffer, size_bytes, 0};

	for (unsigned i = 0; i < N_KEYS; i++) {
		const struct key *key = &keys[i];
		const char *field = (const char *)config + key->offset;

		if (i == 0 || gm_strcmp(key->group, keys[i - 1].group) != 0) {
			gm_text_add(&text, i > 0 ? "\n[" : "[");
			gm_text_add(&text, key->group);
			gm_text_add(&text, "]\n");
		}
		gm_text_add(&text, key->name);
		gm_text_add(&text, " = ");
		if (key->type == KEY_WORD)
			gm_text_add(&text, key->words[*(const int *)field]);
		else if (key->type == KEY_SIZE || key->type == KEY_NUMBER || key->type == KEY_RATE)
			gm_text_add_u64(&text, *(const uint64_t *)field);
		else if (key->type == KEY_SET)
			add_set(&text, *(const uint64_t *)field, key->words);
		else if (key->type == KEY_TIME)
			add_time(&text, *(const uint64_t *)field);
		else if (key->type == KEY_RING && gm_config_has_ring(config))
			add_ring(&text, (const struct gm_ring *)field);
		else if (key->type == KEY_RING)
			gm_text_add(&text, "off");
		else
			gm_text_add(&text, *field != '\0' ? field : "none");
		gm_text_add(&text, "\n");
	}
	return text.length;
}
