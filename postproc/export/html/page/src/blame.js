// SPDX-License-Identifier: MIT
//
// Waits by their causes: two flame graphs, one of the calls to blame and one of the calls that waited. The box that is
// chosen in one limits the other to what it caused, or suffered; the table below has what both show.
import {callName, causeObject, causes, meanwhile, MODES} from './causes.js';
import {el} from './dom.js';
import {FlameGraph} from './flame_graph.js';
import {duration, percent} from './format.js';
import {siteLink} from './links.js';
import {choice, nothing, searchBox, section} from './section.js';
import {Table} from './table.js';
import {within, withTotals} from './tree.js';

const TITLE = 'Blame';
const LEAD = 'Each wait is charged to what caused it: the thread that held the object, the call that ended the wait, or the hand-over from then until the waiter ran. ' +
	'Choose a box in one graph, and the other shows only the waits that it caused or suffered.';
const MOST_BOXES = 1500;
const SIDES = [
	{key: 'holder', title: 'By cause', label: 'Causes of waits', of: name => ` that ${name} suffered`},
	{key: 'waiter', title: 'By waiter', label: 'Waits', of: name => ` that ${name} caused`},
];

const time = (key, title, help, bar) => ({key, title, help, type: 'time', bar});

function columnsOf(capture) {
	const site = (key, title, help) => ({key, title, help, text: row => row[key] < 0 ? '' : capture.site(row[key]), cell: row => siteLink(capture, row[key], row[key] < 0 ? '–' : undefined)});
	return [
		{key: 'name', title: 'Object', text: row => row.object < 0 ? row.name : capture.object(row.object), cell: row => causeObject(capture, row)},
		{key: 'kind', title: 'Cause', text: row => row.kind, help: 'holder: its thread held the object; caller: it had not made the call yet; hand-over: nobody, from then until the waiter ran'},
		{key: 'op', title: 'Call', text: row => callName(capture, row), help: 'The call that ended the hold, or the wait'},
		site('site', 'To blame', 'Its call site'), site('acquired', 'Held since', 'The call site that began the hold'),
		time('ns', 'Wait', 'The part of the waits’ time', true), time('idle', 'Idle', 'Part of it that held nothing up', true),
		{key: 'count', title: 'Waits', type: 'count', help: 'Number of waits; one with several causes counts in each row'},
		...MODES.map(([key, words], i) => time(key, ['Running', 'Runnable', 'Blocked', 'I/O', 'Other', 'Unknown'][i],
			`Meanwhile the thread to blame was ${words}; hand-over: the waiter`, true)),
	];
}

// The causes one step further, of holders that were blocked themselves.
function nestedColumns(capture) {
	const site = (key, title, help) => ({key, title, help, text: row => row[key] < 0 ? '' : capture.site(row[key]), cell: row => siteLink(capture, row[key], row[key] < 0 ? '–' : undefined)});
	return [
		{key: 'name', title: 'Object', text: row => row.name, cell: row => causeObject(capture, row)},
		site('site', 'To blame', 'The call site that ended the hold'),
		{key: 'other_name', title: 'Blocked on', help: 'The object that its thread was blocked on meanwhile', text: row => row.other_name ?? 'unknown',
			cell: row => causeObject(capture, {object: row.other, name: row.other_name ?? 'unknown'})},
		{key: 'kind', title: 'Cause', help: 'Of that wait', text: row => row.kind},
		{key: 'op', title: 'Call', help: 'The call that ended that hold, or that wait', text: row => callName(capture, row)},
		site('other_site', 'Charged to', 'Its call site'), site('other_acquired', 'Held since', 'The call site that began that hold'),
		time('ns', 'Wait', 'The part of the waits for the holder', true),
	];
}

const NESTED = ['object', 'name', 'site', 'acquired', 'other', 'other_name', 'kind', 'op', 'other_site', 'other_acquired', 'ns'];
const holderKey = ({object, name, site, acquired}) => [object, name, site, acquired].join('\n');

class Blame {
	#capture;
	#blame;
	#withIdle = false;
	#inside;
	#sums = [];
	#graphs;
	#table;
	#nested;
	#nestedRows;
	#nestedPart;
	#note = el('p', {class: 'lead'});

