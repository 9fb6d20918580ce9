// SPDX-License-Identifier: MIT
//
// A graph in layers from left to right, after Sugiyama: arrows that would close a circle are turned, every node
// gets a layer behind those of its predecessors, layers are ordered so that few arrows cross, and within a layer
// each item goes as near to the mean of its neighbors as their order allows. An arrow has an item in each layer that
// it passes; the one in the middle has the size of its label. Graphs have a few dozen arrows: nothing here is
// made for more.
const NODE_GAP = 28;
const ARROW_GAP = 14;
const LAYER_GAP = 25;
const SWEEPS = 12;

const mean = list => list.reduce((sum, value) => sum + value, 0) / list.length;

// Whether an arrow has to be turned: the earlier ones, which weigh more, lead from its end to its beginning.
function turned(arrows) {
	const next = new Map();
	const leads = (from, to) => from === to || (next.get(from) ?? []).some(key => leads(key, to));
	return arrows.map(({from, to}) => {
		const isTurned = leads(to, from);
		const [tail, head] = isTurned ? [to, from] : [from, to];
		next.set(tail, [...next.get(tail) ?? [], head]);
		return isTurned;
	});
}

// Two layers for each step: labels are in those between the nodes'.
function layersOf(keys, edges) {
	const layerOf = new Map(keys.map(key => [key, 0]));
	for (let changed = true; changed;) {
		changed = false;
		for (const {tail, head} of edges) {
			if (layerOf.get(head) < layerOf.get(tail) + 2) {
				layerOf.set(head, layerOf.get(tail) + 2);
				changed = true;
			}
		}
	}
	for (const key of keys) {
		const heads = edges.filter(({tail}) => tail === key).map(({head}) => layerOf.get(head));
		if (heads.length > 0 && !edges.some(({head}) => head === key))
			layerOf.set(key, Math.min(...heads) - 2);
	}
	return layerOf;
}

// Items of nodes and arrows, each with its neighbors in the layers before and after it.
function itemsOf(sizes, edges, layerOf) {
	const item = (layer, width, height, isNode) => ({layer, width, height, isNode, before: [], after: []});
	const nodes = new Map([...sizes].map(([key, {width, height}]) => [key, item(layerOf.get(key), width, height, true)]));
	const chains = edges.map(({tail, head, labelWidth}) => {
		const [first, last] = [layerOf.get(tail), layerOf.get(head)];
		const chain = [];
		for (let layer = first + 1; layer < last; layer++) {
			const isLabel = layer === (first + last) / 2;
			chain.push(item(layer, isLabel ? labelWidth : 0, isLabel ? 14 : 0, false));
		}
		[nodes.get(tail), ...chain, nodes.get(head)].reduce((before, after) => {
			before.after.push(after);
			after.before.push(before);
			return after;
		});
		return chain;
	});
	return {nodes, chains};
}

const place = columns => columns.forEach(column => column.forEach((item, i) => {
	item.place = i;
}));

function crossings(columns) {
	let n = 0;
	for (const column of columns) {
		const ends = column.flatMap(item => item.after.map(other => other.place).sort((a, b) => a - b));
		for (let i = 0; i < ends.length; i++)
			n += ends.slice(i + 1).filter(end => end < ends[i]).length;
	}
	return n;
}

// By the mean place of the neighbors, forth and back; the order with the fewest crossings stays.
function order(columns) {
	let best = columns.map(column => [...column]);
	place(columns);
	let fewest = crossings(columns);
	for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep++) {
		const side = sweep % 2 ? 'after' : 'before';
		for (const column of sweep % 2 ? [...columns].reverse() : columns) {
			const wish = new Map(column.map(item => [item, item[side].length ? mean(item[side].map(other => other.place)) : item.place]));
			column.sort((a, b) => wish.get(a) - wish.get(b));
			place([column]);
		}
		const n = crossings(columns);
		if (n < fewest) {
			fewest = n;
			best = columns.map(column => [...column]);
		}
	}
	place(best);
	return best;
}

// The y of items in their order, as near to what each wishes as the gaps allow: neighbors that come too close
// become a block, which goes to the mean of their wishes.
function spread(column, wishes) {
	const blocks = [];
	let offset = 0;
	column.forEach((item, i) => {
		const above = column[i - 1];
		if (above)
			offset += (above.height + item.height) / 2 + (above.isNode && item.isNode ? NODE_GAP : ARROW_GAP);
		let block = {items: [[item, offset]], sum: wishes[i] - offset};
		while (blocks.length > 0 && blocks.at(-1).sum / blocks.at(-1).items.length > block.sum / block.items.length) {
			const {items, sum} = blocks.pop();
			block = {items: [...items, ...block.items], sum: sum + block.sum};
		}
		blocks.push(block);
	});
	for (const {items, sum} of blocks) {
		for (const [item, below] of items)
			item.y = sum / items.length + below;
	}
}

function setY(columns) {
	columns.forEach(column => spread(column, column.map(() => 0)));
	for (let sweep = 0; sweep < SWEEPS; sweep++) {
		for (const column of sweep % 2 ? [...columns].reverse() : columns)
			spread(column, column.map(({y, before, after}) => before.length + after.length ? mean([...before, ...after].map(other => other.y)) : y));
	}
	const top = Math.min(...columns.flat().map(({y, height}) => y - height / 2));
	for (const item of columns.flat())
		item.y -= top;
}

function setX(columns) {
	let left = 0;
	for (const column of columns) {
		const width = Math.max(...column.map(item => item.width));
		for (const item of column)
			item.x = left + width / 2;
		left += width + LAYER_GAP;
	}
	return left - LAYER_GAP;
}

/**
 * sizes: key -> {width, height}; arrows: {from, to, labelWidth}, the heaviest first and none a loop. Returns {width,
 * height, nodes: key -> {x, y, width, height}, paths: [{points, x, y}]}, where points are those between the nodes.
 */
export function layers(sizes, arrows) {
	const isTurned = turned(arrows);
	const edges = arrows.map(({from, to, labelWidth}, i) => isTurned[i] ? {tail: to, head: from, labelWidth} : {tail: from, head: to, labelWidth});
	const {nodes, chains} = itemsOf(sizes, edges, layersOf([...sizes.keys()], edges));
	const items = [...nodes.values(), ...chains.flat()];
	const used = [...new Set(items.map(({layer}) => layer))].sort((a, b) => a - b);
	const columns = order(used.map(layer => items.filter(item => item.layer === layer)));
	setY(columns);
	const width = setX(columns);
	return {
		width, height: Math.max(...items.map(({y, height}) => y + height / 2)),
		nodes,
		paths: chains.map((chain, i) => {
			const {x, y} = chain[(chain.length - 1) / 2];
			return {points: isTurned[i] ? [...chain].reverse() : chain, x, y};
		}),
	};
}
