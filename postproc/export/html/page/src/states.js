// SPDX-License-Identifier: MIT
//
// What the states of lanes look like, and are called.
import {color} from './theme.js';

const LOOKS = {
	running: 'running', runnable: 'runnable', blocked: 'blocked', io: 'io', sleeping: 'sleeping',
	free: 'free', held: 'held', contended: 'blocked', waited: 'runnable', gone: null,
};
const WORDS = {
	blocked: 'blocked', io: 'in I/O', contended: 'held, others wait', waited: 'waited for', gone: 'not there',
	runnable: 'runnable, no CPU',
};

/** The colour of a state as the theme has it now; null: nothing is drawn. */
export function stateColor(state) {
	const look = LOOKS[state];
	return look === null ? null : color(`state-${look ?? 'other'}`);
}

export function stateWord(state) {
	return WORDS[state] ?? state;
}

export const isThere = state => state !== 'gone';
