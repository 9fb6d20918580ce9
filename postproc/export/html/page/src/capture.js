// SPDX-License-Identifier: MIT
//
// The document in a form for the views: columns are arrays of numbers (NaN: not measured), figures can be summed over
// any range of bins, and waits can be looked up by thread, object and blocker.
import {Lane} from './lane.js';

function numbers(values) {
	const out = new Float64Array(values.length);
	for (let i = 0; i < out.length; i++)
		out[i] = values[i] ?? NaN;
	return out;
}

/** A column table, with each column as an array of numbers. */
function columns(table) {
	const out = {n: table.n};
	for (const [name, values] of Object.entries(table))
		if (Array.isArray(values))
			out[name] = numbers(values);
	return out;
}

const tree = ({parent, function: functions}) => ({parent: Int32Array.from(parent), function: Int32Array.from(functions)});

/** The flames of time on and off the CPU as one: wall time; an empty list if one of them is missing. */
function wall(flames) {
	const parts = ['samples', 'off-cpu'].map(kind => flames.find(flame => flame.kind === kind && flame.n > 0));
	if (!parts.every(Boolean))
		return [];
	const flame = {kind: 'wall', unit: 'ns', title: 'On-CPU and off-CPU', n: parts[0].n + parts[1].n};
	for (const column of ['bin', 'thread', 'stack', 'value']) {
		flame[column] = new Float64Array(flame.n);
		flame[column].set(parts[0][column]);
		flame[column].set(parts[1][column], parts[0].n);
	}
	return [flame];
}

/** The rows of a table, grouped by key. Summing a range of bins is then one pass over numbers. */
export class Groups {
	#table;
	#groupOf;

	constructor(table, keys) {
		const known = new Map();
		const keyOf = Groups.#keys(table, keys);
		this.#table = table;
		this.#groupOf = new Int32Array(table.n);
		this.first = [];
		for (let row = 0; row < table.n; row++) {
			const key = keyOf(row);
			let group = known.get(key);
			if (group === undefined) {
				group = this.first.push(row) - 1;
				known.set(key, group);
			}
			this.#groupOf[row] = group;
		}
	}

	// Combines a row's keys into one number if that is exact, else into text.
	static #keys(table, keys) {
		const sizes = keys.map(key => table[key].reduce((most, value) => Math.max(most, value), 0) + 2);
		if (sizes.reduce((product, size) => product * size, 1) < Number.MAX_SAFE_INTEGER)
			return row => keys.reduce((sum, key, i) => sum * sizes[i] + table[key][row] + 1, 0);
		return row => keys.map(key => table[key][row]).join();
	}

	/** Returns the figure of each group, joined over the rows of the range; NaN if no row has it. */
	join(figure, range, join) {
		const values = this.#table[figure];
		const bins = this.#table.bin;
		const out = new Float64Array(this.first.length).fill(NaN);
		for (let row = 0; row < this.#table.n; row++) {
			const value = values[row];
			if (bins[row] >= range.to || (bins[row] < range.from && bins[row] >= 0) || Number.isNaN(value))
				continue;
			const group = this.#groupOf[row];
			out[group] = Number.isNaN(out[group]) ? value : join(out[group], value);
		}
		return out;
	}

	sum(figure, range) {
		return this.join(figure, range, (a, b) => a + b);
	}

	most(figure, range) {
		return this.join(figure, range, Math.max);
	}

	/** Returns a row for each group that has a figure in the range: its keys, sums and maxima. */
	rows(range, {keys, sums, largest = []}) {
		const figures = [...sums.map(name => [name, this.sum(name, range)]),
			...largest.map(name => [name, this.most(name, range)])];
		const rows = [];
		this.first.forEach((first, group) => {
			if (figures.every(([, values]) => !(values[group] > 0)))
				return;
			const row = {};
			for (const key of keys)
				row[key] = this.#table[key][first];
			for (const [name, values] of figures)
				row[name] = values[group];
			rows.push(row);
		});
		return rows;
	}
}

/** Finds the waits of a thread, an object or a blocker that overlap a period. */
class WaitIndex {
	#waits;
	#lists = new Map();

	constructor(waits, by) {
		this.#waits = waits;
		for (let i = 0; i < waits.n; i++) {
			const of = waits[by][i];
			if (!this.#lists.has(of))
				this.#lists.set(of, {waits: [], ends: []});
			const {waits: list, ends} = this.#lists.get(of);
			list.push(i);
			ends.push(Math.max(ends.at(-1) ?? 0, waits.start[i] + waits.ns[i]));
		}
	}

	/** Returns the waits that overlap from_ns to to_ns, the latest first, at most `limit`. */
	overlapping(of, fromNs, toNs, limit = 1000) {
		const {waits: list, ends} = this.#lists.get(of) ?? {waits: [], ends: []};
		const {start, ns} = this.#waits;
		let low = 0, high = list.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (start[list[middle]] <= toNs)
				low = middle + 1;
			else
				high = middle;
		}
		const found = [];
		for (let i = low - 1; i >= 0 && ends[i] >= fromNs && found.length < limit; i--)
			if (start[list[i]] + ns[list[i]] >= fromNs)
				found.push(list[i]);
		return found;
	}
}

