// SPDX-License-Identifier: MIT
//
// The switch graph and the wait graph as drawings. If there are many threads, those whose names differ only in numbers
// share a node. Weak arrows are omitted, and the sentence below gives their number.
import {el, svg} from './dom.js';
import {count, duration, percent, plural, shorten} from './format.js';
import {layOut} from './graph_layout.js';
import {folded, nothing, section} from './section.js';
import {Table} from './table.js';
import {hideTip, showTip} from './tip.js';

const MOST_ARROWS = 32;
const MOST_NAMED = 16;
const GROUPED_FROM = 12;
const FIGURE = 6.5;
const LETTER = 7.2;

const KINDS = {
	switches: {
		title: 'Context switches', from: 'from', to: 'to', weight: 'count', other: 'other programs or idle',
		lead: 'A → B: number of times that B ran next on the CPU that A left.',
		show: value => plural(value, 'switch', 'switches'), label: count, type: 'count', none: 'No switches were recorded in this time.',
	},
	waits: {
		title: 'Wait graph', from: 'thread', to: 'blocker', weight: 'ns', other: 'unknown',
		lead: 'A → B: time that A waited for an object that B held, or for B to wake it.',
		show: duration, label: duration, type: 'time', none: 'No thread waited in this time.',
	},
};

const pattern = name => name.replace(/\d+/g, '*');

// Groups threads into nodes by name; each node counts its threads.
function gather(capture, kind, rows, grouped) {
	const nodes = new Map(), arrows = new Map();
	const nodeOf = ref => {
		const name = ref < 0 ? kind.other : capture.thread(ref);
		const key = ref < 0 ? 'other' : grouped ? `g ${pattern(name)}` : `t ${ref}`;
		if (!nodes.has(key))
			nodes.set(key, {key, names: new Set(), threads: new Set(), isOther: ref < 0});
		nodes.get(key).names.add(name);
		nodes.get(key).threads.add(ref);
		return key;
	};
	for (const row of rows) {
		const from = nodeOf(row[kind.from]), to = nodeOf(row[kind.to]);
		const key = `${from}\n${to}`;
		if (!arrows.has(key))
			arrows.set(key, {from, to, weight: 0});
		arrows.get(key).weight += row[kind.weight];
	}
	for (const node of nodes.values()) {
		const names = [...node.names];
		node.label = names.length === 1 ? names[0] : pattern(names[0]);
		node.note = node.threads.size > 1 ? plural(node.threads.size, 'thread') : null;
	}
	return {nodes, arrows: [...arrows.values()].sort((a, b) => b.weight - a.weight)};
}

function sizesOf(nodes, arrows) {
	const keys = new Set(arrows.flatMap(({from, to}) => [from, to]));
	const byName = (a, b) => nodes.get(a).label.localeCompare(nodes.get(b).label, 'en', {numeric: true});
	return new Map([...keys].sort(byName).map(key => {
		const {label, note} = nodes.get(key);
		const letters = Math.max(label.length, note?.length ?? 0);
		return [key, {width: Math.min(220, letters * LETTER + 22), height: note ? 42 : 28}];
	}));
}

function drawNode({x, y, width, height}, {label, note, isOther}) {
	return svg('g', {class: `node${isOther ? ' other' : ''}`},
		svg('rect', {x: x - width / 2, y: y - height / 2, width, height, rx: 8}),
		svg('text', {x, y: note ? y - 3 : y + 4}, shorten(label, Math.floor((width - 16) / LETTER))),
		note ? svg('text', {x, y: y + 13, class: 'note'}, note) : null);
}

function drawArrow({d}, arrow, {kind, strongest, all, nodes, id}) {
	const words = `${nodes.get(arrow.from).label} → ${nodes.get(arrow.to).label}: ${kind.show(arrow.weight)}`;
	const lines = [words, ['Of all', percent(arrow.weight, all)]];
	return svg('g', {class: 'arrow', tabindex: 0, role: 'img', 'aria-label': words, style: `--strength:${(arrow.weight / strongest).toFixed(3)}`,
		onpointermove: event => showTip(event.clientX, event.clientY, lines), onpointerleave: hideTip, onblur: hideTip,
		onfocus: event => {
			const box = event.target.getBoundingClientRect();
			showTip(box.left + box.width / 2, box.top + box.height / 2, lines);
		}},
	svg('path', {class: 'line', d, 'marker-end': `url(#${id}-head)`, 'stroke-width': (1 + 3.5 * arrow.weight / strongest).toFixed(2)}),
	svg('path', {class: 'reach', d}));
}

