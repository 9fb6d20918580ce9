// SPDX-License-Identifier: MIT
//
// Histograms of wait times by object. Each bucket is twice as wide as the one before. The table has a row for each
// object; the chart shows the selected one.
import {el, svg} from './dom.js';
import {count, duration, percent, plural, shorten} from './format.js';
import {linear, rounded} from './scale.js';
import {nothing, section} from './section.js';
import {hideTip, showTip} from './tip.js';

const HEIGHT = 220;
const MARGIN = {left: 52, right: 30, top: 22, bottom: 40};
const FIRST = 15;

const least = bucket => duration(2 ** bucket);
const between = bucket => `${least(bucket)} to ${least(bucket + 1)}`;

/** For each object, the number of waits in each bucket and in total, longest waited for first. */
function gather(capture, range) {
	const objects = new Map();
	for (const {object, bucket, count: n} of capture.rows('distribution', range, {keys: ['object', 'bucket'], sums: ['count']})) {
		if (!objects.has(object))
			objects.set(object, {object, buckets: new Map(), n: 0});
		const row = objects.get(object);
		row.buckets.set(bucket, n);
		row.n += n;
	}
	for (const {object, wait} of capture.rows('objects', range, {keys: ['object'], sums: ['wait']}))
		if (objects.has(object))
			objects.get(object).wait = wait;
	return [...objects.values()].sort((a, b) => (b.wait || 0) - (a.wait || 0) || b.n - a.n);
}

// Returns the bucket that contains the given quantile.
function quantile({buckets, n}, part) {
	let sum = 0;
	for (const bucket of [...buckets.keys()].sort((a, b) => a - b)) {
		sum += buckets.get(bucket);
		if (sum >= n * part)
			return bucket;
	}
	return 0;
}

function inWords(row) {
	const below = part => least(quantile(row, part) + 1);
	return row.n === 1 ? `1 wait of ${between(quantile(row, 1))}`
		: `${plural(row.n, 'wait')}, at least 50 % of them shorter than ${below(0.5)}, at least 90 % shorter than ${below(0.9)}`;
}

function drawBars(row, [from, to], width, name) {
	const x = linear([from, to + 1], [MARGIN.left, width - MARGIN.right]);
	const y = linear(rounded([0, Math.max(...row.buckets.values())], 4), [HEIGHT - MARGIN.bottom, MARGIN.top]);
	const buckets = Array.from({length: to - from + 1}, (_, i) => from + i);
	const every = Math.ceil(58 / (x(1) - x(0)));
	const bars = buckets.filter(bucket => row.buckets.has(bucket)).map(bucket => {
		const n = row.buckets.get(bucket);
		const words = `${plural(n, 'wait')} of ${between(bucket)}`;
		return svg('g', {class: 'bar', tabindex: 0, role: 'img', 'aria-label': words,
			onpointermove: event => showTip(event.clientX, event.clientY, [words, ['Of all', percent(n, row.n)]]), onpointerleave: hideTip},
		svg('rect', {x: x(bucket) + 1, width: Math.max(1, x(bucket + 1) - x(bucket) - 2), y: y(n), height: y(0) - y(n), rx: 2}),
		x(bucket + 1) - x(bucket) > 26 ? svg('text', {x: (x(bucket) + x(bucket + 1)) / 2, y: y(n) - 5, class: 'value'}, count(n)) : null);
	});
	return svg('svg', {class: 'bars', viewBox: `0 0 ${width} ${HEIGHT}`, height: HEIGHT, role: 'group', 'aria-label': `Waits for ${name} by length`},
		y.ticks(4).filter(Number.isInteger).map(tick => [
			svg('line', {x1: MARGIN.left, x2: width - MARGIN.right, y1: y(tick), y2: y(tick)}),
			svg('text', {x: MARGIN.left - 6, y: y(tick) + 4, class: 'end'}, count(tick))]),
		bars,
		[...buckets, to + 1].filter((_, i) => i % every === 0).map(bucket =>
			svg('text', {x: x(bucket), y: HEIGHT - MARGIN.bottom + 16, class: 'tick'}, least(bucket))),
		svg('text', {x: (MARGIN.left + width) / 2, y: HEIGHT - 6, class: 'tick'}, 'length of the wait'));
}

