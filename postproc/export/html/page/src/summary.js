// SPDX-License-Identifier: MIT
//
// The longest waits, in sentences. Findings for the whole run come from gprof-mt; for a part of it, sentences are made
// here from the sums that the tables show. Before them comes the leading cause of waits in the whole run.
import {el} from './dom.js';
import {count, duration, percent, plural} from './format.js';
import {objectLink, siteLink, threadLink} from './links.js';
import {section} from './section.js';

const MOST = 3;
const SHOWN_AT_FIRST = 5;

function top(rows, key, n = MOST) {
	return rows.filter(row => row[key] > 0).sort((a, b) => b[key] - a[key]).slice(0, n);
}

const has = (list, ref) => Number.isInteger(ref) && ref >= 0 && ref < list.length;

// Findings on objects with the same name and site have the same text: they are grouped under the first.
function gathered({doc}) {
	const byKey = new Map();
	doc.findings.forEach((one, i) => {
		const key = has(doc.objects, one.object) ? `${doc.objects[one.object].name} ${one.site}` : i;
		byKey.set(key, [...byKey.get(key) ?? [], one]);
	});
	return [...byKey.values()];
}

// A link with the part of the object's full name that distinguishes it from others of that name.
function alikeLink(capture, object) {
	const whole = capture.object(object);
	return el('a', {href: `#lane-object-${object}`, title: whole}, whole.slice(capture.doc.objects[object].name.length).trim() || whole);
}

function finding(capture, [{text, object = -1, thread = -1, site = -1}, ...alike], waits) {
	const links = [
		has(capture.doc.objects, object) && objectLink(capture, object),
		has(capture.doc.threads, thread) && threadLink(capture, thread),
		has(capture.doc.sites, site) && siteLink(capture, site),
	].filter(Boolean);
	return el('li', {}, el('span', {class: 'sentence'}, text),
		links.length ? el('span', {class: 'links'}, links) : null,
		alike.length ? el('span', {class: 'links'}, 'Others with that name:', alike.map(one =>
			el('span', {}, alikeLink(capture, one.object), ` ${duration(waits.get(one.object) ?? NaN)}`))) : null);
}

// The leading cause of waits, and links to what it names.
function leading(capture) {
	const {cause} = capture.doc.blame;
	if (!cause)
		return null;
	const sites = [...new Set([cause.acquired, cause.site])].filter(site => has(capture.doc.sites, site));
	return el('div', {class: 'leading'}, el('span', {class: 'sentence'}, cause.text), el('span', {class: 'links'},
		has(capture.doc.objects, cause.object) ? objectLink(capture, cause.object) : null, sites.map(site => siteLink(capture, site)),
		el('a', {href: '#blame'}, 'Blame')));
}

// The time of the range that threads were idle, if any.
function idleSentence(capture, range) {
	const idle = capture.idle(range);
	const sum = [...idle.values()].reduce((all, ns) => all + ns, 0);
	const [object] = [...idle].sort((a, b) => b[1] - a[1])[0] ?? [-1];
	return sum > 0 ? [el('li', {}, el('span', {class: 'sentence'}, `Threads were idle: ${duration(sum)} for work, other threads and time; longest `,
		`${duration(idle.get(object))} for `, objectLink(capture, object), '.'))] : [];
}

// One sentence for each of the objects with the longest waits in the range, with thread and site. Idle waits come last.
function sentences(capture, range) {
	const waits = capture.rows('waits', range, {keys: ['thread', 'blocker', 'object', 'site', 'blocker_site'], sums: ['count', 'ns']})
		.filter(row => !capture.isIdle(row));
	const byObject = new Map();
	for (const {object, count: n, ns} of waits) {
		const sum = byObject.get(object) ?? {object, count: 0, ns: 0};
		byObject.set(object, {object, count: sum.count + (n || 0), ns: sum.ns + (ns || 0)});
	}
	return [...top([...byObject.values()], 'ns').map(({object, count: n, ns}) => {
		const worst = top(waits.filter(row => row.object === object), 'ns', 1)[0];
		return el('li', {}, el('span', {class: 'sentence'}, 'Threads waited ', el('strong', {}, duration(ns)), ' for ',
			objectLink(capture, object), n > 0 ? `, in ${plural(n, 'wait')}` : ', in waits that ended later', '; the largest part, ', duration(worst.ns), ', was ',
			threadLink(capture, worst.thread), ' at ', siteLink(capture, worst.site),
			worst.blocker < 0 ? null : [', blocked by ', threadLink(capture, worst.blocker)], '.'));
	}), ...idleSentence(capture, range)];
}

