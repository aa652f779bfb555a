/*
 * terminal.h - what a person sees and presses: messages, numbers as text, Ctrl-C, the browser
 *
 * Context: main thread, unless a function says another.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "base/buf.h"
#include "sampler/collector/collector.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * say_init - whose messages these are
 * @command: NULL for wick itself
 */
void say_init(const char *command);

/** say_quiet - from now on only errors are written */
void say_quiet(void);

/**
 * say_about - what errors and notes are about from now on, beside the command
 * @where: "'/etc/wick.ini' line 3"; NULL: nothing.  It is copied.
 *
 * Context: main thread, while there is no other.
 */
void say_about(const char *where);

/**
 * say_error - one line on stderr: "wick CMD: MESSAGE", however quiet
 *
 * Context: any thread; the line is one write(2).
 */
void say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * say_note - the same, unless quiet
 *
 * Context: any thread.
 */
void say_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * say_text - text as it is on stderr, unless quiet
 *
 * Context: any thread.
 */
void say_text(struct buf *text);

/**
 * say_live - replace the line at the bottom of the terminal; "" removes it
 *
 * Nothing happens where stderr is no terminal, or when quiet.
 */
void say_live(const char *text);

/** say_is_live - whether say_live() shows anything */
bool say_is_live(void);

/**
 * say_result - what a command was requested, on stdout
 *
 * Return:  0; -EPIPE when the reader has gone; -errno.
 */
int say_result(struct buf *text);

/**
 * text_of - "1 thread", "2 threads", "3 processes"
 * @noun: in the singular
 *
 * Context: any thread, as for all of these.
 */
void text_of(struct buf *buf, uint64_t value, const char *noun);

/**
 * text_seconds - 0.25 s, 12.3 s, 3 min 20 s
 *
 * Context: any thread.
 */
void text_seconds(struct buf *buf, uint64_t ns);

/**
 * text_sampled - "3.99 s of CPU", "12.0 s of wall time, 3.99 s of it CPU"
 * @ns:     what samples of a clock stand for
 * @cpu_ns: of it that threads were running
 *
 * Context: any thread.
 */
void text_sampled(struct buf *buf, uint64_t ns, uint64_t cpu_ns);

/**
 * text_share - PART of WHOLE in percent: 0.12 %, 12.3 %
 *
 * Context: any thread.
 */
void text_share(struct buf *buf, double part, double whole);

/**
 * text_rate - "99 Hz", or "31 Hz effective of 99 asked"
 *
 * Context: any thread.
 */
void text_rate(struct buf *buf, uint32_t effective_hz, uint32_t hz);

/**
 * text_defuse - in place, what words_plain() replaces: each such byte becomes a question mark
 *
 * Context: any thread.
 */
void text_defuse(char *text);

/**
 * terminal_columns - how wide the terminal is that stdout is
 *
 * Return:  0: it is none, or does not say.
 */
uint32_t terminal_columns(void);

/**
 * terminal_has_colours - whether stdout shows 256 colours and characters of UTF-8
 *
 * NO_COLOR and TERM=dumb are obeyed.
 */
bool terminal_has_colours(void);

/** terminal_has_true_colours - whether it says that its colours have 24 bits (COLORTERM) */
bool terminal_has_true_colours(void);

/** terminal_is_light - whether it says that its background is light (COLORFGBG) */
bool terminal_is_light(void);

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
 */
void interrupt_detaches(struct collector *collector);

/**
 * interrupt_no_cmd - there is no CMD: the first SIGINT is ours, too
 *
 * Context: main thread, before interrupt_catch().
 */
void interrupt_no_cmd(void);

/**
 * interrupt_signal - the signal that ends wick while CMD lives on
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

/** browser_is_here - whether there is a display that a browser could open at */
bool browser_is_here(void);

/**
 * browser_open - hand an address to xdg-open, and do not wait for it
 *
 * Return:  0; -ENOENT: there is no xdg-open; -errno.
 */
int browser_open(const char *address);

/**
 * browser_open_file - the same for a file, whatever its name: "-x" is no option, "a:b" no address
 *
 * Return:  as browser_open(); -errno when the file is not there.
 */
int browser_open_file(const char *path);

/**
 * browser_open_secret - the same for an address that others on this machine must not read
 *
 * What is handed over is a file that leads there, since command lines can be read by everybody.
 *
 * Return:  0, and the file; as browser_open(); -errno of making the file.
 * Owns:    the caller: unlink and free(*ret_file), once the browser has had the time to read it.
 */
int browser_open_secret(const char *address, char **ret_file);

/**
 * browser_say_elsewhere - the commands with which another machine sees a page of this one
 * @page: the file
 * @recording: one that `wick serve` can show instead, as a path; NULL: none
 */
void browser_say_elsewhere(const char *page, const char *recording);

/** browser_say_remote - the command with which another machine sees a recording of this one */
void browser_say_remote(const char *recording);

#endif
