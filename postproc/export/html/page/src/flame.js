// SPDX-License-Identifier: MIT
//
// The flame graph: callers above and callees below (an icicle), or the other way round, each as wide as its value.
// Shows one kind (on-CPU, off-CPU, both, calls), of one thread or of all.
// A click, or Enter, makes a box as wide as the graph; the arrow keys go from box to box.
import {el, svg} from './dom.js';
import {inUnit, percent} from './format.js';
import {choice, folded, nothing, searchBox, section} from './section.js';
import {Table} from './table.js';
import {hideTip, showTip} from './tip.js';
import {boxes, byFunction, children, sums} from './tree.js';

const ROW = 19;
const LETTER = 6.6;
const DEEPEST = 200;
const MOST_BOXES = 6000;

// A function has the same colour everywhere.
function hue(name, kind) {
	let hash = 2166136261;
	for (let i = 0; i < name.length; i++)
		hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
	const part = (hash >>> 8) % 1000 / 1000;
	const [from, to] = {samples: [8, 48], time: [8, 48], 'off-cpu': [195, 235], calls: [110, 165]}[kind] ?? [280, 320];
	return from + (to - from) * part;
}

class Flame {
	#capture;
	#flame;
	#thread = null;
	#focus = -1;
	#search = '';
	#range;
	#sums;
	#lists;
	#boxes = [];
	#upward = false; // callees above their callers
	#depth = 0;
	#graph = svg('svg', {class: 'flame', role: 'tree', 'aria-label': 'Flame graph', 'aria-describedby': 'flame-keys'});
	#status = el('p', {class: 'status', role: 'status', id: 'flame-status'});
	#note = el('p', {class: 'lead'});
	#table;
	#part;
	#frame;

