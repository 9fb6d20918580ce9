// SPDX-License-Identifier: MIT
//
// Is a document what FORMAT.md says? What comes after this may follow every reference in it.
const PARTS = {running: 'figure', runnable: 'figure', blocked: 'figure', unknown: 'figure', outside: 'figure'};
const TABLES = {
	idle: {object: 'objects', site: 'sites'},
	waits: {thread: 'threads', object: 'objects', site: 'sites', op: 'ops', start: 'time', ns: 'time',
		blocker: 'threads', blocker_site: 'sites'},
	'path.threads': {thread: 'threads', ns: 'figure', share: 'figure', running: 'figure', runnable: 'figure', sync: 'figure',
		io: 'figure', other: 'figure', unknown: 'figure', outside: 'figure'},
	'path.objects': {object: 'objects', name: 'text', ns: 'figure', share: 'figure', crossings: 'figure', waited: 'figure'},
	'path.functions': {name: 'text', ns: 'figure', share: 'figure', within: 'figure', ...PARTS},
	'path.calls': {name: 'text', ns: 'figure', share: 'figure', ...PARTS, call: 'text', site: 'sites'},
	'path.segments': {thread: 'threads', start: 'time', ns: 'time', ...PARTS, call: 'text', site_text: 'text', site: 'sites',
		blocked_in: 'text', object: 'text', to: 'threads'},
	io: {threads: 'text', call: 'text', site_text: 'text', site: 'sites', fd: 'text', count: 'figure', ns: 'figure',
		idle: 'figure', max: 'figure'},
	blame: {kind: 'word', holder: 'blamed', waiter: 'blamed', object: 'objects', op: 'ops', site: 'sites', acquired: 'sites', waiter_site: 'sites',
		count: 'time', ns: 'time', idle: 'time', running: 'figure', runnable: 'figure', sync: 'figure', io: 'figure', other: 'figure', unknown: 'figure'},
	'blame.nested': {object: 'objects', name: 'word', site: 'sites', acquired: 'sites', other: 'objects', other_name: 'text', kind: 'word', op: 'ops',
		other_site: 'sites', other_acquired: 'sites', ns: 'time'},
	'sums.threads': {bin: 'bin', thread: 'threads', running: 'figure', runnable: 'figure',
		sync: 'figure', io: 'figure', other: 'figure', unknown: 'figure'},
	'sums.objects': {bin: 'bin', object: 'objects', acquired: 'figure', contended: 'figure',
		wait: 'figure', hold: 'figure', max_wait: 'figure', max_hold: 'figure'},
	'sums.operations': {bin: 'bin', thread: 'threads', site: 'sites', op: 'ops', object: 'objects',
		count: 'figure', blocked: 'figure', wait: 'figure'},
	'sums.waits': {bin: 'bin', thread: 'threads', blocker: 'threads', object: 'objects',
		site: 'sites', blocker_site: 'sites', count: 'figure', ns: 'figure'},
	'sums.switches': {bin: 'bin', from: 'threads', to: 'threads', count: 'figure'},
	'sums.distribution': {bin: 'bin', object: 'objects', bucket: 'bucket', count: 'figure'},
};
const FLAME = {bin: 'any bin', thread: 'threads', stack: 'stack', value: 'figure'};
const MOST_BINS = 256;
const MOST_CELLS = 1 << 20;

const isCount = value => Number.isSafeInteger(value) && value >= 0;
const isText = value => typeof value === 'string';
const isTime = value => Number.isFinite(value) && value >= 0;

class Damage extends Error {}

function want(holds, what) {
	if (!holds)
		throw new Damage(what);
}

function list(value, what) {
	want(Array.isArray(value), `${what} is no list`);
	return value;
}

// For each kind of column, a function that tests one value.
function kinds(doc) {
	const reference = length => value => Number.isInteger(value) && value >= -1 && value < length;
	const tests = {
		bin: value => isCount(value) && value < doc.bins,
		'any bin': value => Number.isInteger(value) && value >= -1 && value < doc.bins,
		bucket: value => isCount(value) && value < 64,
		time: isTime,
		figure: value => value === null || isTime(value),
		text: value => value === null || isText(value),
		word: isText,
		blamed: value => isCount(value) && value < doc.blame.stacks.parent.length,
		stack: value => isCount(value) && value < doc.stacks.parent.length,
	};
	for (const name of ['threads', 'objects', 'sites', 'ops'])
		tests[name] = reference(doc[name].length);
	return tests;
}

