// SPDX-License-Identifier: MIT
//
// All runs, with links to their captures; those that failed are apart, with the reason.
import {el} from '../dom.js';
import {plural} from '../format.js';
import {section} from '../section.js';
import {Table} from '../table.js';
import {fileLink, lastPart} from './link.js';
import {number, share, time, words} from './columns.js';

/** A link to the page of a run, or else to its capture. dir: the capture, as in the report. */
export function runLink(report, dir) {
	if (dir === null || dir === undefined)
		return '–';
	const {capture = null, page = null} = report.doc.links[report.rows('runs').findIndex(row => row.dir === dir)] ?? {};
	const name = lastPart(dir);
	return el('span', {class: 'run'}, capture === null ? `${name} (not found)` : fileLink(capture, name, `The capture ${dir}`),
		page === null ? null : [' ', fileLink(page, 'page', `The page of ${dir}`)]);
}

const bytes = (key, title, help) => ({key, title, help, type: 'count', text: row => row[key] === null || row[key] === undefined ? '–' : `${(row[key] / 2 ** 20).toFixed(1)} MiB`});
const USAGE = [share('cpu_use_pct', 'CPU use', 'CPU time / (run time * the lesser of threads and CPUs)'), time('user_ns', 'User', 'CPU time in user mode'),
	time('system_ns', 'System', 'CPU time in the kernel'), bytes('max_rss_bytes', 'Memory', 'Of the largest process'),
	number('voluntary', 'Waited', 'Context switches of threads that waited'), number('involuntary', 'Preempted', 'Context switches of preempted threads')];

function captureColumn(report) {
	return {...words('dir', 'Capture', 'Of a recorded run', true), cell: row => runLink(report, row.dir)};
}

function ofSweep(report) {
	const good = new Table({label: 'Runs that count', columns: [number('run', 'Run'), words('test', 'Test'), words('kind', 'Kind', 'Plain, warm-up or recorded; only plain runs are measured'),
		captureColumn(report), number('workload', 'Workload'), number('threads', 'Threads'), number('cpus', 'CPUs'),
		time('wall_ns', 'Run time', 'Of a recorded run: with the recording'), ...USAGE]});
	const bad = new Table({label: 'Failed runs', none: 'No run failed.', columns: [words('test', 'Test'), words('kind', 'Kind'), number('workload', 'Workload'),
		number('threads', 'Threads'), number('cpus', 'CPUs'), words('why', 'Why', null, true),
		{...words('file', 'Printed', 'What the run printed'), cell: row => row.file === null ? '–' : fileLink(row.file, row.file)}]});
	good.setRows(report.rows('runs').filter(({failure}) => failure === null));
	bad.setRows(report.rows('failures'));
	return [good, bad, report.rows('failures').length];
}

function ofMerge(report) {
	const columns = [number('run', 'Run'), captureColumn(report), words('command', 'Command', null, true), number('threads', 'Threads', 'The most that were alive at the same time'),
		number('cpus', 'CPUs', 'Of the machine'), time('wall_ns', 'Run time'), ...USAGE, number('problems', 'Problems', 'Rows of its quality section')];
	const why = words('left_out', 'Why', null, true);
	const good = new Table({label: 'Runs that count', columns});
	const bad = new Table({label: 'Runs that are left out', none: 'No run is left out.', columns: [columns[0], why, ...columns.slice(1)]});
	const left = report.rows('runs').filter(row => row.left_out !== null);
	good.setRows(report.rows('runs').filter(row => row.left_out === null));
	bad.setRows(left);
	return [good, bad, left.length];
}

export function runs(report) {
	const [good, bad, n] = report.isSweep ? ofSweep(report) : ofMerge(report);
	return section('runs', 'Runs', 'The name of a recorded run links to the directory of its capture.', el('div', {class: 'good'}, good.node),
		n === 0 ? null : el('div', {class: 'bad'}, el('h3', {}, `${report.isSweep ? 'Failed' : 'Left out'}: ${plural(n, 'run')}`), bad.node));
}
