/* SPDX-License-Identifier: MIT */
/*
 * Keeps the addresses of the named functions of each object that was looked up. Entries are added
 * by compare-and-swap; of two threads that read the same object at once, one discards its entry.
 * When an object is unloaded, all entries are given up, and their memory remains in use, since
 * another thread may read it; so the number of objects that are read is limited.
 */
#include "callers/named.h"

#include <elf.h>

#include "runtime/files/file.h"
#include "runtime/files/helper_task.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"
#include "runtime/unwind/table.h"
#include "sync-trace/named.h"

#define MODULES_MAX 256u
#define READS_MAX   1024u
#define STRINGS_MAX ((uint64_t)1 << 30)
#define PART_BYTES  ((size_t)64 << 10) /* of a symbol table that is read at once */
#define STARTS_MAX  500u

/* The named functions of an object. */
struct named {
	const void *dynamic; /* the object's, which no other loaded object has */
	uint64_t bias;
	uint32_t n;
	uint64_t starts[STARTS_MAX];
};

static const char *names = "";
static struct named *modules[MODULES_MAX];
static uint32_t n_read;

bool st_named_open(const char *list)
{
	/* A child of fork shares the page as long as it does not write to it. */
	if (__atomic_load_n(&names, __ATOMIC_RELAXED) == list)
		return false;
	__atomic_store_n(&names, list, __ATOMIC_RELAXED);
	return true;
}

bool st_named_exist(void)
{
	return *__atomic_load_n(&names, __ATOMIC_RELAXED) != '\0';
}

void st_named_forget(void)
{
	for (unsigned i = 0; i < MODULES_MAX; i++)
		__atomic_store_n(&modules[i], NULL, __ATOMIC_RELAXED);
}

/* --- symbols of a file ------------------------------------------------------------------------ */

struct reading {
	const struct gm_running *module;
	struct named *into;
	int fd;
	char *strings;
	uint64_t strings_bytes;
	uint8_t *part; /* PART_BYTES */
};

static bool read_at(const struct reading *reading, void *into, size_t n_bytes, uint64_t at)
{
	for (size_t n = 0; n < n_bytes;) {
		long got = gm_syscall6(SYS_pread64, reading->fd, (long)((char *)into + n),
				       (long)(n_bytes - n), (long)(at + n), 0, 0);

		if (got <= 0)
			return false;
		n += (size_t)got;
	}
	return true;
}

static void take_symbol(struct reading *reading, const Elf64_Sym *symbol)
{
	struct named *into = reading->into;

	if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF ||
	    symbol->st_name >= reading->strings_bytes || into->n == STARTS_MAX ||
	    st_find_named(reading->strings + symbol->st_name, names) < 0)
		return;
	into->starts[into->n++] = reading->module->bias + symbol->st_value;
}

static void read_symbols(struct reading *reading, const Elf64_Shdr *table)
{
	uint64_t left = table->sh_size - table->sh_size % sizeof(Elf64_Sym), at = table->sh_offset;

	while (left > 0) {
		size_t most = PART_BYTES - PART_BYTES % sizeof(Elf64_Sym);
		size_t n_bytes = left < most ? left : most;

		if (!read_at(reading, reading->part, n_bytes, at))
			return;
		for (size_t i = 0; i < n_bytes; i += sizeof(Elf64_Sym))
			take_symbol(reading, (const Elf64_Sym *)(const void *)&reading->part[i]);
		left -= n_bytes;
		at += n_bytes;
	}
}

