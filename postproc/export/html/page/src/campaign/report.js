// SPDX-License-Identifier: MIT
//
// The report of a campaign: the tables of `gprof-mt sweep` or `gprof-mt bottlenecks` in JSON, and their notes.
import {count, duration} from '../format.js';

export const METRICS = [['apwt', 'APWT', 'all waits for the section'], ['cpwt', 'CPWT', 'the waits that the thread that ended last depended on'],
	['aplt', 'APLT', 'all waits for sections of the same lock'], ['mean', 'mean', 'the mean of APWT and CPWT']];

export class Report {
	#report;

	constructor(doc) {
		this.doc = doc;
		this.#report = doc.report;
		this.isSweep = Array.isArray(doc.report.steps);
		this.cost = doc.unit === 'ns' ? duration : count;
		this.costType = doc.unit === 'ns' ? 'time' : 'count';
	}

	/** The rows of a table; none if the report lacks it. */
	rows(table) {
		return this.#report[table] ?? [];
	}

	notes(...tables) {
		return this.#report.notes.filter(({section}) => tables.includes(section)).map(({note}) => note);
	}

	/** The names of the tests, in order; a merge of captures has one without a name. */
	tests() {
		return this.isSweep ? [...new Set(this.rows('steps').map(({test}) => test))] : [''];
	}

	/** The notes of a test, without its name. */
	notesOf(test, ...tables) {
		const prefix = test ? `${test}: ` : '';
		return this.notes(...tables).filter(note => note.startsWith(prefix)).map(note => note.slice(prefix.length));
	}

	/** The notes that are not of one test. */
	otherNotes(...tables) {
		const tests = this.tests();
		return this.notes(...tables).filter(note => !tests.some(test => test && note.startsWith(`${test}: `)));
	}

	/** A cost of a row: `mean` is in mean_ns or mean_conditionals. */
	costOf(row, name) {
		return row[`${name}_${this.doc.unit}`];
	}
}

/** A note as a sentence. */
export const sentence = note => `${note.charAt(0).toUpperCase()}${note.slice(1)}${/[.!?]$/.test(note) ? '' : '.'}`;

/** The workload that exposes a problem: its row; undefined: none does. */
export const keptOf = steps => steps.find(({verdict}) => verdict === 'exposes a problem');
