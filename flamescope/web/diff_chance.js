/*
 * diff_chance.js - how often chance alone would change any function as clearly as each
 *
 * The same as flamescope/diff/chance.c, step by step and number by number: blocks of time change
 * sides, and each column is held against the greatest of all columns (Westfall and Young, 1993,
 * single-step maxT), which corrects for how many functions there are.
 */

const MIN_TRIALS = 499;
const MAX_TRIALS = 4999;
const BUDGET = 1e9; /* additions: some seconds */
const TIE = 1e-9; /* sums in another order differ by rounding */
const ROUNDING = 1e-13; /* of the squared blocks: what is left where nothing varies */

/* Xorshift with 128 bits of state (Marsaglia, 2003). */
export function makeRandom() {
	const state = Uint32Array.of(123456789, 362436069, 521288629, 88675123);
	const next = () => {
		const t = state[0] ^ (state[0] << 11);
		state[0] = state[1];
		state[1] = state[2];
		state[2] = state[3];
		state[3] = state[3] ^ (state[3] >>> 19) ^ t ^ (t >>> 8);
		return state[3];
	};
	/* 32 bits times n (below 2^21) are exact in a double. */
	return { next, below: (n) => Math.floor((next() * n) / 4294967296) };
}

function numberOfChoices(n, k, limit) {
	let choices = 1;
	for (let i = 1; i <= k && choices <= limit; i++)
		choices = (choices * (n - k + i)) / i;
	return Math.min(Math.floor(choices + 0.5), limit + 1);
}

function problemOf(matrix) {
	for (const which of [0, 1]) {
		if (!(matrix.whole[which] > 0))
			return "one side has no samples that count";
		if (matrix.nBlocks[which] < 2)
			return "one side is a second or less, or has no times";
	}
	return "";
}

class Trial {
	constructor(matrix, least) {
		this.matrix = matrix;
		this.n = matrix.nBlocks[0] + matrix.nBlocks[1];
		this.small = matrix.nBlocks[1] < matrix.nBlocks[0] ? 1 : 0;
		this.nPicked = matrix.nBlocks[this.small];
		this.whole = matrix.whole[0] + matrix.whole[1];
		this.leastMass = (least * this.whole * this.nPicked) / this.n;
		this.sums = new Float64Array(matrix.nColumns);
		this.inverse = new Float64Array(matrix.nColumns);
		this.picked = new Float64Array(matrix.nColumns);
		this.order = new Uint32Array(this.n);
		this.greatest = [];
		this.#measureSpread();
	}

