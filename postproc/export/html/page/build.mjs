// SPDX-License-Identifier: MIT
//
// node build.mjs SOURCES OUT: bundles SOURCES/src into one file without references to any other.
// Run in the folder that has node_modules. The licenses of what is bundled go along.
import {createRequire} from 'node:module';
import {readdirSync, readFileSync, renameSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

const DATA_MARKER = '<!--gprof-mt-data-->';
const [sources, out] = process.argv.slice(2);
const modules = join(process.cwd(), 'node_modules');
const esbuild = createRequire(join(process.cwd(), 'build.cjs'))('esbuild');

const options = {
	bundle: true,
	minify: true,
	write: false,
	nodePaths: [modules],
	target: ['chrome110', 'firefox115', 'safari16.4'],
	legalComments: 'none',
	logLevel: 'warning',
};

// Text that stands inside a script element must not end it, nor begin a comment in it.
const inScript = text => text.replaceAll('</', '<\\/').replaceAll('<!--', '<\\!--');

// The packages that metafile says were bundled, each with its license.
function licenses(metafile) {
	const names = new Set();
	for (const input of Object.keys(metafile.inputs)) {
		const found = input.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//);
		if (found)
			names.add(found[1]);
	}
	return [...names].sort().map(name => {
		const folder = join(modules, name);
		const {version, license} = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
		const file = readdirSync(folder).find(entry => /^licen[cs]e/i.test(entry));
		if (!file)
			throw new Error(`${name} has no file with its license`);
		return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
	}).join(`\n${'-'.repeat(72)}\n\n`);
}

const script = await esbuild.build({
	...options, entryPoints: [join(sources, 'src/main.js')], format: 'esm', metafile: true});
const style = await esbuild.build({...options, entryPoints: [join(sources, 'src/page.css')]});

let page = readFileSync(join(sources, 'src/page.html'), 'utf8');
for (const [marker, text] of [
	['/*STYLE*/', style.outputFiles[0].text.trim()],
	['/*SCRIPT*/', inScript(script.outputFiles[0].text.trim())],
	['/*LICENSES*/', inScript(licenses(script.metafile))],
]) {
	if (page.split(marker).length !== 2)
		throw new Error(`page.html has to have ${marker} once`);
	page = page.split(marker).join(text);
}
if (page.split(DATA_MARKER).length !== 2)
	throw new Error(`the page has to have ${DATA_MARKER} once`);
writeFileSync(`${out}.new`, page);
renameSync(`${out}.new`, out);