// Labels the strongest arrows, above all arrows, unless a label would cover a stronger arrow's label or a node.
function drawFigures(paths, arrows, boxes, kind) {
	const taken = [...boxes];
	const hides = (a, b) => Math.abs(a.x - b.x) < (a.width + b.width) / 2 && Math.abs(a.y - b.y) < (a.height + b.height) / 2;
	return arrows.slice(0, MOST_NAMED).map(({weight}, i) => {
		const text = kind.label(weight);
		const place = {x: paths[i].x, y: paths[i].y, width: text.length * FIGURE, height: 13};
		if (taken.some(other => hides(place, other)))
			return null;
		taken.push(place);
		return svg('text', {class: 'figure', x: place.x, y: place.y + 4}, text);
	});
}

function draw(nodes, arrows, context) {
	const {width, height, nodes: boxes, paths} = layOut(sizesOf(nodes, arrows), arrows, ({weight}) => context.kind.label(weight).length * FIGURE);
	const head = svg('marker', {id: `${context.id}-head`, viewBox: '0 0 10 10', refX: 9, refY: 5, markerWidth: 9, markerHeight: 9,
		markerUnits: 'userSpaceOnUse', orient: 'auto'}, svg('path', {d: 'M0 0L10 5L0 10z', class: 'head'}));
	const drawn = arrows.map((arrow, i) => drawArrow(paths[i], arrow, context));
	return svg('svg', {viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`, width: Math.ceil(width), height: Math.ceil(height), class: 'graph', role: 'group',
		'aria-label': `${context.kind.title}: ${plural(arrows.length, 'arrow')}, the strongest first`},
	svg('defs', {}, head), drawn, drawFigures(paths, arrows, boxes.values(), context.kind), [...boxes].map(([key, box]) => drawNode(box, nodes.get(key))));
}

function makeGraph(capture, name) {
	const kind = KINDS[name];
	const many = capture.doc.threads.length > GROUPED_FROM;
	const box = el('input', {type: 'checkbox', checked: many, onchange: () => show()});
	const body = el('div', {class: 'graph-frame', tabindex: 0, role: 'region', 'aria-label': `Graph: ${kind.title}`});
	const status = el('p', {class: 'status'});
	const label = key => row => row.nodes.get(row[key]).label;
	const table = new Table({label: `Graph as a table: ${kind.title}`, sort: 'weight', none: kind.none, columns: [
		{key: 'from', title: name === 'waits' ? 'Blocked' : 'From', text: label('from')},
		{key: 'to', title: name === 'waits' ? 'Blocker' : 'To', text: label('to')},
		{key: 'weight', title: name === 'waits' ? 'Wait' : 'Switches', type: kind.type, bar: true}]});
	let arrows = [], nodes, range;
	const part = folded('As a table', () => {
		table.setRows(arrows.map(arrow => ({...arrow, nodes})));
		return [table.node];
	});

	function show() {
		const rows = capture.rows(name, range, {keys: [kind.from, kind.to], sums: [kind.weight]});
		({nodes, arrows} = gather(capture, kind, rows, box.checked));
		const shown = arrows.slice(0, MOST_ARROWS);
		const all = arrows.reduce((sum, {weight}) => sum + weight, 0);
		const left = arrows.slice(MOST_ARROWS).reduce((sum, {weight}) => sum + weight, 0);
		status.textContent = arrows.length === 0 ? '' : `${kind.show(all)} in total` +
			(left ? `; ${plural(arrows.length - shown.length, 'weaker arrow')} left out, ${percent(left, all)}` : '') + '.';
		body.replaceChildren(shown.length === 0 ? nothing(kind.none) : draw(nodes, shown,
			{kind, strongest: shown[0].weight, all, nodes, id: name}));
		part.refresh();
	}
	return {
		node: el('div', {class: 'half', id: `graph-${name}`}, el('h3', {}, kind.title), el('p', {class: 'lead'}, kind.lead),
			el('div', {class: 'tools'}, el('label', {class: 'choice'}, box, ' Group threads with similar names')), body, status, part.node),
		update(to) {
			range = to;
			show();
		},
	};
}

export function graphsView({capture}) {
	const graphs = ['waits', 'switches'].map(name => makeGraph(capture, name));
	return {
		node: section('graphs', 'Graphs', null, el('div', {class: 'halves'}, graphs.map(({node}) => node))),
		update: range => graphs.forEach(graph => graph.update(range)),
	};
}
