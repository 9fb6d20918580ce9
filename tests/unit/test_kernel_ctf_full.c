/* SPDX-License-Identifier: MIT */
/*
 * The kernel stream at level full as babeltrace2 reads it: every width of a value, more classes
 * than short event ids, system calls without a name, and LTTng's bits for the letters of block I/O.
 */
#include "check.h"

#include <fcntl.h>
#include <unistd.h>

#include <glib.h>

#include "record/ctf/full.h"
#include "record/ctf/writer.h"

static uint64_t now_ns = 1000;

static void put(struct pp_kernel_ctf *ctf, enum pp_kevent_kind kind, int number,
		const uint64_t values[PP_N_VALUES])
{
	struct pp_kevent event = {.kind = kind, .time_ns = ++now_ns, .tid = 7, .number = number};

	memcpy(event.values, values, sizeof(event.values));
	pp_kernel_ctf_write(ctf, 0, &event);
}

#define PUT(ctf, kind, number, ...)                                                                \
	put(ctf, PP_KEVENT_##kind, number, (const uint64_t[PP_N_VALUES]){__VA_ARGS__})

/* The formats of two system calls; all others have none, as on a kernel without them in tracefs. */
static struct pp_syscalls *make_syscalls(void)
{
	static const char head[] = "name: x\nformat:\n\tfield:int common_pid;\toffset:4;\n\n"
				   "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n";
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);

	pp_syscalls_add_formats(names);
	for (guint i = 0; i < names->len; i++) {
		const char *name = names->pdata[i], *fields = NULL;

		if (strcmp(name, "syscalls/sys_enter_read") == 0)
			fields =
			    "\tfield:unsigned int fd;\toffset:16;\n\tfield:char * buf;\toffset:24;"
			    "\n\tfield:size_t count;\toffset:32;\n";
		else if (strcmp(name, "syscalls/sys_enter_epoll_ctl") == 0)
			fields = "\tfield:int epfd;\n\tfield:const int op;\n\tfield:int fd;\n"
				 "\tfield:struct epoll_event * event;\n"
				 "\tfield:__data_loc char[] __event_val;\n";
		else if (strcmp(name, "syscalls/sys_enter_getpid") == 0)
			fields = "";
		g_ptr_array_add(texts, fields ? g_strconcat(head, fields, NULL) : g_strdup(""));
	}
	return pp_syscalls_new((const char *const *)texts->pdata);
}

static void write_events(struct pp_kernel_ctf *ctf)
{
	PUT(ctf, SYSCALL_ENTRY, 0, 3, 0x7fffdeadbeef, 100, 99, 99, 99);
	PUT(ctf, SYSCALL_EXIT, 0, (uint64_t)-11);
	PUT(ctf, SYSCALL_ENTRY, 0, UINT64_C(0xffffffff00000003), 0x10, UINT64_MAX);
	PUT(ctf, SYSCALL_EXIT, 0, INT32_MAX);
	PUT(ctf, SYSCALL_EXIT, 0, (uint64_t)INT32_MAX + 1);
	PUT(ctf, SYSCALL_EXIT, 0, (uint64_t)INT64_MIN);
	PUT(ctf, SYSCALL_EXIT, 0, (uint64_t)(INT32_MIN - INT64_C(1)));
	PUT(ctf, SYSCALL_ENTRY, 233, 4, (uint64_t)-1, 5, 0x7f0000000000);
	PUT(ctf, SYSCALL_ENTRY, 39, 1, 2, 3, 4, 5, 6);
	PUT(ctf, SYSCALL_ENTRY, 1, 1, 2, UINT64_C(1) << 47, UINT64_C(1) << 48, 5, UINT32_MAX);
	PUT(ctf, SYSCALL_ENTRY, 5000, 1, 2, 3, 4, 5, 6);
	PUT(ctf, SYSCALL_EXIT, -1, 0);
	for (int number = 0; number < 300; number++)
		PUT(ctf, SYSCALL_EXIT, number, 1);
	PUT(ctf, FAULT_USER, 0, 0x7f0000001000, 0x400123, 0x6);
	PUT(ctf, BLOCK_ISSUE, 0, 8 << 20, UINT64_C(5000000000), 8, 4096, pp_full_rwbs("WS", 8));
	PUT(ctf, SIGNAL_GENERATE, 0, 10, 0, (uint64_t)-6, 7, 1, 0);
}

