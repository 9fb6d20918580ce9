// SPDX-License-Identifier: MIT
//
// The causes of waits, added up from the cells of the blame table.
import {percent} from './format.js';
import {objectLink} from './links.js';

/** What a thread did meanwhile: the figure, and its words. */
export const MODES = [['running', 'running'], ['runnable', 'runnable without a CPU'], ['sync', 'blocked on another object'], ['io', 'blocked in I/O'],
	['other', 'blocked otherwise'], ['unknown', 'in an unknown state']];
const FIGURES = ['count', 'ns', 'idle', ...MODES.map(([name]) => name)];

/** At the end of a thread there is no call. */
export const callName = (capture, {kind, op}) => op >= 0 ? capture.op(op) : kind === 'holder' || kind === 'caller' ? 'the end of the thread' : '';

/** A row for each cause of the cells, with sums of their figures. `busy`: the part of `ns` that is not idle. */
export function causes({blame, doc}, cells) {
	const rows = new Map();
	for (const cell of cells) {
		// The last frame of a stack is the object.
		const name = doc.functions[blame.stacks.function[blame.holder[cell]]];
		const keys = {kind: blame.kind[cell], object: blame.object[cell], name, op: blame.op[cell], site: blame.site[cell], acquired: blame.acquired[cell]};
		const key = Object.values(keys).join('\n');
		if (!rows.has(key))
			rows.set(key, {...keys, ...Object.fromEntries(FIGURES.map(figure => [figure, NaN]))});
		const row = rows.get(key);
		for (const figure of FIGURES)
			if (!Number.isNaN(blame[figure][cell]))
				row[figure] = (row[figure] || 0) + blame[figure][cell];
	}
	return [...rows.values()].map(row => ({...row, busy: row.ns - row.idle}));
}

export function causeObject(capture, {object, name}) {
	return object < 0 ? name : objectLink(capture, object);
}

const SHOWN_PART = 0.05;

/** "running 96.0 %, runnable without a CPU 4.0 %"; empty if it is not known. */
export function meanwhile(row) {
	const known = MODES.map(([figure, words]) => [row[figure] || 0, words]);
	const all = known.reduce((sum, [ns]) => sum + ns, 0);
	return row.unknown >= all ? '' : known.filter(([ns]) => ns > all * SHOWN_PART).sort((a, b) => b[0] - a[0]).map(([ns, words]) => `${words} ${percent(ns, all)}`).join(', ');
}