function tile(title, value, note) {
	return el('div', {class: 'tile'}, el('dt', {}, title), el('dd', {}, value, note ? el('small', {}, note) : null));
}

// Counts the threads that existed in the range; the lifetime of some may be unknown.
function threadsIn(capture, range) {
	const fromNs = capture.timeOf(range.from), toNs = capture.timeOf(range.to);
	return capture.doc.threads.filter(({start_ns: start, end_ns: end}) => (start ?? 0) <= toNs && (end ?? Infinity) >= fromNs).length;
}

// Sums the known lifetimes of all threads within the range, including those whose states are unknown.
function lifetimes(capture, range) {
	const fromNs = capture.timeOf(range.from), toNs = capture.timeOf(range.to);
	return capture.doc.threads.reduce((sum, {start_ns: start, end_ns: end}) => start === null || end === null ? sum :
		sum + Math.max(0, Math.min(end, toNs) - Math.max(start, fromNs)), 0);
}

function tiles(capture, range) {
	const states = ['running', 'runnable', 'sync', 'io', 'other', 'unknown'];
	const threads = capture.rows('threads', range, {keys: ['thread'], sums: states});
	const objects = capture.rows('objects', range, {keys: ['object'], sums: ['contended', 'wait', 'acquired']});
	const sum = (rows, key) => rows.reduce((all, row) => Number.isNaN(row[key]) ? all : (all || 0) + row[key], NaN);
	const known = states.reduce((all, state) => all + (sum(threads, state) || 0), 0);
	const life = Math.max(known, lifetimes(capture, range));
	const share = state => Number.isNaN(sum(threads, state)) ? '–' : percent(sum(threads, state), life);
	return [
		tile('Time', duration(capture.span(range))),
		tile('Threads', count(threadsIn(capture, range)), 'existed in this time'),
		tile('Running', share('running'), 'of the threads’ time'),
		tile('Runnable', share('runnable'), 'ready, no CPU'),
		tile('Blocked', share('sync'), 'on an object'),
		tile('Waits', count(sum(objects, 'contended')), `for ${count(top(objects, 'wait', Infinity).length)} objects`),
	];
}

export function summaryView({capture}) {
	const cause = leading(capture);
	const list = el('ol', {class: 'findings'});
	const lead = el('p', {class: 'lead', role: 'status'});
	const figures = el('dl', {class: 'tiles'});
	const more = el('button', {type: 'button', onclick: () => {
		for (const item of list.children)
			item.hidden = false;
		list.children[SHOWN_AT_FIRST].querySelector('a')?.focus();
		more.hidden = true;
	}});
	const findings = gathered(capture);
	return {
		node: section('summary', 'Summary', null, cause, lead, list, more, figures),
		update: range => {
			const whole = capture.isWhole(range);
			const waits = new Map(capture.rows('objects', range, {keys: ['object'], sums: ['wait']}).map(({object, wait}) => [object, wait]));
			const items = whole && findings.length ? findings.map(alike => finding(capture, alike, waits)) : sentences(capture, range);
			if (cause)
				cause.hidden = !whole;
			lead.textContent = whole ? 'The whole run, largest cost first.' : 'The selected time, largest cost first.';
			list.replaceChildren(...items.length ? items : [el('li', {class: 'nothing'}, whole ?
				'This capture has no waits.' : 'No thread waited in this time.')]);
			items.slice(SHOWN_AT_FIRST).forEach(item => item.hidden = true);
			more.hidden = items.length <= SHOWN_AT_FIRST;
			more.textContent = `Show all ${count(items.length)}`;
			figures.replaceChildren(...tiles(capture, range));
		},
	};
}
