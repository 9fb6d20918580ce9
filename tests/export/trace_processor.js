// SPDX-License-Identifier: MIT
// trace_processor.js FOLDER FILE: prints what Perfetto's trace processor, the one in its viewer,
// reads from a trace as JSON: the errors that it counts; the fields that it found, with the names
// of the published schema; tracks of threads and processes, slices with their arguments, and flows.
//
// It is built for a browser's worker: this script provides such an environment and makes the
// viewer's requests.
"use strict";
const fs = require("fs"), path = require("path"), url = require("url"), vm = require("vm");
const [where, file] = process.argv.slice(2);
const folder = path.resolve(where);

const QUERIES = {
	errors: "select name, idx, value from stats where (severity != 'info' or name like 'flow%') and value > 0",
	fields: "select distinct path from experimental_proto_content",
	clocks: "select clock_id, cast(clock_value as text) as value from clock_snapshot",
	tracks: `select track.id, track.name, track.parent_id as parent, tid, thread.name as thread, process.name as process
		from track left join thread_track using (id) left join thread using (utid)
		left join process_track on process_track.id = track.id
		left join process on process.upid = ifnull(process_track.upid, thread.upid)`,
	slices: "select id, parent_id as parent, track_id as track, cast(ts as text) as ts, dur, name, arg_set_id as args from slice",
	args: `select arg_set_id as args, key, int_value as number, string_value as text from args
		where arg_set_id in (select arg_set_id from slice)`,
	flows: "select slice_out, slice_in from flow",
};

Object.assign(globalThis, {
	self: globalThis, location: {href: ""}, WorkerGlobalScope: class {}, XMLHttpRequest: class {
		open(_, name) { this.name = name; }
		send() { this.response = new Uint8Array(fs.readFileSync(path.join(folder, this.name))).buffer; }
	},
});
// It first tries the build with 64-bit addresses, which is not installed here.
const {Module} = WebAssembly;
WebAssembly.Module = function () {
	WebAssembly.Module = Module;
	throw new Error("no 64-bit addresses");
};
// Messages for its developers.
console.warn = () => {};

async function main() {
	vm.runInThisContext(fs.readFileSync(path.join(folder, "engine_bundle.node.js"), "utf8"));
	const {EngineBase} = await import(url.pathToFileURL(path.join(folder, "engine.mjs")));
	class Engine extends EngineBase {
		id = "trace processor";
		port = {postMessage: data => this.onRpcResponseBytes(data)};
		rpcSendRequestBytes(data) { this.port.onmessage({data}); }
	}
	const engine = new Engine();
	globalThis.onmessage({data: engine.port});
	await new Promise(setImmediate);
	await engine.resetTraceProcessor({cropTrackEvents: false, ingestFtraceInRawTable: false,
		analyzeTraceProtoContent: true, ftraceDropUntilAllCpusValid: false});
	await engine.parse(new Uint8Array(fs.readFileSync(file)));
	await engine.notifyEof();
	const found = {};
	for (const [name, query] of Object.entries(QUERIES)) {
		const result = await engine.query(query), columns = result.columns();
		found[name] = [];
		for (const row = result.iter({}); row.valid(); row.next())
			found[name].push(Object.fromEntries(columns.map(column => [column, row.get(column)])));
	}
	process.stdout.write(JSON.stringify(found, (_, value) => typeof value === "bigint" ? Number(value) : value));
}

main().catch(error => {
	console.error(String(error));
	process.exit(1);
});