class Distribution {
	#capture;
	#rows = [];
	#object = null;
	#all = false;
	#chart = el('div', {class: 'bars-frame'});
	#status = el('p', {class: 'status', role: 'status'});
	#table = el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Waits by object and length'});
	#more = el('button', {type: 'button', onclick: () => {
		this.#all = true;
		this.#draw();
	}});

	constructor({capture}) {
		this.#capture = capture;
		this.node = section('distribution', 'Wait times', 'Each bar covers waits up to twice as long as those of the bar before.',
			this.#status, this.#chart, this.#table, this.#more);
		new ResizeObserver(() => this.#draw()).observe(this.#chart);
	}

	update(range) {
		this.#rows = gather(this.#capture, range);
		this.#draw();
	}

	#draw() {
		const isThread = ({object}) => this.#capture.doc.objects[object]?.type === 'thread';
		const row = this.#rows.find(({object}) => object === this.#object) ?? this.#rows.find(each => !isThread(each)) ?? this.#rows[0];
		this.#more.hidden = this.#all || this.#rows.length <= FIRST;
		this.#more.textContent = `Show ${count(this.#rows.length)}`;
		if (!row) {
			this.#status.textContent = '';
			this.#chart.replaceChildren(nothing('No wait ended in this time.'));
			this.#table.replaceChildren();
			return;
		}
		const used = this.#rows.flatMap(({buckets}) => [...buckets.keys()]);
		const span = [used.reduce((a, b) => Math.min(a, b)), used.reduce((a, b) => Math.max(a, b))];
		const name = this.#capture.object(row.object);
		this.#status.textContent = `${name}: ${inWords(row)}.`;
		if (this.#chart.clientWidth > 0)
			this.#chart.replaceChildren(drawBars(row, span, this.#chart.clientWidth, name));
		this.#table.replaceChildren(this.#makeTable(span, row.object));
	}

	#makeTable([from, to], chosen) {
		const buckets = Array.from({length: to - from + 1}, (_, i) => from + i);
		const cell = (row, bucket, most) => {
			const n = row.buckets.get(bucket) ?? 0;
			const node = el('td', {class: 'count heat', title: n ? `${plural(n, 'wait')} of ${between(bucket)}` : null}, n ? count(n) : '');
			if (n)
				node.style.setProperty('--heat', `${(12 + 60 * n / most).toFixed(0)}%`);
			return node;
		};
		return el('table', {class: 'heats'}, el('caption', {class: 'unseen'}, 'Waits by object and length: the heading of a column gives the minimum length'),
			el('thead', {}, el('tr', {}, el('th', {scope: 'col', class: 'text'}, 'Object'), el('th', {scope: 'col', class: 'count'}, 'Waits'),
				buckets.map(bucket => el('th', {scope: 'col', class: 'count'}, least(bucket))))),
			el('tbody', {}, this.#rows.slice(0, this.#all ? Infinity : FIRST).map(row => {
				const most = Math.max(...row.buckets.values());
				return el('tr', {class: row.object === chosen ? 'chosen-row' : null},
					el('th', {scope: 'row'}, el('button', {type: 'button', class: 'plain', 'aria-pressed': String(row.object === chosen),
						onclick: () => this.#choose(row.object)}, shorten(this.#capture.object(row.object), 42))),
					el('td', {class: 'count'}, count(row.n)), buckets.map(bucket => cell(row, bucket, most)));
			})));
	}

	#choose(object) {
		this.#object = object;
		this.#draw();
		this.#table.querySelector('[aria-pressed=true]')?.focus();
	}
}

export function distributionView(app) {
	if (app.capture.sums.distribution.n === 0)
		return {node: section('distribution', 'Wait times', null, nothing('This capture has no waits.')), update() {}};
	return new Distribution(app);
}
