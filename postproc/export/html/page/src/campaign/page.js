// SPDX-License-Identifier: MIT
//
// The page of a campaign: the results in words, the ranking, the workloads, the scalability, and all runs.
import {el} from '../dom.js';
import {day, plural} from '../format.js';
import {head, navigation} from '../head.js';
import {SECTIONS} from '../section.js';
import {tip} from '../tip.js';
import {ranking} from './ranking.js';
import {Report} from './report.js';
import {runs} from './runs.js';
import {scaling} from './scaling.js';
import {summary} from './summary.js';
import {workloads} from './workloads.js';

/** Returns the nodes of the page. doc: was checked. */
export function campaign(doc) {
	const report = new Report(doc);
	const parts = [summary(report), ranking(report), report.isSweep ? workloads(report) : null, scaling(report), runs(report)].filter(Boolean);
	const ids = parts.map(({id}) => id);
	SECTIONS.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
	return [
		head(`${doc.program || 'gprof-mt'}: campaign`, [doc.command, plural(report.rows('runs').length, 'run'), day(doc.date), doc.host, `gprof-mt ${doc.version}`]),
		el('div', {class: 'bar'}, navigation(SECTIONS)), el('main', {}, parts, tip)];
}
