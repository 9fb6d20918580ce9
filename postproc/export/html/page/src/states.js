// SPDX-License-Identifier: MIT
//
// Colours and names of the states of lanes.
import {color} from './theme.js';

const LOOKS = {
	running: 'running', runnable: 'runnable', blocked: 'blocked', io: 'io', sleeping: 'sleeping',
	free: 'free', held: 'held', contended: 'blocked', waited: 'runnable', gone: null,
};
const WORDS = {
	blocked: 'blocked', io: 'in I/O', contended: 'held, with waiters', waited: 'waited for', gone: 'does not exist',
	runnable: 'runnable, no CPU',
};

/** Returns the colour of a state in the current theme; null: nothing is drawn. */
export function stateColor(state) {
	const look = LOOKS[state];
	return look === null ? null : color(`state-${look ?? 'other'}`);
}

export function stateWord(state) {
	return WORDS[state] ?? state;
}

export const isThere = state => state !== 'gone';
