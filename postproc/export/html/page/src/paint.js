// SPDX-License-Identifier: MIT
//
// Draws one lane. Few steps are drawn exactly. If there are more steps than pixels, each pixel column is divided among
// the states in proportion to their time, so no state disappears at any zoom level.
import {BAR} from './layout.js';
import {stateColor} from './states.js';

// 0xAABBGGRR, the byte order of image data in memory.
function packed(color) {
	const [r, g, b] = [1, 3, 5].map(at => parseInt(color.slice(at, at + 2), 16));
	return (0xff000000 | b << 16 | g << 8 | r) >>> 0;
}

/** Returns the colours of a kind of lane's states in the current theme. */
export function palette(states) {
	const css = states.map(stateColor);
	return {css, packed: css.map(color => color && packed(color))};
}

function paintSteps(context, steps, colors, {x, left, right}, top) {
	for (const [state, fromNs, toNs] of steps) {
		const from = Math.max(left, x(fromNs));
		const to = Math.min(right, x(toNs));
		if (!colors.css[state] || to <= from)
			continue;
		context.fillStyle = colors.css[state];
		context.fillRect(from, top, to - from, BAR);
	}
}

// From the bottom up, in the order of the states.
function paintColumn(pixels, column, {width, height, stepNs}, shares, colors) {
	let bottom = height, done = 0;
	for (let state = 0; state < shares.length; state++) {
		done += shares[state];
		const top = height - Math.round(height * Math.min(1, done / stepNs));
		if (colors[state])
			for (let row = top; row < bottom; row++)
				pixels[row * width + column] = colors[state];
		bottom = Math.min(bottom, top);
	}
}

// One image is reused for all lanes of a frame, because they have the same size.
let kept = null;

function cleared(context, width, height) {
	if (kept?.width !== width || kept?.height !== height)
		kept = context.createImageData(width, height);
	kept.data.fill(0);
	return kept;
}

function paintColumns(context, lane, colors, {x, left, right}, top, scale) {
	const width = Math.max(1, Math.round((right - left) * scale));
	const height = Math.round(BAR * scale);
	const image = cleared(context, width, height);
	const pixels = new Uint32Array(image.data.buffer);
	const fromNs = x.invert(left), stepNs = (x.invert(right) - fromNs) / width;
	let before = lane.until(fromNs, new Float64Array(lane.states.length));
	let after = new Float64Array(lane.states.length);
	const shares = new Float64Array(lane.states.length);
	for (let column = 0; column < width; column++) {
		lane.until(fromNs + (column + 1) * stepNs, after);
		for (let state = 0; state < shares.length; state++)
			shares[state] = Math.max(0, after[state] - before[state]);
		paintColumn(pixels, column, {width, height, stepNs}, shares, colors.packed);
		[before, after] = [after, before];
	}
	context.putImageData(image, Math.round(left * scale), Math.round(top * scale));
}

/** window: {x, left, right}, a scale from ns to pixels and the columns to fill. */
export function paintLane(context, lane, colors, window, top, scale) {
	const {x, left, right} = window;
	const steps = lane.steps(x.invert(left), x.invert(right), (right - left) / 2);
	if (steps)
		paintSteps(context, steps, colors, window, top);
	else
		paintColumns(context, lane, colors, window, top, scale);
}
