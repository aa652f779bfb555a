/* layout.test.mjs - columns that fit, where they begin, and what is chosen from a list */

import assert from "node:assert/strict";
import { test } from "node:test";
import { toggleLabel } from "../../flamescope/web/panels/filter_menu.js";
import { escapePattern, labelsOf, patternOf } from "../../flamescope/web/state/label_pattern.js";
import { everyOfRow, fittingColumn, phaseOf, rectangleRanges, wholeWindow, wrapped } from "../../flamescope/web/heat/heat_place.js";
import { heatShare } from "../../flamescope/web/parts/layout.js";

const S = 1e9;
const MS = 1e6;

const columns = [1, 2, 5, 10, 60, 300, 3600, 86400].map((s) => s * S); /* of what C says of a recording (heat.h) */

test("columns are as short as they may be, and two pixels wide at least", () => {
	for (const seconds of [0, 2, 16, 300, 600])
		assert.equal(fittingColumn({ columns }, seconds * S, 1200), S);
	for (const [seconds, fits] of [[601, 2], [3600, 10], [86400, 300], [30 * 86400, 86400], [3000 * 86400, 86400]])
		assert.equal(fittingColumn({ columns }, seconds * S, 1200), fits * S);
	assert.equal(fittingColumn({ columns: [100 * MS, ...columns] }, 3 * S, 1200), 100 * MS);
});

/* What of a model says where cells are. */
const heatOf = ({ columnNs = S, startSub = 0, phase = 0, nRows = 50, nColumns = 20 } = {}) => ({ columnNs, nRows, nColumns,
	rowNs: columnNs / nRows, originNs: phase - startSub, rowLabels: null, selection: { profile: { startSub } } });

test("a phase is where in a second columns begin, wherever the recording does", () => {
	for (const startSub of [0, 300 * MS, 999999999])
		for (const phase of [0, 140 * MS, 980 * MS])
			assert.equal(phaseOf(heatOf({ startSub, phase })), phase);
	assert.equal(phaseOf(heatOf({ startSub: 0, phase: -20 * MS })), 980 * MS);
});

test("what is seen begins with the column of the recording's start", () => {
	assert.equal(wholeWindow(heatOf({ startSub: 300 * MS })).from, -300 * MS);
	assert.equal(wholeWindow(heatOf({ columnNs: 100 * MS, startSub: 930 * MS })).from, -30 * MS);
});

/* The cells whose middles RANGES hold, as inRanges() of the selection tells it. */
function cellsIn(heat, ranges) {
	const cells = [];
	for (let column = 0; column < heat.nColumns; column++)
		for (let row = 0; row < heat.nRows; row++) {
			const at = heat.originNs + column * heat.columnNs + (row + 0.5) * heat.rowNs;
			const part = (at + heat.selection.profile.startSub) % S;
			if (at >= 0 && ranges.some(({ from, to, rows }) => at >= from && at < to && (!rows || (part >= rows[0] && part < rows[1]))))
				cells.push(`${column},${row}`);
		}
	return cells;
}

test("a rectangle selects its cells and no others, across the edge of a second too", () => {
	for (const options of [{}, { phase: 140 * MS }, { phase: 980 * MS, startSub: 300 * MS }, { columnNs: 100 * MS, nRows: 10 },
		{ columnNs: 100 * MS, nRows: 10, phase: 30 * MS }]) {
		const heat = heatOf(options);
		for (const [a, b] of [[{ column: 2, row: 3 }, { column: 9, row: 8 }], [{ column: 9, row: 9 }, { column: 4, row: 2 }],
			[{ column: 5, row: 0 }, { column: 5, row: 9 }], [{ column: 1, row: 1 }, { column: 1, row: 1 }]]) {
			const wanted = [];
			for (let column = Math.min(a.column, b.column); column <= Math.max(a.column, b.column); column++)
				for (let row = Math.min(a.row, b.row); row <= Math.max(a.row, b.row); row++)
					wanted.push(`${column},${row}`);
			assert.deepEqual(cellsIn(heat, rectangleRanges(heat, a, b)), wanted, JSON.stringify([options, a, b]));
		}
	}
	const wide = heatOf({ columnNs: 100 * MS, nRows: 10, nColumns: 40 });
	assert.deepEqual(rectangleRanges(wide, { column: 2, row: 1 }, { column: 30, row: 2 }),
		[{ from: 200 * MS, to: 3100 * MS, rows: null }], "too many parts: whole columns");
});

test("a row of columns that are not seconds is a part of every such time", () => {
	assert.equal(everyOfRow(heatOf(), 3), null);
	assert.deepEqual(everyOfRow(heatOf({ columnNs: 100 * MS, nRows: 10 }), 3), { every: 100 * MS, from: 30 * MS, to: 40 * MS });
	assert.deepEqual(everyOfRow(heatOf({ columnNs: 100 * MS, nRows: 10, phase: 80 * MS }), 3), { every: 100 * MS, from: 10 * MS, to: 20 * MS });
	assert.deepEqual(wrapped(900, 950, 75, 1000), [[975, 1000], [0, 25]]);
});

test("labels become a pattern of their own and come back from it", () => {
	for (const labels of [["a"], ["a", "b"], ["a|b", "(c)", "\\", "^$"], ["x)"], ["(x", "y)"], [""], ["a", ""], ["redis/10"]]) {
		assert.deepEqual(labelsOf(patternOf(labels)), labels);
		for (const label of labels)
			assert.match(label, new RegExp(patternOf(labels)));
		assert.doesNotMatch("none of these", new RegExp(patternOf(labels) || "^$"));
	}
	for (const pattern of ["a", "^a", "^a.c$", "^(a|b.)$", "a|b", "^(a)$"])
		assert.equal(labelsOf(pattern), null, pattern);
	assert.equal(escapePattern("a.b"), "a\\.b");
});

test("values are added to the filter of their dimension, and taken from it", () => {
	const other = { dimension: "cpu", pattern: "1", exclude: false };
	const one = toggleLabel([other], "thread", "a/1", false, true);
	assert.deepEqual(one, [other, { dimension: "thread", pattern: "^a/1$", exclude: false }]);
	const two = toggleLabel(one, "thread", "b/2", false, true);
	assert.deepEqual(two[1].pattern, "^(a/1|b/2)$");
	assert.deepEqual(toggleLabel(toggleLabel(two, "thread", "a/1", false, false), "thread", "b/2", false, false), [other]);
	assert.equal(toggleLabel(two, "thread", "c/3", true, true).length, 3, "what is left out is apart");
	/* "has none" is no pattern that others can be beside */
	assert.deepEqual(toggleLabel(two, "thread", "", false, true)[1].pattern, "");
	assert.deepEqual(toggleLabel([{ ...other, dimension: "thread" }], "thread", "a", false, true).length, 2);
});

test("the heatmap has its share, the view the rest", () => {
	assert.equal(heatShare(0, 520), 420);
	assert.equal(heatShare(0, 2080), 550);
	assert.equal(heatShare(300, 2080), 300);
	assert.deepEqual([heatShare(1, 500), heatShare(900, 500)], [150, 850]);
});
