// SPDX-License-Identifier: MIT
//
// Linear scales: from values to pixels and back, with round values for an axis.

const part = (value, [from, to]) => to === from ? 0.5 : (value - from) / (to - from);
const between = (share, [from, to]) => from + share * (to - from);

// The distance of about `count` round values in a span: 1, 2 or 5 times a power of ten.
function stepOf([from, to], count) {
	const exact = Math.abs(to - from) / Math.max(1, count);
	const power = 10 ** Math.floor(Math.log10(exact));
	const factor = exact / power;
	return power * (factor >= Math.sqrt(50) ? 10 : factor >= Math.sqrt(10) ? 5 : factor >= Math.SQRT2 ? 2 : 1);
}

/** scale(value) in pixels. domain and range are two values each; range may be descending. */
export function linear(domain, range) {
	const scale = value => between(part(value, domain), range);
	return Object.assign(scale, {
		domain, range,
		invert: pixel => between(part(pixel, range), domain),
		/** About `count` round values of the domain, in ascending order. */
		ticks(count) {
			const step = stepOf(domain, count);
			if (!(step > 0))
				return [domain[0]];
			const first = Math.ceil(domain[0] / step), last = Math.floor(domain[1] / step);
			return Array.from({length: Math.max(0, last - first + 1)}, (_, i) => (first + i) * step);
		},
	});
}

/** The domain, extended until both ends are round values. */
export function rounded(domain, count) {
	const step = stepOf(domain, count);
	if (!(step > 0))
		return domain;
	const wider = [Math.floor(domain[0] / step) * step, Math.ceil(domain[1] / step) * step];
	return stepOf(wider, count) === step ? wider : rounded(wider, count);
}
