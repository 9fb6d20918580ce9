// SPDX-License-Identifier: MIT
//
// A hand-written capture of four milliseconds, one bin each, so that the figures of every range can
// be added up by hand. Two workers contend for one mutex and use one semaphore; main waits at the
// end.
//
//   bin                      0     1     2     3
//   worker-1 running, us   800   500   200     -
//   worker-1 blocked, us   200   500   800     -
//   waits for "queue"        1     2     1     -     us: 200, 100 + 400, 800
//   waits for "done"         -     -     -     1     us: 3000 (main, since bin 0)
const US = 1000;

/** Turns rows into a column table. */
export function columns(names, rows) {
	const table = {n: rows.length};
	names.split(' ').forEach((name, i) => table[name] = rows.map(row => row[i]));
	return table;
}

export const HOSTILE = '<img src=x onerror=alert(1)>"&amp;</script>';

const PARTS = 'running runnable blocked unknown outside';

// The path to the end of main: main, worker-1, the third thread, main.
function path() {
	const noted = (names, rows, ...notes) => ({...columns(names, rows), notes});
	return {
		threads: noted('thread ns share running runnable sync io other unknown outside', [
			[1, 1500 * US, 37.5, 900 * US, 0, 600 * US, 0, 0, 0, 0], [2, 1500 * US, 37.5, 750 * US, 500 * US, 0, 0, 0, 0, 250 * US],
			[0, 1000 * US, 25, 1000 * US, 0, 0, 0, 0, 0, 0]], '4.00 ms to the end of main (tid 100)'),
		objects: noted('object name ns share crossings waited', [[0, 'queue', 800 * US, 20, 1, 400 * US], [1, 'done', null, null, 1, 3000 * US],
			[-1, HOSTILE, null, null, 1, 0]]),
		functions: noted(`name ns share within ${PARTS}`, [['take', 2000 * US, 50, 2000 * US, 1400 * US, 0, 600 * US, 0, 0],
			['main', 1000 * US, 25, 4000 * US, 1000 * US, 0, 0, 0, 0], [HOSTILE, 1000 * US, 25, 1000 * US, 250 * US, 500 * US, 0, 0, 250 * US]], 'no returns'),
		calls: noted(`name ns share ${PARTS} call site`, [
			['take', 1500 * US, 37.5, 900 * US, 0, 600 * US, 0, 0, 'pthread_mutex_lock at take (known.c:12)', 0],
			['(before the first call)', 1750 * US, 43.75, 1000 * US, 500 * US, 0, 0, 250 * US, 'its begin', -1],
			['main', 750 * US, 18.75, 750 * US, 0, 0, 0, 0, 'sem_wait at main (known.c:20)', 2]]),
		segments: noted(`thread start ns ${PARTS} call site_text site blocked_in object to`, [
			[0, 0, 500 * US, 500 * US, 0, 0, 0, 0, null, null, -1, null, null, 1],
			[1, 500 * US, 1500 * US, 900 * US, 0, 600 * US, 0, 0, 'pthread_mutex_lock', 'take (known.c:12)', 0, 'read at take (known.c:12)', 'queue', 2],
			[2, 2000 * US, 1500 * US, 750 * US, 500 * US, 0, 0, 250 * US, null, null, -1, null, 'done', 0],
			[0, 3500 * US, 500 * US, 500 * US, 0, 0, 0, 0, 'sem_wait', 'main (known.c:20)', 2, null, null, -1]], 'all 4 segments'),
	};
}

// Waits for `queue` in take(), twice: while work() holds it, then for their turn. main() waits for `done`, which is
// idle, until a third function posts it.
function blame() {
	return {
		cause: {text: `the lock is held too long: work() holds queue, ${HOSTILE}`, object: 0, site: 1, acquired: 0},
		...columns('kind holder waiter object op site acquired waiter_site count ns idle running runnable sync io other unknown', [
			['holder', 2, 9, 0, 2, 1, 0, 0, 3, 900 * US, 0, 720 * US, 180 * US, 0, 0, 0, 0],
			['holder', 2, 12, 0, 2, 1, 0, 0, 1, 200 * US, 0, 200 * US, 0, 0, 0, 0, 0],
			['hand-over', 4, 9, 0, -1, -1, -1, 0, 1, 400 * US, 0, 0, 100 * US, 300 * US, 0, 0, 0],
			['caller', 17, 14, 1, 3, -1, -1, 2, 1, 3000 * US, 3000 * US, 3000 * US, 0, 0, 0, 0, 0]]),
		nested: columns('object name site acquired other other_name kind op other_site other_acquired ns', [
			[0, 'queue', 1, 0, 1, 'done', 'caller', 3, -1, -1, 70 * US],
			[0, 'queue', 1, 0, -1, null, 'unknown: the wait of the holder was not followed', -1, -1, -1, 20 * US],
			[-1, 'other objects', 1, 0, 0, 'queue', 'hand-over', -1, -1, -1, 10 * US]]),
		// work unlock queue, hand-over queue; main work take lock queue, main take lock queue,
		// main sem_wait done; HOSTILE sem_post done
		stacks: {parent: [-1, 0, 1, -1, 3, -1, 5, 6, 7, 8, 5, 10, 11, 5, 13, -1, 15, 16],
			function: [1, 4, 5, 6, 5, 0, 1, 2, 9, 5, 2, 9, 5, 10, 8, 3, 7, 8]},
	};
}

