// SPDX-License-Identifier: MIT
//
// A generated large capture: as many lanes, steps and waits as a page of ten million events, the
// same in each run.
import {columns} from './document.mjs';

// Pseudo-random numbers from 0 to 1.
function dice(seed) {
	return () => {
		seed = Math.imul(seed ^ seed >>> 15, 0x2c1b3c6d) + 0x9e3779b9 | 0;
		const out = Math.imul(seed ^ seed >>> 13, 0x85ebca6b);
		return ((out ^ out >>> 16) >>> 0) / 2 ** 32;
	};
}

function walk(roll, endNs, steps, states) {
	const t = [0], s = [0];
	for (let i = 1; i < steps; i++) {
		t.push(Math.floor(endNs * (i + roll()) / steps));
		s.push((s[i - 1] + 1 + Math.floor(roll() * (states - 1))) % states);
	}
	return {t, s};
}

function tree(roll, size, functions) {
	const parent = [-1], names = [0];
	for (let i = 1; i < size; i++) {
		parent.push(Math.max(0, i - 1 - Math.floor(roll() * roll() * Math.min(i, 40))));
		names.push(Math.floor(roll() * functions));
	}
	return {parent, function: names};
}

// As long as gprof-mt keeps them.
function path(roll, {threads, endNs, list, pick}) {
	const noted = (names, rows) => ({...columns(names, rows), notes: ['the longest 500 of 90,000 segments']});
	const parts = () => list(5, () => pick(1e7)), n = 500;
	return {
		threads: noted('thread ns share running runnable sync io other unknown outside', list(threads, i => [i, pick(1e9), roll() * 4, ...list(7, () => pick(1e8))])),
		objects: noted('object name ns share crossings waited', list(2000, i => [i < 64 ? i : -1, `lock ${i}`, pick(1e7), roll(), pick(900), pick(1e7)])),
		functions: noted('name ns share within running runnable blocked unknown outside', list(n, i => [`function_${i}`, pick(1e9), roll() * 9, pick(1e9), ...parts()])),
		calls: noted('name ns share running runnable blocked unknown outside call site', list(100, i => [`function_${i}`, pick(1e9), roll() * 9, ...parts(), `sem_wait at function_${i}`, i])),
		segments: noted('thread start ns running runnable blocked unknown outside call site_text site blocked_in object to', list(n, i => [pick(threads), Math.floor(endNs * i / n),
			endNs / n, ...list(5, () => endNs / n / 5), 'sem_wait', `function_${i % 100}`, i % 100, 'read', 'lock', i + 1 < n ? pick(threads) : -1])),
	};
}

export function big({threads = 64, objects = 64, steps = 8000, waits = 50000, rows = 100000, stacks = 20000, bins = 256} = {}) {
	const roll = dice(1);
	const pick = n => Math.floor(roll() * roll() * n);
	const endNs = 20e9;
	const list = (n, make) => Array.from({length: n}, (_, i) => make(i));
	const table = (names, make, n = rows) => columns(names, list(n, make));
	const functions = 500, sites = 100, lines = list(400, i => [i + 1, `\tline ${i + 1};`]);
	const starts = list(waits, () => Math.floor(roll() * endNs * 0.99)).sort((a, b) => a - b);
	const bin = () => Math.floor(roll() * bins);
	return {
		schema: 1, program: 'big', command: './big', host: 'desk', date: '2026-01-02', version: '0.1.0', from_ns: 0, end_ns: endNs, bins, cells: bins * 16,
		findings: [{text: 'Threads waited long for lock 0.', object: 0, thread: 0, site: 0}], idle: {n: 0, object: [], site: []}, missing: [],
		functions: list(functions, i => `function_${i}`), ops: ['pthread_mutex_lock', 'sem_wait'], files: [{path: 'big.c', lines}],
		sites: list(sites, i => ({function: i, file: 0, line: 1 + i * 4, text: `function_${i} (big.c:${1 + i * 4})`})),
		threads: list(threads, i => ({name: `${['worker', 'reader', 'writer'][i % 3]}-${i}`, tid: 1000 + i, process: 0, start_ns: 0, end_ns: endNs})),
		processes: [{pid: 1000, program: 'big'}],
		objects: list(objects, i => ({name: `lock ${i} at init (big.c:${i + 1})`, type: 'mutex', site: i % sites})),
		lanes: {
			thread_states: ['running', 'runnable', 'blocked', 'io', 'sleeping', 'gone'], object_states: ['free', 'held', 'contended', 'waited', 'gone'],
			threads: list(threads, () => walk(roll, endNs, steps, 5)), objects: list(objects, () => walk(roll, endNs, steps, 3)),
		},
		waits: columns('thread object site op start ns blocker blocker_site',
			starts.map(start => [pick(threads), pick(objects), pick(sites), pick(2), start, Math.floor(1e3 + 1e8 * roll() ** 8), pick(threads), pick(sites)])),
		path: path(roll, {threads, endNs, list, pick}),
		io: {...table('threads call site_text site fd count ns idle max', i => ['worker', 'read', `function_${i % sites}`, i % sites, '3', pick(900), pick(1e9), 0, pick(1e6)], 2000), notes: []},
		sums: {
			threads: table('bin thread running runnable sync io other unknown', i => [i % bins, Math.floor(i / bins), ...list(5, () => Math.floor(roll() * 1e7)), 0], bins * threads),
			objects: table('bin object acquired contended wait hold max_wait max_hold', i => [i % bins, Math.floor(i / bins), pick(900), pick(90),
				...list(4, () => Math.floor(roll() * 1e7))], bins * objects),
			operations: table('bin thread site op object count blocked wait', () => [bin(), pick(threads), pick(sites), pick(2), pick(objects), pick(100), pick(9), pick(1e6)]),
			waits: table('bin thread blocker object site blocker_site count ns', () => [bin(), pick(threads), pick(threads), pick(objects), pick(sites), pick(sites), 1 + pick(9), pick(1e7)]),
			switches: table('bin from to count', () => [bin(), pick(threads), pick(threads) - 1, 1 + pick(50)]),
			distribution: table('bin object bucket count', () => [bin(), pick(objects), 8 + Math.floor(roll() * roll() * 20), 1 + pick(40)]),
		},
		blame: {...table('kind holder waiter object op site acquired waiter_site count ns idle running runnable sync io other unknown', () =>
			['holder', pick(stacks), pick(stacks), pick(objects), pick(2), pick(sites), pick(sites), pick(sites), 1 + pick(9), 1e6 + pick(1e7), 0, ...list(6, () => pick(1e6))], 10000),
		stacks: tree(roll, stacks, functions), cause: null, nested: table('object name site acquired other other_name kind op other_site other_acquired ns', i =>
			[i % objects, `object ${i % objects}`, pick(sites), pick(sites), pick(objects), 'x', 'holder', pick(2), pick(sites), pick(sites), pick(1e6)], 5000)},
		stacks: tree(roll, stacks, functions),
		flames: [{kind: 'samples', unit: 'ns', title: 'CPU time, sampled', ...table('bin thread stack value', () => [bin(), pick(threads), pick(stacks), 1e7])},
			{kind: 'off-cpu', unit: 'ns', title: 'Time off CPU', ...table('bin thread stack value', () => [bin(), pick(threads), pick(stacks), pick(1e7)])}],
	};
}
