/* SPDX-License-Identifier: MIT */
/*
 * elfutils unwinds: it gets the registers and the stack of the sample, and finds the tables in the
 * files of the process' objects.  Nothing is read from the process but the list of its objects.
 */
#include "record/samples/unwind.h"

#include <string.h>

#include <elfutils/libdwfl.h>

struct pp_unwinder {
	Dwfl *dwfl; /* NULL: the list of objects cannot be read */
	pid_t pid;
	/* For the sample at hand: */
	const struct pp_stack_sample *sample;
	uint64_t *frames;
	unsigned n, most;
	bool left_stack; /* memory outside of the copy was asked for */
};

/* --- elfutils' functions -------------------------------------------------------------------- */

/* Unwinding needs no debugging information, which might be asked for on the network. */
static int find_no_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			     const char *file, const char *link, GElf_Word crc, char **ret_name)
{
	(void)module, (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc,
	    (void)ret_name;
	return -1;
}

static pid_t next_thread(Dwfl *dwfl, void *unwinder, void **thread)
{
	const struct pp_unwinder *self = unwinder;

	(void)dwfl;
	if (*thread)
		return 0;
	*thread = unwinder;
	return self->pid;
}

/* In the copy of the stack alone. */
static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret, void *unwinder)
{
	struct pp_unwinder *self = unwinder;
	uint64_t at = address - self->sample->registers[7];

	(void)dwfl;
	if (at > self->sample->stack_bytes || self->sample->stack_bytes - at < sizeof(*ret)) {
		self->left_stack = true;
		return false;
	}
	memcpy(ret, self->sample->stack + at, sizeof(*ret));
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *unwinder)
{
	const struct pp_unwinder *self = unwinder;
	Dwarf_Word registers[PP_STACK_REGISTERS];

	for (unsigned i = 0; i < PP_STACK_REGISTERS; i++)
		registers[i] = self->sample->registers[i];
	return dwfl_thread_state_registers(thread, 0, PP_STACK_REGISTERS, registers);
}

static const Dwfl_Callbacks object_functions = {
    .find_elf = dwfl_linux_proc_find_elf,
    .find_debuginfo = find_no_debuginfo,
};

static const Dwfl_Thread_Callbacks thread_functions = {
    .next_thread = next_thread,
    .memory_read = read_memory,
    .set_initial_registers = set_registers,
};

static int take_frame(Dwfl_Frame *frame, void *unwinder)
{
	struct pp_unwinder *self = unwinder;
	bool is_interrupted = false;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, &is_interrupted) || !pc)
		return DWARF_CB_ABORT;
	if (self->n == self->most)
		return DWARF_CB_ABORT;
	self->frames[self->n++] = pc + is_interrupted;
	return DWARF_CB_OK;
}

/* -------------------------------------------------------------------------------------------- */

static bool report(Dwfl *dwfl, pid_t pid)
{
	dwfl_report_begin(dwfl);
	return dwfl_linux_proc_report(dwfl, pid) == 0 && dwfl_report_end(dwfl, NULL, NULL) == 0;
}

struct pp_unwinder *pp_unwinder_new(pid_t pid)
{
	struct pp_unwinder *self = g_new0(struct pp_unwinder, 1);

	self->pid = pid;
	self->dwfl = dwfl_begin(&object_functions);
	if (self->dwfl && (!report(self->dwfl, pid) ||
			   !dwfl_attach_state(self->dwfl, NULL, pid, &thread_functions, self)))
		g_clear_pointer(&self->dwfl, dwfl_end);
	return self;
}

void pp_unwinder_free(struct pp_unwinder *self)
{
	if (!self)
		return;
	if (self->dwfl)
		dwfl_end(self->dwfl);
	g_free(self);
}

bool pp_unwinder_knows(const struct pp_unwinder *self, uint64_t address)
{
	return self->dwfl && dwfl_addrmodule(self->dwfl, address);
}

static enum st_path_end end_of(const struct pp_unwinder *self, int rc)
{
	if (!pp_unwinder_knows(self, self->frames[self->n - 1] - 1))
		return ST_PATH_NO_OBJECT;
	/* elfutils also returns 0 if it could not read the caller's address. */
	if (self->left_stack)
		return ST_PATH_STACK;
	if (rc == 0)
		return ST_PATH_OUTERMOST;
	if (self->n == self->most)
		return ST_PATH_DEPTH;
	return ST_PATH_NO_TABLE;
}

unsigned pp_unwind(struct pp_unwinder *self, const struct pp_stack_sample *sample, uint64_t *frames,
		   unsigned most, enum st_path_end *ret_end)
{
	int rc = -1;

	self->sample = sample;
	self->frames = frames;
	self->most = most;
	self->n = 0;
	self->left_stack = false;
	if (self->dwfl)
		rc = dwfl_getthread_frames(self->dwfl, self->pid, take_frame, self);
	if (!self->n) {
		frames[self->n++] = sample->registers[PP_STACK_REGISTERS - 1] + 1;
		rc = -1;
	}
	*ret_end = end_of(self, rc);
	return self->n;
}
