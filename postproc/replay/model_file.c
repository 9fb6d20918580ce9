/* SPDX-License-Identifier: MIT */
/* A line of the file is read as words, from left to right. */
#include "replay/model_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TRY	"try" /* before the operation */
#define LATE	"late"
#define KEPT	"kept"
#define MILLION 1e6 /* of a section's accesses */
#define HEADER	"gprof-mt-model 1"

static const char *const object_words[PP_REPLAY_N_OBJECT_KINDS] = {
    [PP_REPLAY_OBJECT_LOCK] = "lock",
    [PP_REPLAY_OBJECT_SEM] = "sem",
    [PP_REPLAY_OBJECT_BARRIER] = "barrier",
    [PP_REPLAY_OBJECT_COND] = "cond",
};

static bool has_count(enum pp_replay_object_kind kind)
{
	return kind == PP_REPLAY_OBJECT_SEM || kind == PP_REPLAY_OBJECT_BARRIER;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void write_step(FILE *file, const struct pp_replay_step *step)
{
	fprintf(file, "%" PRIu64 " %s%s", step->cpu_ns, step->tries ? TRY : "",
		pp_replay_kind_name(step->kind));
	switch (step->kind) {
	case PP_REPLAY_AWAIT:
		fprintf(file, " %u:%u", step->of.thread, step->of.step);
		break;
	case PP_REPLAY_NOTIFIED:
		fprintf(file, " %u:%u", step->notified.object, step->notified.count);
		break;
	case PP_REPLAY_SLEEP:
		fprintf(file, " %" PRIu64, step->sleep_ns);
		break;
	case PP_REPLAY_CREATE:
		fprintf(file, " %u", step->thread);
		break;
	case PP_REPLAY_EXIT:
	case PP_REPLAY_SIGNAL:
		break;
	default:
		fprintf(file, " %u", step->object);
	}
	if (step->site != PP_REPLAY_NO_SITE)
		fprintf(file, " %u", step->site);
	if (step->rank != PP_REPLAY_NO_RANK)
		fprintf(file, " @%u", step->rank);
	fputc('\n', file);
}

static void write_access(FILE *file, const struct pp_replay_access *access)
{
	if (!access)
		return;
	fprintf(file, "access %u %s", access->unit, access->writes ? "write" : "read");
	if (access->has_span)
		fprintf(file, " %.0f %.0f", access->from * MILLION, access->to * MILLION);
	fputc('\n', file);
}

/* Writes the parts of the CPU time of that step in functions. */
static void write_parts(FILE *file, const struct pp_replay_model *model, uint32_t thread,
			uint32_t at, uint64_t cpu_ns)
{
	for (guint i = pp_replay_find_part(model, thread, at); i < model->parts->len; i++) {
		const struct pp_replay_function_part *part =
		    &g_array_index(model->parts, struct pp_replay_function_part, i);

		if (part->thread != thread || part->step != at)
			return;
		fprintf(file, "in %u %" PRIu64 "\n", part->function,
			(uint64_t)(part->share * (double)cpu_ns + 0.5));
	}
}

static void write_delays(FILE *file, const struct pp_replay_model *model, uint32_t thread,
			 uint32_t at)
{
	for (guint i = pp_replay_find_delay(model, thread, at); i < model->delays->len; i++) {
		const struct pp_replay_delay *delay =
		    &g_array_index(model->delays, struct pp_replay_delay, i);

		if (delay->thread != thread || delay->step != at)
			return;
		fprintf(file, "%s %" PRId64 "\n", delay->is_late ? LATE : KEPT, delay->ns);
	}
}

static void write_name(FILE *file, const char *name)
{
	g_autofree char *quoted = g_strescape(name, NULL);

	fprintf(file, " \"%s\"\n", quoted);
}

static void write_model(FILE *file, const struct pp_replay_model *model)
{
	fprintf(file,
		HEADER "\ncpus %u\nrun %" PRId64 "\nquantum %" PRId64 "\nothers %u\ncosts %" PRId64
		       " %" PRId64 " %" PRId64 " %" PRId64 "\nrecording %" PRId64 "\n",
		model->n_cpus, model->recorded_ns, model->quantum_ns, model->others,
		model->costs.block_ns, model->costs.retry_ns, model->costs.release_ns,
		model->costs.wake_up_ns, model->recording_ns);
	fputs("wake", file);
	for (uint32_t i = 0; i < model->n_wakes; i++)
		fprintf(file, " %" PRId64, model->wake_ns[i]);
	fputc('\n', file);
	for (guint i = 0; i < model->objects->len; i++) {
		const struct pp_replay_object *object = model->objects->pdata[i];

		fputs(object_words[object->kind], file);
		if (has_count(object->kind))
			fprintf(file, " %u", object->count);
		write_name(file, object->name);
	}
	for (guint i = 0; i < model->sites->len; i++) {
		fputs("site", file);
		write_name(file, model->sites->pdata[i]);
	}
	for (guint i = 0; i < model->shares->len; i++) {
		const struct pp_replay_share *share =
		    &g_array_index(model->shares, struct pp_replay_share, i);

		fprintf(file, "share %" PRIu64 " %" PRIu64, share->in_ns, share->all_ns);
		if (share->site == PP_REPLAY_OUTSIDE)
			fputs(" outside", file);
		else
			fprintf(file, " %u", share->site);
		write_name(file, share->function);
	}
	for (guint i = 0; i < model->functions->len; i++) {
		const struct pp_replay_function *function =
		    &g_array_index(model->functions, struct pp_replay_function, i);

		fprintf(file, "function %" PRIu64, function->n_calls);
		write_name(file, function->name);
	}
	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_replay_thread *thread = model->threads->pdata[i];

		if (thread->has_creator)
			fputs("thread created", file);
		else
			fprintf(file, "thread %" PRId64, thread->start_ns);
		write_name(file, thread->name);
		for (guint k = 0; k < thread->steps->len; k++) {
			const struct pp_replay_step *step =
			    &g_array_index(thread->steps, struct pp_replay_step, k);

			write_step(file, step);
			write_parts(file, model, i, k, step->cpu_ns);
			write_delays(file, model, i, k);
			write_access(file, pp_replay_find_access(model, i, k));
		}
	}
}