export function known() {
	return {
		schema: 1, program: 'known', command: './known --all', host: 'desk', date: '2026-01-02 03:04', version: '0.1.0', from_ns: 0,
		end_ns: 4000 * US, bins: 4, cells: 16,
		findings: [
			{text: 'main waited 3.00 ms for done, until worker-2 posted it.', object: 1, thread: 0, site: 2},
			{text: 'Two workers waited 1.50 ms for queue.', object: 0, thread: 1, site: 0},
		],
		// The wait for `done` is one for work.
		idle: {n: 1, object: [1], site: [2]},
		missing: [{what: 'I/O', reason: 'the kernel was not asked'}],
		functions: ['main', 'work', 'take', HOSTILE, 'pthread_mutex_unlock', 'queue', '[hand-over]', 'sem_post', 'done', 'pthread_mutex_lock', 'sem_wait'],
		ops: ['pthread_mutex_lock', 'sem_wait', 'pthread_mutex_unlock', 'sem_post'],
		files: [{path: 'known.c', lines: [[10, 'static void take(void)'], [11, '{'], [12, '\tpthread_mutex_lock(&queue);'], [20, `\tsem_wait(&done); // ${HOSTILE}`]]},
			{path: 'gone.c', lines: [], why: 'gone.c was not found'}],
		sites: [{function: 2, file: 0, line: 12, text: 'take (known.c:12)'}, {function: 1, file: 1, line: 5, text: 'work (gone.c:5)'},
			{function: 0, file: 0, line: 20, text: 'main (known.c:20)'}],
		threads: [{name: 'main', tid: 100, process: 0, start_ns: 0, end_ns: 4000 * US},
			{name: 'worker-1', tid: 101, process: 0, start_ns: 0, end_ns: 3000 * US},
			{name: HOSTILE, tid: 102, process: 0, start_ns: 0, end_ns: 3000 * US}],
		processes: [{pid: 100, program: 'known'}],
		objects: [{name: 'queue', type: 'mutex', site: 0}, {name: 'done', type: 'semaphore', site: 2}],
		lanes: {
			thread_states: ['running', 'runnable', 'blocked', 'gone'], object_states: ['free', 'held', 'contended', 'waited', 'gone'],
			threads: [
				{t: [0, 500 * US, 3500 * US], s: [0, 2, 0]},
				{t: [0, 400 * US, 600 * US, 1400 * US, 1500 * US, 1600 * US, 2000 * US, 2800 * US, 3000 * US], s: [0, 2, 0, 2, 0, 2, 2, 0, 3]},
				{c: [[0, 0, 255], [1, 0, 102], [1, 1, 153], [11, 0, 255], [12, 3, 255], [13, 3, 255], [14, 3, 255], [15, 3, 255]]},
			],
			objects: [{t: [0, 300 * US, 400 * US, 600 * US, 2000 * US, 2800 * US], s: [0, 1, 2, 1, 2, 0]}, {t: [0, 500 * US, 3500 * US], s: [0, 3, 0]}],
		},
		waits: columns('thread object site op start ns blocker blocker_site', [
			[1, 0, 0, 0, 400 * US, 200 * US, 2, 1], [0, 1, 2, 1, 500 * US, 3000 * US, 2, -1],
			[1, 0, 0, 0, 1400 * US, 100 * US, 2, 1], [1, 0, 0, 0, 1600 * US, 400 * US - 1, 0, -1], [1, 0, 0, 0, 2000 * US, 800 * US, 2, 1]]),
		path: path(),
		io: {...columns('threads call site_text site fd count ns idle max', [
			['main', 'poll', null, -1, '5', 2, 3000 * US, 3000 * US, 2000 * US],
			['worker', 'read', 'take (known.c:12)', 0, '3, 4', 10, 700 * US, 0, 300 * US]]), notes: ['shorter ones are not recorded']},
		sums: {
			threads: columns('bin thread running runnable sync io other unknown', [
				[0, 0, 500 * US, 0, 500 * US, null, 0, 0], [1, 0, 0, 0, 1000 * US, null, 0, 0], [2, 0, 0, 0, 1000 * US, null, 0, 0], [3, 0, 500 * US, 0, 500 * US, null, 0, 0],
				[0, 1, 800 * US, 0, 200 * US, null, 0, 0], [1, 1, 500 * US, 0, 500 * US, null, 0, 0], [2, 1, 200 * US, 0, 800 * US, null, 0, 0]]),
			objects: columns('bin object acquired contended wait hold max_wait max_hold', [
				[0, 0, 5, 1, 200 * US, 300 * US, 200 * US, 250 * US], [1, 0, 7, 2, 500 * US, 400 * US, 400 * US, 100 * US],
				[2, 0, 3, 1, 800 * US, 900 * US, 800 * US, 700 * US], [3, 1, 1, 1, 3000 * US, null, 3000 * US, null]]),
			operations: columns('bin thread site op object count blocked wait', [
				[0, 1, 0, 0, 0, 5, 1, 200 * US], [1, 1, 0, 0, 0, 7, 2, 500 * US], [2, 1, 0, 0, 0, 3, 1, 800 * US], [3, 0, 2, 1, 1, 1, 1, 3000 * US]]),
			waits: columns('bin thread blocker object site blocker_site count ns', [
				[0, 1, 2, 0, 0, 1, 1, 200 * US], [1, 1, 2, 0, 0, 1, 1, 100 * US], [1, 1, 0, 0, 0, -1, 1, 400 * US], [2, 1, 2, 0, 0, 1, 1, 800 * US],
				[3, 0, 2, 1, 2, -1, 1, 3000 * US]]),
			switches: columns('bin from to count', [[0, 1, 2, 3], [1, 1, 2, 4], [1, 2, 1, 5], [2, 2, -1, 1]]),
			distribution: columns('bin object bucket count', [[0, 0, 17, 1], [1, 0, 16, 1], [1, 0, 18, 1], [2, 0, 19, 1], [3, 1, 21, 1]]),
		},
		blame: blame(),
		stacks: {parent: [-1, 0, 1, 0], function: [0, 1, 2, 3]},
		flames: [
			{kind: 'samples', unit: 'ns', title: 'CPU time, sampled', ...columns('bin thread stack value', [
				[0, 0, 0, 500 * US], [0, 1, 1, 300 * US], [0, 1, 2, 500 * US], [1, 1, 2, 500 * US], [2, 1, 3, 200 * US]])},
			{kind: 'calls', unit: 'calls', title: 'Calls', ...columns('bin thread stack value', [[-1, 0, 0, 1], [-1, 1, 1, 2], [-1, 1, 2, 15]])},
			{kind: 'off-cpu', unit: 'ns', title: 'Time off CPU', ...columns('bin thread stack value', [[1, 1, 2, 500 * US], [3, 0, 0, 3000 * US]])},
		],
	};
}

