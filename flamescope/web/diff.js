/*
 * diff.js - what changed between two selections
 *
 * The same as flamescope/diff/diff.h: both sides as shares of their own whole, functions matched
 * by name alone, those of copies (f.constprop.0) by that of the function, only "[unknown]" told
 * apart by its module.
 */

import { unitWord } from "wick/amount.js";
import { chance } from "wick/diff_chance.js";
import { makeBlocks, sharesOf } from "wick/diff_blocks.js";
import { linkChildren, NodeTable } from "wick/node_table.js";
import { originalName } from "wick/pattern.js";
import { frameModule, frameName } from "wick/select.js";
import { numberOfFrames } from "wick/transforms.js";

export const LEVEL = 0.01; /* a p below it is more than chance */
export const LEAST = 0.01; /* a change of the share below it is not looked at */
const UNKNOWN = "[unknown]";

/* The name that a frame is matched by. */
function keyOf(side, frame) {
	const name = frameName(side, frame);
	if (name !== "" && name !== UNKNOWN)
		return frame < side.profile.frames.n ? originalName(name) : name;
	const module = frameModule(side, frame);
	const last = module.slice(module.lastIndexOf("/") + 1) || module;
	return last === "" || last === UNKNOWN ? UNKNOWN : `${UNKNOWN} (${last})`;
}

/* {names, ofFrame: [base, new]} */
function matchNames(sides) {
	const numbers = new Map();
	const names = [];
	const ofFrame = sides.map((side) => {
		const of = new Uint32Array(numberOfFrames(side)).fill(0xffffffff);
		for (let node = 1; node < side.nodes.n; node++) {
			const frame = side.nodes.frame[node];
			if (of[frame] !== 0xffffffff)
				continue;
			const key = keyOf(side, frame);
			if (!numbers.has(key)) {
				numbers.set(key, names.length);
				names.push(key);
			}
			of[frame] = numbers.get(key);
		}
		return of;
	});
	return { names, ofFrame };
}

/** Why two selections cannot be compared; "" if they can. */
export function whyNoDiff(base, now) {
	if (base.measure !== now.measure || base.unit !== now.unit)
		return `one side counts ${unitWord(base.unit)}, the other ${unitWord(now.unit)}`;
	if (base.measure === "mean")
		return "a mean has no whole that shares could be of";
	return "";
}

/**
 * makeDiff - compare two selections of which whyNoDiff() says nothing
 *
 * Return: {names, matrix, self: [base, new], total: [base, new], p: null}: shares by function.
 * The chances are for fillChance(), which takes longer.
 */
export function makeDiff(base, now) {
	const sides = [base, now];
	const { names, ofFrame } = matchNames(sides);
	const matrix = makeBlocks(sides, ofFrame, names.length);
	const shares = [sharesOf(matrix, 0), sharesOf(matrix, 1)];
	const half = (column, offset) => Float64Array.from(names, (_, i) => column[2 * i + offset]);
	return {
		sides,
		names,
		ofFrame,
		matrix,
		self: shares.map((column) => half(column, 0)),
		total: shares.map((column) => half(column, 1)),
		chance: null,
	};
}

/** A generator that fills diff.chance: {selfP, totalP, n, smallestP, problem}. */
export function* fillChance(diff) {
	const { p, ...rest } = yield* chance(diff.matrix, LEAST);
	diff.chance = {
		...rest,
		selfP: Float64Array.from(diff.names, (_, i) => p[2 * i]),
		totalP: Float64Array.from(diff.names, (_, i) => p[2 * i + 1]),
	};
	return diff.chance;
}

/** Whether "self" or "total" of a function changed by LEAST and more than chance. */
export function isFlagged(diff, i, part) {
	const p = part === "self" ? diff.chance?.selfP : diff.chance?.totalP;
	return p !== undefined && p[i] < LEVEL && Math.abs(diff[part][1][i] - diff[part][0][i]) >= LEAST;
}

/** Functions by number, the greatest change of total or self first. */
export function diffOrder(diff) {
	const change = (column, i) => column[1][i] - column[0][i];
	const size = (i) => Math.max(Math.abs(change(diff.total, i)), Math.abs(change(diff.self, i)));
	return Array.from(diff.names.keys()).sort((a, b) => size(b) - size(a) ||
		Math.abs(change(diff.self, b)) - Math.abs(change(diff.self, a)) ||
		(diff.names[a] < diff.names[b] ? -1 : 1));
}

/* The stacks of one side that samples have, put into the table of both. */
function addSide(table, diff, which) {
	const { nodes, n, stacks } = diff.sides[which];
	const used = new Uint8Array(nodes.n);
	for (let i = 0; i < n; i++)
		used[stacks[i]] = 1;
	for (let node = nodes.n - 1; node > 0; node--)
		used[nodes.parent[node]] |= used[node];
	const of = new Uint32Array(nodes.n);
	for (let node = 1; node < nodes.n; node++) {
		if (used[node])
			of[node] = table.child(of[nodes.parent[node]], diff.ofFrame[which][nodes.frame[node]]);
	}
	return of;
}

/**
 * makeDiffTree - the stacks of both sides in one tree
 *
 * Return: a tree as of flame.js whose frames are functions of the diff, with self and total
 * ([base, new], shares) and width: the mean of both sides, so that what vanished is seen too.
 */
export function makeDiffTree(diff) {
	const table = new NodeTable(1024);
	const ofNode = [0, 1].map((which) => addSide(table, diff, which));
	const tree = table.finish();
	const self = [new Float64Array(tree.n), new Float64Array(tree.n)];
	const width = new Float64Array(tree.n);
	diff.sides.forEach(({ n, stacks, values }, which) => {
		const whole = diff.matrix.whole[which];
		for (let i = 0; whole > 0 && i < n; i++) {
			const node = ofNode[which][stacks[i]];
			self[which][node] += values[i] / whole;
			width[node] += Math.abs(values[i]) / whole / 2;
		}
	});
	const total = self.map((column) => column.slice());
	for (let node = tree.n - 1; node > 0; node--) {
		const above = tree.parent[node];
		total[0][above] += total[0][node];
		total[1][above] += total[1][node];
		width[above] += width[node];
	}
	const order = Array.from(diff.names.keys()).sort((a, b) => (diff.names[a] < diff.names[b] ? -1 : 1));
	const rank = new Uint32Array(order.length);
	order.forEach((f, i) => (rank[f] = i));
	return Object.assign(tree, linkChildren(tree, rank, rank.length), { self, total, width });
}
