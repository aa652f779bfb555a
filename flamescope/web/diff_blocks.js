/*
 * diff_blocks.js - what each function counts for in each block of whole seconds of two selections
 *
 * The same as flamescope/diff/blocks.c: columns are function * 2 (self) and + 1 (total, a sample
 * once); blocks begin at a side's first sample.
 */

const SECOND = 1e9;
const MAX_BLOCKS = 64; /* of both sides together; longer blocks if there would be more */

function blockOf(side, i, blockNs) {
	const { time } = side.profile;
	return Math.floor((time[side.samples[i]] - time[side.samples[0]]) / blockNs);
}

function countBlocks(side, blockNs) {
	let n = side.n > 0 ? 1 : 0;
	let last = 0;
	for (let i = 1; i < side.n; i++) {
		const block = blockOf(side, i, blockNs);
		if (block !== last)
			n++;
		last = block;
	}
	return n;
}

function blockLength(sides) {
	let blockNs = SECOND;
	while (countBlocks(sides[0], blockNs) + countBlocks(sides[1], blockNs) > MAX_BLOCKS)
		blockNs *= 2;
	return blockNs;
}

/* Numbers that grow: entries are not known beforehand. */
class Numbers {
	constructor(Type) {
		this.array = new Type(4096);
		this.n = 0;
	}

	push(value) {
		if (this.n === this.array.length) {
			const larger = new this.array.constructor(this.n * 2);
			larger.set(this.array);
			this.array = larger;
		}
		this.array[this.n++] = value;
	}

	finish() {
		return this.array.subarray(0, this.n);
	}
}

/* One side's samples of a block, first by stack, then by column. */
class Tally {
	constructor(side, ofFrame, nColumns) {
		this.side = side;
		this.ofFrame = ofFrame;
		this.values = new Float64Array(side.nodes.n);
		this.isSeen = new Uint8Array(side.nodes.n);
		this.stacks = [];
		this.columns = new Float64Array(nColumns);
		this.columnSeen = new Uint8Array(nColumns);
		this.seen = [];
		this.marks = new Uint32Array(nColumns / 2);
		this.mark = 0;
	}

	add(i) {
		const stack = this.side.stacks[i];
		if (!this.isSeen[stack]) {
			this.isSeen[stack] = 1;
			this.stacks.push(stack);
		}
		this.values[stack] += this.side.values[i];
	}

	#addToColumn(column, value) {
		if (!this.columnSeen[column]) {
			this.columnSeen[column] = 1;
			this.seen.push(column);
		}
		this.columns[column] += value;
	}

	#spread(stack) {
		const { parent, frame } = this.side.nodes;
		const value = this.values[stack];
		this.values[stack] = 0;
		this.isSeen[stack] = 0;
		this.mark++;
		for (let node = stack; node !== 0; node = parent[node]) {
			const f = this.ofFrame[frame[node]];
			if (node === stack)
				this.#addToColumn(2 * f, value);
			if (this.marks[f] === this.mark)
				continue;
			this.marks[f] = this.mark;
			this.#addToColumn(2 * f + 1, value);
		}
	}

	end(matrix) {
		for (const stack of this.stacks)
			this.#spread(stack);
		for (const column of this.seen) {
			matrix.column.push(column);
			matrix.value.push(this.columns[column]);
			this.columns[column] = 0;
			this.columnSeen[column] = 0;
		}
		this.stacks.length = this.seen.length = 0;
		matrix.first.push(matrix.column.n);
	}
}

function countSide(matrix, side, which, tally) {
	let whole = 0;
	for (let i = 0; i < side.n; i++) {
		const block = blockOf(side, i, matrix.blockNs);
		tally.add(i);
		whole += Math.abs(side.values[i]);
		if (i + 1 < side.n && blockOf(side, i + 1, matrix.blockNs) === block)
			continue;
		tally.end(matrix);
		matrix.wholes.push(whole);
		matrix.whole[which] += whole;
		matrix.nBlocks[which]++;
		whole = 0;
	}
}

/**
 * makeBlocks - both sides counted
 * @ofFrame: of each side, the number of the function that a frame is
 *
 * Return: {nColumns, nBlocks: [base, new], blockNs, whole: [base, new], wholes (a block), first (of
 * a block's entries, and the end), column, value (an entry)}; base's blocks come first.
 */
export function makeBlocks(sides, ofFrame, nFunctions) {
	const matrix = {
		nColumns: nFunctions * 2,
		nBlocks: [0, 0],
		blockNs: blockLength(sides),
		whole: [0, 0],
		wholes: new Numbers(Float64Array),
		first: new Numbers(Uint32Array),
		column: new Numbers(Uint32Array),
		value: new Numbers(Float64Array),
	};
	matrix.first.push(0);
	sides.forEach((side, which) =>
		countSide(matrix, side, which, new Tally(side, ofFrame[which], matrix.nColumns)));
	for (const key of ["wholes", "first", "column", "value"])
		matrix[key] = matrix[key].finish();
	return matrix;
}

/** The share of every column on one side (0: base). */
export function sharesOf(matrix, which) {
	const shares = new Float64Array(matrix.nColumns);
	const begin = which === 0 ? 0 : matrix.nBlocks[0];
	for (let b = begin; b < begin + matrix.nBlocks[which]; b++) {
		for (let k = matrix.first[b]; k < matrix.first[b + 1]; k++)
			shares[matrix.column[k]] += matrix.value[k];
	}
	if (matrix.whole[which] > 0) {
		for (let column = 0; column < shares.length; column++)
			shares[column] /= matrix.whole[which];
	}
	return shares;
}
