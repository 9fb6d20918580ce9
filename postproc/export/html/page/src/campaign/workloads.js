// SPDX-License-Identifier: MIT
//
// The workloads that were run, with the verdict on each.
import {el} from '../dom.js';
import {section} from '../section.js';
import {Table} from '../table.js';
import {number, share, time, TIME_COLUMNS, words} from './columns.js';
import {runLink} from './runs.js';

export function workloads(report) {
	const table = new Table({label: 'Workloads and verdicts', none: 'No run was made.', columns: [
		words('test', 'Test'), number('workload', 'Workload'), number('cpus', 'CPUs'),
		number('threads', 'Threads', 'As given, or the most that were alive at the same time in the recorded run'),
		number('runs', 'Runs', 'Runs that count'), number('failed', 'Failed'), time('wall_ns', 'Run time', 'Mean, without recording'),
		time('wall_sigma_ns', 'Sigma', 'Standard deviation of the run time'),
		share('cpu_use_pct', 'CPU use', 'CPU time / (run time * the lesser of threads and CPUs)'),
		{...words('verdict', 'Verdict', 'Whether the workload exposes a problem, or why not', true),
			cell: row => row.verdict === 'exposes a problem' ? el('strong', {}, row.verdict) : row.verdict},
		{...words('dir', 'Recorded run', null, true), cell: row => runLink(report, row.dir)}, ...TIME_COLUMNS,
	]});
	table.setRows(report.rows('steps'));
	return section('workloads', 'Workloads', 'Each workload was run with the most threads and CPUs, and compared with the one before.', table.node);
}
