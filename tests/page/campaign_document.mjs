// SPDX-License-Identifier: MIT
//
// A hand-written campaign: two tests, of which one exposes a problem. Its three sections have another order by each
// metric, and one of them is conclusive by two metrics only.
import {HOSTILE} from './document.mjs';

const MS = 1e6;
const UNITS = ['apwt', 'cpwt', 'aplt'];

const meanOf = values => values.reduce((sum, value) => sum + value, 0) / values.length;

function statistics(metric, values) {
	const mean = meanOf(values);
	const sigma = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
	return {metric, mean_ns: mean, sigma_ns: sigma, sigma_pct: 100 * sigma / mean, least_ns: Math.min(...values), most_ns: Math.max(...values),
		runs: values.filter(Boolean).length, conclusive: sigma < 0.01 * mean};
}

// values: ms, by metric and run. Metrics that are 0 in all runs are left out, as gprof-mt does.
function section(lock, entry, values) {
	const all = {...values, mean: values.apwt.map((ms, i) => (ms + values.cpwt[i]) / 2)};
	return {test: 'locked', workload: 8, lock, type: 'mutex', entry, exit: `${entry} end`, path: lock === HOSTILE ? null : `${entry} < main`,
		metrics: [...UNITS, 'mean'].filter(metric => meanOf(all[metric]) > 0).map(metric => statistics(metric, all[metric].map(ms => ms * MS))),
		by_run: ['c/locked.w8.3', 'c/locked.w8.9', `c/${HOSTILE}`].map((dir, i) => ({dir,
			...Object.fromEntries(Object.keys(all).map(metric => [`${metric}_ns`, all[metric][i] * MS]))}))};
}

const SECTIONS = [
	section('table', 'insert', {apwt: [100, 100, 100], cpwt: [10, 20, 30], aplt: [100, 100, 100]}),
	section('list', 'append', {apwt: [40, 50, 60], cpwt: [40, 50, 60], aplt: [300, 300, 300]}),
	section(HOSTILE, HOSTILE, {apwt: [10, 20, 30], cpwt: [0, 0, 0], aplt: [300, 310, 320]}),
];

const SHARES = {running_pct: 40, runnable_pct: 20, blocked_sync_pct: 30, blocked_other_pct: 5, blocked_by: 'table at insert 20 %, list at append 5 %',
	sections: [{lock: 'table', entry: 'insert', exit: 'insert end', share_pct: 20}, {lock: 'list', entry: 'append', exit: 'append end', share_pct: 5}]};
const NO_SHARES = {running_pct: null, runnable_pct: null, blocked_sync_pct: null, blocked_other_pct: null, blocked_by: null, sections: null};

const step = (test, workload, verdict, dir, shares = SHARES) => ({test, workload, cpus: 2, threads: 4, runs: 2, failed: workload === 8 ? 1 : 0, wall_ns: workload * MS,
	wall_sigma_ns: 0.1 * MS, cpu_use_pct: 50, p_slower: null, p_use_rose: null, verdict, dir, ...shares});
const run = (number, test, workload, kind, more = {}) => ({run: number, test, workload, cpus: 2, threads: 4, kind, wall_ns: workload * MS, cpu_use_pct: kind === 'plain' ? 50 : null,
	user_ns: 3 * MS, system_ns: MS, max_rss_bytes: 3 * 2 ** 20, voluntary: 12, involuntary: 5, failure: null, dir: null, ...more});

// Run times of 12, 8 and 6 ms in the mean: speedups 1, 1.5 and 2.
function scaled(number, walls, shares) {
	const wall = meanOf(walls);
	return {test: 'locked', varies: 'threads', number, workload: 8, runs: walls.length, failed: 0, wall_ns: wall * MS, wall_sigma_ns: MS, speedup: 12 / wall,
		efficiency_pct: 100 * 12 / wall / number, cpu_use_pct: 60, ...shares, by_run: walls.map(ms => ({wall_ns: MS * ms, speedup: 12 / ms}))};
}

const curve = (law, number, speedup) => ({test: 'locked', varies: 'threads', law, number, speedup, speedup_low: speedup * 0.9, speedup_high: speedup * 1.1});

export function knownCampaign() {
	return {
		schema: 1, kind: 'campaign', program: 'known', command: '2 tests', host: 'desk', date: '2026-01-02T03:04:05Z', version: '0.1.0', metric: 'apwt', unit: 'ns',
		links: [{capture: 'locked.w8.3', page: 'locked.w8.3.html'}, {capture: null, page: null}, {capture: null, page: null}, {capture: `../${HOSTILE}`, page: null},
			{capture: null, page: null}],
		report: {
			schema: 1,
			steps: [step('free', 4, 'first', null, NO_SHARES), step('free', 8, 'run time did not rise', null),
				step('locked', 4, 'first', null), step('locked', 8, 'exposes a problem', 'c/locked.w8.3')],
			bottlenecks: [], inconclusive: [], sections: structuredClone(SECTIONS),
			// The waits for the section of the second bar are longer than its threads were blocked.
			scalability: [scaled(1, [11, 13], NO_SHARES), scaled(2, [8, 8], {...SHARES, blocked_sync_pct: 10, runnable_pct: 45}), scaled(4, [5, 7], SHARES)],
			laws: [{test: 'locked', varies: 'threads', law: 'Amdahl', serial_pct: 25, serial_low_pct: 20, serial_high_pct: 30, coherency_pct: null, coherency_low_pct: null,
				coherency_high_pct: null, most_speedup: 4, peak: null, error_pct: 1.5}],
			curves: [1, 2, 3, 4].map(n => curve('Amdahl', n, n / (1 + 0.25 * (n - 1)))),
			failures: [{test: 'locked', workload: 8, cpus: null, threads: null, kind: 'plain', why: `exit status 3 ${HOSTILE}`, file: 'failed.5'}],
			runs: [run(1, 'locked', 8, 'recorded', {dir: 'c/locked.w8.3'}), run(2, 'locked', 8, 'plain'), run(3, 'free', 4, 'plain'),
				run(4, 'locked', 8, 'recorded', {dir: `c/${HOSTILE}`}), run(5, 'locked', 8, 'plain', {failure: 'exit status 3'})],
			notes: [{section: 'steps', note: 'free: exhausted: no workload up to 8 exposes a synchronization problem'},
				{section: 'steps', note: 'locked: workload 8 exposes a synchronization problem'}, {section: 'steps', note: `locked: cause: table ${HOSTILE}`},
				{section: 'steps', note: 'not exercised: code that no test runs'}, {section: 'laws', note: 'locked, threads: 3 numbers cannot check the law'},
				{section: 'laws', note: 'locked: more threads take longer'}],
		},
	};
}

/** The same as captures that were merged. */
export function knownMerge() {
	const doc = knownCampaign();
	const {sections, runs} = doc.report;
	const merged = runs.slice(0, 3).map((row, i) => ({run: row.run, dir: row.dir, command: './known 8', wall_ns: row.wall_ns, problems: 0, threads: 4, cpus: 2,
		cpu_use_pct: 50, user_ns: row.user_ns, system_ns: row.system_ns, max_rss_bytes: row.max_rss_bytes, voluntary: 12, involuntary: 5, left_out: i === 2 ? 'warm-up' : null}));
	return {...doc, command: './known 8', links: doc.links.slice(0, 3), report: {schema: 1, bottlenecks: [], inconclusive: [],
		sections: sections.map(row => ({...row, test: undefined, workload: undefined})), runs: merged, notes: [{section: 'bottlenecks', note: 'cause: table'}]}};
}
