/* where the nodes of a tree are, and which of them are drawn */
import assert from "node:assert/strict";
import test from "node:test";

import * as layouts from "../../flamescope/web/tree_layout.js";

function random(seed) {
	let state = seed >>> 0;
	return () => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return state / 2 ** 32;
	};
}

/* {n, parent, frame, firstChild, next, depth} of N nodes by chance: siblings in the order of frame. */
function randomNodes(n, frames, chance) {
	const tree = { n, parent: new Uint32Array(n), frame: new Uint32Array(n), firstChild: new Uint32Array(n),
		next: new Uint32Array(n), depth: new Uint32Array(n) };
	const known = new Set();
	for (let node = 1; node < n;) {
		const parent = Math.floor(chance() * Math.min(node, 200));
		const frame = Math.floor(chance() * frames);
		if (known.has(parent * frames + frame))
			continue;
		known.add(parent * frames + frame);
		tree.parent[node] = parent;
		tree.frame[node] = frame;
		tree.depth[node++] = tree.depth[parent] + 1;
	}
	const byFrame = Array.from({ length: n - 1 }, (_, i) => i + 1).sort((a, b) => tree.frame[b] - tree.frame[a]);
	for (const node of byFrame) {
		tree.next[node] = tree.firstChild[tree.parent[node]];
		tree.firstChild[tree.parent[node]] = node;
	}
	return tree;
}

/* Such a tree, and leaves' amounts by chance. */
function randomTree(n, seed) {
	const chance = random(seed);
	const tree = randomNodes(n, 1000, chance);
	const amount = new Float64Array(tree.n);
	for (let i = tree.n - 1; i > 0; i--) {
		amount[i] += Math.floor(chance() * 3);
		amount[tree.parent[i]] += amount[i];
	}
	return { tree, amount };
}

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
