// SPDX-License-Identifier: MIT
//
// The scalability of each test that ran with several numbers of threads or CPUs.
import {el} from '../dom.js';
import {section} from '../section.js';
import {Table} from '../table.js';
import {number, ratio, share, time, TIME_COLUMNS} from './columns.js';
import {LAWS, legend, plot} from './plot.js';
import {timeBars, timeLegend} from './time_bars.js';

const LEAD = 'The speedup is the mean run time with the first number, divided by the run time. The laws are fitted to all runs.';
const UNITS = {threads: 'threads', cpus: 'CPUs'};

const shown = pieces => el('div', {class: 'legend pieces'}, pieces.map(([piece, text]) => el('span', {class: 'state'}, piece, text)));

function measuredTable(name, rows, unit) {
	const table = new Table({label: `Scalability of ${name}`, search: false, columns: [
		{...number('number', unit === 'CPUs' ? unit : 'Threads')}, number('runs', 'Runs'), number('failed', 'Failed'), time('wall_ns', 'Run time', 'Mean, without recording'),
		time('wall_sigma_ns', 'Sigma'), ratio('speedup', 'Speedup'), share('efficiency_pct', 'Efficiency', 'Speedup / (number / first number)'),
		share('cpu_use_pct', 'CPU use', 'CPU time / (run time * the lesser of threads and CPUs)'), ...TIME_COLUMNS]});
	table.setRows(rows);
	return table.node;
}

const interval = (key, title, help) => ({...share(`${key}_pct`, title, help), text: row => row[`${key}_pct`] === null ? '–' :
	`${row[`${key}_pct`].toFixed(1)} % (${row[`${key}_low_pct`].toFixed(1)} to ${row[`${key}_high_pct`].toFixed(1)})`});

function lawsTable(name, rows) {
	const table = new Table({label: `Laws fitted to ${name}`, search: false, none: 'Too few numbers for a law.', columns: [
		{key: 'law', title: 'Law', text: row => LAWS.find(([law]) => law === row.law)?.[1] ?? row.law},
		interval('serial', 'Serial share', 'Universal: contention; with its 95 % interval'), interval('coherency', 'Coherency', 'Cost of each pair; with its 95 % interval'),
		ratio('most_speedup', 'Most speedup', 'By the law, with any number'), ratio('peak', 'At', 'The number with the greatest speedup'),
		share('error_pct', 'Error', 'Root mean square of the differences to the measured means')]});
	table.setRows(rows);
	return table.node;
}

// Draws again when the width changes.
function drawn(className, draw) {
	const frame = el('div', {class: className});
	let last = 0;
	new ResizeObserver(() => {
		const width = frame.clientWidth;
		if (width > 0 && width !== last)
			frame.replaceChildren(draw(width));
		last = width;
	}).observe(frame);
	return frame;
}

function series(report, {test, varies, at}) {
	const own = row => row.test === test && row.varies === varies;
	const rows = report.rows('scalability').filter(own), curves = report.rows('curves').filter(own);
	const unit = UNITS[varies] ?? varies, name = `${test}, ${unit}`, id = `series-${at}`;
	const notes = [...report.notesOf(test, 'scalability', 'laws'), ...report.notesOf(`${test}, ${varies}`, 'laws')];
	const hasSpeedup = rows.some(row => row.speedup !== null);
	return el('div', {class: 'block series', 'data-test': test, 'data-varies': varies},
		el('h3', {}, `${name}${rows[0].workload ? `, workload ${rows[0].workload}` : ''}`),
		hasSpeedup ? [shown(legend(curves)), drawn('plot-frame', width => plot({rows, curves, unit, id: `${id}-plot`, width}))] :
			el('p', {class: 'nothing'}, 'There is no speedup: no run with the first number counts.'),
		el('h4', {}, 'Where the time of all threads goes'),
		shown(timeLegend(rows, `${id}-times`)), drawn('times-frame', width => timeBars({rows, unit, id: `${id}-times`, width})),
		measuredTable(name, rows, unit), lawsTable(name, report.rows('laws').filter(own)),
		notes.map(note => el('p', {class: 'hint'}, note)));
}

/** Null if no test has several numbers. */
export function scaling(report) {
	const all = [];
	for (const {test, varies} of report.rows('scalability'))
		if (!all.some(one => one.test === test && one.varies === varies))
			all.push({test, varies, at: all.length});
	return all.length === 0 ? null : section('scaling', 'Scalability', LEAD, all.map(one => series(report, one)));
}
