// SPDX-License-Identifier: MIT
//
// The critical sections by the chosen metric: those whose order is conclusive, and the others apart.
import {el} from '../dom.js';
import {count, plural} from '../format.js';
import {choice, nothing, section} from '../section.js';
import {Table} from '../table.js';
import {lastPart} from './link.js';
import {keptOf, METRICS} from './report.js';
import {spread} from './spread.js';

const LEAD = 'Critical sections by the time for which other threads waited for them. A dot is a run, the bar across is the mean; all plots have one scale.';

/** The sections with the metric, greatest mean first. */
function rowsBy(report, test, metric) {
	return report.rows('sections').filter(row => !test || row.test === test).flatMap(row => {
		const found = row.metrics.find(one => one.metric === metric);
		return found ? [{...row, mean: report.costOf(found, 'mean'), sigma: report.costOf(found, 'sigma') ?? NaN, part: found.sigma_pct ?? NaN,
			least: report.costOf(found, 'least'), most: report.costOf(found, 'most'), n: found.runs, conclusive: found.conclusive,
			values: row.by_run.map(run => ({name: lastPart(run.dir ?? ''), value: report.costOf(run, metric)}))}] : [];
	}).sort((a, b) => b.mean - a.mean);
}

const words = (key, title, help) => ({key, title, help, wide: true, text: row => row[key] ?? 'unknown'});
const SEARCHED = 10;

function columnsOf(report, most) {
	const cost = (key, title, help) => ({key, title, help, type: report.costType, text: row => report.cost(row[key])});
	return [
		{key: 'lock', title: 'Lock', text: row => `${row.lock ?? 'unknown'} (${row.type ?? 'unknown'})`},
		words('entry', 'Entered at', 'The call site that obtained the lock'),
		cost('mean', 'Mean', 'Mean of the metric in all runs'), cost('sigma', 'Sigma', 'Its standard deviation'),
		{key: 'part', title: 'Of mean', help: 'Sigma as a share of the mean', type: 'share', text: row => Number.isNaN(row.part) ? '–' : `${row.part.toFixed(1)} %`},
		{key: 'most', title: 'Each run', help: 'The values of the runs, on a scale that begins at 0', type: 'plot',
			text: row => `${report.cost(row.least)} to ${report.cost(row.most)}`,
			cell: row => spread({values: row.values, mean: row.mean, most: most(), format: report.cost})},
		{key: 'n', title: 'Runs', help: 'Runs in which it was not 0', type: 'count'},
		words('exit', 'Left at', 'The call site that released it'),
		{...words('path', 'Called by', 'The functions of the call path, innermost first'), text: row => row.path ?? '–'},
	];
}

// The tables of one test. update(metric) fills them.
function block(report, test, step) {
	let most = 0;
	const search = report.rows('sections').filter(row => !test || row.test === test).length > SEARCHED;
	const table = label => new Table({label, columns: columnsOf(report, () => most), sort: 'mean', search});
	const name = test ? `${test}, ` : '';
	const conclusive = table(`${name}conclusive sections`), others = table(`${name}inconclusive sections`);
	const parts = [el('div', {class: 'conclusive'}, conclusive.node), el('div', {class: 'inconclusive'}, el(test ? 'h4' : 'h3', {}, 'Inconclusive'),
		el('p', {class: 'hint'}, 'Sigma is 1 % of the mean or more: the order of these sections may change with more runs.'), others.node)];
	const status = el('p', {class: 'status', role: 'status'});
	const scale = el('p', {class: 'hint'});
	return {
		node: el('div', {class: 'block', 'data-test': test},
			test ? el('h3', {}, step?.workload ? `${test}, workload ${step.workload}` : test) : null, status, parts, scale),
		update(metric) {
			const rows = rowsBy(report, test, metric);
			most = rows.reduce((all, row) => Math.max(all, row.most), 0);
			[row => row.conclusive, row => !row.conclusive].forEach((isIn, i) => {
				const own = rows.filter(isIn);
				[conclusive, others][i].setRows(own);
				parts[i].hidden = own.length === 0;
			});
			const n = rows[0]?.values.length ?? 0;
			status.textContent = rows.length === 0 ? 'No thread waited for a critical section.' :
				`${plural(rows.length, 'section')} in ${plural(n, 'run')}, ${count(rows.filter(row => row.conclusive).length)} conclusive.`;
			scale.textContent = rows.length === 0 ? '' : `The plots go from 0 to ${report.cost(most)}.`;
		},
	};
}

export function ranking(report) {
	const tests = report.isSweep ? report.tests().map(test => [test, keptOf(report.rows('steps').filter(row => row.test === test))])
		.filter(([test]) => report.rows('sections').some(row => row.test === test)) : [['']];
	if (tests.length === 0)
		return section('ranking', 'Critical sections', null, nothing(report.isSweep ? 'No workload exposes a problem, so no ranking was made.' :
			'No thread waited for a critical section.'));
	const blocks = tests.map(([test, step]) => block(report, test, step));
	const help = el('span', {class: 'status', role: 'status'});
	const body = el('div', {class: 'blocks'}, blocks.map(one => one.node));
	const update = metric => {
		blocks.forEach(one => one.update(metric));
		help.textContent = METRICS.find(([key]) => key === metric)[2];
		body.dataset.metric = metric;
	};
	const by = choice('Rank by', METRICS.map(([key, title]) => [key, title]), update);
	by.select.value = report.doc.metric;
	update(report.doc.metric);
	return section('ranking', 'Critical sections', LEAD, el('div', {class: 'tools'}, by.node, help), body);
}
