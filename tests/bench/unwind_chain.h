/* unwind_chain.h - a call chain of known depth */
#ifndef BENCH_UNWIND_CHAIN_H
#define BENCH_UNWIND_CHAIN_H

typedef void chain_visit(void *context);

/**
 * chain_call - call VISIT at the bottom of DEPTH more frames
 *
 * Context: any thread.
 */
void chain_call(unsigned depth, chain_visit *visit, void *context);

#endif
