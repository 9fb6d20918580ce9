// SPDX-License-Identifier: MIT
//
// The values of a row in all runs, as dots on a scale that all rows share, with their mean.
import {svg} from '../dom.js';
import {plural} from '../format.js';
import {linear} from '../scale.js';
import {hideTip, showTip} from '../tip.js';

const WIDTH = 190, HEIGHT = 24, MARGIN = 6, MIDDLE = HEIGHT / 2, RADIUS = 3.5;

/** values: {name, value} each. most: the end of the scale, which begins at 0. format: of values. */
export function spread({values, mean, most, format}) {
	const x = linear([0, most || 1], [MARGIN, WIDTH - MARGIN]);
	const sorted = [...values].sort((a, b) => a.value - b.value);
	const words = `${plural(values.length, 'run')}: ${sorted.map(({value}) => format(value)).join(', ')}; mean ${format(mean)}`;
	const lines = ['Runs', ...sorted.slice(-12).reverse().map(({name, value}) => [format(value), name])];
	return svg('svg', {class: 'spread', width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': words,
		onpointermove: event => showTip(event.clientX, event.clientY, lines), onpointerleave: hideTip},
	svg('line', {class: 'axis', x1: MARGIN, x2: WIDTH - MARGIN, y1: MIDDLE, y2: MIDDLE}),
	svg('line', {class: 'axis', x1: MARGIN, x2: MARGIN, y1: MIDDLE - 5, y2: MIDDLE + 5}),
	sorted.map(({value}) => svg('circle', {cx: x(value).toFixed(1), cy: MIDDLE, r: RADIUS})),
	svg('line', {class: 'mean', x1: x(mean), x2: x(mean), y1: 2, y2: HEIGHT - 2}));
}