static void check_text(const char *text)
{
	CHECK_HOLDS(text, "syscall_entry_read: { cpu_id = 0 }, { tid = 7 }, { fd = 3, "
			  "buf = 0x7FFFDEADBEEF, count = 100 }");
	CHECK_HOLDS(text, "{ fd = 3, buf = 0x10, count = 18446744073709551615 }");
	CHECK_HOLDS(text, "syscall_exit_read: { cpu_id = 0 }, { tid = 7 }, { ret = -11 }");
	CHECK_HOLDS(text, "{ ret = 2147483647 }");
	CHECK_HOLDS(text, "{ ret = 2147483648 }");
	CHECK_HOLDS(text, "{ ret = -9223372036854775808 }");
	CHECK_HOLDS(text, "{ ret = -2147483649 }");
	CHECK_HOLDS(text, "{ epfd = 4, op = -1, fd = 5, event = 0x7F0000000000 }");
	CHECK_HOLDS(text, "syscall_entry_getpid: { cpu_id = 0 }, { tid = 7 }, { }");
	CHECK_HOLDS(text,
		    "syscall_entry_write: { cpu_id = 0 }, { tid = 7 }, { arg0 = 0x1, arg1 = 0x2, "
		    "arg2 = 0x800000000000, arg3 = 0x1000000000000, arg4 = 0x5, "
		    "arg5 = 0xFFFFFFFF }");
	CHECK_HOLDS(text, "syscall_entry_unknown: { cpu_id = 0 }, { tid = 7 }, { id = 5000, "
			  "arg0 = 0x1, ");
	CHECK_HOLDS(text,
		    "syscall_exit_unknown: { cpu_id = 0 }, { tid = 7 }, { id = -1, ret = 0 }");
	CHECK_HOLDS(text, "syscall_exit_accept4: { cpu_id = 0 }, { tid = 7 }, { ret = 1 }");
	CHECK_HOLDS(text, "x86_exceptions_page_fault_user: { cpu_id = 0 }, { tid = 7 }, "
			  "{ address = 0x7F0000001000, ip = 0x400123, error_code = 0x6 }");
	CHECK_HOLDS(text, "{ dev = 8388608, sector = 5000000000, nr_sector = 8, bytes = 4096, "
			  "rwbs = 33 }");
	CHECK_HOLDS(text, "{ sig = 10, errno = 0, code = -6, pid = 7, group = 1, result = 0 }");
}

static void test_rwbs(void)
{
	CHECK_INT(pp_full_rwbs("R", 8), 4);
	CHECK_INT(pp_full_rwbs("RAM", 8), 4 | 8 | 64);
	CHECK_INT(pp_full_rwbs("FWFS", 8), 1024 | 1 | 512 | 32);
	CHECK_INT(pp_full_rwbs("FF", 2), 256 | 512);
	CHECK_INT(pp_full_rwbs("FS", 8), 256 | 32);
	CHECK_INT(pp_full_rwbs("DE", 8), 2 | 128);
	CHECK_INT(pp_full_rwbs("NS", 8), 32);
}

int main(void)
{
	static const int cpus[] = {0};
	static const struct pp_kernel_ctf_clock clock = {"16124156-f8d5-4e7e-acfc-ae0935084f51", 0,
							 0};
	struct pp_syscalls *syscalls = make_syscalls();
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL, *bt_err = NULL;
	const char *const argv[] = {"babeltrace2", "kernel", NULL};
	struct pp_error err = PP_ERROR_INIT;
	struct pp_kernel_ctf *ctf;
	int status = -1, dir = open(".", O_RDONLY | O_DIRECTORY);

	test_rwbs();
	CHECK_INT(pp_kernel_ctf_create(dir, "perf", &clock, syscalls, 1, cpus, &ctf, &err), 0);
	write_events(ctf);
	CHECK_INT(pp_kernel_ctf_end(ctf, now_ns + 1), 0);
	CHECK_INT(pp_kernel_ctf_events(ctf), 315);
	CHECK_INT(pp_kernel_ctf_discarded(ctf, 0), 0);
	pp_kernel_ctf_free(ctf);
	pp_syscalls_free(syscalls);
	close(dir);
	CHECK(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &text,
			   &bt_err, &status, &error));
	CHECK_INT(status, 0);
	CHECK_STR(bt_err, "");
	check_text(text);
	return 0;
}
