// SPDX-License-Identifier: MIT
//
// Lanes of threads and objects over time, on a canvas that keeps its position while its frame scrolls: only visible
// lanes are drawn. zoom.js does zoom and pan; the keyboard moves a cursor that describes the state under it.
import {el} from './dom.js';
import {duration, moment, shorten} from './format.js';
import {AXIS, BAR, BAR_TOP, gutterOf, ROW} from './layout.js';
import {paintLane, palette} from './paint.js';
import {linear} from './scale.js';
import {choice, nothing, searchBox, section} from './section.js';
import {isThere, stateColor, stateWord} from './states.js';
import {color, onTheme} from './theme.js';
import {describe} from './timeline_tip.js';
import {shareTable} from './timeline_table.js';
import {hideTip, showTip} from './tip.js';
import {Zoom} from './zoom.js';

const CLOSEST_NS = 200;
const LONGEST_NAME = 1000;

const KEYS = 'Drag to pan, Ctrl and wheel or + and − to zoom, Shift and drag to select a time. Arrow keys move between lanes and ' +
	'steps, Shift and arrows pan, 0 shows the selected time, Enter selects the visible time.';

class Timeline {
	#app;
	#capture;
	#canvas = el('canvas', {class: 'lanes', tabindex: 0, role: 'application', 'aria-label': 'Timeline of threads and objects',
		'aria-describedby': 'timeline-keys'});
	#spacer = el('div', {class: 'spacer'}, this.#canvas);
	#frame = el('div', {class: 'frame', onscroll: () => this.draw()}, this.#spacer);
	#legend = el('div', {class: 'legend'});
	#zoom;
	#base;
	#range;
	#shown;
	#filter = {kind: 'all', text: ''};
	#cursor = null;
	#drag = null;
	#frameAsked = false;
	#table;
	#width = 0;
	#gutter = 0;

	constructor(app) {
		this.#app = app;
		this.#capture = app.capture;
		this.#shown = this.#capture.lanes;
		this.#base = linear([0, this.#capture.endNs], [0, 1]);
		this.#range = this.#capture.whole;
		this.#table = shareTable(this.#capture);
		this.node = section('timeline', 'Timeline', null, this.#tools(), this.#legend, this.#frame,
			el('p', {class: 'hint', id: 'timeline-keys'}, KEYS), this.#table.node);
		this.#installZoom();
		this.#listen();
		new ResizeObserver(() => this.#resize()).observe(this.#frame);
		onTheme(() => this.#recolor());
		this.#recolor();
	}

	#tools() {
		const button = (text, label, act) => el('button', {type: 'button', 'aria-label': label, title: label, onclick: act}, text);
		return el('div', {class: 'tools'},
			searchBox('Lanes by name', text => this.#choose({text: text.trim().toLowerCase()})),
			choice('Show', [['all', 'threads and objects'], ['thread', 'threads'], ['object', 'objects']], kind => this.#choose({kind})).node,
			button('+', 'Zoom in', () => this.#zoomBy(2)), button('−', 'Zoom out', () => this.#zoomBy(0.5)),
			button('◀', 'Earlier', () => this.#panBy(-0.25)), button('▶', 'Later', () => this.#panBy(0.25)),
			button('Selected time', 'Show the selected time', () => this.#showRange()),
			button('Select the visible time', 'Select the visible time: all views then show only that time', () => this.#chooseView()));
	}

	#installZoom() {
		this.#zoom = new Zoom(this.#canvas, {
			accepts: event => !event.button && !event.shiftKey && (event.type !== 'wheel' || event.ctrlKey || event.metaKey),
			onZoom: () => {
				hideTip();
				this.draw();
			},
			onEnd: () => this.#tell(),
		});
	}

	#listen() {
		const on = (name, listener) => this.#canvas.addEventListener(name, listener);
		on('pointermove', event => this.#drag ? this.#moveDrag(event) : this.#hover(event));
		on('pointerleave', () => this.#leave());
		on('pointerdown', event => event.shiftKey && this.#beginDrag(event));
		on('pointerup', () => this.#endDrag());
		on('keydown', event => this.#key(event));
		on('blur', () => this.#leave());
	}

	// --- the visible period

	get #x() {
		return this.#zoom.rescale(this.#base);
	}

	#view() {
		return this.#x.domain.map(ns => Math.max(0, Math.min(this.#capture.endNs, ns)));
	}

	#resize() {
		const width = this.#frame.clientWidth;
		if (width === 0 || width === this.#width)
			return this.draw();
		const [fromNs, toNs] = this.#view();
		const isFirst = this.#width === 0;
		this.#width = width;
		this.#gutter = gutterOf(width);
		this.#base = linear([0, this.#capture.endNs], [this.#gutter, width]);
		this.#zoom.setExtent([this.#gutter, width], this.#capture.endNs / CLOSEST_NS);
		if (isFirst)
			this.#showRange();
		else
			this.#show(fromNs, toNs);
	}

	#show(fromNs, toNs) {
		if (this.#width > 0)
			this.#zoom.show(this.#base(fromNs), this.#base(toNs));
	}

	#showRange() {
		this.#show(this.#capture.timeOf(this.#range.from), this.#capture.timeOf(this.#range.to));
	}

	#zoomBy(factor) {
		this.#zoom.scaleBy(factor);
	}

	#panBy(share) {
		const [fromNs, toNs] = this.#view();
		const by = Math.max(-fromNs, Math.min(this.#capture.endNs - toNs, share * (toNs - fromNs)));
		this.#show(fromNs + by, toNs + by);
	}

	#chooseView() {
		const [fromNs, toNs] = this.#view();
		const {bins, endNs} = this.#capture;
		const from = Math.min(bins - 1, Math.floor(fromNs * bins / endNs + 1e-6));
		this.#app.setRange({from, to: Math.max(from + 1, Math.ceil(toNs * bins / endNs - 1e-6))});
	}

	#choose(filter) {
		Object.assign(this.#filter, filter);
		const {kind, text} = this.#filter;
		this.#shown = this.#capture.lanes.filter(lane => (kind === 'all' || lane.kind === kind) &&
			this.#nameOf(lane).toLowerCase().includes(text));
		this.#cursor = null;
		this.draw();
		this.#tell();
	}

	#nameOf(lane) {
		return lane.kind === 'thread' ? this.#capture.thread(lane.ref) : this.#capture.object(lane.ref);
	}

	// --- pointer and keyboard

	#laneAt(y) {
		return y < AXIS ? -1 : Math.floor((y - AXIS + this.#frame.scrollTop) / ROW);
	}

	#hover(event) {
		const row = this.#laneAt(event.offsetY);
		if (!this.#shown[row] || event.buttons)
			return this.#leave();
		const lane = this.#shown[row];
		if (event.offsetX < this.#gutter) {
			this.#cursor = null;
			this.draw();
			return showTip(event.clientX, event.clientY, [this.#nameOf(lane), this.#siteOf(lane)]);
		}
		const fromNs = this.#x.invert(event.offsetX - 0.5), toNs = this.#x.invert(event.offsetX + 0.5);
		this.#cursor = {row, fromNs: Math.max(0, fromNs), toNs};
		showTip(event.clientX, event.clientY, describe(this.#capture, lane, this.#cursor.fromNs, toNs));
		this.draw();
	}

	#siteOf(lane) {
		if (lane.kind === 'thread')
			return ['tid', String(this.#capture.doc.threads[lane.ref].tid)];
		const {address, site = -1, type} = this.#capture.doc.objects[lane.ref];
		return [type, [address, site >= 0 ? this.#capture.site(site) : ''].filter(Boolean).join(', ')];
	}

	#leave() {
		hideTip();
		this.#cursor = null;
		this.draw();
	}

	#beginDrag(event) {
		this.#canvas.setPointerCapture(event.pointerId);
		this.#drag = {fromNs: this.#x.invert(event.offsetX), toNs: this.#x.invert(event.offsetX)};
	}

	#moveDrag(event) {
		this.#drag.toNs = this.#x.invert(event.offsetX);
		this.draw();
	}

	#endDrag() {
		if (!this.#drag)
			return;
		const {fromNs, toNs} = this.#drag;
		this.#drag = null;
		this.#app.setRange({from: this.#capture.binOf(Math.min(fromNs, toNs)), to: this.#capture.binOf(Math.max(fromNs, toNs)) + 1});
	}

	#key(event) {
		const {key, shiftKey} = event;
		const acts = {
			'+': () => this.#zoomBy(2), '=': () => this.#zoomBy(2), '-': () => this.#zoomBy(0.5),
			'0': () => this.#showRange(), Enter: () => this.#chooseView(),
			ArrowUp: () => this.#step(-1, 0), ArrowDown: () => this.#step(1, 0),
			ArrowLeft: () => shiftKey ? this.#panBy(-0.25) : this.#step(0, -1),
			ArrowRight: () => shiftKey ? this.#panBy(0.25) : this.#step(0, 1),
			Escape: () => this.#leave(),
		};
		if (!acts[key] || event.ctrlKey || event.altKey || event.metaKey)
			return;
		event.preventDefault();
		acts[key]();
	}

	// Moves the cursor to another lane, or to the lane's next step; without steps, by a hundredth of the visible
	// period.
	#step(rows, steps) {
		if (this.#shown.length === 0)
			return;
		const [fromNs, toNs] = this.#view();
		const at = this.#cursor ?? {row: rows > 0 ? -1 : 0, fromNs};
		const row = Math.max(0, Math.min(this.#shown.length - 1, at.row + rows));
		const lane = this.#shown[row];
		const pixelNs = (toNs - fromNs) / (this.#width - this.#gutter);
		let time = at.fromNs;
		if (steps) {
			const next = lane.neighbour(time, steps > 0);
			const least = lane.isExact ? pixelNs : (toNs - fromNs) / 100;
			time = Math.abs(next - time) < least ? time + steps * least : next;
		}
		time = Math.max(0, Math.min(this.#capture.endNs - pixelNs, time));
		if (time < fromNs || time > toNs)
			this.#show(time - (toNs - fromNs) / 2, time + (toNs - fromNs) / 2);
		this.#pointAt(row, time, time + pixelNs);
	}

	#pointAt(row, fromNs, toNs) {
		const top = row * ROW;
		const height = this.#frame.clientHeight - AXIS;
		if (top < this.#frame.scrollTop)
			this.#frame.scrollTop = top;
		else if (top + ROW > this.#frame.scrollTop + height)
			this.#frame.scrollTop = top + ROW - height;
		this.#cursor = {row, fromNs, toNs};
		this.draw();
		const box = this.#canvas.getBoundingClientRect();
		showTip(box.left + this.#x(fromNs), box.top + AXIS + top - this.#frame.scrollTop + ROW,
			describe(this.#capture, this.#shown[row], fromNs, toNs), true);
	}

	/** Shows the lane of a thread or object and scrolls to it. */
	goTo(kind, ref) {
		const find = () => this.#shown.findIndex(lane => lane.kind === kind && lane.ref === ref);
		if (find() < 0) {
			for (const control of this.node.querySelectorAll('.tools input, .tools select'))
				control.value = control.tagName === 'SELECT' ? 'all' : '';
			this.#choose({kind: 'all', text: ''});
		}
		if (find() < 0)
			return;
		this.node.scrollIntoView({block: 'start'});
		this.#canvas.focus({preventScroll: true});
		const [fromNs, toNs] = this.#view();
		this.#pointAt(find(), fromNs, fromNs + (toNs - fromNs) / (this.#width - this.#gutter));
	}

	update(range) {
		this.#range = range;
		this.#showRange();
		this.#tell();
	}

	onPaper() {
		this.#drawNow();
	}

	// --- drawing

	#recolor() {
		const {thread_states: threads, object_states: objects} = this.#capture.doc.lanes;
		this.colors = {thread: palette(threads), object: palette(objects)};
		const key = (title, states) => el('span', {class: 'group'}, title, states.filter(isThere).map(state =>
			el('span', {class: 'state'}, el('i', {style: `background:${stateColor(state)}`}), stateWord(state))));
		this.#legend.replaceChildren(key('Threads', threads), key('Objects', objects));
		this.draw();
	}

	// Updates the table, and data attributes for tests, with the visible period.
	#tell() {
		const [fromNs, toNs] = this.#view();
		Object.assign(this.#canvas.dataset, {fromNs, toNs, lanes: this.#shown.length});
		this.#table.update(this.#shown, fromNs, toNs);
	}

	draw() {
		if (this.#frameAsked)
			return;
		this.#frameAsked = true;
		requestAnimationFrame(() => {
			this.#frameAsked = false;
			this.#drawNow();
		});
	}

	#drawNow() {
		const height = Math.max(AXIS + ROW, Math.min(AXIS + this.#shown.length * ROW, this.#frame.clientHeight || Infinity));
		const scale = devicePixelRatio || 1;
		if (this.#width === 0)
			return;
		const begun = performance.now();
		this.#spacer.style.height = `${AXIS + this.#shown.length * ROW}px`;
		Object.assign(this.#canvas, {width: Math.round(this.#width * scale), height: Math.round(height * scale)});
		this.#canvas.style.height = `${height}px`;
		const context = this.#canvas.getContext('2d');
		context.scale(scale, scale);
		context.font = '12px system-ui, sans-serif';
		context.textBaseline = 'middle';
		this.#drawLanes(context, height, scale);
		this.#drawOutside(context, height);
		this.#drawCursor(context);
		this.#drawAxis(context, height);
		this.#canvas.dataset.drawMs = (performance.now() - begun).toFixed(1);
	}

	#drawLanes(context, height, scale) {
		const top = this.#frame.scrollTop;
		const window = {x: this.#x, left: this.#gutter, right: this.#width};
		const last = Math.min(this.#shown.length, Math.ceil((top + height) / ROW));
		for (let row = Math.floor(top / ROW); row < last; row++) {
			const lane = this.#shown[row];
			const y = AXIS + row * ROW - top;
			context.fillStyle = color('line');
			context.fillRect(0, y + ROW - 1, this.#width, 1);
			paintLane(context, lane, this.colors[lane.kind], window, y + BAR_TOP, scale);
			context.fillStyle = this.#cursor?.row === row ? color('accent') : lane.kind === 'thread' ? color('text') : color('quiet');
			this.#drawName(context, lane, y + ROW / 2);
		}
	}

	#drawName(context, lane, y) {
		const whole = `${lane.kind === 'thread' ? '' : '◆ '}${this.#nameOf(lane)}`.slice(0, LONGEST_NAME);
		let name = shorten(whole, 64);
		for (let letters = name.length - 1; letters > 2 && context.measureText(name).width > this.#gutter - 12; letters--)
			name = shorten(whole, letters);
		context.fillText(name, 4, y);
	}

	#drawAxis(context, height) {
		const x = this.#x;
		const [fromNs, toNs] = this.#view();
		const ticks = x.ticks(Math.max(2, Math.floor((this.#width - this.#gutter) / 110)));
		context.fillStyle = color('panel');
		context.fillRect(0, 0, this.#width, AXIS);
		context.fillStyle = color('quiet');
		context.fillText(`${duration(toNs - fromNs)} visible`, 4, AXIS / 2);
		for (const tick of ticks) {
			const text = moment(tick, (ticks[1] - ticks[0]) || 1);
			if (x(tick) < this.#gutter)
				continue;
			context.fillStyle = color('quiet');
			if (x(tick) + 3 + context.measureText(text).width < this.#width)
				context.fillText(text, x(tick) + 3, AXIS / 2);
			context.fillStyle = color('grid');
			context.fillRect(x(tick), 4, 1, height);
		}
		context.fillRect(0, AXIS - 1, this.#width, 1);
	}

	#drawOutside(context, height) {
		const from = this.#x(this.#capture.timeOf(this.#range.from));
		const to = this.#x(this.#capture.timeOf(this.#range.to));
		context.fillStyle = color('veil');
		if (from > this.#gutter)
			context.fillRect(this.#gutter, AXIS, Math.min(from, this.#width) - this.#gutter, height);
		if (to < this.#width)
			context.fillRect(Math.max(to, this.#gutter), AXIS, this.#width, height);
		if (this.#drag) {
			const [left, right] = [this.#drag.fromNs, this.#drag.toNs].map(this.#x).sort((a, b) => a - b);
			context.fillStyle = color('chosen');
			context.fillRect(left, AXIS, right - left, height);
		}
	}

	// Draws the cursor and the wait under it, with an arrow between the lanes of waiter and blocker.
	#drawCursor(context) {
		if (!this.#cursor)
			return;
		const {row, fromNs, toNs} = this.#cursor;
		const lane = this.#shown[row];
		const yOf = at => AXIS + at * ROW - this.#frame.scrollTop + ROW / 2;
		context.strokeStyle = context.fillStyle = color('accent');
		context.lineWidth = 1.5;
		context.strokeRect(Math.max(this.#gutter, this.#x(fromNs)) - 1, yOf(row) - BAR / 2 - 2, 3, BAR + 4);
		const {waits, waitsOf} = this.#capture;
		const by = lane.kind === 'object' ? 'object' : 'thread';
		for (const i of waitsOf[by].overlapping(lane.ref, fromNs, toNs, 20)) {
			const rowOf = (kind, ref) => this.#shown.findIndex(one => one.kind === kind && one.ref === ref);
			const blocked = rowOf('thread', waits.thread[i]), blocker = rowOf('thread', waits.blocker[i]);
			const left = Math.max(this.#gutter, this.#x(waits.start[i])), right = Math.min(this.#width, this.#x(waits.start[i] + waits.ns[i]));
			if (blocked >= 0)
				context.strokeRect(left, yOf(blocked) - BAR / 2, Math.max(1, right - left), BAR);
			if (blocked >= 0 && blocker >= 0)
				this.#drawArrow(context, right, yOf(blocker), yOf(blocked));
		}
	}

	#drawArrow(context, x, from, to) {
		const side = Math.sign(to - from) || 1;
		context.beginPath();
		context.arc(x, from, 3, 0, 7);
		context.moveTo(x, from);
		context.lineTo(x, to - side * BAR / 2);
		context.moveTo(x - 4, to - side * (BAR / 2 + 6));
		context.lineTo(x, to - side * BAR / 2);
		context.lineTo(x + 4, to - side * (BAR / 2 + 6));
		context.stroke();
	}
}

export function timelineView(app) {
	if (app.capture.lanes.length === 0)
		return {node: section('timeline', 'Timeline', null, nothing('This capture has no threads and no objects.')), update() {}};
	return new Timeline(app);
}