/** An empty capture. */
export function empty() {
	const doc = known();
	for (const name of ['findings', 'functions', 'ops', 'files', 'sites', 'threads', 'processes', 'objects', 'flames'])
		doc[name] = [];
	doc.end_ns = 0;
	doc.bins = doc.cells = 1;
	doc.missing = [{what: 'everything', reason: 'the program ended before it began'}];
	Object.assign(doc.lanes, {threads: [], objects: []});
	for (const holder of [doc, doc.sums, doc.path])
		for (const [name, table] of Object.entries(holder))
			if (table.n !== undefined)
				holder[name] = Object.fromEntries(Object.keys(table).map(key => [key, key === 'n' ? 0 : []]));
	doc.stacks = {parent: [], function: []};
	Object.assign(doc.blame, {cause: null, stacks: {parent: [], function: []}, nested: {...columns(Object.keys(known().blame.nested).filter(key => key !== 'n').join(' '), [])}});
	return doc;
}

/** One thread that locked one mutex once. */
export function oneEvent() {
	const doc = empty();
	doc.threads = [{name: 'alone', tid: 7, process: 0, start_ns: 0, end_ns: 0}];
	doc.objects = [{name: 'only', type: 'mutex', site: -1}];
	doc.ops = ['pthread_mutex_lock'];
	doc.lanes.threads = [{t: [], s: []}];
	doc.lanes.objects = [{t: [0], s: [1]}];
	doc.sums.objects = columns('bin object acquired contended wait hold max_wait max_hold', [[0, 0, 1, 0, 0, 0, 0, 0]]);
	doc.sums.operations = columns('bin thread site op object count blocked wait', [[0, 0, -1, 0, 0, 1, 0, 0]]);
	return doc;
}