	/* The blocks in which a column is absent vary too: by their share of the whole. */
	#measureSpread() {
		const { wholes, first, column, value, nColumns } = this.matrix;
		const squares = this.inverse;
		const mass = new Float64Array(nColumns); /* without regard to sign */
		let wholeSquares = 0;
		for (let k = 0; k < column.length; k++) {
			this.sums[column[k]] += value[k];
			mass[column[k]] += Math.abs(value[k]);
		}
		for (let b = 0; b < this.n; b++) {
			wholeSquares += wholes[b] * wholes[b];
			for (let k = first[b]; k < first[b + 1]; k++) {
				const expected = (this.sums[column[k]] / this.whole) * wholes[b];
				const off = value[k] - expected;
				squares[column[k]] += off * off - expected * expected;
			}
		}
		for (let c = 0; c < nColumns; c++) {
			const share = this.sums[c] / this.whole;
			const square = squares[c] + share * share * wholeSquares;
			squares[c] = square > ROUNDING * wholeSquares && mass[c] >= this.leastMass
				? 1 / Math.sqrt(square) : 0;
		}
	}

	/* The changes when the first nPicked of the order are the smaller side, in `picked`. */
	change() {
		const { wholes, first, column, value, nColumns } = this.matrix;
		const { picked, sums, inverse, order } = this;
		let pickedWhole = 0;
		picked.fill(0);
		for (let i = 0; i < this.nPicked; i++) {
			const b = order[i];
			pickedWhole += wholes[b];
			for (let k = first[b]; k < first[b + 1]; k++)
				picked[column[k]] += value[k];
		}
		const rest = this.whole - pickedWhole;
		const byPicked = pickedWhole > 0 ? 1 / pickedWhole : 0;
		const byRest = rest > 0 ? 1 / rest : 0;
		let greatest = 0;
		for (let c = 0; c < nColumns; c++) {
			const changed = Math.abs(picked[c] * byPicked - (sums[c] - picked[c]) * byRest) * inverse[c];
			picked[c] = changed;
			if (changed > greatest)
				greatest = changed;
		}
		return greatest;
	}

	orderAsSeen() {
		const first = this.small === 0 ? 0 : this.matrix.nBlocks[0];
		for (let i = 0; i < this.n; i++)
			this.order[i] = (first + i) % this.n;
	}

	affordable() {
		const each = (this.matrix.column.length * this.nPicked) / this.n + this.matrix.nColumns * 2 + 1;
		return Math.max(MIN_TRIALS, Math.min(MAX_TRIALS, Math.floor(BUDGET / each)));
	}

	shuffle(random) {
		for (let i = 0; i < this.nPicked; i++) {
			const k = i + random.below(this.n - i);
			const swapped = this.order[i];
			this.order[i] = this.order[k];
			this.order[k] = swapped;
		}
	}

	/* The next pick in the order of the alphabet; false after the last. */
	nextPick() {
		const { order, nPicked: k, n } = this;
		let i = k;
		while (i > 0 && order[i - 1] === n - k + i - 1)
			i--;
		if (i === 0)
			return false;
		order[i - 1]++;
		for (; i < k; i++)
			order[i] = order[i - 1] + 1;
		return true;
	}

	ranks() {
		const greatest = Float64Array.from(this.greatest).sort();
		const n = greatest.length;
		const p = new Float64Array(this.matrix.nColumns);
		this.orderAsSeen();
		this.change();
		for (let c = 0; c < p.length; c++) {
			const own = this.picked[c] * (1 - TIE);
			let low = 0;
			let high = n;
			while (low < high) {
				const middle = (low + high) >>> 1;
				if (greatest[middle] < own)
					low = middle + 1;
				else
					high = middle;
			}
			p[c] = own > 0 ? (n - low) / n : 1;
		}
		return p;
	}
}

/**
 * chance - the permutation test as a generator, so that a page can do other things between
 *
 * Columns that are too small for a change of share by LEAST are left out: their p is 1.
 * Yields the part that is done (0 to 1) after each trial.
 *
 * Return: {p (a column), n, smallestP, problem}; with a problem every p is 1.
 */
export function* chance(matrix, least) {
	const problem = problemOf(matrix);
	if (problem)
		return { p: new Float64Array(matrix.nColumns).fill(1), n: 0, smallestP: 1, problem };
	const trial = new Trial(matrix, least);
	const n = trial.affordable();
	const choices = numberOfChoices(trial.n, trial.nPicked, n);
	const isExact = choices <= n;
	if (isExact) {
		trial.order.forEach((_, i) => (trial.order[i] = i));
		do {
			trial.greatest.push(trial.change());
			yield trial.greatest.length / choices;
		} while (trial.nextPick());
	} else {
		const random = makeRandom();
		trial.orderAsSeen();
		trial.greatest.push(trial.change()); /* what was seen is one of them: p is never 0 */
		while (trial.greatest.length < n) {
			trial.shuffle(random);
			trial.greatest.push(trial.change());
			yield trial.greatest.length / n;
		}
	}
	const isMirrored = trial.nPicked * 2 === trial.n;
	return {
		p: trial.ranks(),
		n: trial.greatest.length,
		smallestP: (isExact && isMirrored ? 2 : 1) / trial.greatest.length,
		problem: "",
	};
}
