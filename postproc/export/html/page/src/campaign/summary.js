// SPDX-License-Identifier: MIT
//
// The result in words: which workloads expose a problem and which do not, the cause and how sure it is, and what no run
// has exercised. The sentences are the notes of the report.
import {el} from '../dom.js';
import {section} from '../section.js';
import {keptOf, sentence} from './report.js';

const OUTCOMES = {'fewer than two runs count': 'given up', 'not all runs made': 'not complete', first: 'not compared'};

// The outcome of a test in a few words, and whether it exposes a problem.
function outcome(steps) {
	const kept = keptOf(steps);
	if (kept)
		return ['exposes a problem', true];
	return [OUTCOMES[steps.at(-1)?.verdict] ?? 'no problem found', false];
}

function verdict(report, test) {
	const steps = report.rows('steps').filter(row => row.test === test);
	const [words, exposes] = outcome(steps);
	return {exposes, node: el('li', {class: exposes ? 'test exposes' : 'test'},
		el('h3', {}, test, ' ', el('span', {class: 'badge'}, words)),
		report.notesOf(test, 'steps').map(note => el('p', {class: 'sentence'}, sentence(note))))};
}

function ofSweep(report) {
	const tests = report.tests().map(test => verdict(report, test));
	const all = report.otherNotes('steps');
	const exposing = tests.filter(({exposes}) => exposes), others = tests.filter(({exposes}) => !exposes);
	return section('summary', 'Summary', null,
		exposing.length === 0 ? el('p', {class: 'lead'}, 'No workload exposes a synchronization problem.') : null,
		el('ul', {class: 'verdicts'}, [...exposing, ...others].map(({node}) => node)),
		all.map(note => el('p', {class: 'general'}, sentence(note))));
}

function ofMerge(report) {
	const notes = report.notes('bottlenecks');
	return section('summary', 'Summary', null, notes.map((note, i) =>
		el('p', {class: i === 0 ? 'leading sentence' : 'general'}, sentence(note))));
}

export const summary = report => report.isSweep ? ofSweep(report) : ofMerge(report);
