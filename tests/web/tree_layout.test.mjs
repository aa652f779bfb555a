/* where the nodes of a tree are, and which of them are drawn */
import assert from "node:assert/strict";
import test from "node:test";

import { makeDiff } from "../../flamescope/web/models/diff.js";
import { makeFlame } from "../../flamescope/web/models/flame.js";
import { makeSelection } from "./columns.mjs";
import { EMPTY_QUERY } from "../../flamescope/web/state/query.js";
import { profileOf } from "./profile_fixture.mjs";
import * as layouts from "../../flamescope/web/stacks/tree_layout.js";

function random(seed) {
	let state = seed >>> 0;
	return () => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return state / 2 ** 32;
	};
}

/* {above, frame, firstChild, next} of N nodes by chance: siblings in the order of frame. */
function randomNodes(n, frames, chance) {
	const tree = { above: new Uint32Array(n), frame: new Uint32Array(n), firstChild: new Uint32Array(n), next: new Uint32Array(n) };
	const known = new Set();
	for (let node = 1; node < n;) {
		const parent = Math.floor(chance() * Math.min(node, 200));
		const frame = Math.floor(chance() * frames);
		if (known.has(parent * frames + frame))
			continue;
		known.add(parent * frames + frame);
		tree.above[node] = parent;
		tree.frame[node++] = frame;
	}
	const byFrame = Array.from({ length: n - 1 }, (_, i) => i + 1).sort((a, b) => tree.frame[b] - tree.frame[a]);
	for (const node of byFrame) {
		tree.next[node] = tree.firstChild[tree.above[node]];
		tree.firstChild[tree.above[node]] = node;
	}
	return tree;
}

/* These nodes row by row, each as wide as its amount: as flamescope/flame/rows.c puts them. */
function layoutTree({ firstChild, next, frame }, amount) {
	const n = firstChild.length;
	const [order, parent, depth] = [0, 1, 2].map(() => new Uint32Array(n));
	const [x, width] = [0, 1].map(() => new Float64Array(n));
	let filled = 1;
	width[0] = amount[0] > 0 ? 1 : 0;
	for (let i = 0; i < n; i++) {
		let at = x[i];
		for (let child = firstChild[order[i]]; child !== 0; child = next[child], filled++) {
			order[filled] = child;
			parent[filled] = i;
			depth[filled] = depth[i] + 1;
			x[filled] = at;
			width[filled] = amount[0] > 0 ? amount[child] / amount[0] : 0;
			at += width[filled];
		}
	}
	const [frames, amounts] = [frame, amount].map((column) => column.map((_, i) => column[order[i]]));
	return layouts.asTree({ parent, depth, x, width, frame: frames, amount: amounts });
}

/* Such a tree, laid out, with leaves' amounts by chance. */
function randomTree(n, seed) {
	const chance = random(seed);
	const nodes = randomNodes(n, 1000, chance);
	const amount = new Float64Array(n);
	for (let i = n - 1; i > 0; i--) {
		amount[i] += Math.floor(chance() * 3);
		amount[nodes.above[i]] += amount[i];
	}
	return layoutTree(nodes, amount);
}

/* TREE is in that order, and each node is as wide as its AMOUNT. */
function isRowByRow(tree, amount) {
	const children = new Set();
	for (let node = 0; node < tree.n; node++) {
		let at = tree.x[node];
		for (let [child, end] = layouts.childrenOf(tree, node); child < end; child++) {
			assert.deepEqual([tree.parent[child], tree.depth[child]], [node, tree.depth[node] + 1]);
			assert.equal(tree.x[child], at);
			assert.ok(Math.abs(tree.width[child] - amount(child) / amount(0)) < 1e-12);
			at += tree.width[child];
			children.add(child);
		}
		assert.ok(at <= tree.x[node] + tree.width[node] + 1e-9);
	}
	assert.equal(children.size, tree.n - 1);
	let next = 0;
	for (let row = 0; row <= Math.max(...tree.depth); row++) {
		const [first, end] = layouts.rowOf(tree, row);
		assert.equal(first, next);
		for (let node = first; node < end; node++) {
			assert.equal(tree.depth[node], row);
			assert.ok(node === first || tree.x[node] >= tree.x[node - 1] + tree.width[node - 1] - 1e-9);
		}
		next = end;
	}
	assert.equal(next, tree.n);
	assert.ok(tree.width.some((width, node) => width > 0 && tree.depth[node] === tree.maxDepth));
	assert.ok(!tree.width.some((width, node) => width > 0 && tree.depth[node] > tree.maxDepth));
}

test("nodes are row by row, and children beside each other inside their parent", () => {
	const byHand = randomTree(5000, 11);
	isRowByRow(byHand, (node) => byHand.amount[node]);
	const chance = random(3);
	const select = (names) => makeSelection(profileOf(Array.from({ length: 3000 }, (_, i) => ({ time: i,
		weight: 1 + Math.floor(chance() * 3), stack: Array.from({ length: 1 + Math.floor(chance() * 9) }, () => `${names}${Math.floor(chance() * 4)}`) }))),
	EMPTY_QUERY);
	const [base, now] = ["f", "g"].map(select);
	for (const order of ["calls", "reverse"]) {
		const graph = makeFlame(now, order);
		assert.ok(graph.n > 1000);
		isRowByRow(graph, (node) => graph.gain[node] + graph.loss[node]);
	}
	const diff = makeDiff(base, now);
	const both = diff.treeOf("");
	isRowByRow(both, (node) => both.mean[node]);
	const isNew = diff.treeOf("new");
	assert.deepEqual([isNew.width[0], isNew.width.filter((width, node) => width > 0 && isNew.total[1][node] === 0).length], [1, 0]);
});

