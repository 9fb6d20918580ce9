// SPDX-License-Identifier: MIT
//
// The tree of stacks with sums, for flame graphs. Stacks come after their callers, so one backward pass sums
// everything, and no function is recursive, however deep the stacks are.

/** own: the stack's own value; total: including its callees. Both are indexed by stack. */
export function sums(stacks, flame, range, thread) {
	const own = new Float64Array(stacks.parent.length);
	for (let row = 0; row < flame.n; row++) {
		const bin = flame.bin[row];
		const inRange = bin < 0 || (bin >= range.from && bin < range.to);
		if (inRange && (thread === null || flame.thread[row] === thread))
			own[flame.stack[row]] += flame.value[row] || 0;
	}
	return withTotals(stacks, own);
}

/** own: by stack. */
export function withTotals(stacks, own) {
	const total = own.slice();
	for (let stack = total.length - 1; stack >= 0; stack--)
		if (stacks.parent[stack] >= 0)
			total[stacks.parent[stack]] += total[stack];
	return {own, total};
}

/** 1 for that stack and those called from it; -1: for all. */
export function within(stacks, top) {
	const inside = new Uint8Array(stacks.parent.length);
	for (let stack = Math.max(top, 0); stack < inside.length; stack++)
		inside[stack] = top < 0 || stack === top || (stacks.parent[stack] >= 0 && inside[stacks.parent[stack]]) ? 1 : 0;
	return inside;
}

/** For each stack with a value, its callees, largest first; the roots are listed under -1. */
export function children(stacks, total) {
	const lists = new Map();
	for (let stack = 0; stack < total.length; stack++) {
		if (!(total[stack] > 0))
			continue;
		const parent = stacks.parent[stack];
		if (!lists.has(parent))
			lists.set(parent, []);
		lists.get(parent).push(stack);
	}
	for (const list of lists.values())
		list.sort((a, b) => total[b] - total[a] || a - b);
	return lists;
}

/**
 * Returns the boxes of a flame graph as [stack, depth, left, width], in fractions of the whole width. focus: the
 * stack that takes the whole width, -1 for none; its callers are as wide, above it. Boxes narrower than `least` are
 * omitted.
 */
export function boxes(stacks, total, lists, focus, least) {
	const out = [];
	const path = [];
	for (let stack = focus; stack >= 0; stack = stacks.parent[stack])
		path.unshift(stack);
	path.forEach((stack, depth) => out.push([stack, depth, 0, 1]));
	const roots = focus >= 0 ? [] : lists.get(-1) ?? [];
	const whole = focus >= 0 ? total[focus] : roots.reduce((sum, stack) => sum + total[stack], 0);
	const waiting = [];
	const place = (list, depth, left) => {
		for (const stack of list) {
			const width = total[stack] / whole;
			if (width >= least) {
				out.push([stack, depth, left, width]);
				waiting.push([stack, depth + 1, left]);
			}
			left += width;
		}
	};
	place(focus >= 0 ? lists.get(focus) ?? [] : roots, path.length, 0);
	while (waiting.length) {
		const [stack, depth, left] = waiting.pop();
		place(lists.get(stack) ?? [], depth, left);
	}
	return out;
}

/** Sums by function: own value, and total including callees; recursive calls count once. */
export function byFunction(stacks, {own, total}) {
	const rows = new Map();
	for (let stack = 0; stack < total.length; stack++) {
		if (!(total[stack] > 0))
			continue;
		const f = stacks.function[stack];
		if (!rows.has(f))
			rows.set(f, {function: f, own: 0, total: 0});
		const row = rows.get(f);
		row.own += own[stack];
		let above = stacks.parent[stack];
		while (above >= 0 && stacks.function[above] !== f)
			above = stacks.parent[above];
		if (above < 0)
			row.total += total[stack];
	}
	return [...rows.values()];
}
