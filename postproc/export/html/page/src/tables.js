// SPDX-License-Identifier: MIT
//
// The tables: for each, its rows and its columns.
import {moment} from './format.js';
import {objectLink, siteLink, threadLink} from './links.js';
import {section} from './section.js';
import {Tabs} from './tabs.js';

const by = {
	thread: (capture, key, title, none) => ({key, title, text: row => capture.thread(row[key], none),
		cell: row => threadLink(capture, row[key], none)}),
	object: (capture, key = 'object', title = 'Object') => ({key, title, text: row => capture.object(row[key]),
		cell: row => objectLink(capture, row[key])}),
	site: (capture, key, title) => ({key, title, text: row => capture.site(row[key]), cell: row => siteLink(capture, row[key])}),
	op: capture => ({key: 'op', title: 'Operation', text: row => capture.op(row.op)}),
};
const time = (key, title, help, bar) => ({key, title, help, type: 'time', bar});
const number = (key, title, help) => ({key, title, help, type: 'count'});

function objects(capture) {
	return {
		id: 'objects', title: 'Objects', sort: 'busy',
		none: 'No object was used in this time.',
		columns: [
			by.object(capture),
			{key: 'type', title: 'Type', text: row => capture.doc.objects[row.object]?.type ?? ''},
			time('wait', 'Wait', 'Total time that threads waited for it', true),
			time('idle', 'Idle', 'Part of it that held nothing up: for work, a thread’s end or time', true),
			time('mean', 'Mean wait', 'Wait ÷ contended, for the waits that ended in this time'),
			time('max_wait', 'Longest wait'),
			number('contended', 'Contended', 'Acquisitions that had to wait'),
			number('acquired', 'Acquired', 'Acquisitions by all threads'),
			time('hold', 'Hold', 'Total time that threads held it', true),
			time('max_hold', 'Longest hold'),
		],
		// Sorted by waits that are not idle, then by the others.
		rows: range => {
			const idle = capture.idle(range);
			return capture.rows('objects', range, {keys: ['object'],
				sums: ['acquired', 'contended', 'wait', 'hold'], largest: ['max_wait', 'max_hold']})
				.map(row => ({...row, idle: Math.min(idle.get(row.object) ?? 0, row.wait || 0), mean: row.contended > 0 ? row.wait / row.contended : NaN}))
				.map(row => ({...row, busy: (row.wait || 0) - row.idle + (row.wait || 0) * 1e-9}));
		},
	};
}

function threads(capture) {
	return {
		id: 'threads', title: 'Threads', sort: 'sync',
		none: 'No thread ran in this time.',
		columns: [
			by.thread(capture, 'thread', 'Thread'),
			{key: 'tid', title: 'Tid', text: row => String(capture.doc.threads[row.thread]?.tid ?? '')},
			time('running', 'Running', 'On a CPU', true),
			time('runnable', 'Runnable', 'Ready, without a CPU', true),
			time('sync', 'Blocked', 'On a synchronization object', true),
			time('io', 'I/O', 'Blocked on I/O', true),
			time('other', 'Other', 'Blocked for another reason', true),
			time('unknown', 'Unknown', null, true),
		],
		rows: range => capture.rows('threads', range, {keys: ['thread'], sums: ['running', 'runnable', 'sync', 'io', 'other', 'unknown']}),
	};
}

function operations(capture) {
	return {
		id: 'operations', title: 'Operations', sort: 'wait',
		none: 'No operation in this time.',
		columns: [
			by.op(capture), by.thread(capture, 'thread', 'Thread'), by.object(capture), by.site(capture, 'site', 'Site'),
			time('wait', 'Wait', 'From the call until it returned', true),
			number('blocked', 'Blocked', 'Calls in which the thread was descheduled'), number('count', 'Calls'),
		],
		rows: range => capture.rows('operations', range,
			{keys: ['thread', 'site', 'op', 'object'], sums: ['count', 'blocked', 'wait']}),
	};
}

function meetings(capture) {
	return {
		id: 'meetings', title: 'Wait graph', sort: 'ns',
		none: 'No thread waited in this time.',
		columns: [
			by.thread(capture, 'thread', 'Blocked'), by.thread(capture, 'blocker', 'Blocker'), by.object(capture),
			by.site(capture, 'site', 'Waits at'), by.site(capture, 'blocker_site', 'Blocker at'),
			time('ns', 'Wait', null, true), number('count', 'Waits'),
		],
		rows: range => capture.rows('waits', range,
			{keys: ['thread', 'blocker', 'object', 'site', 'blocker_site'], sums: ['count', 'ns']}),
	};
}

function longest(capture) {
	const {waits} = capture;
	return {
		id: 'longest', title: 'Longest waits', sort: 'ns',
		none: 'No wait ended in this time.',
		columns: [
			time('ns', 'Wait', null, true),
			{key: 'start', title: 'Began', type: 'time', text: row => moment(row.start, 1000)},
			by.thread(capture, 'thread', 'Blocked'), by.op(capture), by.object(capture), by.site(capture, 'site', 'Waits at'),
			by.thread(capture, 'blocker', 'Blocker'), by.site(capture, 'blocker_site', 'Blocker at'),
		],
		rows: range => {
			const rows = [];
			for (let i = 0; i < waits.n; i++) {
				const bin = capture.binOf(waits.start[i] + waits.ns[i]);
				if (bin >= range.from && bin < range.to)
					rows.push(Object.fromEntries(['thread', 'object', 'site', 'op', 'start', 'ns', 'blocker', 'blocker_site']
						.map(key => [key, waits[key][i]])));
			}
			return rows;
		},
	};
}

// Sorted by time that is not idle, then by the rest.
function blocking(capture) {
	const {io} = capture.doc;
	const at = row => row.site_text ?? '–';
	const rows = Array.from({length: io.n}, (_, i) => ({...Object.fromEntries(['threads', 'call', 'site_text', 'site', 'fd', 'count', 'ns', 'idle', 'max']
		.map(key => [key, io[key][i]])), busy: io.ns[i] - io.idle[i] + io.ns[i] * 1e-9}));
	const words = (key, title, help) => ({key, title, help, text: row => row[key] ?? '–'});
	return {
		id: 'io', title: 'Blocking calls', sort: 'busy', notes: ['All figures are of the whole run.', ...io.notes],
		none: 'No blocking call was recorded.',
		columns: [
			words('call', 'Call'), words('threads', 'Threads', 'Start routine, or name without its number'),
			{key: 'site_text', title: 'Site', text: at, cell: row => siteLink(capture, row.site, at(row))},
			words('fd', 'Fd', 'File descriptors, or their number'),
			time('ns', 'Time', 'From the calls to their returns', true),
			time('idle', 'Idle', 'Part of it that waited for time, for any of several inputs, for connections, children and signals', true),
			time('max', 'Longest'), number('count', 'Calls'),
		],
		rows: () => rows,
	};
}

export function tablesView({capture}) {
	const kinds = [objects, meetings, longest, operations, threads, ...capture.doc.io.n > 0 ? [blocking] : []];
	const tabs = new Tabs('Tables', kinds.map(make => make(capture)));
	return {
		node: section('tables', 'Tables', 'Click a heading to sort. Names link to the timeline, call sites to the source.', tabs.nodes),
		update: range => tabs.update(range),
		onPaper: () => tabs.onPaper(),
	};
}
