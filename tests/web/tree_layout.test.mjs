/* where the nodes of a tree are, and which of them are drawn */
import assert from "node:assert/strict";
import test from "node:test";

import { linkChildren, NodeTable, rowsOf } from "../../flamescope/web/node_table.js";
import * as layouts from "../../flamescope/web/tree_layout.js";

function random(seed) {
	let state = seed >>> 0;
	return () => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return state / 2 ** 32;
	};
}

/* A tree of N nodes and leaves' amounts, by chance. */
function randomTree(n, seed) {
	const chance = random(seed);
	const table = new NodeTable(4);
	const frames = 50;
	while (table.n < n)
		table.child(Math.floor(chance() * Math.min(table.n, 200)), Math.floor(chance() * frames * 20));
	const tree = table.finish();
	const rank = Uint32Array.from({ length: frames * 20 }, (_, i) => i);
	Object.assign(tree, linkChildren(tree, rank, rank.length));
	const amount = new Float64Array(tree.n);
	for (let i = tree.n - 1; i > 0; i--) {
		amount[i] += Math.floor(chance() * 3);
		amount[tree.parent[i]] += amount[i];
	}
	return { tree, amount };
}

test("a node is found again, and only once", () => {
	const table = new NodeTable(2);
	const seen = new Map();
	const chance = random(7);
	for (let i = 0; i < 20000; i++) {
		const parent = Math.floor(chance() * Math.min(table.n, 300));
		const frame = Math.floor(chance() * 40);
		const node = table.child(parent, frame);
		const key = `${parent} ${frame}`;
		assert.equal(seen.get(key) ?? node, node);
		seen.set(key, node);
	}
	const tree = table.finish();
	assert.equal(tree.n, seen.size + 1);
	for (const [key, node] of seen)
		assert.equal(`${tree.parent[node]} ${tree.frame[node]}`, key);
});

test("siblings are in the order of their rank", () => {
	const { tree } = randomTree(3000, 3);
	let linked = 0;
	for (let node = 0; node < tree.n; node++) {
		for (let c = tree.firstChild[node]; c !== 0; c = tree.next[c]) {
			linked++;
			assert.equal(tree.parent[c], node);
			assert.equal(tree.depth[c], tree.depth[node] + 1);
			if (tree.next[c] !== 0)
				assert.ok(tree.frame[tree.next[c]] > tree.frame[c]);
		}
	}
	assert.equal(linked, tree.n - 1);
});

test("children lie inside their parent, beside each other", () => {
	const { tree, amount } = randomTree(5000, 11);
	const layout = layouts.layoutTree(tree, amount);
	for (let row = 0; row < layout.nRows; row++) {
		let last = -1;
		for (let i = layout.rowStart[row]; i < layout.rowStart[row + 1]; i++) {
			const node = layout.order[i];
			const parent = tree.parent[node];
			assert.equal(tree.depth[node], row);
			assert.ok(layout.x[node] >= last - 1e-9);
			last = layout.x[node] + layout.width[node];
			assert.ok(layout.x[node] >= layout.x[parent] - 1e-9);
			assert.ok(last <= layout.x[parent] + layout.width[parent] + 1e-9);
		}
	}
});

test("rows that are sorted once are laid out as the lists are", () => {
	for (const seed of [1, 2, 3]) {
		const { tree, amount } = randomTree(3000, seed);
		const rank = Uint32Array.from({ length: 1000 }, (_, i) => i);
		const rows = rowsOf(tree, rank);
		const sorted = { n: tree.n, parent: rows.parent, frame: rows.frame, depth: rows.depth, inRows: true };
		const one = layouts.layoutTree(tree, amount);
		const two = layouts.layoutTree(sorted, Float64Array.from(rows.node, (node) => amount[node]));
		assert.deepEqual(two.rowStart, one.rowStart);
		for (let i = 0; i < one.rowStart.at(-1); i++) {
			assert.equal(rows.node[two.order[i]], one.order[i]);
			assert.equal(two.x[two.order[i]], one.x[one.order[i]]);
		}
	}
});

test("every node of half a pixel is drawn, and no row costs more than its pixels", () => {
	const { tree, amount } = randomTree(60000, 5);
	const layout = layouts.layoutTree(tree, amount);
	for (const [x0, x1, pixels] of [[0, 1, 300], [0.25, 0.5, 300], [0.4999, 0.5, 80]]) {
		const pixel = (x1 - x0) / pixels;
		for (let row = 0; row < layout.nRows; row++) {
			const wide = new Set();
			for (let i = layout.rowStart[row]; i < layout.rowStart[row + 1]; i++) {
				const node = layout.order[i];
				const seen = layout.x[node] + layout.width[node] > x0 && layout.x[node] < x1;
				if (seen && layout.width[node] >= pixel / 2)
					wide.add(node);
			}
			let calls = 0;
			let crumbs = 0;
			layouts.visitRow(layout, row, x0, x1, pixel, (node) => {
				calls++;
				assert.ok(wide.delete(node), `node ${node} is drawn once, and only if it is wide`);
			}, () => crumbs++);
			assert.equal(wide.size, 0);
			assert.ok(calls + crumbs <= 4 * pixels + 4);
		}
	}
});

test("what lies at a place is found, and nothing where there is nothing", () => {
	const { tree, amount } = randomTree(4000, 23);
	const layout = layouts.layoutTree(tree, amount);
	const chance = random(9);
	for (let k = 0; k < 2000; k++) {
		const row = Math.floor(chance() * layout.nRows);
		const x = chance();
		let expected = -1;
		for (let i = layout.rowStart[row]; i < layout.rowStart[row + 1]; i++) {
			const node = layout.order[i];
			if (layout.x[node] <= x && x < layout.x[node] + layout.width[node])
				expected = node;
		}
		assert.equal(layouts.nodeAt(layout, row, x), expected);
	}
	assert.equal(layouts.nodeAt(layout, layout.nRows, 0.5), -1);
});

test("a tree without an amount has nothing to show", () => {
	const { tree } = randomTree(50, 2);
	const layout = layouts.layoutTree(tree, new Float64Array(tree.n));
	assert.equal(layout.nRows, 1);
	assert.equal(layouts.nodeAt(layout, 0, 0.5), -1);
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
	const { tree, amount } = randomTree(2000, 31);
	const layout = layouts.layoutTree(tree, amount);
	const nameOf = (frame) => `f${frame}`;
	const node = layout.order[layout.rowStart[layout.nRows - 1]];
	const names = layouts.pathOf(tree, node).map((at) => nameOf(tree.frame[at]));
	assert.equal(layouts.followPath(tree, names, nameOf), node);
	assert.equal(layouts.followPath(tree, [...names, "no such"], nameOf), node);
	assert.equal(layouts.followPath(tree, ["no such"], nameOf), 0);
});
