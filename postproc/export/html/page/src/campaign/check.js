// SPDX-License-Identifier: MIT
//
// Is a campaign what FORMAT.md says? What comes after this may rely on the types.
const isText = value => typeof value === 'string';
const isNumber = value => Number.isFinite(value);
const isKnownOr = test => value => value === null || value === undefined || test(value);
const isObject = value => value !== null && typeof value === 'object' && !Array.isArray(value);
const text = isKnownOr(isText), number = isKnownOr(isNumber);

// Other members are not read. A list is the columns of nested rows.
const SECTIONS = [{lock: text, entry: text, exit: text, share_pct: isNumber}];
const TIME = {running_pct: number, runnable_pct: number, blocked_sync_pct: number, blocked_other_pct: number, blocked_by: text, sections: SECTIONS};
const costs = (names, unit, test) => Object.fromEntries(names.map(name => [`${name}_${unit}`, test]));

const tablesOf = unit => ({
	steps: {test: isText, workload: number, cpus: number, threads: number, runs: isNumber, failed: isNumber, wall_ns: number, wall_sigma_ns: number,
		cpu_use_pct: number, verdict: isText, dir: text, ...TIME},
	sections: {test: text, workload: number, lock: text, type: text, entry: text, exit: text, path: text,
		metrics: [{metric: isText, ...costs(['mean', 'least', 'most'], unit, isNumber), ...costs(['sigma'], unit, number), sigma_pct: number,
			runs: isNumber, conclusive: value => typeof value === 'boolean'}],
		by_run: [{dir: text, ...costs(['apwt', 'cpwt', 'aplt', 'mean'], unit, isNumber)}]},
	scalability: {test: isText, varies: isText, number: isNumber, workload: number, runs: isNumber, failed: isNumber, wall_ns: number, wall_sigma_ns: number,
		speedup: number, efficiency_pct: number, cpu_use_pct: number, by_run: [{wall_ns: isNumber, speedup: number}], ...TIME},
	laws: {test: isText, varies: isText, law: isText, ...Object.fromEntries(['serial_pct', 'serial_low_pct', 'serial_high_pct', 'coherency_pct',
		'coherency_low_pct', 'coherency_high_pct', 'most_speedup', 'peak', 'error_pct'].map(name => [name, number]))},
	curves: {test: isText, varies: isText, law: isText, number: isNumber, speedup: isNumber, speedup_low: isNumber, speedup_high: isNumber},
	failures: {test: isText, workload: number, cpus: number, threads: number, kind: isText, why: isText, file: text},
	runs: {run: isNumber, test: text, workload: number, cpus: number, threads: number, kind: text, wall_ns: number, cpu_use_pct: number, user_ns: number,
		system_ns: number, max_rss_bytes: number, voluntary: number, involuntary: number, dir: text, failure: text, left_out: text, problems: number},
	notes: {section: isText, note: isText},
});

class Damage extends Error {}

function want(holds, what) {
	if (!holds)
		throw new Damage(what);
}

function checkRows(rows, columns, what) {
	want(Array.isArray(rows), `${what} is no list`);
	rows.forEach((row, i) => {
		want(isObject(row), `${what}[${i}] is wrong`);
		for (const [name, test] of Object.entries(columns))
			if (!Array.isArray(test))
				want(test(row[name]), `${what}[${i}].${name} is wrong`);
			else if (row[name] !== null && row[name] !== undefined)
				checkRows(row[name], test[0], `${what}[${i}].${name}`);
	});
}

function check(doc) {
	for (const name of ['program', 'command', 'host', 'date', 'version'])
		want(isText(doc[name]), `${name} is no text`);
	want(['apwt', 'cpwt', 'aplt', 'mean'].includes(doc.metric), 'metric is unknown');
	want(['ns', 'conditionals'].includes(doc.unit), 'unit is unknown');
	want(isObject(doc.report), 'report is no object');
	for (const [name, columns] of Object.entries(tablesOf(doc.unit)))
		if (doc.report[name] !== undefined || name === 'notes')
			checkRows(doc.report[name], columns, name);
	checkRows(doc.links, {capture: text, page: text}, 'links');
	want(doc.links.length === (doc.report.runs ?? []).length, 'links are not one for each run');
}

/** Returns the first difference from FORMAT.md as text; null if the document is valid. */
export function whatIsWrong(doc) {
	try {
		check(doc);
	} catch (error) {
		return error instanceof Damage ? error.message : 'its parts do not fit together';
	}
	return null;
}
