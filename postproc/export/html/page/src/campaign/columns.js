// SPDX-License-Identifier: MIT
//
// Columns of tables of a campaign; a value that was not measured is null.
import {duration} from '../format.js';

const isMissing = value => value === null || value === undefined;

export const time = (key, title, help, bar) => ({key, title, help, type: 'time', bar, text: row => duration(row[key] ?? NaN)});
export const number = (key, title, help) => ({key, title, help, type: 'count', text: row => isMissing(row[key]) ? '–' : String(row[key])});
export const share = (key, title, help) => ({key, title, help, type: 'share', text: row => isMissing(row[key]) ? '–' : `${row[key].toFixed(1)} %`});
export const ratio = (key, title, help) => ({key, title, help, type: 'count', text: row => isMissing(row[key]) ? '–' : row[key].toFixed(2)});
export const words = (key, title, help, wide = false) => ({key, title, help, wide, text: row => row[key] ?? '–'});

/** Where the time of all threads goes, in the recorded run. */
export const TIME_COLUMNS = [
	share('running_pct', 'Running', 'Share of all threads’ lifetimes on a CPU, in the recorded run'), share('runnable_pct', 'Runnable', '… waiting for a CPU'),
	share('blocked_sync_pct', 'Sync', '… blocked on a synchronization object'), share('blocked_other_pct', 'Other', '… blocked on I/O, in sleep(), …'),
	words('blocked_by', 'Waits for', 'The critical sections waited for most, with their shares', true),
];