static void read_table(struct reading *reading, const Elf64_Shdr *table, const Elf64_Shdr *strings)
{
	uint64_t n_bytes = strings->sh_size;

	if (table->sh_entsize != sizeof(Elf64_Sym) || n_bytes == 0 || n_bytes > STRINGS_MAX)
		return;
	reading->strings = gm_sys_mmap(n_bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (reading->strings == NULL)
		return;
	reading->strings_bytes = n_bytes;
	if (read_at(reading, reading->strings, n_bytes, strings->sh_offset) &&
	    reading->strings[n_bytes - 1] == '\0')
		read_symbols(reading, table);
	gm_sys_munmap(reading->strings, n_bytes);
}

/* Reads .symtab and .dynsym: a stripped file has only the latter. */
static void read_tables(struct reading *reading, const Elf64_Ehdr *elf)
{
	for (unsigned i = 0; i < elf->e_shnum; i++) {
		Elf64_Shdr table, strings;

		if (!read_at(reading, &table, sizeof(table), elf->e_shoff + i * sizeof(table)))
			return;
		if ((table.sh_type == SHT_SYMTAB || table.sh_type == SHT_DYNSYM) &&
		    table.sh_link < elf->e_shnum &&
		    read_at(reading, &strings, sizeof(strings),
			    elf->e_shoff + table.sh_link * sizeof(strings)))
			read_table(reading, &table, &strings);
	}
}

/* A file that was replaced since it was loaded has other sections at other places. */
static bool is_loaded_file(const struct gm_running *module, const Elf64_Ehdr *elf)
{
	return memcmp(elf->e_ident, ELFMAG, SELFMAG) == 0 &&
	       elf->e_shentsize == sizeof(Elf64_Shdr) &&
	       (module->header == NULL || memcmp(elf, module->header, sizeof(*elf)) == 0);
}

static long read_step(void *arg)
{
	struct reading *reading = arg;
	const char *path = reading->module->path;
	Elf64_Ehdr elf;

	reading->fd =
	    gm_sys_open(path[0] == '\0' ? "/proc/self/exe" : path, O_RDONLY | O_CLOEXEC, 0);
	if (reading->fd < 0)
		return reading->fd;
	reading->part = gm_sys_mmap(PART_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (reading->part != NULL) {
		if (read_at(reading, &elf, sizeof(elf), 0) && is_loaded_file(reading->module, &elf))
			read_tables(reading, &elf);
		gm_sys_munmap(reading->part, PART_BYTES);
	}
	gm_sys_close(reading->fd);
	return 0;
}

/* --- objects ---------------------------------------------------------------------------------- */

static struct named *read_module(const struct gm_running *module)
{
	struct reading reading = {.module = module, .fd = -1};

	if (gm_seal_is_set() || __atomic_fetch_add(&n_read, 1, __ATOMIC_RELAXED) >= READS_MAX)
		return NULL;
	reading.into = gm_sys_mmap(sizeof(*reading.into), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (reading.into == NULL)
		return NULL;
	reading.into->dynamic = module->dynamic;
	reading.into->bias = module->bias;
	gm_files_run(read_step, &reading);
	return reading.into;
}

static bool is_of(const struct named *named, const struct gm_running *module)
{
	return named->dynamic == module->dynamic && named->bias == module->bias;
}

/* NULL: it cannot be read now. */
static const struct named *find_module(const struct gm_running *module)
{
	struct named *made = NULL;

	for (unsigned i = 0; i < MODULES_MAX; i++) {
		/* acquire: pairs with the release below */
		struct named *named = __atomic_load_n(&modules[i], __ATOMIC_ACQUIRE);

		if (named == NULL && made == NULL) {
			made = read_module(module);
			if (made == NULL)
				return NULL;
		}
		/* release: who sees the entry sees its addresses */
		if (named == NULL &&
		    __atomic_compare_exchange_n(&modules[i], &named, made, false, __ATOMIC_RELEASE,
						__ATOMIC_ACQUIRE))
			return made;
		if (!is_of(named, module))
			continue;
		if (made != NULL)
			gm_sys_munmap(made, sizeof(*made));
		return named;
	}
	/* No room: it is read again for the next return address, up to READS_MAX times. */
	return made;
}

bool st_named_is(const struct gm_running *module, uintptr_t start)
{
	const struct named *named = find_module(module);

	for (uint32_t i = 0; named != NULL && i < named->n; i++)
		if (named->starts[i] == start)
			return true;
	return false;
}
