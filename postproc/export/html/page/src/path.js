// SPDX-License-Identifier: MIT
//
// The critical path: what determined when the program ended. Its figures are those of `report critical-path`, for the
// whole run: its sums are not in the page by part of the time.
import {el} from './dom.js';
import {moment, percent} from './format.js';
import {objectLink, siteLink, threadLink} from './links.js';
import {drawPath, PARTS} from './path_lanes.js';
import {nothing, section} from './section.js';
import {Tabs} from './tabs.js';

const TITLE = 'Critical path';
const LEAD = 'The chain of running, runnable and waiting that determined when the program ended. Work that is not on it could have been faster without any effect.';

/** The rows of a table of the document; figures that were not measured are NaN. */
function rowsOf(table, figures) {
	const names = Object.keys(table).filter(name => Array.isArray(table[name]) && name !== 'notes');
	return Array.from({length: table.n}, (_, i) => Object.fromEntries(names.map(name =>
		[name, figures.has(name) ? table[name][i] ?? NaN : table[name][i]])));
}

const FIGURES = new Set(['ns', 'share', 'running', 'runnable', 'blocked', 'sync', 'io', 'other', 'unknown', 'outside', 'within', 'crossings', 'waited', 'start']);

const time = (key, title, help, bar) => ({key, title, help, type: 'time', bar});
const words = (key, title, help) => ({key, title, help, text: row => row[key] ?? ''});
const share = {key: 'share', title: 'Path %', help: '… as a share of the path', type: 'share', text: row => percent(row.share, 100)};
const parts = [
	time('running', 'Running', 'Of this: on a CPU'),
	time('runnable', 'Runnable', '… ready, without a CPU'),
	time('blocked', 'Blocked', '… in a sleep, I/O, or a wait that no thread of the program ended'),
	time('unknown', 'Unknown', '… unknown, without scheduling events'),
	time('outside', 'Outside', '… waiting for something outside of the program'),
];
const at = (capture, key, title, textOf) => ({key, title, text: row => textOf(row) ?? '',
	cell: row => siteLink(capture, row.site, textOf(row) ?? '–')});

function columnsOf(capture) {
	const thread = (key, title, none) => ({key, title, text: row => capture.thread(row[key], none), cell: row => threadLink(capture, row[key], none)});
	return {
		threads: [thread('thread', 'Thread'), {key: 'tid', title: 'Tid', text: row => String(capture.doc.threads[row.thread]?.tid ?? '')},
			time('ns', 'On path', 'Time of the path in the thread', true), share, ...parts.slice(0, 2),
			time('sync', 'Blocked', 'On an object, and not woken by a thread of the program'),
			time('io', 'I/O', 'Blocked on I/O'), time('other', 'Other', 'Blocked for another reason'), ...parts.slice(3)],
		functions: [words('name', 'Function', 'Function of the innermost active call'),
			time('ns', 'Self', 'Time of the path in it and in unrecorded callees', true), share, ...parts,
			time('within', 'Within', 'Time of the path in it and in its callees')],
		calls: [words('name', 'Call in', 'The caller of the last synchronization or blocking call, or the start routine: not the function that used the time'),
			time('ns', 'On path', 'Time of the path from those calls to the next', true), share, ...parts,
			at(capture, 'call', 'Mostly', row => row.call)],
		objects: [{...words('name', 'Object'), cell: row => row.object < 0 ? row.name : objectLink(capture, row.object)},
			time('ns', 'Held', 'Time of the path while the thread on it held the object', true), share,
			{key: 'crossings', title: 'Crossings', type: 'count', help: 'Times the path goes from a thread that waited for it to the one that woke it'},
			time('waited', 'Waited', 'Wait time of these threads, which was not on the path')],
		segments: [{key: 'start', title: 'Began', type: 'time', text: row => moment(row.start, 1000)}, thread('thread', 'Thread'),
			time('ns', 'Time', null, true), ...parts, words('call', 'Since', 'The thread’s last synchronization or blocking call; none: its begin'),
			at(capture, 'site_text', 'At', row => row.site_text), words('blocked_in', 'Blocked in', 'The call in which it was blocked longest'), words('object', 'Object', 'The object for which the next thread of the path waited'),
			thread('to', 'To', '–')],
	};
}

const KINDS = [
	['functions', 'By function'], ['calls', 'By last call'], ['threads', 'By thread'], ['objects', 'By object'], ['segments', 'Segments'],
];

class Path {
	#capture;
	#tables;
	#threads;
	#segments;
	#range;
	#notes;
	#status = el('p', {class: 'status', role: 'status'});
	#chart = el('div', {class: 'path-frame'});
	#tabs;

	constructor({capture}) {
		const {path} = capture.doc;
		this.#capture = capture;
		this.#range = capture.whole;
		this.#tables = Object.fromEntries(KINDS.map(([name]) => [name, rowsOf(path[name], FIGURES)]));
		this.#segments = [...this.#tables.segments].sort((a, b) => a.start - b.start);
		this.#threads = [...new Set([...this.#tables.threads, ...this.#segments].map(({thread}) => thread))];
		const columns = columnsOf(capture);
		this.#notes = [...path.threads.notes, ...path.segments.notes].join('; ');
		this.#tabs = new Tabs('Tables of the critical path', KINDS.filter(([name]) => path[name].n > 0).map(([name, title]) => ({
			id: `path-${name}`, title, sort: 'ns', columns: columns[name], none: 'No segment in this time.',
			notes: name === 'threads' || name === 'segments' ? [] : path[name].notes,
			rows: range => name === 'segments' ? this.#within(range) : this.#tables[name]})));
		this.node = section('path', TITLE, LEAD, this.#status,
			el('div', {class: 'legend path-legend'}, PARTS.map(([, word, state]) => el('span', {class: 'state'}, el('i', {class: state}), word))),
			this.#chart, this.#tabs.nodes);
		new ResizeObserver(() => this.#draw()).observe(this.#chart);
	}

	#within({from, to}) {
		const fromNs = this.#capture.timeOf(from), toNs = this.#capture.timeOf(to);
		return this.#segments.filter(({start, ns}) => start < toNs && start + ns > fromNs);
	}

	#draw() {
		const width = this.#chart.clientWidth;
		if (width === 0)
			return;
		const fromNs = this.#capture.timeOf(this.#range.from), toNs = this.#capture.timeOf(this.#range.to);
		this.#chart.replaceChildren(drawPath(this.#capture, {segments: this.#within(this.#range), threads: this.#threads, fromNs, toNs, width}));
	}

	update(range) {
		this.#range = range;
		this.#status.textContent = `${this.#notes}.${this.#capture.isWhole(range) ? '' :
			' The lanes and the list of segments are of the selected time; all figures are of the whole run (gprof-mt report --time has those of a part).'}`;
		this.#draw();
		this.#tabs.update(range);
	}

	onPaper() {
		this.#tabs.onPaper();
	}
}

export function pathView(app) {
	const {threads} = app.capture.doc.path;
	if (threads.n === 0)
		return {node: section('path', TITLE, null, nothing(`This capture has no critical path: ${threads.notes.join('; ') || 'it has no threads'}.`)), update() {}};
	return new Path(app);
}
