/* view_flame.js - flame graph, icicle and reverse graph of the selection */

import { formatShare } from "wick/amount.js";
import { make } from "wick/dom.js";
import { makeLegend } from "wick/flame_legend.js";
import { openFrameMenu } from "wick/frame_menu.js";
import { frameName } from "wick/frames.js";
import { StackView, whyEmpty, ZoomedGraph } from "wick/stack_view.js";
import { sayAmount, flamePicture } from "wick/tree_picture.js";
import { widestNodes } from "wick/tree_layout.js";

const kinds = {
	flame: { label: "Flame", title: "Flame graph", up: true, order: "calls" },
	icicle: { label: "Icicle", title: "Icicle", up: false, order: "calls" },
	reverse: { label: "Reverse", title: "Reverse graph", up: false, order: "reverse" },
};

/** A tree of a selection as the table of textEquivalent(): what has a name in its drawing. */
export function treeTable(caption, tree, root = 0) {
	const { selection } = tree;
	const sum = (node) => tree.gain[node] + tree.loss[node];
	const total = sum(0);
	return {
		caption: `${caption}, frames of at least 0.5 %`,
		head: ["depth", "function", "total", "share", "self"],
		rows: widestNodes(tree, sum, root).map((node) => [
			String(tree.depth[node]), node === 0 ? "all" : frameName(selection, tree.frame[node]),
			sayAmount(selection, tree.gain[node], tree.loss[node], tree.samples[node]),
			formatShare(sum(node), total),
			sayAmount(selection, tree.selfGain[node], tree.selfLoss[node], tree.selfSamples[node])]),
	};
}

class FlameView extends StackView {
	constructor(element, app, kind) {
		super(element, app);
		this.kind = kind;
		this.legend = makeLegend();
		this.graph = new ZoomedGraph(app, {
			label: `${kind.title}: arrow keys move, Enter zooms, m opens the menu of a frame`,
			up: kind.up,
			onMenu: (node, x, y) => openFrameMenu(app, x, y, this.tree.selection, this.tree.frame[node],
				this.graph.canvas.canvas),
			table: (root) => treeTable(kind.title, this.tree, root),
		});
		const { crumbs, text, canvas } = this.graph;
		element.replaceChildren(make("div", { className: "bar" }, crumbs.element, this.legend.element, text.element),
			this.note, canvas.element);
		this.listKeys();
		this.update();
	}

	get graphs() {
		return [this.graph.canvas];
	}

	onState(state, old) {
		if (this.tree && (state.zoom !== old.zoom || state.window !== old.window))
			this.graph.place();
	}

	show() {
		const tree = this.app.models.flame(this.kind.order, "");
		const picture = flamePicture(this.app, tree);
		const empty = !(picture.layout.total > 0) || tree.n === 1;
		this.tree = tree;
		this.sayEmpty(empty ? whyEmpty(this.app, tree.selection) : "");
		this.graph.canvas.element.hidden = empty;
		this.legend.show(empty ? [] : picture.keys);
		this.tellFound(picture.found);
		this.graph.show(picture);
	}

	unmount() {
		this.graph.stop();
		super.unmount();
	}
}

/** The three views of one tree, for views.js. */
export const flameViews = Object.entries(kinds).map(([id, kind]) => ({
	id,
	label: kind.label,
	title: kind.title,
	mount: (element, app) => new FlameView(element, app, kind),
}));
