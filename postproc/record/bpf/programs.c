/* SPDX-License-Identifier: MIT */
/* Loads the BPF programs through libbpf, and attaches them. */
#include "record/bpf/programs.h"

#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#define LOG_BYTES (64 << 10)

static const char *const full_programs[] = {"gprof_mt_enter", "gprof_mt_exit", "gprof_mt_fault",
					    "gprof_mt_fault_k"};

/* See senders.bpf.h. */
static const char *const sender_programs[] = {"gprof_mt_sends", "gprof_mt_receives",
					      "gprof_mt_arrives", "gprof_mt_softirq"};

static void leave_out(struct pp_bpf_programs *programs, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bpf_program__set_autoload(
		    bpf_object__find_program_by_name(programs->object, names[i]), false);
}

static bool is_sender_program(const struct bpf_program *program)
{
	for (size_t i = 0; i < G_N_ELEMENTS(sender_programs); i++)
		if (strcmp(bpf_program__name(program), sender_programs[i]) == 0)
			return true;
	return false;
}

void pp_bpf_programs_choose(struct pp_bpf_programs *programs, bool full, bool has_senders)
{
	if (!full)
		leave_out(programs, full_programs, G_N_ELEMENTS(full_programs));
	if (!has_senders)
		leave_out(programs, sender_programs, G_N_ELEMENTS(sender_programs));
}

/* Returns the last line before the one that counts the verifier's steps. */
static const char *last_line(char *log)
{
	const char *last = "no reason given";

	for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n"))
		if (!g_str_has_prefix(line, "processed "))
			last = line;
	return last;
}

static int refused(const struct bpf_program *program, int rc, char *log, struct pp_error *err)
{
	if (rc == -EPERM)
		return pp_error_add(err, rc, PP_BPF_NOT_PERMITTED);
	/* libbpf prints this if the kernel lacks the member. */
	if (strstr(log, "invalid CO-RE relocation"))
		return pp_error_add(err, -ENOENT, "unsupported kernel scheduler layout");
	if (!program)
		return pp_error_add(err, rc, "loading the programs: %s", g_strerror(-rc));
	return pp_error_add(err, rc, "the kernel refuses the program %s: %s",
			    bpf_program__name(program), last_line(log));
}

int pp_bpf_programs_load(struct pp_bpf_programs *programs, struct pp_error *err)
{
	g_autofree char *logs = g_malloc0((size_t)LOG_BYTES * PP_BPF_MOST_PROGRAMS);
	const struct bpf_program *found = NULL;
	struct bpf_program *program;
	char *log = logs, *of_found = logs;
	int rc;

	bpf_object__for_each_program (program, programs->object) {
		bpf_program__set_log_buf(program, log, LOG_BYTES);
		log += LOG_BYTES;
	}
	rc = bpf_object__load(programs->object);
	if (rc == 0)
		return 0;
	log = logs;
	bpf_object__for_each_program (program, programs->object) {
		if (*log && !found) {
			found = program;
			of_found = log;
		}
		log += LOG_BYTES;
	}
	return refused(found, rc, of_found, err);
}

int pp_bpf_programs_attach(struct pp_bpf_programs *programs)
{
	struct bpf_program *program;

	bpf_object__for_each_program (program, programs->object) {
		struct bpf_link *link;

		if (!bpf_program__autoload(program))
			continue;
		link = bpf_program__attach(program);
		if (!link)
			return -errno;
		programs->links[programs->n_links++] = link;
	}
	return 0;
}

/* Returns how often the kernel skipped the program because it was already running on that CPU. */
static uint64_t left_out(const struct bpf_program *program)
{
	struct bpf_prog_info info = {0};
	uint32_t len_bytes = sizeof(info);

	return bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &len_bytes) < 0
		   ? 0
		   : info.recursion_misses;
}

void pp_bpf_programs_detach(struct pp_bpf_programs *programs)
{
	while (programs->n_links > 0)
		bpf_link__destroy(programs->links[--programs->n_links]);
}

uint64_t pp_bpf_programs_skipped(const struct pp_bpf_programs *programs)
{
	struct bpf_program *program;
	uint64_t skipped = 0;

	bpf_object__for_each_program (program, programs->object)
		if (bpf_program__autoload(program) && !is_sender_program(program))
			skipped += left_out(program);
	return skipped;
}