function checkColumns(table, columns, tests, what) {
	want(table !== null && typeof table === 'object' && isCount(table.n), `${what} has no n`);
	for (const [name, kind] of Object.entries(columns)) {
		const values = list(table[name], `${what}.${name}`);
		want(values.length === table.n, `${what}.${name} has ${values.length} values, not ${table.n}`);
		const bad = values.findIndex(value => !tests[kind](value));
		want(bad < 0, `${what}.${name}[${bad}] is wrong`);
	}
}

function checkLane(lane, states, cells, what) {
	want(lane !== null && typeof lane === 'object', `${what} is no lane`);
	const isState = value => isCount(value) && value < states;
	if (lane.c !== undefined) {
		let last = 0;
		for (const cell of list(lane.c, what)) {
			want(Array.isArray(cell) && cell[0] >= last && isCount(cell[0]) && cell[0] < cells &&
				isState(cell[1]) && isCount(cell[2]) && cell[2] <= 255, `${what} has a wrong cell`);
			last = cell[0];
		}
		return;
	}
	list(lane.t, what);
	want(list(lane.s, what).length === lane.t.length && lane.s.every(isState) &&
		lane.t.every((t, i) => isTime(t) && (i === 0 || t >= lane.t[i - 1])), `${what} has a wrong step`);
}

function checkNames(doc) {
	const isSite = site => isText(site.text) && Number.isInteger(site.file) && site.file >= -1 &&
		site.file < doc.files.length && Number.isInteger(site.line);
	const isFile = file => isText(file.path) && Array.isArray(file.lines) &&
		file.lines.every(line => Array.isArray(line) && isCount(line[0]) && isText(line[1]));
	for (const [name, test] of [
		['findings', finding => isText(finding.text)], ['missing', entry => isText(entry.what) && isText(entry.reason)],
		['functions', isText], ['ops', isText], ['files', isFile], ['sites', isSite],
		['threads', thread => isText(thread.name) && [thread.start_ns, thread.end_ns].every(ns => ns === null || isTime(ns))], ['objects', object => isText(object.name) && isText(object.type)],
	]) {
		const bad = list(doc[name], name).findIndex(value => value === null || !test(value));
		want(bad < 0, `${name}[${bad}] is wrong`);
	}
}

function checkLanes(doc) {
	for (const [of, states] of [['threads', 'thread_states'], ['objects', 'object_states']]) {
		want(list(doc.lanes?.[states], states).every(isText) && doc.lanes[states].length <= 255, `${states} is wrong`);
		want(list(doc.lanes[of], `lanes.${of}`).length === doc[of].length, `lanes.${of} is not one for each`);
		doc.lanes[of].forEach((lane, i) => checkLane(lane, doc.lanes[states].length, doc.cells, `lanes.${of}[${i}]`));
	}
}

function checkStacks(doc, stacks, what) {
	const {parent, function: functions} = stacks ?? {};
	want(list(parent, `${what}.parent`).length === list(functions, `${what}.function`).length &&
		parent.every((up, i) => Number.isInteger(up) && up >= -1 && up < i) &&
		functions.every(f => isCount(f) && f < doc.functions.length), `${what} are no tree`);
}

/** Returns the first difference from FORMAT.md as text; null if the document is valid. */
export function whatIsWrong(doc) {
	try {
		for (const name of ['program', 'command', 'host', 'date', 'version'])
			want(isText(doc[name]), `${name} is no text`);
		want(isTime(doc.end_ns) && isTime(doc.from_ns), 'end_ns or from_ns is no time');
		want(isCount(doc.bins) && doc.bins >= 1 && doc.bins <= MOST_BINS, 'bins is out of range');
		want(isCount(doc.cells) && doc.cells <= MOST_CELLS && doc.cells % doc.bins === 0, 'cells is out of range');
		checkNames(doc);
		checkLanes(doc);
		checkStacks(doc, doc.stacks, 'stacks');
		checkStacks(doc, doc.blame?.stacks, 'blame.stacks');
		want(doc.blame.cause === null || isText(doc.blame.cause?.text), 'blame.cause is wrong');
		const tests = kinds(doc);
		for (const [name, columns] of Object.entries(TABLES))
			checkColumns(name.split('.').reduce((at, part) => at?.[part], doc), columns, tests, name);
		for (const [name, {notes}] of Object.entries(doc.path))
			want(list(notes, `path.${name}.notes`).every(isText), `path.${name}.notes is wrong`);
		want(list(doc.io.notes, 'io.notes').every(isText), 'io.notes is wrong');
		list(doc.flames, 'flames').forEach((flame, i) => {
			want(isText(flame?.kind) && isText(flame.title) && ['ns', 'calls'].includes(flame.unit), `flames[${i}] is wrong`);
			checkColumns(flame, FLAME, tests, `flames[${i}]`);
		});
	} catch (error) {
		return error instanceof Damage ? error.message : 'its parts do not fit together';
	}
	return null;
}
