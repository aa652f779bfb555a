/* tree_rows.js - a tree as a table: what a drawing of it shows, in words */

const MOST_ROWS = 200;
const LEAST_SHARE = 1 / 200; /* of the whole: narrower boxes carry no name either */

/**
 * widestNodes - the nodes below ROOT that a drawing has room to name, row by row, widest first
 * @amount: (node) -> how wide it is
 */
export function widestNodes(tree, amount, root = 0) {
	const least = amount(0) * LEAST_SHARE;
	const nodes = [root];
	for (let i = 0; i < nodes.length && nodes.length < MOST_ROWS; i++) {
		const children = [];
		for (let c = tree.firstChild[nodes[i]]; c !== 0; c = tree.next[c])
			if (amount(c) >= least)
				children.push(c);
		nodes.push(...children.sort((a, b) => amount(b) - amount(a)));
	}
	return nodes.slice(0, MOST_ROWS);
}
