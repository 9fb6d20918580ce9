// SPDX-License-Identifier: MIT
// pprof.js PACKAGES FILE: prints a profile, as the package pprof-format decodes it, as JSON: each
// sample with its stack of [address, mapping, functions innermost first], values by type, and
// labels.
"use strict";
const fs = require("fs"), path = require("path"), zlib = require("zlib");
const [packages, file] = process.argv.slice(2);
const {Profile} = require(path.join(path.resolve(packages), "node_modules/pprof-format"));

const profile = Profile.decode(zlib.gunzipSync(fs.readFileSync(file)));
const text = number => profile.stringTable.strings[Number(number)];
const byId = list => new Map(list.map(item => [Number(item.id), item]));
const functions = byId(profile.function), locations = byId(profile.location), mappings = byId(profile.mapping);
for (const [name, list, map] of [["function", profile.function, functions], ["location", profile.location, locations],
	["mapping", profile.mapping, mappings]])
	if (map.has(0) || map.size !== list.length)
		throw new Error(`ids of ${name} are not of their own`);
if (text(0) !== "")
	throw new Error("the first string is not empty");

function frame(id) {
	const location = locations.get(Number(id)), mapping = mappings.get(Number(location.mappingId));
	return {
		address: Number(location.address),
		mapping: !mapping ? null : {file: text(mapping.filename), build_id: text(mapping.buildId),
			start: Number(mapping.memoryStart), end: Number(mapping.memoryLimit)},
		lines: location.line.map(line => [text(functions.get(Number(line.functionId)).name),
			text(functions.get(Number(line.functionId)).filename), Number(line.line)]),
	};
}

const types = profile.sampleType.map(type => `${text(type.type)}/${text(type.unit)}`);
process.stdout.write(JSON.stringify({
	types, time_us: Number(profile.timeNanos / 1000n), period: Number(profile.period), default_type: text(profile.defaultSampleType),
	samples: profile.sample.map(sample => ({
		stack: sample.locationId.map(frame),
		values: Object.fromEntries(sample.value.map((value, i) => [types[i], Number(value)])),
		labels: Object.fromEntries(sample.label.map(label => [text(label.key), text(label.str)])),
	})),
}));
