// SPDX-License-Identifier: MIT
//
// Draws a bar for each number of threads or CPUs, which shows how the time of all threads divides into running,
// runnable, blocked by each critical section, and the rest. Parts have patterns and letters, beside their colors.
import {svg} from '../dom.js';
import {hideTip, showTip} from '../tip.js';

const ROW = 30, BAR = 22, LEFT = 46, RIGHT = 8, LETTER = 7;
const LEAST_PART = 0.05;

const nameOf = section => `${section.lock ?? 'unknown'} at ${section.entry ?? 'unknown'}`;
const keyOf = ({lock, entry, exit}) => JSON.stringify([lock, entry, exit]);

/** The sections that any bar has, in order of their largest share: {key, name, letter} each. */
export function sectionsOf(rows) {
	const largest = new Map();
	for (const section of rows.flatMap(row => row.sections ?? [])) {
		const known = largest.get(keyOf(section));
		largest.set(keyOf(section), {name: nameOf(section), share: Math.max(known?.share ?? 0, section.share_pct)});
	}
	return [...largest].sort((a, b) => b[1].share - a[1].share).map(([key, {name}], i) => ({key, name, letter: String.fromCodePoint(65 + i % 26)}));
}

/**
 * The parts of a bar: {name, short, kind, share} each; null: the time is not known. The waits for sections are also
 * running or runnable for a short time, so the blocked part is divided in proportion if they are longer.
 */
export function partsOf(row, sections) {
	if (row.running_pct === null || row.running_pct === undefined)
		return null;
	const of = key => row[key] ?? 0;
	const sync = of('blocked_sync_pct');
	const waits = sections.map(({key}) => (row.sections ?? []).filter(one => keyOf(one) === key).reduce((sum, one) => sum + one.share_pct, 0));
	const all = waits.reduce((sum, share) => sum + share, 0);
	const factor = all > sync && all > 0 ? sync / all : 1;
	const rest = Math.max(0, sync - all * factor);
	const known = of('running_pct') + of('runnable_pct') + sync + of('blocked_other_pct');
	return [
		{name: 'running', short: 'running', kind: 'running', share: of('running_pct')},
		{name: 'runnable, no CPU', short: 'runnable', kind: 'runnable', share: of('runnable_pct')},
		...sections.map(({name, letter}, i) => ({name: `blocked by ${name}`, short: letter, kind: `section s${i % 5}`, share: waits[i] * factor, waits: waits[i]})),
		{name: 'blocked on other objects (joins, idle waits)', short: 'objects', kind: 'objects', share: rest},
		{name: 'blocked otherwise (I/O, sleep)', short: 'other', kind: 'io', share: of('blocked_other_pct')},
		{name: 'not known', short: '?', kind: 'unknown', share: Math.max(0, 100 - known)},
	].filter(({share}) => share > LEAST_PART);
}

// Fills that differ without colors.
function patterns(id) {
	const pattern = (name, d) => svg('pattern', {id: `${id}-${name}`, width: 8, height: 8, patternUnits: 'userSpaceOnUse'}, svg('path', {d}));
	return svg('defs', {}, pattern('runnable', 'M0 8L8 0'), pattern('s0', 'M0 0L8 8'), pattern('s1', 'M0 4H8'), pattern('s2', 'M4 0V8'),
		pattern('s3', 'M0 0L8 8M0 8L8 0'), pattern('s4', 'M4 0V8M0 4H8'));
}

const PATTERNED = /^(?:runnable|section (s\d))$/;

function overlay(id, kind, box) {
	const found = kind.match(PATTERNED);
	return found ? svg('rect', {...box, class: 'overlay', fill: `url(#${id}-${found[1] ?? kind})`}) : null;
}

// The part's name and share, the share alone, or nothing, as there is room.
function labelOf({short, share}, width) {
	const texts = [`${short} ${share.toFixed(0)} %`, `${share.toFixed(0)} %`, short.length === 1 ? short : ''];
	return texts.find(text => text.length * LETTER + 8 <= width) ?? '';
}

function bar(row, parts, at, {width, id}) {
	let left = LEFT;
	return parts.map(part => {
		const length = (width - LEFT - RIGHT) * part.share / 100;
		const box = {x: left, y: at + (ROW - BAR) / 2, width: Math.max(0.5, length - 1), height: BAR};
		const label = labelOf(part, length);
		const lines = [part.name, ['Share', `${part.share.toFixed(1)} %`], part.waits > part.share + LEAST_PART ? ['Waits', `${part.waits.toFixed(1)} %, with the time until the thread ran again`] : null];
		left += length;
		return svg('g', {class: `part ${part.kind}`, onpointermove: event => showTip(event.clientX, event.clientY, lines), onpointerleave: hideTip},
			svg('rect', {...box, class: 'base'}), overlay(id, part.kind, box), label ? svg('text', {x: box.x + length / 2, y: at + ROW / 2 + 4}, label) : null);
	});
}

const inWords = (row, parts) => `${row.number}: ${parts ? parts.map(({name, share}) => `${name} ${share.toFixed(1)} %`).join(', ') : 'not known'}`;

/** rows: of the table of scalability; unit: "threads" or "CPUs"; id: unique in the page. */
export function timeBars({rows, unit, id, width}) {
	const sections = sectionsOf(rows);
	const height = ROW * rows.length + 20;
	const all = rows.map(row => partsOf(row, sections));
	return svg('svg', {class: 'times', viewBox: `0 0 ${width} ${height}`, height, role: 'img',
		'aria-label': `Where the time of all threads goes, by number of ${unit}. ${rows.map((row, i) => inWords(row, all[i])).join('. ')}`},
	patterns(id),
	rows.map((row, i) => [svg('text', {class: 'number', x: LEFT - 8, y: ROW * i + ROW / 2 + 4}, row.number),
		all[i] ? bar(row, all[i], ROW * i, {width, id}) : svg('text', {class: 'none', x: LEFT, y: ROW * i + ROW / 2 + 4}, 'not known: no run could be recorded, or its capture lacks it')]),
	[0, 25, 50, 75, 100].map(share => svg('text', {class: share === 0 ? 'tick first' : share === 100 ? 'tick last' : 'tick', x: LEFT + (width - LEFT - RIGHT) * share / 100,
		y: height - 5}, `${share} %`)));
}

/** What the bars have, each with a piece. */
export function timeLegend(rows, id) {
	const sections = sectionsOf(rows);
	const kinds = new Map(rows.flatMap(row => partsOf(row, sections) ?? []).map(({name, kind}) => [name, kind]));
	const order = ['running', 'runnable, no CPU', ...sections.map(({name}) => `blocked by ${name}`)];
	const at = name => (order.indexOf(name) + order.length + 1) % (order.length + 1);
	const letter = name => sections.find(one => `blocked by ${one.name}` === name)?.letter;
	return [...kinds].sort((a, b) => at(a[0]) - at(b[0])).map(([name, kind]) => {
		const box = {x: 0, y: 0, width: 26, height: 14};
		return [svg('svg', {class: 'times piece', width: 26, height: 14, viewBox: '0 0 26 14', 'aria-hidden': 'true'},
			svg('g', {class: `part ${kind}`}, svg('rect', {...box, class: 'base'}), overlay(id, kind, box), letter(name) ? svg('text', {x: 13, y: 11}, letter(name)) : null)), name];
	});
}