const SHORTEST_MARK = 4;
const SHORT_ENOUGH = 8;

// Shortens each mark to the suffix that makes it unique.
function endings(marks) {
	const longest = marks.reduce((most, mark) => Math.max(most, mark.length), 0);
	let length = longest <= SHORT_ENOUGH ? longest : SHORTEST_MARK;
	const different = letters => new Set(marks.map(mark => mark.slice(-letters))).size;
	while (length < longest && different(length) < different(longest))
		length++;
	return marks.map(mark => mark.length > length ? `…${mark.slice(-length)}` : mark);
}

/** Makes names unique: a name that occurs several times gets the distinguishing suffix of its mark. */
function tellApart(list, markOf) {
	const byName = new Map();
	list.forEach(({name}, i) => byName.set(name, [...byName.get(name) ?? [], i]));
	const names = list.map(({name}) => name);
	for (const [name, places] of byName) {
		const marks = endings(places.map(i => String(markOf(list[i]) ?? '')));
		places.forEach((i, at) => names[i] = name === '' ? marks[at] || 'no name' : places.length > 1 ? `${name} ${marks[at]}` : name);
	}
	return names;
}

export class Capture {
	#groups = new Map();
	#threadNames;
	#idle;
	#objectNames;

	constructor(doc) {
		this.doc = doc;
		this.endNs = Math.max(doc.end_ns, 1);
		this.bins = doc.bins;
		this.waits = columns(doc.waits);
		this.sums = Object.fromEntries(Object.entries(doc.sums).map(([name, table]) => [name, columns(table)]));
		this.flames = doc.flames.map(flame => ({...flame, ...columns(flame)}));
		this.flames.push(...wall(this.flames));
		this.stacks = tree(doc.stacks);
		this.blame = {...columns(doc.blame), kind: doc.blame.kind, stacks: tree(doc.blame.stacks)};
		this.lanes = [...this.#lanes('threads', doc.lanes.thread_states), ...this.#lanes('objects', doc.lanes.object_states)];
		this.#threadNames = tellApart(doc.threads, ({tid}) => tid);
		this.#objectNames = tellApart(doc.objects, ({address}) => address);
		this.waitsOf = {};
		for (const by of ['thread', 'object', 'blocker'])
			this.waitsOf[by] = new WaitIndex(this.waits, by);
		this.#idle = new Set(doc.idle.object.map((object, i) => `${object} ${doc.idle.site[i]}`));
		this.whole = {from: 0, to: this.bins};
	}

	#lanes(of, states) {
		const kind = of === 'threads' ? 'thread' : 'object';
		return this.doc.lanes[of].map((lane, ref) =>
			new Lane(lane, {kind, ref, states, endNs: this.endNs, cellNs: this.endNs / Math.max(this.doc.cells, 1)}));
	}

	isEmpty() {
		return this.doc.threads.length === 0 && this.doc.objects.length === 0;
	}

	timeOf(bin) {
		return Math.floor(this.endNs * bin / this.bins);
	}

	binOf(ns) {
		const bin = Math.floor(ns * this.bins / this.endNs);
		return Math.min(this.bins - 1, Math.max(0, ns >= this.timeOf(bin + 1) ? bin + 1 : bin));
	}

	/** Returns the length of a range of bins, in ns. */
	span(range) {
		return this.timeOf(range.to) - this.timeOf(range.from);
	}

	isWhole(range) {
		return range.from === 0 && range.to === this.bins;
	}

	groups(table, keys) {
		const name = `${table} ${keys}`;
		if (!this.#groups.has(name))
			this.#groups.set(name, new Groups(this.sums[table], keys));
		return this.#groups.get(name);
	}

	rows(table, range, shape) {
		return this.groups(table, shape.keys).rows(range, shape);
	}

	/** Is a wait for that object at that site idle? */
	isIdle({object, site}) {
		return this.#idle.has(`${object} ${site}`);
	}

	/** The idle time of the range, by object. */
	idle(range) {
		const byObject = new Map();
		for (const row of this.rows('operations', range, {keys: ['object', 'site'], sums: ['wait']}))
			if (row.wait > 0 && this.isIdle(row))
				byObject.set(row.object, (byObject.get(row.object) ?? 0) + row.wait);
		return byObject;
	}

	thread(ref, none = 'unknown') {
		return ref < 0 ? none : this.#threadNames[ref];
	}

	object(ref) {
		return ref < 0 ? 'other objects' : this.#objectNames[ref];
	}

	site(ref) {
		return ref < 0 ? 'unknown' : this.doc.sites[ref].text;
	}

	op(ref) {
		return ref < 0 ? 'unknown' : this.doc.ops[ref];
	}
}
