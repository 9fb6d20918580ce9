// SPDX-License-Identifier: MIT
//
// Speedup against the number of threads or CPUs: a dot for each run, the line of the means, the curves of the laws with
// their 95 % intervals, and the ideal line.
import {svg} from '../dom.js';
import {duration, plural} from '../format.js';
import {linear, rounded} from '../scale.js';
import {hideTip, showTip} from '../tip.js';

const HEIGHT = 320;
const MARGIN = {left: 46, right: 16, top: 14, bottom: 44};
const LETTER = 7;

/** The laws: their names in the report, words, and classes. */
export const LAWS = [['Amdahl', 'Amdahl’s law', 'amdahl'], ['universal', 'Universal scalability law', 'universal']];

// "1 thread", "2 CPUs"
const ofUnit = (number, unit) => plural(number, unit.slice(0, -1));
const two = value => value.toFixed(2);

// The scale of speedups has all runs in sight, and of the laws at most twice as much.
function heightOf(rows, curves) {
	const measured = rows.flatMap(row => [row.speedup ?? 0, ...row.by_run.map(({speedup}) => speedup ?? 0)]);
	const most = Math.max(1, ...measured);
	const ofLaws = Math.max(0, ...curves.map(({speedup}) => speedup));
	return rounded([0, Math.max(most, Math.min(2 * most, ofLaws)) * 1.05], 5);
}

const path = (points, x, y) => points.map(([at, value], i) => `${i ? 'L' : 'M'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join('');

function curveOf(curves, [law, , name], x, y) {
	const points = curves.filter(row => row.law === law);
	if (points.length === 0)
		return null;
	const low = points.map(row => [row.number, row.speedup_low]), high = points.map(row => [row.number, row.speedup_high]);
	return svg('g', {class: name}, svg('path', {class: 'band', d: `${path(high, x, y)}${path(low.reverse(), x, y).replace('M', 'L')}Z`}),
		svg('path', {class: 'curve', d: path(points.map(row => [row.number, row.speedup]), x, y)}));
}

// A measured number: its runs, and their mean, which is announced and shown when pointed at.
function pointOf(row, unit, x, y) {
	const spread = row.by_run.length > 1 ? ` (sigma ${duration(row.wall_sigma_ns ?? NaN)})` : '';
	const lines = [ofUnit(row.number, unit), ['Speedup', two(row.speedup)], ['Efficiency', row.efficiency_pct === null ? '–' : `${row.efficiency_pct.toFixed(1)} %`],
		['Run time', `${duration(row.wall_ns)}${spread}`], ['Runs', plural(row.by_run.length, 'run')]];
	const at = x(row.number);
	return svg('g', {class: 'point', tabindex: 0, role: 'img', 'aria-label': lines.map(line => Array.isArray(line) ? line.join(': ') : line).join(', '),
		onpointermove: event => showTip(event.clientX, event.clientY, lines), onpointerleave: hideTip,
		onfocus: ({target}) => (({right, top}) => showTip(right, top, lines))(target.getBoundingClientRect()), onblur: hideTip},
	row.by_run.map(({speedup}) => svg('circle', {class: 'single', cx: at, cy: y(speedup ?? 0), r: 3})),
	svg('circle', {class: 'mean', cx: at, cy: y(row.speedup), r: 5}));
}

// The numbers on the axis, without those that would overlap the one before.
function labelsOf(rows, x) {
	let free = -Infinity;
	return rows.filter(({number}) => {
		const half = LETTER * String(number).length / 2 + 4;
		const fits = x(number) - half >= free;
		free = fits ? x(number) + half : free;
		return fits;
	});
}

/** rows: of the table of scalability; curves: of that of curves; unit: "threads" or "CPUs"; id: unique in the page. */
export function plot({rows, curves, unit, id, width}) {
	const measured = rows.filter(row => row.speedup !== null);
	const first = rows[0].number, last = rows.at(-1).number;
	const x = linear([first, last], [MARGIN.left + 8, width - MARGIN.right - 8]);
	const y = linear(heightOf(measured, curves), [HEIGHT - MARGIN.bottom, MARGIN.top]);
	const ticks = y.ticks(5), digits = ticks.every(Number.isInteger) ? 0 : 2;
	const words = `Speedup with ${measured.map(row => `${ofUnit(row.number, unit)}: ${two(row.speedup)}`).join(', ')}; the tables below have the same data`;
	return svg('svg', {class: 'speedup', viewBox: `0 0 ${width} ${HEIGHT}`, height: HEIGHT, role: 'group', 'aria-label': words},
		svg('clipPath', {id}, svg('rect', {x: MARGIN.left, y: MARGIN.top, width: width - MARGIN.left - MARGIN.right, height: HEIGHT - MARGIN.top - MARGIN.bottom})),
		ticks.map(tick => [svg('line', {class: 'grid', x1: MARGIN.left, x2: width - MARGIN.right, y1: y(tick), y2: y(tick)}),
			svg('text', {class: 'end', x: MARGIN.left - 6, y: y(tick) + 4}, tick.toFixed(digits))]),
		labelsOf(rows, x).map(({number}) => svg('text', {class: 'tick', x: x(number), y: HEIGHT - MARGIN.bottom + 18}, number)),
		svg('text', {class: 'tick', x: (MARGIN.left + width) / 2, y: HEIGHT - 6}, `number of ${unit}`),
		svg('g', {'clip-path': `url(#${id})`},
			LAWS.map(law => curveOf(curves, law, x, y)),
			svg('path', {class: 'ideal', d: path([[first, 1], [last, last / first]], x, y)}),
			svg('path', {class: 'measured', d: path(measured.map(row => [row.number, row.speedup]), x, y)})),
		measured.map(row => pointOf(row, unit, x, y)));
}

/** The kinds of lines, each with a piece of it. curves: as above. */
export function legend(curves) {
	const piece = name => svg('svg', {class: 'speedup piece', width: 34, height: 12, viewBox: '0 0 34 12', 'aria-hidden': 'true'},
		name === 'single' ? [svg('circle', {class: 'single', cx: 17, cy: 6, r: 3})] :
			name === 'measured' ? [svg('path', {class: name, d: 'M0 6H34'}), svg('g', {class: 'point'}, svg('circle', {class: 'mean', cx: 17, cy: 6, r: 5}))] :
				name === 'ideal' ? [svg('path', {class: name, d: 'M0 6H34'})] :
					[svg('g', {class: name}, svg('path', {class: 'band', d: 'M0 0H34V12H0Z'}), svg('path', {class: 'curve', d: 'M0 6H34'}))]);
	return [['measured', 'mean of the runs'], ['single', 'a run'], ...LAWS.filter(([law]) => curves.some(row => row.law === law))
		.map(([, words, name]) => [name, `${words}, with its 95 % interval`]), ['ideal', 'ideal']].map(([name, words]) => [piece(name), words]);
}
