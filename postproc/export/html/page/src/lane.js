// SPDX-License-Identifier: MIT
//
// The states of one thread or object over time, and the time in each state for any period. Steps are stored unchanged;
// every 64th has the sums of all before it, so a period takes a binary search and at most 64 additions.
const BLOCK = 64;

export class Lane {
	#start;
	#state;
	#ns;
	#spanNs;
	#sums;

	constructor(lane, {kind, ref, states, endNs, cellNs}) {
		Object.assign(this, {kind, ref, states, endNs, isExact: !lane.c});
		if (lane.c) {
			this.#start = Float64Array.from(lane.c, cell => cell[0] * cellNs);
			this.#state = Uint8Array.from(lane.c, cell => cell[1]);
			this.#ns = Float64Array.from(lane.c, cell => cell[2] / 255 * cellNs);
			this.#spanNs = cellNs;
		} else {
			this.#start = Float64Array.from(lane.t);
			this.#state = Uint8Array.from(lane.s);
		}
		this.#sums = this.#sumBlocks();
	}

	get length() {
		return this.#start.length;
	}

	#lasts(i) {
		return this.#ns ? this.#ns[i] : Math.max(0, this.#end(i) - this.#start[i]);
	}

	#end(i) {
		return this.#ns ? this.#start[i] + this.#spanNs : this.#start[i + 1] ?? this.endNs;
	}

	#sumBlocks() {
		const width = this.states.length;
		const sums = new Float64Array((Math.floor(this.length / BLOCK) + 1) * width);
		const now = new Float64Array(width);
		for (let i = 0; i < this.length; i++) {
			if (i % BLOCK === 0)
				sums.set(now, i / BLOCK * width);
			now[this.#state[i]] += this.#lasts(i);
		}
		if (this.length % BLOCK === 0)
			sums.set(now, this.length / BLOCK * width);
		return sums;
	}

	// Returns the number of steps that begin at t_ns or before.
	#upTo(tNs) {
		let low = 0, high = this.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.#start[middle] <= tNs)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}

	/** Sets `out` to the time in each state from the start to t_ns. */
	until(tNs, out) {
		const width = this.states.length;
		const steps = this.#upTo(tNs);
		const block = Math.floor(steps / BLOCK);
		for (let state = 0; state < width; state++)
			out[state] = this.#sums[block * width + state];
		for (let i = block * BLOCK; i < steps; i++)
			out[this.#state[i]] += this.#lasts(i);
		for (let i = steps - 1; i >= 0 && this.#end(i) > tNs; i--)
			out[this.#state[i]] -= this.#lasts(i) * (this.#end(i) - tNs) / (this.#end(i) - this.#start[i]);
		return out;
	}

	/** Returns the time in each state from from_ns to to_ns. */
	between(fromNs, toNs) {
		const from = this.until(fromNs, new Float64Array(this.states.length));
		return this.until(toNs, new Float64Array(this.states.length)).map((ns, state) => Math.max(0, ns - from[state]));
	}

	/**
	 * Returns the steps of an exact lane in a period, as [state, from_ns, to_ns]; null if there are more than
	 * `limit`.
	 */
	steps(fromNs, toNs, limit) {
		if (!this.isExact)
			return null;
		const first = Math.max(0, this.#upTo(fromNs) - 1);
		const last = this.#upTo(toNs);
		if (last - first > limit)
			return null;
		const steps = [];
		for (let i = first; i < last; i++)
			steps.push([this.#state[i], this.#start[i], this.#end(i)]);
		return steps;
	}

	/** Returns the start of the step before or after the one at t_ns, or t_ns if there is none. */
	neighbour(tNs, forward) {
		const at = this.#upTo(tNs);
		return this.#start[forward ? at : at - 2] ?? tNs;
	}
}