	constructor({capture}) {
		const {blame, doc} = capture;
		this.#capture = capture;
		this.#blame = blame;
		this.#graphs = SIDES.map(({key, label}, side) => new FlameGraph({stacks: blame.stacks, functions: doc.functions, id: `blame-${key}`, label, hint: 'blame-keys',
			mostBoxes: MOST_BOXES, words: stack => [this.#total(side, stack)], tip: stack => this.#tip(side, stack), onFocus: () => this.#refresh()}));
		this.#table = new Table({label: 'Causes', sort: 'busy', columns: columnsOf(capture), none: 'No wait has this cause and this waiter.'});
		this.#nestedRows = [...doc.blame.nested.ns.keys()].map(i => Object.fromEntries(NESTED.map(key => [key, doc.blame.nested[key][i]])));
		this.#nested = new Table({label: 'Causes one step further', sort: 'ns', columns: nestedColumns(capture), none: 'No holder in the table above was blocked.'});
		this.#nestedPart = el('div', {class: 'nested', hidden: this.#nestedRows.length === 0}, el('h3', {}, 'Holders that were blocked themselves'), this.#nested.node);
		this.node = section('blame', TITLE, LEAD, this.#tools(), this.#note,
			el('div', {class: 'halves'}, SIDES.map(({title}, side) => el('div', {class: 'half'}, el('h3', {}, title), this.#graphs[side].status, this.#graphs[side].node))),
			el('p', {class: 'hint', id: 'blame-keys'},
				'Click or press Enter to choose a box, Escape to choose all. Arrow keys move to callers, callees and neighbours. The innermost box is the object.'),
			this.#table.node, this.#nestedPart);
	}

	#tools() {
		const each = act => this.#graphs.forEach(act);
		return el('div', {class: 'tools'},
			choice('Waits', [['', 'without idle ones'], ['idle', 'all']], value => {
				this.#withIdle = value === 'idle';
				each(graph => graph.unfocus());
				this.#refresh();
			}).node,
			choice('Layout', [['icicle', 'callers above'], ['flame', 'callers below']], layout => each(graph => graph.turn(layout === 'flame'))).node,
			searchBox('Function or object', text => each(graph => graph.find(text))),
			el('button', {type: 'button', onclick: () => {
				each(graph => graph.unfocus());
				this.#refresh();
			}}, 'Show all'));
	}

	// The weight of a cell.
	#ns(cell) {
		return this.#blame.ns[cell] - (this.#withIdle ? 0 : this.#blame.idle[cell]);
	}

	#cells(side, inside) {
		const stacks = this.#blame[SIDES[side].key];
		return [...stacks.keys()].filter(cell => inside[stacks[cell]]);
	}

	#total(side, stack) {
		return ['Total', `${duration(this.#sums[side].total[stack])}, ${percent(this.#sums[side].total[stack], this.#graphs[side].all())}`];
	}

	#tip(side, stack) {
		const other = this.#blame[SIDES[1 - side].key];
		const cells = this.#cells(side, within(this.#blame.stacks, stack)).filter(cell => this.#inside[1 - side][other[cell]]);
		const sum = figure => cells.reduce((all, cell) => all + (this.#blame[figure][cell] || 0), 0);
		const did = side === 0 && meanwhile(Object.fromEntries(MODES.map(([figure]) => [figure, sum(figure)])));
		const idle = sum('idle');
		return [this.#total(side, stack), did && ['Meanwhile', did], idle > 0 && ['Idle', duration(idle)]].filter(Boolean);
	}

	#refresh() {
		const {stacks} = this.#blame;
		const focus = this.#graphs.map(graph => graph.focus);
		this.#inside = focus.map(stack => within(stacks, stack));
		SIDES.forEach(({key, of}, side) => {
			const own = new Float64Array(stacks.parent.length);
			for (const cell of this.#cells(1 - side, this.#inside[1 - side]))
				own[this.#blame[key][cell]] += this.#ns(cell);
			this.#sums[side] = withTotals(stacks, own);
			this.#graphs[side].show(this.#sums[side], {kind: key, unit: 'ns', of: focus[1 - side] < 0 ? '' : of(this.#graphs[1 - side].name(focus[1 - side])),
				none: this.#withIdle ? 'No waits.' : 'No waits but idle ones.'});
		});
		const {waiter} = this.#blame;
		const rows = causes(this.#capture, this.#cells(0, this.#inside[0]).filter(cell => this.#inside[1][waiter[cell]] && (this.#withIdle || this.#ns(cell) > 0)));
		const holders = new Set(rows.filter(({kind}) => kind === 'holder').map(holderKey));
		this.#table.setRows(rows);
		this.#nested.setRows(this.#nestedRows.filter(row => holders.has(holderKey(row))));
	}

	update(range) {
		this.#note.textContent = this.#capture.isWhole(range) ? '' :
			'Always of the whole run: these figures have no times (gprof-mt report --time has those of a part).';
		this.#refresh();
	}
}

export function blameView(app) {
	if (app.capture.blame.n === 0)
		return {node: section('blame', TITLE, null, nothing('This capture has no waits to blame anybody for.')), update() {}};
	return new Blame(app);
}
