/* theirs.c - libunwind over a stopped thread, by accessors of our own */
#include "tests/oracle/walks.h"

#include <libunwind.h>
#include <stdlib.h>

/* Exported, declared in no public header; perf finds its tables by it too. */
int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t as, unw_word_t ip, unw_dyn_info_t *di,
				       unw_proc_info_t *pi, int need_unwind_info, void *arg);

struct theirs {
	unw_addr_space_t space;
	struct target *target;
	bool without_fde; /* a lookup since it was last set false found no FDE */
};

/*
 * A table of .eh_frame_hdr as libunwind wants it told: 4 bytes of header, the encoded address
 * of .eh_frame, the count, then pairs of 4 bytes.
 */
static int search_table(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *info,
			int need_unwind_info, void *arg)
{
	struct theirs *theirs = arg;
	const struct target_module *module = target_module_at(theirs->target, ip);
	unw_dyn_info_t table = {.format = UNW_INFO_FORMAT_REMOTE_TABLE};
	unsigned char header[12];
	uint32_t n;

	if (!module || !module->module.eh_frame_hdr ||
	    !target_read(theirs->target, module->module.eh_frame_hdr, header, sizeof(header)) ||
	    header[2] != 0x03 || header[3] != 0x3b)
		return -UNW_ENOINFO;
	__builtin_memcpy(&n, header + 8, sizeof(n));
	table.start_ip = module->module.start;
	table.end_ip = module->module.end;
	table.u.rti.segbase = module->module.eh_frame_hdr;
	table.u.rti.table_data = module->module.eh_frame_hdr + sizeof(header);
	table.u.rti.table_len = (unw_word_t)n * 8 / sizeof(unw_word_t);
	return UNW_OBJ(dwarf_search_unwind_table)(space, ip, &table, info, need_unwind_info, arg);
}

static int find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *info,
			  int need_unwind_info, void *arg)
{
	int r = search_table(space, ip, info, need_unwind_info, arg);

	if (r < 0 && !walk_ours_has_fde(((struct theirs *)arg)->target, ip))
		((struct theirs *)arg)->without_fde = true;
	return r;
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *arg)
{
	(void)space;
	(void)info;
	(void)arg;
}

static int get_dyn_info_list(unw_addr_space_t space, unw_word_t *list, void *arg)
{
	(void)space;
	(void)list;
	(void)arg;
	return -UNW_ENOINFO;
}

static int access_mem(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int write,
		      void *arg)
{
	(void)space;
	if (write)
		return -UNW_EINVAL;
	return target_read(((struct theirs *)arg)->target, address, value, sizeof(*value))
		       ? 0
		       : -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t space, unw_regnum_t reg, unw_word_t *value, int write,
		      void *arg)
{
	const struct user_regs_struct *regs = &((struct theirs *)arg)->target->regs;
	const unw_word_t in_order[] = {
		regs->rax, regs->rdx, regs->rcx, regs->rbx, regs->rsi, regs->rdi,
		regs->rbp, regs->rsp, regs->r8,  regs->r9,  regs->r10, regs->r11,
		regs->r12, regs->r13, regs->r14, regs->r15, regs->rip,
	};

	(void)space;
	if (write || reg < 0 || (size_t)reg >= sizeof(in_order) / sizeof(in_order[0]))
		return -UNW_EBADREG;
	*value = in_order[reg];
	return 0;
}

static int access_fpreg(unw_addr_space_t space, unw_regnum_t reg, unw_fpreg_t *value, int write,
			void *arg)
{
	(void)space;
	(void)reg;
	(void)value;
	(void)write;
	(void)arg;
	return -UNW_EBADREG;
}

static int resume(unw_addr_space_t space, unw_cursor_t *cursor, void *arg)
{
	(void)space;
	(void)cursor;
	(void)arg;
	return -UNW_EINVAL;
}

static int get_proc_name(unw_addr_space_t space, unw_word_t address, char *name, size_t len,
			 unw_word_t *offset, void *arg)
{
	(void)space;
	(void)address;
	(void)name;
	(void)len;
	(void)offset;
	(void)arg;
	return -UNW_ENOINFO;
}

struct theirs *theirs_new(void)
{
	static unw_accessors_t accessors = {
		.find_proc_info = find_proc_info,
		.put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = get_dyn_info_list,
		.access_mem = access_mem,
		.access_reg = access_reg,
		.access_fpreg = access_fpreg,
		.resume = resume,
		.get_proc_name = get_proc_name,
	};
	struct theirs *theirs = calloc(1, sizeof(*theirs));

	if (!theirs)
		return NULL;
	theirs->space = unw_create_addr_space(&accessors, 0);
	if (!theirs->space) {
		free(theirs);
		return NULL;
	}
	(void)unw_set_caching_policy(theirs->space, UNW_CACHE_NONE);
	return theirs;
}

void theirs_free(struct theirs *theirs)
{
	if (!theirs)
		return;
	unw_destroy_addr_space(theirs->space);
	free(theirs);
}

size_t walk_theirs(struct theirs *theirs, struct target *target, uint64_t *pcs,
		   size_t *ret_n_vouched)
{
	unw_cursor_t cursor;
	unw_word_t ip = 0;
	size_t n = 0;
	int r;

	theirs->target = target;
	theirs->without_fde = false;
	*ret_n_vouched = SIZE_MAX;
	r = unw_init_remote(&cursor, theirs->space, theirs);
	while (r >= 0 && n < WALK_MAX) {
		if (unw_get_reg(&cursor, UNW_REG_IP, &ip) < 0 || ip == 0)
			break;
		pcs[n++] = ip;
		r = unw_step(&cursor);
		if (theirs->without_fde && *ret_n_vouched == SIZE_MAX)
			*ret_n_vouched = n;
		if (r <= 0)
			break;
	}
	return n;
}
