/*
 * pack.js - a pack's bytes as a profile (flamescope/pack/pack.h says what they are)
 *
 * C checks them; what of a profile the views look at is copied out when they first do.
 */

import { allocate, column, facts, free, lazy, make, release, stringOf } from "wick/models/model.js";

const PALETTE = ["frames", "changes", "more", "less", "ink"]; /* of flamescope/wasm/wasm_draw.c */
const FRAME_COLUMNS = ["name", "module", "inlined"];

/* Each string is decoded once. */
function makeText(profile) {
	const known = [];
	return (number) => (known[number] ??= stringOf(profile.made, number));
}

/** BYTES (plain) -> a profile, to releaseProfile(); an Error says what is wrong with them. */
export function readPack(bytes) {
	try {
		return profileOf(make("profile", allocate(bytes), bytes.length));
	} catch (error) {
		throw new Error(`the recording's data is damaged: ${error.message}`);
	}
}

/** The same of a file called NAME, in any format that commands read. */
export function readRecording(bytes, name) {
	const at = allocate(bytes);
	try {
		return profileOf(make("loaded", name, at, bytes.length));
	} finally {
		release(at);
	}
}

function profileOf(address) {
	const said = facts("profile", address);
	Object.assign(said, { startNs: BigInt(said.startNs), epochOffsetNs: BigInt(said.epochOffsetNs) });
	const profile = {
		...said,
		said,
		get made() {
			if (!address)
				throw new Error("this recording is no longer shown");
			return address;
		},
		release() {
			free("profile", address);
			address = 0;
		},
	};
	const text = makeText(profile);
	const of = (name, i = 0) => column("profile", profile.made, name, i);
	const columns = (names, before = "") => Object.fromEntries(names.map((name) => [name, () => of(before + name)]));
	Object.assign(profile, {
		text,
		frames: lazy({ n: said.nFrames }, { ...columns(FRAME_COLUMNS, "frame_"), family: () => column("family", profile.made) }),
	});
	return lazy(profile, {
		families: () => facts("family", profile.made),
		states: () => facts("state"),
		notes: () => facts("notes", profile.made, Date.now() * 1e6),
	});
}

/** What the page has of a profile, as a message: all but samples and stacks. */
export function pageOf(profile) {
	const strings = column("profile", profile.made, "strings", 0);
	const starts = [0];
	for (let at = strings.indexOf(0); at >= 0; at = strings.indexOf(0, at + 1))
		starts.push(at + 1);
	const palette = (theme) => Object.fromEntries(PALETTE.map((name) => [name, column("palette", theme, name)]));
	const columns = [...FRAME_COLUMNS, "family"].map((name) => [name, profile.frames[name].slice()]);
	return {
		...profile.said, families: profile.families, states: profile.states, notes: profile.notes,
		frames: { n: profile.frames.n, ...Object.fromEntries(columns) },
		palette: { light: palette(0), dark: palette(1) },
		strings, starts: Uint32Array.from(starts),
	};
}

/** Gives the memory of a profile back; who looks at it from then on gets an Error. */
export const releaseProfile = (profile) => profile.release();
