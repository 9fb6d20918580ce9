// SPDX-License-Identifier: MIT
//
// Light or dark theme: the system's, unless the user chooses. Printing always uses the light one.
import {el} from './dom.js';

const system = matchMedia('(prefers-color-scheme: dark)');
const listeners = [];
const colors = new Map();
let chosen = null;

function apply(theme = chosen ?? (system.matches ? 'dark' : 'light')) {
	document.documentElement.dataset.theme = theme;
	colors.clear();
	listeners.forEach(listener => listener());
}

system.addEventListener('change', () => apply());
addEventListener('beforeprint', () => apply('light'));
addEventListener('afterprint', () => apply());
apply();

/** Registers a function to call when the colours change. */
export function onTheme(listener) {
	listeners.push(listener);
}

export function color(name) {
	if (!colors.has(name))
		colors.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
	return colors.get(name);
}

export function themeButton() {
	return el('button', {type: 'button', id: 'theme', title: 'Light or dark', 'aria-label': 'Light or dark', onclick: () => {
		chosen = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
		apply();
	}}, '◐');
}
