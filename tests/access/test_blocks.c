/* SPDX-License-Identifier: MIT */
/*
 * The map of the heap's blocks (libsync-trace/access/blocks.c) against a list: random blocks of all
 * sizes begin and end in a region of addresses that has no memory, and random addresses are looked
 * up, within a page, across pages, units of 2 MiB and areas of 16 GiB.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "access/access.h"

#define N_BLOCKS 300
#define N_STEPS	 200000
#define REGION	 ((uintptr_t)0x7f0000000000)

static struct {
	uintptr_t address, site;
	size_t n_bytes; /* 0: none */
} blocks[N_BLOCKS];

static bool has_memory = true;

uintptr_t st_access_site(const volatile uintptr_t *place)
{
	return *place;
}

void *st_access_memory(size_t n_bytes)
{
	void *made = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return has_memory && made != MAP_FAILED ? made : NULL;
}

static uint64_t draw(uint64_t n)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % n;
}

static size_t draw_size(void)
{
	static const uint64_t most[] = {16, 17, 64, 4096, 10000, 1u << 20, 10u << 20, 1ull << 34};

	return draw(most[draw(8)]) + 1;
}

/* Mostly few pages, so that blocks are neighbours. */
static uintptr_t draw_address(void)
{
	static const uint64_t spans[] = {4096, 65536, 8u << 20, 1ull << 35};

	/* On both sides of a border of areas. */
	return REGION - 2048 + draw(spans[draw(4)]) / 16 * 16;
}

static int find_in_list(uintptr_t address)
{
	for (int i = 0; i < N_BLOCKS; i++)
		if (blocks[i].n_bytes != 0 && address - blocks[i].address < blocks[i].n_bytes)
			return i;
	return -1;
}

static bool is_free(uintptr_t address, size_t n_bytes)
{
	for (int i = 0; i < N_BLOCKS; i++)
		if (blocks[i].n_bytes != 0 && address < blocks[i].address + blocks[i].n_bytes &&
		    blocks[i].address < address + n_bytes)
			return false;
	return true;
}

static void begin(int i)
{
	uintptr_t address = draw_address();
	size_t n_bytes = draw_size();

	while (n_bytes > 0 && !is_free(address, n_bytes))
		n_bytes /= 2;
	if (n_bytes == 0)
		return;
	blocks[i].address = address;
	blocks[i].n_bytes = n_bytes;
	blocks[i].site = 0x400000 + draw(1000);
	access_block_begin(address, n_bytes, blocks[i].site);
}

static void end(int i)
{
	struct st_block found;

	if (!access_block_at(blocks[i].address, &found) || found.n_bytes != blocks[i].n_bytes) {
		printf("no block at %#lx\n", blocks[i].address);
		exit(1);
	}
	access_block_end(&found);
	blocks[i].n_bytes = 0;
}

static void look_up(uintptr_t address)
{
	struct st_block found;
	bool is_found = access_block_find(address, &found);
	int i = find_in_list(address);

	if (is_found == (i >= 0) &&
	    (i < 0 || (found.address == blocks[i].address && found.n_bytes == blocks[i].n_bytes &&
		       found.site == blocks[i].site)))
		return;
	printf(
	    "%#lx: expected block %d (%#lx, %zu bytes, %#lx), found %d (%#lx, %zu bytes, %#lx)\n",
	    address, i, i >= 0 ? blocks[i].address : 0, i >= 0 ? blocks[i].n_bytes : 0,
	    i >= 0 ? blocks[i].site : 0, is_found, found.address, found.n_bytes, found.site);
	exit(1);
}

int main(void)
{
	struct st_block found;

	has_memory = false;
	access_block_begin(REGION, 64, 1);
	if (access_block_find(REGION, &found))
		return puts("a block is known without memory for it"), 1;
	has_memory = true;
	for (int step = 0; step < N_STEPS; step++) {
		int i = (int)draw(N_BLOCKS);
		uintptr_t near = blocks[i].address + draw(3 * 4096) - 4096;

		if (blocks[i].n_bytes == 0)
			begin(i);
		else if (draw(3) == 0)
			end(i);
		look_up(draw_address() + draw(16));
		if (blocks[i].n_bytes != 0) {
			look_up(near);
			look_up(blocks[i].address);
			look_up(blocks[i].address + blocks[i].n_bytes - 1);
			look_up(blocks[i].address + blocks[i].n_bytes);
			look_up(blocks[i].address + draw(blocks[i].n_bytes));
		}
	}
	/* Not at a multiple of 16, of no bytes, not in the address space. */
	access_block_begin(REGION + ((uintptr_t)1 << 40) + 8, 64, 1);
	access_block_begin(REGION + ((uintptr_t)1 << 40), 0, 1);
	access_block_begin((uintptr_t)1 << 47, 64, 1);
	access_block_begin(((uintptr_t)1 << 47) - 64, SIZE_MAX, 1);
	if (access_block_find(REGION + ((uintptr_t)1 << 40) + 8, &found) ||
	    access_block_find(((uintptr_t)1 << 47) - 64, &found) ||
	    access_block_find(UINTPTR_MAX, &found))
		return puts("a block that cannot be known is found"), 1;
	return 0;
}
