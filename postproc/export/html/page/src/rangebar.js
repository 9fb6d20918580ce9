// SPDX-License-Identifier: MIT
//
// A strip that shows the whole run and in which the user chooses a time range: by dragging, or with the two handles,
// which are sliders for the keyboard. A range consists of whole bins, at least one.
import {el} from './dom.js';
import {duration, moment, percent} from './format.js';
import {onTheme} from './theme.js';
import {stateColor} from './states.js';

const HEIGHT = 34;
const STATES = [['running', 'running'], ['runnable', 'runnable'], ['sync', 'blocked'], ['io', 'io'], ['other', 'sleeping'], ['unknown', 'unknown']];

// Sums the threads' time by state for each bin.
function overview(capture) {
	const groups = capture.groups('threads', ['bin']);
	const shares = STATES.map(([, state]) => ({state, values: new Float64Array(capture.bins)}));
	const table = capture.sums.threads;
	STATES.forEach(([figure], i) => {
		const sums = groups.sum(figure, capture.whole);
		groups.first.forEach((row, group) => shares[i].values[table.bin[row]] = sums[group] || 0);
	});
	return shares;
}

export class RangeBar {
	#capture;
	#shares;
	#canvas = el('canvas', {height: HEIGHT, 'aria-hidden': 'true'});
	#chosen = el('div', {class: 'chosen'});
	#strip;
	#handles;
	#text = el('output', {id: 'range-text'});
	#whole;
	#onchange;

	constructor(capture, onchange) {
		this.#capture = capture;
		this.#onchange = onchange;
		this.#shares = overview(capture);
		this.#handles = ['from', 'to'].map(end => el('div', {class: `handle ${end}`, role: 'slider', tabindex: 0, id: `range-${end}`,
			'aria-label': end === 'from' ? 'Beginning of the selected time' : 'End of the selected time',
			'aria-valuemin': 0, 'aria-valuemax': capture.bins, onkeydown: event => this.#key(event, end)}));
		this.#strip = el('div', {class: 'strip', title: 'Drag to select a time: all views then show only that time',
			onpointerdown: event => this.#press(event)}, this.#canvas, this.#chosen, this.#handles);
		this.#whole = el('button', {type: 'button', id: 'range-whole', onclick: () => onchange(capture.whole)}, 'Whole run');
		this.node = el('div', {class: 'range', role: 'region', 'aria-label': 'Selected time'},
			el('span', {class: 'name'}, 'Time'), this.#strip, this.#text, this.#whole);
		new ResizeObserver(() => this.#draw()).observe(this.#strip);
		onTheme(() => this.#draw());
	}

	update(range) {
		const {bins} = this.#capture;
		this.range = range;
		this.#chosen.style.left = `${100 * range.from / bins}%`;
		this.#chosen.style.right = `${100 - 100 * range.to / bins}%`;
		this.#handles.forEach((handle, i) => {
			const bin = i ? range.to : range.from;
			handle.style.setProperty('--at', `${100 * bin / bins}%`);
			handle.setAttribute('aria-valuenow', bin);
			handle.setAttribute('aria-valuetext', this.#moment(bin));
		});
		this.#whole.disabled = this.#capture.isWhole(range);
		this.#text.textContent = this.#capture.isWhole(range) ? `whole run, ${duration(this.#capture.endNs)}` :
			`${this.#moment(range.from)} – ${this.#moment(range.to)} (${percent(range.to - range.from, bins)})`;
	}

	#moment(bin) {
		return moment(this.#capture.timeOf(bin), this.#capture.endNs / this.#capture.bins);
	}

	#set(from, to) {
		const {bins} = this.#capture;
		from = Math.max(0, Math.min(bins - 1, from));
		this.#onchange({from, to: Math.max(from + 1, Math.min(bins, to))});
	}

	#key(event, end) {
		const {bins} = this.#capture;
		const step = {ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -bins / 16, PageUp: bins / 16,
			Home: -bins, End: bins}[event.key];
		if (step === undefined)
			return;
		event.preventDefault();
		const moved = Math.trunc(step) || Math.sign(step);
		if (end === 'from')
			this.#set(Math.min(this.range.from + moved, this.range.to - 1), this.range.to);
		else
			this.#set(this.range.from, Math.max(this.range.to + moved, this.range.from + 1));
	}

	#binAt(event) {
		const box = this.#strip.getBoundingClientRect();
		return Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * this.#capture.bins;
	}

	#press(event) {
		const handle = this.#handles.indexOf(event.target);
		const grip = handle < 0 ? 0 : this.#binAt(event) - (handle ? this.range.to : this.range.from);
		const anchor = handle < 0 ? this.#binAt(event) : handle ? this.range.from : this.range.to;
		const move = moved => {
			const at = this.#binAt(moved) - grip;
			if (handle >= 0)
				this.#set(...handle ? [anchor, Math.round(at)] : [Math.min(Math.round(at), anchor - 1), anchor]);
			else
				this.#set(Math.floor(Math.min(anchor, at)), Math.ceil(Math.max(anchor, at)));
		};
		const stop = () => {
			this.#strip.removeEventListener('pointermove', move);
			this.#strip.removeEventListener('pointerup', stop);
			this.#strip.removeEventListener('pointercancel', stop);
		};
		event.preventDefault();
		this.#strip.setPointerCapture(event.pointerId);
		this.#strip.addEventListener('pointermove', move);
		this.#strip.addEventListener('pointerup', stop);
		this.#strip.addEventListener('pointercancel', stop);
		if (handle >= 0)
			event.target.focus();
		else
			move(event);
	}

	#draw() {
		const width = this.#strip.clientWidth;
		const scale = devicePixelRatio || 1;
		this.#canvas.width = width * scale;
		this.#canvas.height = HEIGHT * scale;
		const context = this.#canvas.getContext('2d');
		context.scale(scale, scale);
		const {bins} = this.#capture;
		const totals = Float64Array.from({length: bins}, (_, bin) =>
			this.#shares.reduce((sum, {values}) => sum + values[bin], 0));
		const most = totals.reduce((a, b) => Math.max(a, b), 0);
		const bottom = new Float64Array(bins).fill(HEIGHT);
		for (const {state, values} of this.#shares) {
			context.fillStyle = stateColor(state);
			for (let bin = 0; bin < bins && most > 0; bin++) {
				const height = HEIGHT * values[bin] / most;
				bottom[bin] -= height;
				context.fillRect(width * bin / bins, bottom[bin], width / bins + 0.5, height);
			}
		}
	}
}
