/* blocked.c - the stack of a thread that is blocked, from outside and without a signal */
#include "sampler/remote/blocked.h"

#include "sampler/remote/blocked_bp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	LINE_BYTES = 256, /* nr, six arguments, sp and pc take 200 */
	RECOVERIES = 64,  /* of registers in one walk */
};

/*
 * What an unknown register holds: an address that no memory has, so that whoever follows it is
 * refused, and it is seen which it was.  The words around each are its own.
 */
#define UNKNOWN_BP    (UINT64_C(1) << 60)
#define UNKNOWN_BX    (UINT64_C(1) << 61)
#define UNKNOWN_REACH (UINT64_C(1) << 32)

static bool take_hex(const char **at, uint64_t *ret_value)
{
	char *end;

	if (strncmp(*at, " 0x", 3) != 0)
		return false;
	*ret_value = strtoull(*at + 1, &end, 16);
	*at = end;
	return true;
}

/* "running", "-1 SP PC", or "NR A0 A1 A2 A3 A4 A5 SP PC". */
static int parse(const char *text, struct blocked_at *ret_at)
{
	struct blocked_at at = {0};
	const char *rest = text;
	char *end;
	long nr;

	if (strncmp(text, "running", 7) == 0)
		return -EBUSY;
	nr = strtol(text, &end, 10);
	if (end == text)
		return -EBADMSG;
	rest = end;
	at.in_syscall = nr != -1;
	at.nr = at.in_syscall ? nr : 0;
	for (int i = 0; at.in_syscall && i < 6; i++)
		if (!take_hex(&rest, &at.args[i]))
			return -EBADMSG;
	if (!take_hex(&rest, &at.sp) || !take_hex(&rest, &at.pc) || *rest != '\n')
		return -EBADMSG;
	*ret_at = at;
	return 0;
}

int blocked_read(int syscall_fd, struct blocked_at *ret_at)
{
	char text[LINE_BYTES];
	/* One read: it is a line, and another would make the kernel look again. */
	ssize_t n = pread(syscall_fd, text, sizeof(text) - 1, 0);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	return n == 0 ? -ESRCH : parse(text, ret_at);
}

static bool is_unknown(uint64_t address, uint64_t unknown)
{
	return address - (unknown - UNKNOWN_REACH) < 2 * UNKNOWN_REACH;
}

/* Which register stopped a walk; 0: something else did. */
static unsigned missing_register(struct remote *remote, const struct unwind_result *result)
{
	uint64_t refused = remote_take_refused(remote);

	if (result->stop != UNWIND_BOUNDS && result->stop != UNWIND_BAD_CFI)
		return 0;
	if (is_unknown(refused, UNKNOWN_BP))
		return ARCH_REG_BP;
	return is_unknown(refused, UNKNOWN_BX) ? ARCH_REG_BX : 0;
}

/* On from the frame that the last walk stopped in, whose registers are now known. */
static struct unwind_result walk_on(struct remote *remote, struct unwind_regs *regs, bool exact,
				    uint64_t *pcs, size_t max)
{
	struct unwind_result result;
	uint64_t pc = pcs[0];
	uint64_t sp = regs->sp; /* the CFA of the frame before */

	/* A return address is looked up by the byte before it; a walk starts where it is. */
	regs->pc -= !exact;
	regs->saved = 0;
	(void)remote_take_refused(remote);
	result = unwind_walk(remote_reader(remote), remote_rules(remote), regs, pcs, max);
	pcs[0] = pc;
	if (result.cfa == 0)
		result.cfa = sp;
	return result;
}

static bool recover(struct remote *remote, unsigned reg, struct unwind_regs *regs, bool *ret_exact)
{
	struct blocked_frame frame = {.reg = reg};
	uint64_t value;

	frame.exact = unwind_stopped_at(remote_reader(remote), regs);
	frame.pc = regs->pc;
	frame.sp = regs->sp;
	if (!blocked_recover(remote, &frame, &value))
		return false;
	*(reg == ARCH_REG_BP ? &regs->bp : &regs->bx) = value;
	*ret_exact = frame.exact;
	return true;
}

int blocked_walk(struct remote *remote, const struct blocked_at *at, uint64_t *pcs, size_t max,
		 struct unwind_result *ret_result)
{
	struct unwind_regs regs = {.pc = at->pc, .sp = at->sp, .bp = UNKNOWN_BP, .bx = UNKNOWN_BX};
	struct unwind_result result;
	int r = remote_begin(remote, at->sp);

	if (r < 0)
		return r;
	result = unwind_walk(remote_reader(remote), remote_rules(remote), &regs, pcs, max);
	for (int i = 0; i < RECOVERIES; i++) {
		unsigned reg = missing_register(remote, &result);
		size_t n = result.n_pcs - 1;
		bool exact;

		if (!reg)
			break;
		if (!recover(remote, reg, &regs, &exact)) {
			result.stop = UNWIND_BAD_CFA;
			break;
		}
		result = walk_on(remote, &regs, exact, pcs + n, max - n);
		result.n_pcs += n;
	}
	*ret_result = result;
	return 0;
}
