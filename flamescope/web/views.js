/* views.js - the views of the stacks (tabs) and the panels around them */

import { chipsPanel } from "wick/panel_chips.js";
import { detailsPanel } from "wick/panel_details.js";
import { searchPanel } from "wick/panel_search.js";
import { savePanel } from "wick/save.js";
import { diffView } from "wick/view_diff.js";
import { flameViews } from "wick/view_flame.js";
import { sandwichView } from "wick/view_sandwich.js";
import { stripView } from "wick/view_strip.js";
import { tableView } from "wick/view_table.js";

/* {id, label, mount(element, app) -> {unmount()}}; what is mounted may have a `canvas` to save */
export const views = [...flameViews, sandwichView, stripView, tableView, diffView];

/* {id, mount(element, app)}: into the element "panel-ID" of page.html */
export const panels = [chipsPanel, detailsPanel, searchPanel, savePanel];
