/* label_pattern.js - patterns that match some labels and nothing else: what is chosen from a list */

const SPECIAL = /[\\^$.*+?()[\]{}|]/g;

export function escapePattern(text) {
	return text.replace(SPECIAL, "\\$&");
}

/** The pattern that matches LABELS only; of the label "" alone it is "", which is "has none". */
export function patternOf(labels) {
	if (labels.length === 1)
		return labels[0] === "" ? "" : `^${escapePattern(labels[0])}$`;
	return `^(${labels.map(escapePattern).join("|")})$`;
}

/* What stands between bars, without its backslashes. */
function partsOf(inner) {
	const parts = [""];
	for (let i = 0; i < inner.length; i++) {
		if (inner[i] === "|")
			parts.push("");
		else
			parts[parts.length - 1] += inner[i] === "\\" ? inner[++i] ?? "" : inner[i];
	}
	return parts;
}

/** The labels that PATTERN is the patternOf(); null: it is a pattern of another kind. */
export function labelsOf(pattern) {
	const candidates = [[""], partsOf(pattern.slice(1, -1)), partsOf(pattern.slice(2, -2))];
	return candidates.find((labels) => patternOf(labels) === pattern) ?? null;
}
