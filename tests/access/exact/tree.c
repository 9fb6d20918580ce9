/* SPDX-License-Identifier: MIT */
/* A red-black tree: insertions with rotations, look-ups, walks in order. */
#include "access/exact/region.h"

#define N 120

struct node {
	struct node *child[2], *parent;
	uint32_t key;
	uint8_t is_red;
	uint8_t visits;
};

struct tree {
	struct node *root;
	uint32_t n;
};

#define tree  AT(struct tree, 0)
#define nodes AT(struct node, 64)
#define sums  AT(uint64_t, 16384)

static void rotate(struct node *node, int side)
{
	struct node *up = node->child[!side], *parent = node->parent;

	node->child[!side] = up->child[side];
	if (up->child[side])
		up->child[side]->parent = node;
	up->parent = parent;
	if (!parent)
		tree->root = up;
	else
		parent->child[parent->child[1] == node] = up;
	up->child[side] = node;
	node->parent = up;
}

static void repair(struct node *node)
{
	struct node *parent;

	while ((parent = node->parent) && parent->is_red) {
		struct node *grand = parent->parent;
		int side = grand->child[1] == parent;
		struct node *uncle = grand->child[!side];

		if (uncle && uncle->is_red) {
			parent->is_red = uncle->is_red = 0;
			grand->is_red = 1;
			node = grand;
			continue;
		}
		if (parent->child[!side] == node) {
			rotate(parent, side);
			node = parent;
			parent = node->parent;
		}
		parent->is_red = 0;
		grand->is_red = 1;
		rotate(grand, !side);
	}
	tree->root->is_red = 0;
}

static void insert(uint32_t key)
{
	struct node **at = &tree->root, *parent = NULL, *node;

	while (*at) {
		parent = *at;
		if (parent->key == key)
			return;
		at = &parent->child[key > parent->key];
	}
	node = &nodes[tree->n++];
	node->child[0] = node->child[1] = NULL;
	node->parent = parent;
	node->key = key;
	node->is_red = 1;
	*at = node;
	repair(node);
}

static NOINLINE void insertions(void)
{
	tree->root = NULL;
	tree->n = 0;
	for (uint32_t i = 0; i < N; i++)
		insert(i * 37 % 101);
}

static NOINLINE void look_ups(void)
{
	for (uint32_t key = 0; key < 60; key += 7) {
		struct node *node = tree->root;

		while (node && node->key != key)
			node = node->child[key > node->key];
		if (node)
			sums[0] += node->visits++;
	}
}

static uint64_t walk(struct node *node, unsigned depth)
{
	if (!node)
		return 0;
	if (depth > sums[2])
		sums[2] = depth;
	return walk(node->child[0], depth + 1) + node->key + walk(node->child[1], depth + 1);
}

static NOINLINE void walks(void)
{
	sums[2] = 0;
	sums[1] = walk(tree->root, 1);
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 2; i++) {
		SECTION(insertions);
		SECTION(look_ups);
		SECTION(walks);
	}
	return finish(argc, argv);
}
