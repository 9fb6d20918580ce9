// SPDX-License-Identifier: MIT
//
// From the text in the page to its document. Errors are sentences for the reader of the page.
import {whatIsWrong as whatIsWrongInCampaign} from './campaign/check.js';
import {whatIsWrong} from './check.js';

const SCHEMA = 1;

// Reads the stream manually: if a Response fails, Firefox logs the error to the console even when it is caught.
async function inflate(bytes) {
	const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')).getReader();
	const parts = [];
	for (;;) {
		const {done, value} = await reader.read();
		if (done)
			return new Blob(parts).text();
		parts.push(value);
	}
}

function decode(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const binary = atob(text);
	const bytes = new Uint8Array(binary.length);
	for (let i = 0; i < binary.length; i++)
		bytes[i] = binary.charCodeAt(i);
	return bytes;
}

/** Decodes base64 of gzipped JSON. Throws an Error with a message for the user. */
export async function readDocument(text) {
	text = text.trim();
	if (!text || text.startsWith('<!--'))
		throw new Error('There is no capture in this page: gprof-mt export --format html writes one that has.');
	if (typeof DecompressionStream === 'undefined')
		throw new Error('This browser is too old for this page: it cannot decompress (DecompressionStream).');
	let doc;
	try {
		doc = JSON.parse(await inflate(decode(text)));
	} catch {
		throw new Error('The capture in this page is damaged: it cannot be decoded. Was the file copied whole?');
	}
	if (doc === null || typeof doc !== 'object' || doc.schema !== SCHEMA)
		throw new Error(`This page reads data of schema ${SCHEMA}, and holds another: export the capture again.`);
	const isCampaign = doc.kind === 'campaign';
	const wrong = isCampaign ? whatIsWrongInCampaign(doc) : whatIsWrong(doc);
	if (wrong)
		throw new Error(`The ${isCampaign ? 'campaign' : 'capture'} in this page is damaged: ${wrong}.`);
	return doc;
}
