/* SPDX-License-Identifier: MIT */
/*
 * The auxiliary vector, the vDSO and the symbols of loaded objects, read from memory.
 *
 * getauxval() and clock_gettime() may be functions of the program: an interposed one that takes
 * locks, or that is compiled with -pg, would enter the library again from its slow path. The
 * functions here call no other library. They work before libc is initialized and in a static
 * program.
 */
#include <elf.h>
#include <link.h>

#include "runtime/sys/auxv.h"
#include "runtime/sys/sys.h"

#define AUXV_TYPE_MAX 128 /* smaller than any pointer in an environment */

/* the loader's: argc, argv and environment as the kernel left them */
extern void *__libc_stack_end;

/*
 * The vector lies behind the environment. unsetenv() moves the end of the environment forward, so
 * the vector is recognized by the first word behind the arguments that can be a type, not by the
 * first NULL.
 */
static const ElfW(auxv_t) * vector(void)
{
	static const ElfW(auxv_t) * found;
	const uint64_t *word = __libc_stack_end;

	if (found != NULL || word == NULL)
		return found;
	word += 1 + *word + 1;
	while (*word == 0 || *word >= AUXV_TYPE_MAX)
		word++;
	found = (const void *)word;
	return found;
}

uint64_t gm_auxv(unsigned long type)
{
	const ElfW(auxv_t) *entry = vector();

	for (; entry != NULL && entry->a_type != AT_NULL; entry++)
		if (entry->a_type == type)
			return entry->a_un.a_val;
	return 0;
}

/* --- functions of an object ----------------------------------------------------------------- */

struct image {
	const char *base; /* run-time address - link-time address */
	const ElfW(Sym) * symbols;
	const char *names;
	const uint32_t *hash;	  /* DT_HASH; NULL: none */
	const uint32_t *gnu_hash; /* DT_GNU_HASH; NULL: none */
};

static bool image_read(struct image *image, const ElfW(Ehdr) * elf)
{
	const ElfW(Phdr) *header = (const void *)((const char *)elf + elf->e_phoff), *found = NULL;
	const ElfW(Dyn) * dynamic;

	*image = (struct image){NULL, NULL, NULL, NULL, NULL};
	for (unsigned i = 0; i < elf->e_phnum; i++, header++) {
		if (header->p_type == PT_LOAD && image->base == NULL)
			image->base = (const char *)elf + header->p_offset - header->p_vaddr;
		else if (header->p_type == PT_DYNAMIC)
			found = header;
	}
	if (image->base == NULL || found == NULL)
		return false;
	dynamic = (const void *)(image->base + found->p_vaddr);
	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		uintptr_t value = dynamic->d_un.d_ptr;
		const void *at;

		/* The loader has relocated these in dynamic sections that it could write to. */
		if (value < (uintptr_t)image->base)
			value += (uintptr_t)image->base;
		at = (const void *)value;

		if (dynamic->d_tag == DT_SYMTAB)
			image->symbols = at;
		else if (dynamic->d_tag == DT_STRTAB)
			image->names = at;
		else if (dynamic->d_tag == DT_HASH)
			image->hash = at;
		else if (dynamic->d_tag == DT_GNU_HASH)
			image->gnu_hash = at;
	}
	return image->symbols != NULL && image->names != NULL;
}

/* Returns the number of symbols. A GNU hash table has it in its last chain. */
static uint32_t n_symbols(const struct image *image)
{
	const uint32_t *table = image->gnu_hash, *buckets, *chains;
	uint32_t last = 0;

	if (image->hash != NULL)
		return image->hash[1];
	if (table == NULL)
		return 0;
	/* Number of buckets, first symbol, words of the Bloom filter (8 bytes each), its shift. */
	buckets = table + 4 + 2 * table[2];
	chains = buckets + table[0] - table[1];
	for (uint32_t i = 0; i < table[0]; i++)
		if (buckets[i] > last)
			last = buckets[i];
	if (last < table[1])
		return table[1];
	while ((chains[last] & 1) == 0)
		last++;
	return last + 1;
}

/* Returns a defined function: that with the name or, if that is NULL, the one at the address. */
static const ElfW(Sym) *
    find_function(struct image *image, const void *elf, const char *name, const void *address)
{
	uint32_t n;

	if (elf == NULL || memcmp(elf, ELFMAG, SELFMAG) != 0 || !image_read(image, elf))
		return NULL;
	n = n_symbols(image);
	for (uint32_t i = 0; i < n; i++) {
		const ElfW(Sym) *symbol = &image->symbols[i];

		if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC)
			continue;
		if (name != NULL ? gm_strcmp(image->names + symbol->st_name, name) == 0
				 : image->base + symbol->st_value == address)
			return symbol;
	}
	return NULL;
}

void *gm_object_function(const void *elf, const char *name)
{
	struct image image;
	const ElfW(Sym) *symbol = find_function(&image, elf, name, NULL);

	return symbol != NULL ? (void *)(image.base + symbol->st_value) : NULL;
}

const char *gm_object_name(const void *elf, const void *function)
{
	struct image image;
	const ElfW(Sym) *symbol = find_function(&image, elf, NULL, function);

	return symbol != NULL ? image.names + symbol->st_name : NULL;
}

void *gm_vdso_function(const char *name)
{
	return gm_object_function((const void *)gm_auxv(AT_SYSINFO_EHDR), name);
}
