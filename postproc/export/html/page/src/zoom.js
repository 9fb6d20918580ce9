// SPDX-License-Identifier: MIT
//
// Horizontal zoom and pan of an element by wheel, drag, pinch and double click. A point at pixel p without zoom
// is shown at k * p + x. Nothing outside of the extent is ever visible.
import {linear} from './scale.js';

const WHEEL_ENDS_MS = 150;

// Zoom factor of a wheel event, as a power of two. Pinching on a touchpad arrives as small steps with Ctrl.
function powerOf({deltaY, deltaMode}) {
	const unit = [0.002, 0.05, 1][deltaMode] ?? 1;
	return -deltaY * unit * (deltaMode === 0 && Math.abs(deltaY) < 50 ? 10 : 1);
}

const within = (value, least, most) => Math.max(least, Math.min(most, value));

export class Zoom {
	#k = 1;
	#x = 0;
	#extent = [0, 1];
	#mostK = 1;
	#wheelTimer;
	#pointers = new Map();
	// Since a pointer was last put down or taken up: the unzoomed middle of all, their distance, and k.
	#held = null;
	#onZoom;
	#onEnd;

	/** accepts(event): whether it zooms or pans; onZoom() after each change; onEnd() after each gesture. */
	constructor(node, {accepts, onZoom, onEnd}) {
		this.#onZoom = onZoom;
		this.#onEnd = onEnd;
		node.addEventListener('wheel', event => accepts(event) && this.#wheel(event), {passive: false});
		node.addEventListener('dblclick', event => accepts(event) && this.#double(event));
		node.addEventListener('pointerdown', event => accepts(event) && this.#down(node, event));
		node.addEventListener('pointermove', event => this.#move(event));
		for (const name of ['pointerup', 'pointercancel', 'lostpointercapture'])
			node.addEventListener(name, event => this.#up(event));
	}

	/** The pixels between which the whole is shown without zoom, and how far to zoom in at most. */
	setExtent(extent, mostK) {
		this.#extent = extent;
		this.#mostK = Math.max(1, mostK);
	}

	/** A scale over the extent, as zoomed now. */
	rescale(scale) {
		return linear(scale.range.map(pixel => scale.invert((pixel - this.#x) / this.#k)), scale.range);
	}

	/** Shows what is between two pixels without zoom. */
	show(left, right) {
		const [from, to] = this.#extent;
		const k = within((to - from) / Math.max(right - left, 1e-9), 1, this.#mostK);
		this.#set(k, from - left * k);
		this.#onEnd();
	}

	/** Around the middle, or a pixel. */
	scaleBy(factor, pixel = (this.#extent[0] + this.#extent[1]) / 2) {
		this.#scale(factor, pixel);
		this.#onEnd();
	}

	#set(k, x) {
		const [from, to] = this.#extent;
		this.#k = k;
		this.#x = within(x, to * (1 - k), from * (1 - k));
		this.#onZoom();
	}

	#scale(factor, pixel) {
		const k = within(this.#k * factor, 1, this.#mostK);
		this.#set(k, pixel - (pixel - this.#x) * k / this.#k);
	}

	#wheel(event) {
		event.preventDefault();
		this.#scale(2 ** powerOf(event), event.offsetX);
		clearTimeout(this.#wheelTimer);
		this.#wheelTimer = setTimeout(() => this.#onEnd(), WHEEL_ENDS_MS);
	}

	#double(event) {
		event.preventDefault();
		this.scaleBy(2, event.offsetX);
	}

	#span() {
		const pixels = [...this.#pointers.values()];
		const [left, right] = [Math.min(...pixels), Math.max(...pixels)];
		return {middle: (left + right) / 2, distance: right - left};
	}

	#hold() {
		const {middle, distance} = this.#span();
		this.#held = {at: (middle - this.#x) / this.#k, distance, k: this.#k};
	}

	#down(node, event) {
		node.setPointerCapture(event.pointerId);
		this.#pointers.set(event.pointerId, event.offsetX);
		this.#hold();
	}

	#move(event) {
		if (!this.#pointers.has(event.pointerId))
			return;
		this.#pointers.set(event.pointerId, event.offsetX);
		const {middle, distance} = this.#span();
		const k = this.#held.distance > 0 ? within(this.#held.k * distance / this.#held.distance, 1, this.#mostK) : this.#k;
		this.#set(k, middle - this.#held.at * k);
	}

	#up(event) {
		if (!this.#pointers.delete(event.pointerId))
			return;
		if (this.#pointers.size > 0)
			this.#hold();
		else
			this.#onEnd();
	}
}
