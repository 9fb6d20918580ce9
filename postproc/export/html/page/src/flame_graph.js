// SPDX-License-Identifier: MIT
//
// One flame graph: callers above and callees below (an icicle), or the other way round, each as wide as its value.
// A click, or Enter, makes a box as wide as the graph; the arrow keys go from box to box.
import {el, svg} from './dom.js';
import {inUnit, percent} from './format.js';
import {hideTip, showTip} from './tip.js';
import {boxes, children} from './tree.js';

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
	const [from, to] = {samples: [8, 48], time: [8, 48], holder: [8, 48], 'off-cpu': [195, 235], waiter: [195, 235], calls: [110, 165]}[kind] ?? [280, 320];
	return from + (to - from) * part;
}

export class FlameGraph {
	#stacks;
	#functions;
	#words;
	#tip;
	#onFocus;
	#mostBoxes;
	#kind = '';
	#unit = 'ns';
	#of = '';
	#none = '';
	#focus = -1;
	#search = '';
	#upward = false; // callees above their callers
	#sums;
	#lists;
	#boxes = [];
	#depth = 0;
	#graph;

	/**
	 * stacks: the tree; functions: their names. id: of its status. hint: id of the text about its keys.
	 * words(stack): pairs for a box; tip(stack): for the box at the pointer. onFocus(): the reader has chosen a
	 * box, or all.
	 */
	constructor({stacks, functions, id, label, hint, words, tip = words, onFocus = () => {}, mostBoxes = MOST_BOXES}) {
		this.#stacks = stacks;
		this.#functions = functions;
		this.#words = words;
		this.#tip = tip;
		this.#onFocus = onFocus;
		this.#mostBoxes = mostBoxes;
		this.status = el('p', {class: 'status', role: 'status', id: `${id}-status`});
		this.#graph = svg('svg', {class: 'flame', role: 'tree', 'aria-label': label, 'aria-describedby': hint});
		this.node = el('div', {class: 'flame-frame'}, this.#graph);
		this.#listen();
		new ResizeObserver(() => this.#draw()).observe(this.node);
	}

	/** sums: of the stacks (tree.js). of: what the total is of; none: said if there is nothing. */
	show(sums, {kind, unit, of = '', none}) {
		this.#sums = sums;
		this.#lists = children(this.#stacks, sums.total);
		this.#kind = kind;
		this.#unit = unit;
		this.#of = of;
		this.#none = none;
		if (this.#focus >= 0 && !(sums.total[this.#focus] > 0))
			this.#focus = -1;
		this.#draw();
	}

	/** upward: callees above their callers. */
	turn(upward) {
		this.#upward = upward;
		this.#draw();
	}

	/** Marks the boxes whose names contain the text. */
	find(text) {
		this.#search = text.trim().toLowerCase();
		this.#draw();
	}

	/** The stack that is as wide as the graph; -1: none. */
	get focus() {
		return this.#focus;
	}

	/** Forgets it before other sums are shown. */
	unfocus() {
		this.#focus = -1;
	}

	focusOn(stack) {
		const had = this.#graph.contains(document.activeElement);
		this.#focus = stack;
		hideTip();
		this.#draw();
		this.#onFocus();
		if (had)
			this.#graph.querySelector(`[data-stack="${Math.max(stack, 0)}"]`)?.focus();
	}

	name(stack) {
		return this.#functions[this.#stacks.function[stack]];
	}

	all() {
		return (this.#lists.get(-1) ?? []).reduce((sum, stack) => sum + this.#sums.total[stack], 0);
	}

	#listen() {
		const at = event => Number(event.target.closest?.('[data-stack]')?.dataset.stack ?? -1);
		this.#graph.addEventListener('click', event => at(event) >= 0 && this.focusOn(at(event)));
		this.#graph.addEventListener('pointermove', event => at(event) < 0 ? hideTip() :
			showTip(event.clientX, event.clientY, [this.name(at(event)), ...this.#tip(at(event))]));
		this.#graph.addEventListener('pointerleave', hideTip);
		this.#graph.addEventListener('keydown', event => this.#key(event, at(event)));
		this.#graph.addEventListener('focusout', hideTip);
	}

	#key(event, stack) {
		const place = this.#boxes.findIndex(box => box[0] === stack);
		if (place < 0)
			return;
		const [, depth, left] = this.#boxes[place];
		const level = this.#boxes.filter(box => box[1] === depth).sort((a, b) => a[2] - b[2]);
		const at = level.findIndex(box => box[0] === stack);
		const caller = () => this.#stacks.parent[stack];
		const callee = () => this.#boxes.find(box => box[1] === depth + 1 && box[2] >= left - 1e-12 &&
			this.#stacks.parent[box[0]] === stack)?.[0];
		const to = {
			ArrowUp: this.#upward ? callee : caller,
			ArrowDown: this.#upward ? caller : callee,
			ArrowLeft: () => level[at - 1]?.[0],
			ArrowRight: () => level[at + 1]?.[0],
		}[event.key];
		if (to || ['Enter', ' ', 'Escape'].includes(event.key))
			event.preventDefault();
		if (event.key === 'Enter' || event.key === ' ')
			this.focusOn(stack);
		else if (event.key === 'Escape')
			this.focusOn(-1);
		else if (to) {
			const node = this.#graph.querySelector(`[data-stack="${to() ?? -1}"]`);
			node?.focus();
			if (node) {
				const box = node.getBoundingClientRect(), next = Number(node.dataset.stack);
				showTip(box.left, box.bottom, [this.name(next), ...this.#tip(next)]);
			}
		}
	}

	#box([stack, depth, left, width], pixels) {
		const name = this.name(stack);
		const letters = Math.floor((width * pixels - 6) / LETTER);
		const text = letters < 2 ? '' : name.length <= letters ? name : `${name.slice(0, letters - 1)}…`;
		const found = this.#search && name.toLowerCase().includes(this.#search);
		const y = (this.#upward ? this.#depth - 1 - depth : depth) * ROW;
		return svg('g', {'data-stack': stack, class: `box${found ? ' found' : ''}${this.#search && !found ? ' faint' : ''}`,
			role: 'treeitem', 'aria-level': depth + 1, tabindex: -1,
			'aria-label': `${name}: ${this.#words(stack).map(pair => pair.join(' ')).join('; ')}`},
		svg('rect', {x: left * pixels, y, width: Math.max(0.5, width * pixels - 1), height: ROW - 1, rx: 2,
			style: `--hue:${hue(name, this.#kind).toFixed(0)}`}),
		text ? svg('text', {x: left * pixels + 4, y: y + 13}, text) : null);
	}

	#found() {
		const matches = stack => this.name(stack).toLowerCase().includes(this.#search);
		const {parent} = this.#stacks;
		const inside = new Uint8Array(parent.length);
		let sum = 0;
		for (let stack = 0; stack < inside.length; stack++) {
			const above = parent[stack] >= 0 && inside[parent[stack]];
			inside[stack] = above || matches(stack) ? 1 : 0;
			if (inside[stack] && !above)
				sum += this.#sums.total[stack];
		}
		return sum;
	}

	#draw() {
		const pixels = this.node.clientWidth;
		if (!this.#sums || pixels === 0)
			return;
		const all = this.all();
		let least = 0.7 / pixels;
		do {
			this.#boxes = boxes(this.#stacks, this.#sums.total, this.#lists, this.#focus, least).filter(([, depth]) => depth < DEEPEST);
			least *= 2;
		} while (this.#boxes.length > this.#mostBoxes);
		this.#depth = this.#boxes.reduce((most, box) => Math.max(most, box[1] + 1), 0);
		this.#graph.setAttribute('viewBox', `0 0 ${pixels} ${Math.max(1, this.#depth * ROW)}`);
		this.#graph.setAttribute('height', this.#depth * ROW);
		this.#graph.setAttribute('class', `flame ${this.#kind}`);
		this.#graph.replaceChildren(...this.#boxes.map(box => this.#box(box, pixels)));
		this.#graph.firstChild?.setAttribute('tabindex', 0);
		const show = inUnit(this.#unit);
		this.status.textContent = all === 0 ? this.#none :
			`${show(all)} in total${this.#of}` + (this.#focus >= 0 ? `; shown: ${this.name(this.#focus)}, ${show(this.#sums.total[this.#focus])}` : '') +
			(this.#search ? `; found: ${show(this.#found())}, ${percent(this.#found(), all)}` : '');
	}
}