test("every node of half a pixel is drawn, and no row costs more than its pixels", () => {
	const tree = randomTree(60000, 5);
	for (const [x0, x1, pixels] of [[0, 1, 300], [0.25, 0.5, 300], [0.4999, 0.5, 80]]) {
		const pixel = (x1 - x0) / pixels;
		for (let row = 0; row <= tree.maxDepth; row++) {
			const wide = new Set();
			const narrow = [];
			for (let [node, end] = layouts.rowOf(tree, row); node < end; node++) {
				const seen = tree.x[node] + tree.width[node] > x0 && tree.x[node] < x1;
				if (seen && tree.width[node] >= pixel / 2)
					wide.add(node);
				else if (seen && tree.width[node] > 0)
					narrow.push(node);
			}
			let calls = 0;
			const crumbs = [];
			layouts.visitRow(tree, row, [x0, x1], pixel, (node, from, to) => {
				calls++;
				assert.ok(wide.delete(node), `node ${node} is drawn once, and only if it is wide`);
				assert.deepEqual([from, to - from], [tree.x[node], tree.x[node] + tree.width[node] - tree.x[node]]);
			}, (from, to) => crumbs.push([from, to]));
			assert.equal(wide.size, 0);
			assert.ok(calls + crumbs.length <= 4 * pixels + 4);
			for (const node of narrow)
				assert.ok(crumbs.some(([from, to]) => tree.x[node] >= from - pixel && tree.x[node] <= to + pixel), `a crumb where node ${node} is`);
			for (const [from, to] of crumbs)
				assert.ok(narrow.some((node) => tree.x[node] >= from - pixel && tree.x[node] <= to), "no crumb where nothing is");
		}
	}
});

test("what lies at a place is found, and nothing where there is nothing", () => {
	const tree = randomTree(4000, 23);
	const chance = random(9);
	for (let k = 0; k < 2000; k++) {
		const row = Math.floor(chance() * (tree.maxDepth + 1));
		const x = chance();
		let expected = -1;
		for (let [node, end] = layouts.rowOf(tree, row); node < end; node++)
			if (tree.x[node] <= x && x < tree.x[node] + tree.width[node])
				expected = node;
		assert.equal(layouts.nodeAt(tree, row, x), expected);
	}
	for (const row of [-1, tree.maxDepth + 9])
		assert.equal(layouts.nodeAt(tree, row, 0.5), -1);
});

test("beside a node is what has a width, below it the child that is seen most", () => {
	const tree = randomTree(4000, 23);
	for (let row = 0; row <= tree.maxDepth; row++) {
		const [first, end] = layouts.rowOf(tree, row);
		const seen = Array.from({ length: end - first }, (_, i) => first + i).filter((node) => tree.width[node] > 0);
		seen.forEach((node, i) => {
			assert.equal(layouts.besideNode(tree, node, 1), seen[i + 1] ?? node);
			assert.equal(layouts.besideNode(tree, node, -1), seen[i - 1] ?? node);
		});
	}
	const [first, end] = layouts.childrenOf(tree, 0);
	for (let child = first; child < end; child++)
		if (tree.width[child] > 0)
			assert.equal(layouts.widestChild(tree, 0, [tree.x[child], tree.x[child] + tree.width[child]]), child);
	assert.equal(layouts.widestChild(tree, tree.n - 1, [0, 1]), -1);
});

test("a tree without an amount has nothing to show", () => {
	const tree = layoutTree(randomNodes(50, 1000, random(2)), new Float64Array(50));
	assert.equal(tree.maxDepth, 0);
	assert.equal(layouts.nodeAt(tree, 0, 0.5), -1);
});

test("a window stays inside, and what it is zoomed at stays where it is", () => {
	let window = [0, 1];
	for (let i = 0; i < 20; i++)
		window = layouts.zoomWindow(window, 0.3, 0.8);
	assert.ok(Math.abs((0.3 - window[0]) / (window[1] - window[0]) - 0.3) < 1e-9);
	assert.deepEqual(layouts.zoomWindow(window, 0.3, 1e9), [0, 1]);
	assert.deepEqual(layouts.panWindow([0.5, 1], 3), [0.5, 1]);
	assert.deepEqual(layouts.panWindow([0.5, 1], -1), [0, 0.5]);
});

test("a path leads to its node, or as far as it goes", () => {
	const tree = randomTree(2000, 31);
	const nameOf = (frame) => `f${frame}`;
	const [node] = layouts.rowOf(tree, tree.maxDepth);
	const names = layouts.pathOf(tree, node).map((at) => nameOf(tree.frame[at]));
	assert.equal(layouts.followPath(tree, names, nameOf), node);
	assert.equal(layouts.followPath(tree, [...names, "no such"], nameOf), node);
	assert.equal(layouts.followPath(tree, ["no such"], nameOf), 0);
});