	constructor({capture}) {
		this.#capture = capture;
		const first = ['samples', 'time', 'off-cpu'].map(kind => capture.flames.find(flame => flame.kind === kind && flame.n > 0));
		this.#flame = first.find(Boolean) ?? capture.flames[0];
		this.#range = capture.whole;
		this.#frame = el('div', {class: 'flame-frame'}, this.#graph);
		this.#part = folded('By function, as a table', () => [this.#makeTable()]);
		this.node = section('flame', 'Flame graph', null, this.#tools(), this.#note, this.#status, this.#frame,
			el('p', {class: 'hint', id: 'flame-keys'},
				'Click or press Enter to zoom into a box, Escape to show all. Arrow keys move to callers, callees and neighbours.'), this.#part.node);
		this.#listen();
		new ResizeObserver(() => this.#draw()).observe(this.#frame);
	}

	#tools() {
		const {flames, doc} = this.#capture;
		const threads = [...new Set(flames.flatMap(flame => [...flame.thread]))].filter(ref => ref >= 0).sort((a, b) => a - b);
		const kinds = choice('Show', flames.map((flame, i) => [i, flame.title]), i => this.#choose({flame: flames[i]}));
		kinds.select.value = flames.indexOf(this.#flame);
		return el('div', {class: 'tools'},
			kinds.node,
			choice('Thread', [['', 'all threads'], ...threads.map(ref => [ref, `${this.#capture.thread(ref)} (${doc.threads[ref].tid})`])],
				ref => this.#choose({thread: ref === '' ? null : Number(ref)})).node,
			choice('Layout', [['icicle', 'callers above'], ['flame', 'callers below']], layout => {
				this.#upward = layout === 'flame';
				this.#draw();
			}).node,
			searchBox('Function', text => {
				this.#search = text.trim().toLowerCase();
				this.#draw();
			}),
			el('button', {type: 'button', onclick: () => this.#focusOn(-1)}, 'Show all'));
	}

	#listen() {
		const at = event => Number(event.target.closest?.('[data-stack]')?.dataset.stack ?? -1);
		this.#graph.addEventListener('click', event => at(event) >= 0 && this.#focusOn(at(event)));
		this.#graph.addEventListener('pointermove', event => at(event) < 0 ? hideTip() :
			showTip(event.clientX, event.clientY, this.#words(at(event))));
		this.#graph.addEventListener('pointerleave', hideTip);
		this.#graph.addEventListener('keydown', event => this.#key(event, at(event)));
		this.#graph.addEventListener('focusout', hideTip);
	}

	#choose({flame = this.#flame, thread = this.#thread}) {
		this.#flame = flame;
		this.#thread = thread;
		this.#focus = -1;
		this.update(this.#range);
	}

	update(range) {
		const {stacks} = this.#capture;
		this.#range = range;
		this.#sums = sums(stacks, this.#flame, range, this.#thread);
		this.#lists = children(stacks, this.#sums.total);
		if (this.#focus >= 0 && !(this.#sums.total[this.#focus] > 0))
			this.#focus = -1;
		this.#note.textContent = this.#flame.n > 0 && this.#flame.bin.every(bin => bin < 0) ?
			'Always of the whole run: these figures have no times.' : '';
		this.#draw();
		this.#part.refresh();
	}

	#name(stack) {
		return this.#capture.doc.functions[this.#capture.stacks.function[stack]];
	}

	#all() {
		return (this.#lists.get(-1) ?? []).reduce((sum, stack) => sum + this.#sums.total[stack], 0);
	}

	#words(stack) {
		const show = inUnit(this.#flame.unit);
		return [this.#name(stack),
			['Total', `${show(this.#sums.total[stack])}, ${percent(this.#sums.total[stack], this.#all())}`],
			['Own', `${show(this.#sums.own[stack])}, ${percent(this.#sums.own[stack], this.#all())}`]];
	}

	#focusOn(stack) {
		const had = this.#graph.contains(document.activeElement);
		this.#focus = stack;
		hideTip();
		this.#draw();
		if (had)
			this.#graph.querySelector(`[data-stack="${Math.max(stack, 0)}"]`)?.focus();
	}

	#key(event, stack) {
		const place = this.#boxes.findIndex(box => box[0] === stack);
		if (place < 0)
			return;
		const [, depth, left] = this.#boxes[place];
		const level = this.#boxes.filter(box => box[1] === depth).sort((a, b) => a[2] - b[2]);
		const at = level.findIndex(box => box[0] === stack);
		const caller = () => this.#capture.stacks.parent[stack];
		const callee = () => this.#boxes.find(box => box[1] === depth + 1 && box[2] >= left - 1e-12 &&
			this.#capture.stacks.parent[box[0]] === stack)?.[0];
		const to = {
			ArrowUp: this.#upward ? callee : caller,
			ArrowDown: this.#upward ? caller : callee,
			ArrowLeft: () => level[at - 1]?.[0],
			ArrowRight: () => level[at + 1]?.[0],
		}[event.key];
		if (to || ['Enter', ' ', 'Escape'].includes(event.key))
			event.preventDefault();
		if (event.key === 'Enter' || event.key === ' ')
			this.#focusOn(stack);
		else if (event.key === 'Escape')
			this.#focusOn(-1);
		else if (to) {
			const node = this.#graph.querySelector(`[data-stack="${to() ?? -1}"]`);
			node?.focus();
			if (node) {
				const box = node.getBoundingClientRect();
				showTip(box.left, box.bottom, this.#words(Number(node.dataset.stack)));
			}
		}
	}

	#box([stack, depth, left, width], pixels) {
		const name = this.#name(stack);
		const letters = Math.floor((width * pixels - 6) / LETTER);
		const text = letters < 2 ? '' : name.length <= letters ? name : `${name.slice(0, letters - 1)}…`;
		const found = this.#search && name.toLowerCase().includes(this.#search);
		const [head, ...rest] = this.#words(stack);
		const y = (this.#upward ? this.#depth - 1 - depth : depth) * ROW;
		return svg('g', {'data-stack': stack, class: `box${found ? ' found' : ''}${this.#search && !found ? ' faint' : ''}`,
			role: 'treeitem', 'aria-level': depth + 1, tabindex: -1, 'aria-label': `${head}: ${rest.map(pair => pair.join(' ')).join('; ')}`},
		svg('rect', {x: left * pixels, y, width: Math.max(0.5, width * pixels - 1), height: ROW - 1, rx: 2,
			style: `--hue:${hue(name, this.#flame.kind).toFixed(0)}`}),
		text ? svg('text', {x: left * pixels + 4, y: y + 13}, text) : null);
	}

	#found() {
		const {stacks} = this.#capture;
		const matches = stack => this.#name(stack).toLowerCase().includes(this.#search);
		const inside = new Uint8Array(stacks.parent.length);
		let sum = 0;
		for (let stack = 0; stack < inside.length; stack++) {
			const above = stacks.parent[stack] >= 0 && inside[stacks.parent[stack]];
			inside[stack] = above || matches(stack) ? 1 : 0;
			if (inside[stack] && !above)
				sum += this.#sums.total[stack];
		}
		return sum;
	}

	#draw() {
		const pixels = this.#frame.clientWidth;
		if (!this.#sums || pixels === 0)
			return;
		const {stacks} = this.#capture;
		const all = this.#all();
		let least = 0.7 / pixels;
		do {
			this.#boxes = boxes(stacks, this.#sums.total, this.#lists, this.#focus, least).filter(([, depth]) => depth < DEEPEST);
			least *= 2;
		} while (this.#boxes.length > MOST_BOXES);
		this.#depth = this.#boxes.reduce((most, box) => Math.max(most, box[1] + 1), 0);
		this.#graph.setAttribute('viewBox', `0 0 ${pixels} ${Math.max(1, this.#depth * ROW)}`);
		this.#graph.setAttribute('height', this.#depth * ROW);
		this.#graph.setAttribute('class', `flame ${this.#flame.kind}`);
		this.#graph.replaceChildren(...this.#boxes.map(box => this.#box(box, pixels)));
		this.#graph.firstChild?.setAttribute('tabindex', 0);
		const show = inUnit(this.#flame.unit);
		this.#status.textContent = all === 0 ? 'No data for this time and thread.' :
			`${show(all)} in total` + (this.#focus >= 0 ? `; shown: ${this.#name(this.#focus)}, ${show(this.#sums.total[this.#focus])}` : '') +
			(this.#search ? `; found: ${show(this.#found())}, ${percent(this.#found(), all)}` : '');
	}

	#makeTable() {
		const {stacks, doc} = this.#capture;
		const type = this.#flame.unit === 'ns' ? 'time' : 'count';
		this.#table ??= {};
		const table = this.#table[type] ??= new Table({label: 'Functions', sort: 'total', columns: [
			{key: 'function', title: 'Function', text: row => doc.functions[row.function]},
			{key: 'total', title: 'Total', type, bar: true}, {key: 'own', title: 'Own', type, bar: true}]});
		table.setRows(byFunction(stacks, this.#sums));
		return table.node;
	}
}

export function flameView(app) {
	const {flames} = app.capture;
	if (flames.length === 0)
		return {node: section('flame', 'Flame graph', null, nothing('This capture has no calls and no samples.')), update() {}};
	return new Flame(app);
}
