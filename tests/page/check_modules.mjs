// SPDX-License-Identifier: MIT
//
// The page's modules that need no page: scales have round ticks; a graph in layers has no overlapping nodes, its
// strongest arrows lead to the right, and every arrow has a way from node to node.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';

const source = new URL('../../postproc/export/html/page/src/', import.meta.url);
// As data, since node takes .js without a package.json for CommonJS. An import of another module becomes its address.
const address = name => `data:text/javascript;base64,${Buffer.from(readFileSync(new URL(name, source), 'utf8')
	.replace(/from '\.\/([a-z_]+\.js)'/g, (_, other) => `from '${address(other)}'`)).toString('base64')}`;
const load = name => import(address(name));
const {linear, rounded} = await load('scale.js');
const {layers} = await load('graph_layers.js');
const {layOut} = await load('graph_layout.js');

const x = linear([0, 4e6], [200, 1000]);
assert.equal(x(1e6), 400);
assert.equal(x.invert(400), 1e6);
assert.deepEqual(x.ticks(7), [0, 5e5, 1e6, 1.5e6, 2e6, 2.5e6, 3e6, 3.5e6, 4e6]);
assert.deepEqual(linear([17, 43], [0, 1]).ticks(5), [20, 25, 30, 35, 40]);
assert.deepEqual(linear([5, 5], [0, 1]).ticks(3), [5]);
assert.equal(linear([5, 5], [0, 1])(5), 0.5);
assert.deepEqual(rounded([0, 7], 4), [0, 8]);
assert.deepEqual(rounded([0, 283], 4), [0, 300]);
assert.deepEqual(rounded([0, 0], 4), [0, 0]);

// Graphs from a fixed sequence of numbers, with circles, arrows there and back, and nodes far apart.
let state = 1;
const random = n => {
	state = state * 48271 % 2147483647;
	return state % n;
};
const apart = (a, b) => Math.abs(a.x - b.x) >= (a.width + b.width) / 2 || Math.abs(a.y - b.y) >= (a.height + b.height) / 2;
for (let round = 0; round < 200; round++) {
	const n = 2 + random(12);
	const pairs = new Set(Array.from({length: 1 + random(32)}, () => `${random(n)} ${random(n)}`));
	const arrows = [...pairs].map(pair => pair.split(' ')).map(([from, to]) => ({from, to, labelWidth: 40}));
	const others = arrows.filter(({from, to}) => from !== to);
	const sizes = new Map(arrows.flatMap(({from, to}) => [from, to]).map(key => [key, {width: 30 + 9 * Number(key), height: 28}]));
	if (others.length > 0) {
		const {nodes, paths, width, height} = layers(sizes, others);
		const boxes = [...nodes.values()];
		boxes.forEach((box, i) => boxes.slice(i + 1).forEach(other => assert.ok(apart(box, other), 'nodes overlap')));
		for (const {x: left, y: top, width: w, height: h} of boxes)
			assert.ok(left - w / 2 >= -1e-6 && left + w / 2 <= width + 1e-6 && top - h / 2 >= -1e-6 && top + h / 2 <= height + 1e-6, 'a node is outside');
		assert.ok(nodes.get(others[0].from).x < nodes.get(others[0].to).x, 'the strongest arrow leads back');
		assert.equal(paths.length, others.length);
	}
	const {paths} = layOut(sizes, arrows, () => 40);
	assert.equal(paths.length, arrows.length);
	for (const {d, x: left, y: top} of paths)
		assert.ok(!/NaN|undefined|Infinity/.test(d) && Number.isFinite(left) && Number.isFinite(top), d);
}

// Without circles every arrow leads to the right.
const chain = layers(new Map([...'abcd'].map(key => [key, {width: 50, height: 28}])),
	[['a', 'b'], ['b', 'c'], ['c', 'd'], ['a', 'd']].map(([from, to]) => ({from, to, labelWidth: 30})));
assert.deepEqual([...chain.nodes].sort(([, a], [, b]) => a.x - b.x).map(([key]) => key), ['a', 'b', 'c', 'd']);
assert.ok(chain.paths[3].points.length > 3, 'a long arrow passes no layers');
console.log('ok');
