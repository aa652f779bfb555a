/*
 * internal.h - the parts of a page
 *
 * Context: main thread.
 */
#ifndef EXPORT_INTERNAL_H
#define EXPORT_INTERNAL_H

#include "tools/export/export.h"

/* Tasks, or functions that are profiled exactly. */
struct page_tasks {
	enum total_kind kind;
	struct series top;
};

/** page_tasks - the series of tasks or functions: 0; -ENOMEM */
int page_tasks(struct page_tasks *tasks, const struct totals *totals, struct page_text *text);

/* A tier, or whole requests. */
struct page_tier {
	char *tier; /* NULL: free */
	struct series top;
	uint64_t others[SERIES_VALUES]; /* as the last page had them */
	/* of the page that is made: */
	struct page_rows rows;
	struct series_choice choice;
	struct series_row all;     /* _total; labels NULL: there is none */
	struct series_row outside; /* - */
	struct series_row other;
};

struct page_tiers {
	struct page_tier at[PAGE_TIERS + 1]; /* the last is of requests */
	uint64_t left_out;                   /* tiers without series */
};

/** page_tiers - the series of requests and tiers: 0; -ENOMEM */
int page_tiers(struct page_tiers *tiers, const struct totals *totals, struct page_text *text);

/** page_tiers_forget - begin anew */
void page_tiers_forget(struct page_tiers *tiers);

/** page_functions - the series of sampled functions: 0; -ENOMEM */
int page_functions(struct series *top, struct functions *functions, struct page_text *text);

/** page_self - the series of wick itself */
void page_self(const struct page_self *self, const struct totals *totals, struct page_text *text);

#endif
