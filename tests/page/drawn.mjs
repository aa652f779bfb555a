/* drawn.mjs - whether a page still waits for a frame to draw in */

/** Runs in a page before its own scripts: from then on isDrawn() says whether nothing waits for a frame. */
export function countFrames() {
	const { cancelAnimationFrame: cancel, requestAnimationFrame: ask } = window;
	const asked = new Set();
	window.requestAnimationFrame = (step) => {
		const number = ask((now) => {
			asked.delete(number);
			step(now);
		});
		asked.add(number);
		return number;
	};
	window.cancelAnimationFrame = (number) => {
		asked.delete(number);
		cancel(number);
	};
	window.isDrawn = () => asked.size === 0;
}
