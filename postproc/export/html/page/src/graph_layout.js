// SPDX-License-Identifier: MIT
//
// Where the nodes and arrows of a graph go: in layers if it has few arrows, or else in a ring, since layers
// of what is tangled are none. Both give {width, height, nodes: key -> {x, y, width, height}, paths: [{d, x,
// y}]}, in the order of the arrows.
import dagre from '@dagrejs/dagre';
import {curveBasis, line} from 'd3-shape';

const MARGIN = 44;
const HALF_ARROW = 6;

const smooth = line(point => point.x, point => point.y).curve(curveBasis);

/** A loop above a node, from it to itself. */
function loop({x, y, height}) {
	const top = y - height / 2;
	return {d: `M${x - 14},${top}C${x - 34},${top - 38} ${x + 34},${top - 38} ${x + 14},${top}`, x, y: top - 28};
}

// Where the line from outside to the middle of a box meets its edge.
function edgeOf(box, outside) {
	const dx = outside.x - box.x, dy = outside.y - box.y;
	const part = Math.min(box.width / 2 / Math.abs(dx || 1e-9), box.height / 2 / Math.abs(dy || 1e-9), 1);
	return {x: box.x + dx * part, y: box.y + dy * part};
}

function layered(sizes, arrows, labelWidth) {
	const graph = new dagre.graphlib.Graph();
	graph.setGraph({rankdir: 'LR', nodesep: 28, ranksep: 50, edgesep: 14, marginx: 12, marginy: MARGIN});
	for (const [key, size] of sizes)
		graph.setNode(key, {...size});
	const others = arrows.filter(({from, to}) => from !== to);
	for (const arrow of others)
		graph.setEdge(arrow.from, arrow.to, {width: labelWidth(arrow), height: 14, labelpos: 'c'});
	dagre.layout(graph);
	const {width, height} = graph.graph();
	const nodes = new Map([...sizes.keys()].map(key => [key, graph.node(key)]));
	const paths = arrows.map(({from, to}) => {
		if (from === to)
			return loop(nodes.get(from));
		const {points, x, y} = graph.edge(from, to);
		return {d: smooth(points), x, y};
	});
	return {width, height, nodes, paths};
}

// Bent towards the middle, and to one side, so that there and back are two arrows.
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
