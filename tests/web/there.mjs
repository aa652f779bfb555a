/* there.mjs - what a drawing would be made of, once all that it asks for has come */

/** What STEP returns when nothing that it needs is missing. */
export async function there(step) {
	for (;;) {
		try {
			return step();
		} catch (error) {
			if (error instanceof Error)
				throw error;
			await error.ready;
		}
	}
}
