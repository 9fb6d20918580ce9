// SPDX-License-Identifier: MIT
//
// Computes the layout of a graph: layers if it has few arrows, otherwise a ring, because layers of a dense graph are
// unreadable. Both return {width, height, nodes: key -> {x, y, width, height}, paths: [{d, x, y}]}, with paths in the
// order of the arrows.
import {layers} from './graph_layers.js';

const MARGIN = 44;
const SIDE = 12;
const HALF_ARROW = 6;

// A uniform cubic B-spline that begins and ends at the first and last of at least three points.
function smooth(points) {
	const [first, last] = [points[0], points.at(-1)];
	const parts = [first, first, ...points, last, last];
	const blend = (a, b, weight) => `${(a.x * weight + b.x) / (weight + 1)},${(a.y * weight + b.y) / (weight + 1)}`;
	const knot = (a, b, c) => `${(a.x + 4 * b.x + c.x) / 6},${(a.y + 4 * b.y + c.y) / 6}`;
	let d = `M${first.x},${first.y}`;
	for (let i = 1; i + 2 < parts.length; i++) {
		const [b, c, after] = parts.slice(i, i + 3);
		d += `C${blend(b, c, 2)} ${blend(c, b, 2)} ${knot(b, c, after)}`;
	}
	return d;
}

/** A loop above a node, from the node to itself. */
function loop({x, y, height}) {
	const top = y - height / 2;
	return {d: `M${x - 14},${top}C${x - 34},${top - 38} ${x + 34},${top - 38} ${x + 14},${top}`, x, y: top - 28};
}

// Returns the point where a line from outside to the centre of a box crosses its edge.
function edgeOf(box, outside) {
	const dx = outside.x - box.x, dy = outside.y - box.y;
	const part = Math.min(box.width / 2 / Math.abs(dx || 1e-9), box.height / 2 / Math.abs(dy || 1e-9), 1);
	return {x: box.x + dx * part, y: box.y + dy * part};
}

function layered(sizes, arrows, labelWidth) {
	const others = arrows.filter(({from, to}) => from !== to);
	const {width, height, nodes: places, paths: ways} = layers(sizes,
		others.map(arrow => ({from: arrow.from, to: arrow.to, labelWidth: labelWidth(arrow)})));
	const moved = ({x, y}) => ({x: x + SIDE, y: y + MARGIN});
	const nodes = new Map([...places].map(([key, box]) => [key, {...moved(box), width: box.width, height: box.height}]));
	const wayOf = new Map(others.map((arrow, i) => [arrow, ways[i]]));
	const paths = arrows.map(arrow => {
		const from = nodes.get(arrow.from), to = nodes.get(arrow.to);
		if (from === to)
			return loop(from);
		const way = wayOf.get(arrow), points = way.points.map(moved);
		return {...moved(way), d: smooth([edgeOf(from, points[0]), ...points, edgeOf(to, points.at(-1))])};
	});
	return {width: width + 2 * SIDE, height: height + 2 * MARGIN, nodes, paths};
}

// Bends the arrow towards the centre and to one side, so that opposite arrows do not coincide.
function bent(from, to, middle) {
	const half = {x: (from.x + to.x) / 2, y: (from.y + to.y) / 2};
	const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
	const bend = {
		x: half.x + (middle.x - half.x) * 0.3 - (to.y - from.y) / length * 16,
		y: half.y + (middle.y - half.y) * 0.3 + (to.x - from.x) / length * 16,
	};
	const a = edgeOf(from, bend), b = edgeOf(to, bend);
	return {d: `M${a.x},${a.y}Q${bend.x},${bend.y} ${b.x},${b.y}`, x: a.x / 4 + bend.x / 2 + b.x / 4, y: a.y / 4 + bend.y / 2 + b.y / 4};
}

function ring(sizes, arrows) {
	const widest = Math.max(...[...sizes.values()].map(({width}) => width));
	const radius = {x: Math.max(200, sizes.size * 22), y: Math.max(130, sizes.size * 15)};
	const middle = {x: radius.x + widest / 2 + HALF_ARROW, y: radius.y + MARGIN + 20};
	const nodes = new Map([...sizes].map(([key, size], i) => {
		const angle = (i / sizes.size - 0.25) * 2 * Math.PI;
		return [key, {...size, x: middle.x + radius.x * Math.cos(angle), y: middle.y + radius.y * Math.sin(angle)}];
	}));
	const paths = arrows.map(({from, to}) => from === to ? loop(nodes.get(from)) : bent(nodes.get(from), nodes.get(to), middle));
	return {width: middle.x * 2, height: middle.y * 2 - MARGIN / 2, nodes, paths};
}

/** sizes: key -> {width, height}; arrows: {from, to, weight}; labelWidth(arrow) in pixels. */
export function layOut(sizes, arrows, labelWidth) {
	return sizes.size > 5 && arrows.length > sizes.size * 1.6 ? ring(sizes, arrows) : layered(sizes, arrows, labelWidth);
}
