/* absent.c - weak stand-ins until the reader and the cache are there: not to be kept */
#include "symbolize/cache.h"
#include "symbolize/dwarf/dwarf.h"
#include <errno.h>
#define WEAK __attribute__((weak))
WEAK int dwarf_file_new(struct dwarf_sections *s, const struct dwarf_options *o,
			struct dwarf_file **f)
{
	(void)o;
	(void)f;
	dwarf_sections_close(s);
	return -ENODATA;
}
WEAK void dwarf_file_free(struct dwarf_file *f)
{
	(void)f;
}
WEAK int dwarf_reader_new(struct dwarf_file *f, struct dwarf_reader **r)
{
	(void)f;
	(void)r;
	return -ENOMEM;
}
WEAK void dwarf_reader_free(struct dwarf_reader *r)
{
	(void)r;
}
WEAK uint64_t dwarf_unit_of(struct dwarf_file *f, uint64_t a)
{
	(void)f;
	(void)a;
	return 0;
}
WEAK int dwarf_read_function(struct dwarf_reader *r, uint64_t a, struct function_table *t)
{
	(void)r;
	(void)a;
	(void)t;
	return -ENOENT;
}
WEAK int cache_open(const struct cache_options *o, struct cache **c, struct err *e)
{
	(void)o;
	(void)c;
	(void)e;
	return -ENOTSUP;
}
WEAK void cache_close(struct cache *c)
{
	(void)c;
}
WEAK int cache_module_open(struct cache *c, const struct cache_key *k, const char *n,
			   struct cache_module **m)
{
	(void)c;
	(void)k;
	(void)n;
	(void)m;
	return -ENOTSUP;
}
WEAK void cache_module_close(struct cache_module *m)
{
	(void)m;
}
WEAK int cache_find(struct cache_module *m, uint64_t a, struct function_table *t)
{
	(void)m;
	(void)a;
	(void)t;
	return -ENOENT;
}
WEAK int cache_add(struct cache_module *m, const struct function_table *t)
{
	(void)m;
	(void)t;
	return 0;
}