int pp_replay_write(const struct pp_replay_model *model, const char *path, struct pp_error *err)
{
	g_autofree char *partial = g_strconcat(path, ".part", NULL);
	struct stat status;
	FILE *file;
	int code = 0;

	/* a device, or a pipe, would be replaced */
	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
		return pp_error_add(err, -EINVAL, "%s: not a regular file", path);
	file = fopen(partial, "wxe");
	if (!file)
		return pp_error_add(err, -errno, "%s: cannot create it: %s", partial,
				    g_strerror(errno));
	write_model(file, model);
	if (ferror(file))
		code = -EIO;
	if (fclose(file) && !code)
		code = -errno;
	if (!code && rename(partial, path))
		code = -errno;
	if (code) {
		remove(partial);
		return pp_error_add(err, code, "%s: cannot write it: %s", path, g_strerror(-code));
	}
	return 0;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* A line's rest; the functions below take words from it, and return false if it has none. */
struct words {
	char *at;
};

static bool take_number(struct words *words, uint64_t max, uint64_t *ret)
{
	char *end;

	words->at += strspn(words->at, " \t");
	if (!g_ascii_isdigit(*words->at))
		return false;
	errno = 0;
	*ret = g_ascii_strtoull(words->at, &end, 10);
	if (errno || *ret > max || !(*end == '\0' || strchr(" \t:", *end)))
		return false;
	words->at = end;
	return true;
}

static bool take_u32(struct words *words, uint32_t *ret)
{
	uint64_t number;

	if (!take_number(words, UINT32_MAX, &number))
		return false;
	*ret = (uint32_t)number;
	return true;
}

static bool take_ns(struct words *words, int64_t *ret)
{
	uint64_t number;

	if (!take_number(words, G_MAXINT64 / 4, &number))
		return false;
	*ret = (int64_t)number;
	return true;
}

static bool is_at_end(const struct words *words)
{
	return !words->at[strspn(words->at, " \t")];
}

/* Takes the call site and the rank, of which each may be missing. */
static bool take_site_and_rank(struct words *words, struct pp_replay_step *step)
{
	uint64_t site = PP_REPLAY_NO_SITE;

	if (g_ascii_isdigit(words->at[strspn(words->at, " \t")]) &&
	    !take_number(words, PP_REPLAY_MOST_SITES, &site))
		return false;
	step->site = (uint32_t)site & PP_REPLAY_MOST_SITES;
	words->at += strspn(words->at, " \t");
	if (*words->at != '@')
		return *words->at == '\0';
	words->at++;
	return take_u32(words, &step->rank) && is_at_end(words);
}

/* Returns the next word, which ends there; "" if there is none. */
static const char *take_word(struct words *words)
{
	char *word = words->at + strspn(words->at, " \t");

	words->at = word + strcspn(word, " \t");
	if (*words->at)
		*words->at++ = '\0';
	return word;
}

/* Takes the name, at the end of the line. */
static bool take_name(struct words *words, char **ret)
{
	char *name = words->at + strspn(words->at, " \t");
	size_t n = strlen(name);

	if (n < 2 || name[0] != '"' || name[n - 1] != '"')
		return false;
	name[n - 1] = '\0';
	*ret = g_strcompress(name + 1);
	return true;
}

static bool take_object(struct words *words, struct pp_replay_model *model,
			enum pp_replay_object_kind kind)
{
	g_autofree char *name = NULL;
	uint32_t count = 0;

	if (has_count(kind) && !take_u32(words, &count))
		return false;
	if (!take_name(words, &name))
		return false;
	pp_replay_add_object(model, kind, count, name);
	return true;
}

static bool take_thread(struct words *words, struct pp_replay_model *model)
{
	struct pp_replay_thread *thread;
	g_autofree char *name = NULL;
	struct words start = *words;
	int64_t start_ns = 0;
	bool has_start = take_ns(&start, &start_ns);

	if (has_start)
		*words = start;
	else if (strcmp(take_word(words), "created") != 0)
		return false;
	if (!take_name(words, &name))
		return false;
	thread = pp_replay_add_thread(model, name);
	thread->has_creator = !has_start;
	thread->start_ns = start_ns;
	return true;
}

static bool take_share(struct words *words, struct pp_replay_model *model)
{
	g_autofree char *name = NULL;
	int64_t in_ns, all_ns;
	uint32_t site;
	struct words number;

	if (!take_ns(words, &in_ns) || !take_ns(words, &all_ns))
		return false;
	number = *words;
	if (take_u32(&number, &site))
		*words = number;
	else if (strcmp(take_word(words), "outside") == 0)
		site = PP_REPLAY_OUTSIDE;
	else
		return false;
	if (!take_name(words, &name))
		return false;
	pp_replay_add_share(model, name, site, (uint64_t)in_ns, (uint64_t)all_ns);
	return true;
}

static bool take_function(struct words *words, struct pp_replay_model *model)
{
	g_autofree char *name = NULL;
	uint64_t n_calls;

	if (!take_number(words, UINT64_MAX, &n_calls) || !take_name(words, &name))
		return false;
	pp_replay_add_function(model, name, n_calls);
	return true;
}

/* Takes a part of the CPU time of the last step; the functions of a step rise. */
static bool take_part(struct words *words, struct pp_replay_model *model)
{
	struct pp_replay_function_part part = {.thread = model->threads->len - 1};
	const struct pp_replay_function_part *before =
	    model->parts->len ? &g_array_index(model->parts, struct pp_replay_function_part,
					       model->parts->len - 1)
			      : NULL;
	const struct pp_replay_thread *thread;
	uint64_t cpu_ns, in_ns;

	if (!model->threads->len || !take_u32(words, &part.function) ||
	    part.function >= model->functions->len)
		return false;
	thread = model->threads->pdata[part.thread];
	if (!thread->steps->len)
		return false;
	part.step = thread->steps->len - 1;
	cpu_ns = g_array_index(thread->steps, struct pp_replay_step, part.step).cpu_ns;
	if (!take_number(words, cpu_ns, &in_ns) ||
	    (before && before->thread == part.thread && before->step == part.step &&
	     before->function >= part.function))
		return false;
	part.share = (double)in_ns / (double)MAX(cpu_ns, 1);
	g_array_append_val(model->parts, part);
	return is_at_end(words);
}

/* Takes a delay of the last step. */
static bool take_delay(struct words *words, struct pp_replay_model *model, bool is_late)
{
	struct pp_replay_delay delay = {.thread = model->threads->len - 1, .is_late = is_late};
	const struct pp_replay_thread *thread;

	if (!model->threads->len || !take_ns(words, &delay.ns))
		return false;
	thread = model->threads->pdata[delay.thread];
	if (!thread->steps->len)
		return false;
	delay.step = thread->steps->len - 1;
	g_array_append_val(model->delays, delay);
	return is_at_end(words);
}

static bool take_wakes(struct words *words, struct pp_replay_model *model)
{
	uint32_t n = 0;

	while (n < PP_REPLAY_MOST_WAKES && take_ns(words, &model->wake_ns[n]))
		n++;
	model->n_wakes = MAX(n, 1);
	return n && is_at_end(words);
}

static bool take_span(struct words *words, struct pp_replay_access *access)
{
	uint64_t from, to;

	if (!take_number(words, (uint64_t)MILLION, &from) ||
	    !take_number(words, (uint64_t)MILLION, &to) || from > to)
		return false;
	access->from = (double)from / MILLION;
	access->to = (double)to / MILLION;
	return true;
}

/* Takes the accesses of the last step, which takes a lock. */
static bool take_access(struct words *words, struct pp_replay_model *model)
{
	struct pp_replay_access access = {.thread = model->threads->len - 1};
	const struct pp_replay_thread *thread;
	const char *word;

	if (!model->threads->len || !take_u32(words, &access.unit))
		return false;
	word = take_word(words);
	access.writes = strcmp(word, "write") == 0;
	thread = model->threads->pdata[access.thread];
	access.step = thread->steps->len - 1;
	if ((!access.writes && strcmp(word, "read") != 0) || !thread->steps->len ||
	    !pp_replay_acquires(
		g_array_index(thread->steps, struct pp_replay_step, access.step).kind) ||
	    pp_replay_find_access(model, access.thread, access.step))
		return false;
	access.has_span = !is_at_end(words);
	if (access.has_span && !take_span(words, &access))
		return false;
	g_array_append_val(model->accesses, access);
	return is_at_end(words);
}

static bool take_arguments(struct words *words, struct pp_replay_step *step)
{
	int64_t ns;

	switch (step->kind) {
	case PP_REPLAY_AWAIT:
		return take_u32(words, &step->of.thread) && *words->at++ == ':' &&
		       take_u32(words, &step->of.step);
	case PP_REPLAY_NOTIFIED:
		return take_u32(words, &step->notified.object) && *words->at++ == ':' &&
		       take_u32(words, &step->notified.count);
	case PP_REPLAY_SLEEP:
		if (!take_ns(words, &ns))
			return false;
		step->sleep_ns = (uint64_t)ns;
		return true;
	case PP_REPLAY_CREATE:
		return take_u32(words, &step->thread);
	case PP_REPLAY_EXIT:
	case PP_REPLAY_SIGNAL:
		return true;
	default:
		return take_u32(words, &step->object);
	}
}

static bool take_step(struct words *words, struct pp_replay_model *model)
{
	struct pp_replay_thread *thread;
	struct pp_replay_step step = {0};
	const char *word;
	int64_t cpu_ns;

	if (!model->threads->len || !take_ns(words, &cpu_ns))
		return false;
	step.cpu_ns = (uint64_t)cpu_ns;
	word = take_word(words);
	step.tries = g_str_has_prefix(word, TRY);
	word += step.tries ? strlen(TRY) : 0;
	while (step.kind < PP_REPLAY_N_KINDS && strcmp(word, pp_replay_kind_name(step.kind)) != 0)
		step.kind++;
	if (step.kind == PP_REPLAY_N_KINDS || (step.tries && step.kind > PP_REPLAY_RDLOCK) ||
	    !take_arguments(words, &step))
		return false;
	if (!take_site_and_rank(words, &step))
		return false;
	thread = model->threads->pdata[model->threads->len - 1];
	g_array_append_val(thread->steps, step);
	return true;
}

static bool take_line(struct words words, struct pp_replay_model *model)
{
	g_autofree char *name = NULL;
	const char *word;

	if (g_ascii_isdigit(words.at[strspn(words.at, " \t")]))
		return take_step(&words, model);
	word = take_word(&words);
	if (*word == '#' || *word == '\0')
		return true;
	for (unsigned i = 0; i < PP_REPLAY_N_OBJECT_KINDS; i++)
		if (strcmp(word, object_words[i]) == 0)
			return take_object(&words, model, i);
	if (strcmp(word, "thread") == 0)
		return take_thread(&words, model);
	if (strcmp(word, "access") == 0)
		return take_access(&words, model);
	if (strcmp(word, "function") == 0)
		return take_function(&words, model);
	if (strcmp(word, "in") == 0)
		return take_part(&words, model);
	if (strcmp(word, LATE) == 0 || strcmp(word, KEPT) == 0)
		return take_delay(&words, model, strcmp(word, LATE) == 0);
	if (strcmp(word, "share") == 0)
		return take_share(&words, model);
	if (strcmp(word, "cpus") == 0)
		return take_u32(&words, &model->n_cpus);
	if (strcmp(word, "run") == 0)
		return take_ns(&words, &model->recorded_ns);
	if (strcmp(word, "quantum") == 0)
		return take_ns(&words, &model->quantum_ns);
	if (strcmp(word, "wake") == 0)
		return take_wakes(&words, model);
	if (strcmp(word, "costs") == 0)
		return take_ns(&words, &model->costs.block_ns) &&
		       take_ns(&words, &model->costs.retry_ns) &&
		       take_ns(&words, &model->costs.release_ns) &&
		       take_ns(&words, &model->costs.wake_up_ns);
	if (strcmp(word, "recording") == 0)
		return take_ns(&words, &model->recording_ns);
	if (strcmp(word, "others") == 0)
		return take_u32(&words, &model->others);
	if (strcmp(word, "site") != 0 || !take_name(&words, &name))
		return false;
	pp_replay_add_site(model, name);
	return true;
}

static int read_lines(FILE *file, const char *path, struct pp_replay_model *model,
		      struct pp_error *err)
{
	size_t n_allocated = 0, n_lines = 0;
	char *line = NULL;
	ssize_t n;
	int code = 0;

	while (!code && (n = getline(&line, &n_allocated, file)) >= 0) {
		n_lines++;
		if (n > 0 && line[n - 1] == '\n')
			line[--n] = '\0';
		if (n_lines == 1 && strcmp(line, HEADER) != 0)
			code = pp_error_add(err, -EINVAL,
					    "%s: not a model: its first line is not '" HEADER "'",
					    path);
		else if (n_lines > 1 && !take_line((struct words){line}, model))
			code = pp_error_add(
			    err, -EINVAL,
			    "%s: line %zu: not understood; see gprof-mt-replay(1), FILES", path,
			    n_lines);
	}
	if (!code && ferror(file))
		code = pp_error_add(err, -EIO, "%s: cannot read it", path);
	if (!code && n_lines == 0)
		code = pp_error_add(err, -EINVAL, "%s: not a model: it is empty", path);
	free(line);
	return code;
}

struct pp_replay_model *pp_replay_read(const char *path, struct pp_error *err)
{
	struct pp_replay_model *model = pp_replay_model_new();
	FILE *file = fopen(path, "re");
	g_autofree char *wrong = NULL;
	int code;

	if (!file) {
		code = pp_error_add(err, -errno, "%s: cannot open it: %s", path, g_strerror(errno));
	} else {
		code = read_lines(file, path, model, err);
		fclose(file);
	}
	if (!code)
		wrong = pp_replay_check(model);
	if (wrong)
		code = pp_error_add(err, -EINVAL, "%s: %s", path, wrong);
	if (code)
		g_clear_pointer(&model, pp_replay_model_free);
	return model;
}
