// SPDX-License-Identifier: MIT
//
// The timeline as a table: the share of each state in each visible lane.
import {el} from './dom.js';
import {percent} from './format.js';
import {objectLink, threadLink} from './links.js';
import {folded} from './section.js';
import {isThere, stateWord} from './states.js';
import {Table} from './table.js';

export function shareTable(capture) {
	const {thread_states: threads, object_states: objects} = capture.doc.lanes;
	const states = [...new Set([...threads, ...objects])].filter(isThere);
	const share = state => ({key: state, title: stateWord(state), type: 'share',
		text: ({[state]: part}) => Number.isNaN(part) ? '–' : percent(part, 1)});
	const name = ({lane: {kind, ref}}) => kind === 'thread' ? capture.thread(ref) : capture.object(ref);
	const table = new Table({label: 'Visible lanes', search: false, sort: 'place', none: 'No lane with that name.', columns: [
		{key: 'lane', title: 'Lane', text: name, cell: ({lane: {kind, ref}}) => (kind === 'thread' ? threadLink : objectLink)(capture, ref)},
		...states.map(share)]});
	let lanes = [], fromNs = 0, toNs = 1;

	function row(lane, place) {
		const ns = lane.between(fromNs, toNs);
		const out = {lane, place: -place};
		for (const state of states) {
			const at = lane.states.indexOf(state);
			out[state] = at < 0 ? NaN : ns[at] / Math.max(1, toNs - fromNs);
		}
		return out;
	}
	const part = folded('The visible lanes as a table', () => {
		table.setRows(lanes.map(row));
		return [table.node];
	});
	return {
		node: el('div', {class: 'alternative'}, part.node),
		update(newLanes, newFrom, newTo) {
			[lanes, fromNs, toNs] = [newLanes, newFrom, newTo];
			part.refresh();
		},
	};
}
