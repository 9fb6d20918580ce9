// SPDX-License-Identifier: MIT
//
// Formats numbers as the reports of gprof-mt do.
let originNs = 0;

/** Sets the start of the page's period in the capture: added to each point in time. */
export function setOrigin(ns) {
	originNs = ns;
}

const UNITS = [[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']];

function three(value) {
	return value >= 99.95 ? value.toFixed(0) : value >= 9.995 ? value.toFixed(1) : value.toFixed(2);
}

/** Three digits and a unit; a dash if it was not measured. */
export function duration(ns) {
	if (ns === null || Number.isNaN(ns))
		return '–';
	if (ns === 0)
		return '0';
	if (ns < 999.5)
		return `${Math.round(ns * 100) / 100} ns`;
	const [size, unit] = UNITS.find(([least]) => ns >= least * 0.9995);
	return `${three(ns / size)} ${unit}`;
}

export function count(n) {
	return n === null || Number.isNaN(n) ? '–' : n.toLocaleString('en', {maximumFractionDigits: 0});
}

/** Percentage of a whole; a dash if the whole is zero. */
export function percent(part, whole) {
	return whole > 0 && !Number.isNaN(part) ? `${(100 * part / whole).toFixed(1)} %` : '–';
}

/** A point in time, with enough digits to distinguish it from another that is step_ns away. */
export function moment(ns, stepNs) {
	const digits = Math.min(9, Math.max(0, Math.ceil(-Math.log10(Math.max(stepNs, 1) / 1e9))));
	return `${((originNs + ns) / 1e9).toFixed(digits)} s`;
}

export function plural(n, one, many = `${one}s`) {
	return `${count(n)} ${n === 1 ? one : many}`;
}

/** Shortens a name in the middle, where names that differ are most often alike. */
export function shorten(name, letters) {
	if (name.length <= letters)
		return name;
	const tail = Math.floor(letters * 0.55);
	return `${name.slice(0, Math.max(1, letters - tail - 1))}…${name.slice(name.length - tail)}`;
}

/** Formats an ISO 8601 time for reading; returns other text unchanged. */
export function day(text) {
	const found = text.match(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/);
	return found ? `${found[1]} ${found[2]} UTC` : text;
}

/** Returns the function that formats the values of a flame graph. */
export function inUnit(unit) {
	return unit === 'ns' ? duration : value => plural(value, 'call');
}
