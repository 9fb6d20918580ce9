// SPDX-License-Identifier: MIT
//
// The flame graph of one kind of figures (on-CPU, off-CPU, both, calls), of one thread or of all.
import {el} from './dom.js';
import {FlameGraph} from './flame_graph.js';
import {inUnit, percent} from './format.js';
import {choice, folded, nothing, searchBox, section} from './section.js';
import {Table} from './table.js';
import {byFunction, sums} from './tree.js';

class Flame {
	#capture;
	#flame;
	#thread = null;
	#range;
	#sums;
	#graph;
	#note = el('p', {class: 'lead'});
	#table;
	#part;

	constructor({capture}) {
		this.#capture = capture;
		const first = ['samples', 'time', 'off-cpu'].map(kind => capture.flames.find(flame => flame.kind === kind && flame.n > 0));
		this.#flame = first.find(Boolean) ?? capture.flames[0];
		this.#range = capture.whole;
		this.#graph = new FlameGraph({stacks: capture.stacks, functions: capture.doc.functions, id: 'flame', label: 'Flame graph', hint: 'flame-keys',
			words: stack => this.#words(stack)});
		this.#part = folded('By function, as a table', () => [this.#makeTable()]);
		this.node = section('flame', 'Flame graph', null, this.#tools(), this.#note, this.#graph.status, this.#graph.node,
			el('p', {class: 'hint', id: 'flame-keys'},
				'Click or press Enter to zoom into a box, Escape to show all. Arrow keys move to callers, callees and neighbours.'), this.#part.node);
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
			choice('Layout', [['icicle', 'callers above'], ['flame', 'callers below']], layout => this.#graph.turn(layout === 'flame')).node,
			searchBox('Function', text => this.#graph.find(text)),
			el('button', {type: 'button', onclick: () => this.#graph.focusOn(-1)}, 'Show all'));
	}

	#choose({flame = this.#flame, thread = this.#thread}) {
		this.#flame = flame;
		this.#thread = thread;
		this.#graph.unfocus();
		this.update(this.#range);
	}

	update(range) {
		const {kind, unit, n, bin} = this.#flame;
		this.#range = range;
		this.#sums = sums(this.#capture.stacks, this.#flame, range, this.#thread);
		this.#note.textContent = n > 0 && bin.every(one => one < 0) ? 'Always of the whole run: these figures have no times.' : '';
		this.#graph.show(this.#sums, {kind, unit, none: 'No data for this time and thread.'});
		this.#part.refresh();
	}

	#words(stack) {
		const show = inUnit(this.#flame.unit), all = this.#graph.all();
		return ['total', 'own'].map(which => [which === 'own' ? 'Own' : 'Total',
			`${show(this.#sums[which][stack])}, ${percent(this.#sums[which][stack], all)}`]);
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
