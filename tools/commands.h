/* commands.h - every command of wick, and which program has it: wick, wick-view or wick-top */
#ifndef TOOLS_COMMANDS_H
#define TOOLS_COMMANDS_H

#include "tools/cli/cmd.h"

/* Each program defines WICK, VIEW and TOP: its own rows with what runs them, others with none. */
#define COMMANDS                                                                                   \
	WICK("record", "record what a program does: start it, or attach to a running one",         \
	     "[OPTIONS] -p PID | -a | [--] CMD [ARGS]", record_option_specs, cmd_record,           \
	     "  wick record -- ./server --port 8080      start it, record until it ends\n"         \
	     "  wick record -p $(pidof server) -d 30s    attach to it for 30 seconds\n"            \
	     "  wick record -e wall -- ./server          also waiting: files, sockets, locks\n"    \
	     "  wick record -o x.svg -- ./job            draw a flame graph at the end\n")         \
	VIEW("view", "make one HTML page of recordings and open it in a browser",                  \
	     "[OPTIONS] FILE...", view_option_specs, cmd_view, NULL)                               \
	VIEW("report", "list the most expensive functions and their callers", "[OPTIONS] FILE...", \
	     report_option_specs, cmd_report, NULL)                                                \
	TOP("top", "show live what a program does: functions, threads, heatmap",                   \
	    "[OPTIONS] -p PID | [--] CMD [ARGS]", top_option_specs, cmd_top, NULL)                 \
	WICK("stack", "show what every thread of a process is doing now", "[OPTIONS] -p PID",      \
	     stack_option_specs, cmd_stack, NULL)                                                  \
	VIEW("flamegraph", "draw a flame graph: which call paths use the most",                    \
	     "[OPTIONS] FILE...", flamegraph_option_specs, cmd_flamegraph, NULL)                   \
	VIEW("heatmap", "draw a heatmap: how busy the program was at each moment",                 \
	     "[OPTIONS] FILE...", heatmap_option_specs, cmd_heatmap, NULL)                         \
	VIEW("diff", "compare two recordings, or two time ranges of one", "[OPTIONS] FILE [FILE]", \
	     diff_option_specs, cmd_diff, NULL)                                                    \
	VIEW("info", "show what a recording contains and what it lost", "[OPTIONS] FILE...",       \
	     info_option_specs, cmd_info, NULL)                                                    \
	VIEW("convert", "convert recordings to the formats of other programs",                     \
	     "[OPTIONS] FILE...", convert_option_specs, cmd_convert, NULL)                         \
	VIEW("serve", "serve a directory of recordings to a browser while they grow",              \
	     "[OPTIONS] DIR", serve_option_specs, cmd_serve, NULL)                                 \
	VIEW("tasks", "show how long tasks and functions ran, counted exactly",                    \
	     "[OPTIONS] -p PID | FILE...", tasks_option_specs, cmd_tasks, NULL)                    \
	VIEW("requests", "show how long requests took, counted exactly, by identity",              \
	     "[OPTIONS] -p PID | FILE...", requests_option_specs, cmd_requests, NULL)              \
	VIEW("tiers", "show how long requests were in each tier, counted exactly",                 \
	     "[OPTIONS] -p PID | FILE...", tiers_option_specs, cmd_tiers, NULL)                    \
	WICK("doctor", "check whether wick works here and with a program; print fixes",            \
	     "[OPTIONS] [PID | -- CMD [ARGS] | FILE...]", doctor_option_specs, cmd_doctor, NULL)   \
	WICK("status", "show the state of one running recording, or of all", "[OPTIONS] [-p PID]", \
	     status_option_specs, cmd_status, NULL)                                                \
	WICK("start", "resume a paused recording", "[OPTIONS] -p PID", control_option_specs,       \
	     cmd_start, NULL)                                                                      \
	WICK("stop", "pause a recording", "[OPTIONS] -p PID", control_option_specs, cmd_stop,      \
	     NULL)                                                                                 \
	WICK("rate", "change the sampling rate of a recording", "[OPTIONS] -p PID HZ",             \
	     control_option_specs, cmd_rate, NULL)                                                 \
	WICK("flush", "write the samples that a recording has in memory", "[OPTIONS] -p PID",      \
	     control_option_specs, cmd_flush, NULL)                                                \
	WICK("split", "make a recording start a new file", "[OPTIONS] -p PID",                     \
	     control_option_specs, cmd_split, NULL)                                                \
	WICK("symbolize", "add names to frames that were recorded as module+offset",               \
	     "[OPTIONS] FILE", symbolize_option_specs, cmd_symbolize, NULL)                        \
	WICK("symbols", "list, fill and clear the symbol cache on disk",                           \
	     "[OPTIONS] list | add FILE... | strip SIZE | clear [BUILD-ID | NAME]...",             \
	     symbols_option_specs, cmd_symbols, NULL)                                              \
	WICK("completion", "print the completion script for a shell",                              \
	     "[OPTIONS] bash | zsh | fish", completion_option_specs, cmd_completion, NULL)         \
	WICK("help", "show the help of a command", "[COMMAND]", no_options, cmd_help_of, NULL)

/* What has NAME runs in this program, or in another. */
#define COMMAND_HERE(name, summary, synopsis, options, run, examples)                              \
	{name, summary, synopsis, options, run, examples, NULL},
#define COMMAND_OF(program, name, summary, synopsis)                                               \
	{name, summary, synopsis, NULL, NULL, NULL, program},

#endif
