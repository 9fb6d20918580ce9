/* SPDX-License-Identifier: MIT */
/*
 * The functions that gcc 12 and clang 14 call before accesses in code built with -fsanitize=thread,
 * except atomic ones (atomics.c), and those of sanitizer/tsan_interface.h, which such code may call
 * itself. tests/access/test_entry_points.sh compares them with the names in the compilers.
 */
#include "access/access.h"

/* Reads and writes of n bytes, at least as aligned as the name says. */
#define HOOK(name, n, kind)                                                                        \
	EXPORT void name(void *address);                                                           \
	EXPORT void name(void *address)                                                            \
	{                                                                                          \
		access_touch(address, n, kind, ACCESS_SITE());                                     \
	}

/* The call site is that of an inlined call, or of code that was made at run time. */
#define HOOK_AT(name, n, kind)                                                                     \
	EXPORT void name(void *address, void *site);                                               \
	EXPORT void name(void *address, void *site)                                                \
	{                                                                                          \
		access_touch(address, n, kind, (uintptr_t)site);                                   \
	}

#define HOOKS(n)                                                                                   \
	HOOK(__tsan_read##n, n, ACCESS_READ)                                                       \
	HOOK(__tsan_write##n, n, ACCESS_WRITE)                                                     \
	HOOK(__tsan_read_write##n, n, ACCESS_READ | ACCESS_WRITE)                                  \
	HOOK(__tsan_volatile_read##n, n, ACCESS_READ)                                              \
	HOOK(__tsan_volatile_write##n, n, ACCESS_WRITE)                                            \
	HOOK_AT(__tsan_read##n##_pc, n, ACCESS_READ)                                               \
	HOOK_AT(__tsan_write##n##_pc, n, ACCESS_WRITE)                                             \
	HOOK(__tsan_unaligned_read##n, n, ACCESS_READ)                                             \
	HOOK(__tsan_unaligned_write##n, n, ACCESS_WRITE)                                           \
	HOOK(__tsan_unaligned_read_write##n, n, ACCESS_READ | ACCESS_WRITE)                        \
	HOOK(__tsan_unaligned_volatile_read##n, n, ACCESS_READ)                                    \
	HOOK(__tsan_unaligned_volatile_write##n, n, ACCESS_WRITE)

HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

/* The pointer to an object's virtual functions. */
HOOK(__tsan_vptr_read, sizeof(void *), ACCESS_READ)

EXPORT void __tsan_vptr_update(void **address, void *value);
EXPORT void __tsan_vptr_update(void **address, void *value)
{
	(void)value;
	access_touch(address, sizeof(void *), ACCESS_WRITE, ACCESS_SITE());
}

#define HOOK_RANGE(name, kind)                                                                     \
	EXPORT void name(void *address, unsigned long n_bytes);                                    \
	EXPORT void name(void *address, unsigned long n_bytes)                                     \
	{                                                                                          \
		access_touch(address, n_bytes, kind, ACCESS_SITE());                               \
	}                                                                                          \
	EXPORT void name##_pc(void *address, unsigned long n_bytes, void *site);                   \
	EXPORT void name##_pc(void *address, unsigned long n_bytes, void *site)                    \
	{                                                                                          \
		access_touch(address, n_bytes, kind, (uintptr_t)site);                             \
	}

HOOK_RANGE(__tsan_read_range, ACCESS_READ)
HOOK_RANGE(__tsan_write_range, ACCESS_WRITE)

/* --- without effect ----------------------------------------------------------------------------
 */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define NOTHING(result, name, ...)                                                                 \
	EXPORT result name(__VA_ARGS__);                                                           \
	EXPORT result name(__VA_ARGS__)                                                            \
	{                                                                                          \
	}

NOTHING(void, __tsan_init, void)
NOTHING(void, __tsan_func_entry, void *object)
NOTHING(void, __tsan_func_exit, void)
/* Between these two, a detector of races ignores accesses; here they count like any others. */
NOTHING(void, __tsan_ignore_thread_begin, void)
NOTHING(void, __tsan_ignore_thread_end, void)

/* libsync_trace sees the operations of locks; these describe locks that the program implements. */
NOTHING(void, __tsan_acquire, void *object)
NOTHING(void, __tsan_release, void *object)
NOTHING(void, __tsan_mutex_create, void *object, unsigned a)
NOTHING(void, __tsan_mutex_destroy, void *object, unsigned a)
NOTHING(void, __tsan_mutex_pre_lock, void *object, unsigned a)
NOTHING(void, __tsan_mutex_post_lock, void *object, unsigned a, int b)
NOTHING(void, __tsan_mutex_post_unlock, void *object, unsigned a)
NOTHING(void, __tsan_mutex_pre_signal, void *object, unsigned a)
NOTHING(void, __tsan_mutex_post_signal, void *object, unsigned a)
NOTHING(void, __tsan_mutex_pre_divert, void *object, unsigned a)
NOTHING(void, __tsan_mutex_post_divert, void *object, unsigned a)

/* Returns the recursion depth that the unlock releases: none is known. */
EXPORT int __tsan_mutex_pre_unlock(void *address, unsigned flags);
EXPORT int __tsan_mutex_pre_unlock(void *address, unsigned flags)
{
	(void)address;
	(void)flags;
	return 0;
}

NOTHING(void, __tsan_external_assign_tag, void *object, void *a)
NOTHING(void, __tsan_external_register_header, void *object, const char *a)
NOTHING(void, __tsan_switch_to_fiber, void *object, unsigned a)
NOTHING(void, __tsan_destroy_fiber, void *object)
NOTHING(void, __tsan_set_fiber_name, void *object, const char *a)

#pragma GCC diagnostic pop

/* Only passed back to the functions above. */
EXPORT void *__tsan_external_register_tag(const char *name);
EXPORT void *__tsan_external_register_tag(const char *name)
{
	return (void *)(uintptr_t)name;
}

EXPORT void *__tsan_create_fiber(unsigned flags);
EXPORT void *__tsan_create_fiber(unsigned flags)
{
	(void)flags;
	return &access_self;
}

EXPORT void *__tsan_get_current_fiber(void);
EXPORT void *__tsan_get_current_fiber(void)
{
	return &access_self;
}

/* The program, not its compiler, knows the call site and the size. */
EXPORT void __tsan_external_read(void *address, void *site, void *tag);
EXPORT void __tsan_external_read(void *address, void *site, void *tag)
{
	(void)tag;
	access_touch(address, 1, ACCESS_READ, (uintptr_t)site);
}

EXPORT void __tsan_external_write(void *address, void *site, void *tag);
EXPORT void __tsan_external_write(void *address, void *site, void *tag)
{
	(void)tag;
	access_touch(address, 1, ACCESS_WRITE, (uintptr_t)site);
}
