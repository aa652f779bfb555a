/* frames.js - what a frame is called; above the recording's own numbers are the labels of groups */

export function frameName({ profile, labels }, frame) {
	const { n, name } = profile.frames;
	return frame < n ? profile.text(name[frame]) : labels[frame - n];
}

/* "" for groups, for inlined frames and where the file has none. */
export function frameModule({ profile }, frame) {
	const { n, module } = profile.frames;
	return frame < n ? profile.text(module[frame]) : "";
}

export function frameInlined({ profile }, frame) {
	return frame < profile.frames.n && profile.frames.inlined[frame] !== 0;
}

export const isGroupLabel = ({ profile }, frame) => frame >= profile.frames.n;

/** One more than the highest number of a frame, those of groups included. */
export const numberOfFrames = ({ profile, labels }) => profile.frames.n + labels.length;
