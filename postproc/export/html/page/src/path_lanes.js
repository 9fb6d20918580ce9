// SPDX-License-Identifier: MIT
//
// The critical path over time: a lane for each thread on it, and a line where the path passes to another thread. The
// height of a segment is divided among the states of its thread, since their order within it is not in the page.
import {svg} from './dom.js';
import {duration, moment, shorten} from './format.js';
import {AXIS, BAR, BAR_TOP, gutterOf, ROW} from './layout.js';
import {linear} from './scale.js';
import {hideTip, showTip} from './tip.js';

const MOST_LANES = 20;
const LEAST_PIXELS = 0.6;
const LETTER = 7;

/** The parts of a segment, with the words for them and the states whose colours they have. */
export const PARTS = [['running', 'running', 'running'], ['runnable', 'runnable, no CPU', 'runnable'],
	['blocked', 'blocked, not woken by a thread', 'blocked'], ['unknown', 'unknown', 'other'],
	['outside', 'waiting for something outside of the program', 'sleeping']];

/**
 * Returns the lane of each thread, and the lanes' names. The threads with the most time have lanes of their own, the
 * others share the last one.
 */
function lanesOf(capture, threads) {
	const own = threads.length > MOST_LANES ? threads.slice(0, MOST_LANES - 1) : threads;
	const at = new Map(own.map((thread, i) => [thread, i]));
	const names = own.map(thread => capture.thread(thread));
	if (own.length < threads.length)
		names.push(`${threads.length - own.length} other threads`);
	return {laneOf: thread => at.get(thread) ?? names.length - 1, names};
}

function tipOf(capture, segment) {
	const parts = PARTS.filter(([key]) => segment[key] > 0).map(([key, word]) => `${word} ${duration(segment[key])}`);
	return [
		`${capture.thread(segment.thread)}, from ${moment(segment.start, 1000)}`,
		['Time', duration(segment.ns)],
		['State', parts.join(', ') || 'unknown'],
		segment.call || segment.site_text ? ['Since', [segment.call, segment.site_text].filter(Boolean).join(' at ')] : null,
		segment.to < 0 ? null : ['Then', capture.thread(segment.to) + (segment.object ? `, which waited for ${segment.object}` : '')],
	];
}

function drawSegment(capture, segment, x, top) {
	const left = x(segment.start), width = Math.max(LEAST_PIXELS, x(segment.start + segment.ns) - left);
	let y = top + BAR;
	const parts = PARTS.filter(([key]) => segment[key] > 0).map(([key, , state]) => {
		const height = BAR * segment[key] / segment.ns;
		y -= height;
		return svg('rect', {x: left, width, y, height, class: state});
	});
	return svg('g', {onpointermove: event => showTip(event.clientX, event.clientY, tipOf(capture, segment)), onpointerleave: hideTip}, parts);
}

function drawAxis(x, left, width, height) {
	const ticks = x.ticks(Math.max(2, Math.floor((width - left) / 110)));
	return ticks.filter(tick => x(tick) >= left).map(tick => {
		const text = moment(tick, (ticks[1] - ticks[0]) || 1);
		return [svg('line', {x1: x(tick), x2: x(tick), y1: 4, y2: height}),
			x(tick) + 3 + LETTER * text.length < width ? svg('text', {x: x(tick) + 3, y: AXIS / 2 + 4}, text) : null];
	});
}

/**
 * segments: those that overlap the period, in order of time. threads: all of the path, those with the most time first.
 */
export function drawPath(capture, {segments, threads, fromNs, toNs, width}) {
	const {laneOf, names} = lanesOf(capture, threads);
	const left = gutterOf(width), height = AXIS + names.length * ROW;
	const x = linear([fromNs, Math.max(toNs, fromNs + 1)], [left, width]);
	const yOf = thread => AXIS + laneOf(thread) * ROW + BAR_TOP;
	const words = `Critical path over time: ${segments.length} segments in ${names.length} lanes; the table of segments has the same data`;
	return svg('svg', {class: 'path', viewBox: `0 0 ${width} ${height}`, height, role: 'img', 'aria-label': words},
		drawAxis(x, left, width, height),
		segments.filter(({to}) => to >= 0).map(({thread, to, start, ns}) =>
			svg('line', {class: 'pass', x1: x(start + ns), x2: x(start + ns), y1: yOf(thread) + BAR / 2, y2: yOf(to) + BAR / 2})),
		segments.map(segment => drawSegment(capture, segment, x, yOf(segment.thread))),
		svg('rect', {class: 'gutter', x: 0, y: 0, width: left, height}),
		names.map((name, lane) => svg('text', {class: 'name', x: 4, y: AXIS + lane * ROW + ROW / 2 + 4},
			shorten(name, Math.max(3, Math.floor((left - 12) / LETTER))))));
}
