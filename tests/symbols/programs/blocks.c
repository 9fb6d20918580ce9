/* SPDX-License-Identifier: MIT */
/* Ways in which C programs keep the block that they allocate. */
#include <stdlib.h>

#include "take.h"

struct node {
	struct node *left, *right;
	long key;
	struct {
		int count;
		char name[12];
	} data;
};

struct list {
	struct node *head;
	struct node *slots[4];
	struct {
		struct node *last;
	} ends;
};

typedef struct {
	long x, y, z;
} point_t;

struct triple {
	long a, b, c;
};

struct node *root, *table[8];
struct list list;
static volatile int choice;

static __attribute__((noinline)) struct node *in_variable(long key)
{
	struct node *node = take(sizeof(*node));

	if (!node)
		return NULL;
	node->key = key;
	return node;
}

static __attribute__((noinline)) void in_member(struct list *of)
{
	of->head = take(sizeof(*of->head));
}

static __attribute__((noinline)) void in_inner_member(struct list *of)
{
	of->ends.last = take(sizeof(*of->ends.last));
	of->ends.last->key = 1;
}

static __attribute__((noinline)) void in_chain(struct node *of)
{
	of->left->right = take(sizeof(struct node));
}

static __attribute__((noinline)) void in_global(void)
{
	root = take(sizeof(*root));
}

static __attribute__((noinline)) void in_global_member(void)
{
	list.ends.last = take(sizeof(*root));
}

static __attribute__((noinline)) void in_element(int i)
{
	table[i] = take(sizeof(*table[i]));
}

static __attribute__((noinline)) void in_pointers(struct node **nodes, int i)
{
	nodes[i] = take(sizeof(*nodes[i]));
	nodes[i]->key = i;
}

static __attribute__((noinline)) struct node *in_result(void)
{
	return take(sizeof(struct node));
}

static __attribute__((noinline)) struct node *in_array(int n)
{
	struct node *nodes = take(sizeof(*nodes) * (size_t)n);

	for (int i = 0; i < n; i++)
		nodes[i].key = i;
	return nodes;
}

static __attribute__((noinline)) point_t *in_typedef(void)
{
	point_t *point = take(sizeof(*point));

	point->x = 1;
	return point;
}

static __attribute__((noinline)) struct node **in_table(int n)
{
	struct node **nodes = take(sizeof(*nodes) * (size_t)n);

	nodes[0] = root;
	return nodes;
}

/* Unknown types: a wrapper's void *, text, and a block that is larger than the type. */
static __attribute__((noinline)) void *wrapped(size_t n_bytes)
{
	void *block = take(n_bytes);

	if (!block)
		abort();
	return block;
}

static __attribute__((noinline)) char *in_text(void)
{
	char *text = take(80);

	text[0] = 'x';
	return text;
}

static __attribute__((noinline)) struct node *with_rest(void)
{
	struct node *node = take(sizeof(*node) + 7);

	node->key = 1;
	return node;
}

/* Two types of one size: it may be either. */
static __attribute__((noinline)) void in_two(point_t **of, struct triple **other)
{
	void *block = take(sizeof(point_t));

	*of = block;
	*other = block;
}

static __attribute__((noinline)) void *inlined(void)
{
	struct node *node = in_variable(1);

	return choice ? NULL : node;
}

int main(void)
{
	struct node *nodes[3];
	point_t *point;
	struct triple *triple;

	inlined();
	expect("struct node.key", 16);
	expect("struct node.right", 8);
	expect("struct node.data.count", 24);
	expect("struct node.data.name+4", 32);
	in_member(&list);
	expect("struct node.left", 0);
	in_inner_member(&list);
	expect("struct node.left", 0);
	list.head->left = in_result();
	expect("struct node.key", 16);
	in_chain(list.head);
	expect("struct node.right", 8);
	in_global();
	expect("struct node.left", 0);
	in_global_member();
	expect("struct node.left", 0);
	in_element(choice + 3);
	expect("struct node.left", 0);
	in_pointers(nodes, choice + 2);
	expect("struct node.left", 0);
	in_array(5);
	expect("struct node[3].key", 3 * sizeof(struct node) + 16);
	in_typedef();
	expect("point_t.y", 8);
	in_table(6);
	expect("struct node *[2]", 16);
	wrapped(sizeof(struct node));
	expect("-", 0);
	in_text();
	expect("-", 8);
	with_rest();
	expect("-", 0);
	in_two(&point, &triple);
	expect("-", 0);
	return 0;
}
