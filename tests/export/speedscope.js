// SPDX-License-Identifier: MIT
// speedscope.js PACKAGES FILE: prints what speedscope reads from a file as JSON: its profiles, each
// with its calls in time ([depth, name, start, end]) and its stacks ("a;b" -> weight).
//
// The package contains a page. Its importer is taken from the place where the page's code defines
// it.
"use strict";
const fs = require("fs"), path = require("path"), vm = require("vm");

function importer(folder) {
	const file = path.join(folder, fs.readdirSync(folder).find(name => /^speedscope-.*\.js$/.test(name)));
	let found;
	// A proxy stands for everything that the page may use.
	const anything = new Proxy(function () {}, {
		get: (_, key) => key === Symbol.toPrimitive ? () => "" : key === "then" ? undefined : anything,
		apply: () => anything, construct: () => anything, set: () => true,
	});
	// The page would draw now, and has defined everything.
	const document = new Proxy(anything, {get(_, key) {
		if (key === "body")
			throw new Error("nowhere to draw");
		return anything;
	}});
	const page = vm.createContext({
		console: {log() {}, warn() {}, error() {}}, document, navigator: anything, location: anything,
		localStorage: anything, addEventListener() {}, requestAnimationFrame() {}, TextDecoder, TextEncoder, URL,
		HTMLElement: class {}, HTMLCanvasElement: class {}, atob, btoa, performance, setTimeout, clearTimeout,
		found: get => { found = get; },
	});
	page.window = page.self = page;
	vm.runInContext(`{
		const define = Object.defineProperty;
		Object.defineProperty = (object, key, what) => {
			if (key === "importProfilesFromArrayBuffer")
				found(what.get);
			return define(object, key, what);
		};
	}`, page);
	try {
		vm.runInContext(fs.readFileSync(file, "utf8"), page);
	} catch (error) {
		if (!/nowhere to draw/.test(error.message))
			throw error;
	}
	if (!found)
		throw new Error(`${file} has no importer`);
	// The page checks for its own kind of buffer.
	const buffer = vm.runInContext("bytes => Uint8Array.from(bytes).buffer", page);
	return (name, bytes) => found()(name, buffer(bytes));
}

function describe(profile) {
	const calls = [], open = [], stacks = {};
	profile.forEachCall(
		(node, at) => { open.push(calls.length); calls.push([open.length - 1, node.frame.name, at, at]); },
		(_, at) => { calls[open.pop()][3] = at; });
	profile.samples.forEach((node, i) => {
		const names = [];
		for (; node && node.frame.name !== "(speedscope root)"; node = node.parent)
			names.unshift(node.frame.name);
		const stack = names.join(";");
		stacks[stack] = (stacks[stack] || 0) + profile.weights[i];
	});
	return {name: profile.getName(), unit: profile.getWeightUnit(), total: profile.getTotalWeight(), calls, stacks};
}

const [packages, file] = process.argv.slice(2);
const run = importer(path.join(packages, "node_modules/speedscope/dist/release"));
setImmediate(async () => {
	const group = await run(path.basename(file), fs.readFileSync(file));
	if (!group)
		throw new Error(`speedscope cannot read ${file}`);
	process.stdout.write(JSON.stringify(group.profiles.map(describe)));
});
