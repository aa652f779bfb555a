/* target.h - a real program that is stopped at random moments and looked at from outside */
#ifndef ORACLE_TARGET_H
#define ORACLE_TARGET_H

#include "sampler/unwind/unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

enum {
	TARGET_STACK = 4 << 20, /* the most that is copied of one stack */
	TARGET_PAGE = 4096,
	TARGET_PAGES = 1024, /* of other memory kept while a thread is stopped */
	TARGET_MODULES = 512,
	TARGET_RANGES = 2048,
	TARGET_NAME = 64,
};

/* A file's mappings, or the vdso's, taken together. */
struct target_module {
	struct unwind_module module;
	char name[TARGET_NAME]; /* the last part of its path */
};

/* Memory that may be executed. */
struct target_range {
	uint64_t start;
	uint64_t end;
};

struct target_page {
	uint64_t address; /* 0: nothing is kept here */
	bool readable;
	unsigned char bytes[TARGET_PAGE];
};

/* By the wall and by the CPU that this thread has used. */
struct moment {
	uint64_t wall_ns;
	uint64_t cpu_ns;
};

/* One program and, while a thread of it is stopped, that thread's registers and stack. */
struct target {
	pid_t pid;
	pid_t stopped;       /* the thread that is stopped, 0 when none is */
	int signal;          /* that its stop has held back */
	struct moment asked; /* when its stop had been asked for, before it was waited for */
	struct user_regs_struct regs;
	uint64_t stack_lo; /* of the copy */
	uint64_t stack_hi;
	unsigned char *stack;
	struct target_page *pages;
	size_t n_modules;
	struct target_module modules[TARGET_MODULES];
	size_t n_code;
	struct target_range code[TARGET_RANGES];
};

/**
 * moment_now - what both clocks say
 *
 * Context: main thread.
 */
struct moment moment_now(void);

/**
 * moment_lost_ns - for how long this thread did not run from one moment to another
 *
 * It waited for a processor, or a hypervisor had taken the processor away.
 *
 * Context: main thread.
 */
uint64_t moment_lost_ns(const struct moment *from, const struct moment *to);

/**
 * target_init - room for copies; exits the program when there is no memory
 *
 * Context: main thread.
 */
void target_init(struct target *target);

/**
 * target_release - end the program and give back the memory
 *
 * Context: main thread.
 */
void target_release(struct target *target);

/**
 * target_start - run a command with its output thrown away, up to its exec
 *
 * Return:  0; -errno of fork or exec.
 * Context: main thread.
 */
int target_start(struct target *target, char *const argv[]);

/**
 * target_stop - stop one of its threads, chosen at random, and copy what it stands on
 *
 * Return:  false when that thread has just gone.
 * Context: main thread.
 */
bool target_stop(struct target *target);

/**
 * target_stop_thread - the same for one thread of target->pid
 *
 * Return:  false when it has just gone.
 * Context: main thread.
 */
bool target_stop_thread(struct target *target, pid_t tid);

/**
 * target_resume - let the stopped thread go on
 *
 * Context: main thread.
 */
void target_resume(struct target *target);

/**
 * target_ended - whether the program has come to its end
 *
 * Context: main thread.
 */
bool target_ended(struct target *target);

/**
 * target_read - memory: of the stack's copy where it holds it, else of the program
 *
 * Return:  false unless all of it can be read.
 * Context: main thread.
 */
bool target_read(struct target *target, uint64_t address, void *to, size_t len);

/**
 * target_module_at - the module that holds an address
 *
 * Return:  NULL when none does.
 * Context: main thread.
 */
const struct target_module *target_module_at(const struct target *target, uint64_t address);

/**
 * target_is_code - whether an address can be executed
 *
 * Context: main thread.
 */
bool target_is_code(const struct target *target, uint64_t address);

#endif
