// SPDX-License-Identifier: MIT
//
// Describes a lane at a point in time: the state, the object, the blocking and the blocked threads.
import {duration, moment, percent} from './format.js';
import {stateWord} from './states.js';

const NAMES = 4;

function names(list) {
	const different = [...new Set(list)];
	const rest = different.length - NAMES;
	return different.slice(0, NAMES).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

// The longest first, because it is the visible one.
function waitsAt(capture, lane, fromNs, toNs) {
	const {ns} = capture.waits;
	const find = by => capture.waitsOf[by].overlapping(lane.ref, fromNs, toNs).sort((a, b) => ns[b] - ns[a]);
	return lane.kind === 'object' ? {own: find('object'), others: []} : {own: find('thread'), others: find('blocker')};
}

function relation(capture, lane, {own, others}) {
	const {waits} = capture;
	const shown = own.length ? own : others;
	const object = lane.kind === 'object' ? capture.object(lane.ref) :
		shown.length ? names(shown.map(i => capture.object(waits.object[i]))) : 'none';
	const blocker = shown.length ? names(shown.map(i => capture.thread(waits.blocker[i]))) : 'none';
	const blocked = shown.length ? names(shown.map(i => capture.thread(waits.thread[i]))) : 'none';
	return [['Object', object], ['Blocker', blocker], ['Blocked', blocked]];
}

function wait(capture, {own, others}) {
	const {waits} = capture;
	const i = own[0] ?? others[0];
	if (i === undefined)
		return [];
	return [
		['Wait', `${duration(waits.ns[i])}, ${capture.op(waits.op[i])}, from ${moment(waits.start[i], 1000)}`],
		['Waits at', capture.site(waits.site[i])],
		waits.blocker_site[i] < 0 ? null : ['Blocker at', capture.site(waits.blocker_site[i])],
	];
}

function states(lane, fromNs, toNs) {
	const parts = [...lane.between(fromNs, toNs)].map((ns, state) => [ns, stateWord(lane.states[state])])
		.filter(([ns]) => ns > 0).sort((a, b) => b[0] - a[0]);
	const all = parts.reduce((sum, [ns]) => sum + ns, 0);
	return parts.length === 1 ? parts[0][1] : parts.map(([ns, word]) => `${word} ${percent(ns, all)}`).join(', ') || 'unknown';
}

/** Returns the lines of the tip for a lane from from_ns to to_ns: one pixel, or one step. */
export function describe(capture, lane, fromNs, toNs) {
	const found = waitsAt(capture, lane, fromNs, toNs);
	const name = lane.kind === 'thread' ? capture.thread(lane.ref) : capture.object(lane.ref);
	return [
		`${name}, at ${moment(fromNs, toNs - fromNs)}`,
		['State', states(lane, fromNs, toNs)],
		...relation(capture, lane, found),
		...wait(capture, found),
	];
}
