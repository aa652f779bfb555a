/* tip.js - the small box beside the pointer */

/* show() places lines of text (the first is the title) so that they stay inside the window. */
export function makeTip(element) {
	return {
		show(x, y, lines) {
			element.replaceChildren(...lines.map((line) => {
				const p = document.createElement("p");
				p.textContent = line;
				return p;
			}));
			element.hidden = false;
			const box = element.getBoundingClientRect();
			const left = x + 14 + box.width > window.innerWidth ? x - 14 - box.width : x + 14;
			const top = y + 18 + box.height > window.innerHeight ? y - 12 - box.height : y + 18;
			element.style.left = `${Math.max(4, left)}px`;
			element.style.top = `${Math.max(4, top)}px`;
		},
		hide() {
			element.hidden = true;
		},
	};
}
