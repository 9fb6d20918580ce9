/* SPDX-License-Identifier: MIT */
/*
 * The kernel streams as babeltrace2 reads them: long gaps, time stamps whose low 32 bits wrap,
 * names of every length, lost events, and an empty stream.
 */
#include "check.h"

#include <fcntl.h>
#include <unistd.h>

#include <glib.h>

#include "record/ctf/writer.h"

#define START_NS  UINT64_C(0xfffffff0)
#define SECOND_NS UINT64_C(1000000000)
#define N_FILL	  20000 /* several packets */

static char *run(const char *command)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *out = NULL, *err = NULL;
	const char *const argv[] = {"sh", "-c", command, NULL};
	int status = -1;

	CHECK(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &err,
			   &status, &error));
	CHECK_INT(status, 0);
	return g_strconcat(out, err, NULL);
}

static void write_switch(struct pp_kernel_ctf *ctf, uint64_t time_ns, const char *comm, int tid)
{
	struct pp_kevent event = {.kind = PP_KEVENT_SWITCH,
				  .time_ns = time_ns,
				  .tid = tid,
				  .prev_state = 128,
				  .prio = -101,
				  .other_comm = "swapper/0",
				  .other_prio = 20};

	g_strlcpy(event.comm, comm, sizeof(event.comm));
	pp_kernel_ctf_write(ctf, 0, &event);
}

int main(void)
{
	static const int cpus[] = {0, 5};
	static const struct pp_kernel_ctf_clock clock = {"16124156-f8d5-4e7e-acfc-ae0935084f51", 0,
							 START_NS};
	struct pp_error err = PP_ERROR_INIT;
	struct pp_kernel_ctf *ctf;
	g_autofree char *all = NULL, *count = NULL, *lost = NULL;
	uint64_t now_ns = START_NS;
	int dir = open(".", O_RDONLY | O_DIRECTORY);

	CHECK_INT(pp_kernel_ctf_create(dir, "perf", &clock, NULL, 2, cpus, &ctf, &err), 0);
	write_switch(ctf, now_ns, "", 1);
	write_switch(ctf, now_ns + 0x20, "exactly-15-char", 2); /* the low 32 bits wrap */
	write_switch(ctf, now_ns + 0x20 + UINT32_MAX, "at-most",
		     3); /* the longest gap with a short time stamp */
	now_ns += UINT64_C(0x20) + UINT32_MAX;
	write_switch(ctf, now_ns + (UINT64_C(1) << 32), "silence",
		     4); /* the shortest gap with a long one */
	now_ns += (UINT64_C(1) << 32) + 100 * SECOND_NS;
	write_switch(ctf, now_ns, "long silence", 5);
	for (int i = 0; i < N_FILL; i++)
		write_switch(ctf, ++now_ns, "filler", 6);
	pp_kernel_ctf_lost(ctf, 0, now_ns + 10, 77);
	write_switch(ctf, now_ns + 10, "after", 7);
	CHECK_INT(pp_kernel_ctf_discarded(ctf, 0), 77);
	CHECK_INT(pp_kernel_ctf_end(ctf, now_ns + 20), 0);
	CHECK_INT(pp_kernel_ctf_events(ctf), N_FILL + 6);
	CHECK_INT(pp_kernel_ctf_unwritten(ctf), 0);
	pp_kernel_ctf_free(ctf);
	close(dir);

	all = run("babeltrace2 --clock-cycles kernel 2>&1 | grep -v filler");
	CHECK_HOLDS(all, "[00000000004294967280]");
	CHECK_HOLDS(all, "[00000000004294967312] (+000000000032)");
	CHECK_HOLDS(all, "[00000000008589934607] (+004294967295)");
	CHECK_HOLDS(all, "[00000000012884901903] (+004294967296)");
	CHECK_HOLDS(all, "[00000000112884901903] (+100000000000)");
	CHECK_HOLDS(all, "prev_comm = \"\", prev_tid = 1, prev_prio = -101, prev_state = 128");
	CHECK_HOLDS(all, "prev_comm = \"exactly-15-char\", prev_tid = 2,");
	CHECK_HOLDS(all, "prev_comm = \"after\", prev_tid = 7,");
	lost = run("babeltrace2 kernel 2>&1 >/dev/null | grep -c 'discarded 77 events'");
	CHECK_STR(lost, "1\n");
	count = run("babeltrace2 kernel 2>/dev/null | wc -l");
	CHECK_INT(atoi(count), N_FILL + 6);
	CHECK_INT(access("kernel/channel0_5", F_OK), 0);
	return 0;
}
