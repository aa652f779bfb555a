/* interrupt.h - Ctrl-C and requests to end, while a program is being recorded */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include "sampler/collector/collector.h"

#include <signal.h>

/**
 * interrupt_catch - from now on SIGINT, SIGQUIT, SIGTERM and SIGHUP no longer end wick
 *
 * A signal that was ignored stays ignored (nohup, background jobs).  Handlers only: CMD starts
 * with the defaults, as exec resets them.
 *
 * Context: main thread, once.
 */
void interrupt_catch(void);

/**
 * interrupt_detaches - which collector a second SIGINT, a SIGTERM or a SIGHUP detaches
 * @collector: NULL: none
 *
 * Context: main thread.
 */
void interrupt_detaches(struct collector *collector);

/**
 * interrupt_no_cmd - there is no CMD: the first SIGINT is ours, too
 *
 * Context: main thread, before interrupt_catch().
 */
void interrupt_no_cmd(void);

/**
 * interrupt_signal - the signal that asked wick to end while CMD lives on
 *
 * Return:  its number; 0 when none did (a first SIGINT is CMD's alone).
 * Context: any thread.
 */
int interrupt_signal(void);

/**
 * interrupt_count - how many times Ctrl-C was pressed; the first is CMD's
 *
 * Context: any thread.
 */
int interrupt_count(void);

#endif
