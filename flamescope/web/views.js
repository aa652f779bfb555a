/* views.js - the views of the stacks (tabs) and the panels around them */

/* {id, label, mount(element, app) -> {unmount()}} */
export const views = [];

/* {id, mount(element, app)}: into the element "panel-ID" of page.html */
export const panels = [];
