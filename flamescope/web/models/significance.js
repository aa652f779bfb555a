/* significance.js - whether two selections can be compared, and what of a comparison is more than chance */

import { unitWord } from "wick/parts/amount.js";

export const LEVEL = 0.01; /* a p below it is more than chance */
export const LEAST = 0.01; /* a change of the share below it is not looked at */

/** Why two selections cannot be compared; "" if they can. */
export function whyNoDiff(base, now) {
	if (base.measure !== now.measure || base.unit !== now.unit)
		return `one side counts ${unitWord(base.unit)}, the other ${unitWord(now.unit)}`;
	if (base.measure === "mean")
		return "a mean has no whole that shares could be of";
	return "";
}

/** Whether "self" or "total" of a function changed by LEAST and more than chance. */
export function isFlagged(diff, i, part) {
	const p = part === "self" ? diff.chance?.selfP : diff.chance?.totalP;
	return p !== undefined && p[i] < LEVEL && Math.abs(diff[part][1][i] - diff[part][0][i]) >= LEAST;
}
