/* memo.js - what was made last, by what it was made of */

/** A key of parts of a state, in which the end of the time is no number that JSON has. */
export const keyOf = (...parts) => JSON.stringify(parts, (_, value) => (value === Infinity ? "end" : value));

/** Keeps the MOST values that were used last; DROP(value) is called for one that is forgotten. */
export function makeMemo(most, drop = () => {}) {
	const kept = new Map();
	return {
		/** Undefined: there is none. */
		get(key) {
			const value = kept.get(key);
			if (kept.delete(key))
				kept.set(key, value); /* and is the newest again */
			return value;
		},
		set(key, value) {
			kept.set(key, value);
			if (kept.size > most) {
				const [oldest, old] = kept.entries().next().value;
				kept.delete(oldest);
				drop(old);
			}
			return value;
		},
		forget() {
			kept.forEach((value) => drop(value));
			kept.clear();
		},
	};
}
