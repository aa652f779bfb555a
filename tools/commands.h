/* commands.h - every command of wick, and which program has it: wick, wick-view or wick-top */
#ifndef TOOLS_COMMANDS_H
#define TOOLS_COMMANDS_H

#include "tools/cli/cmd.h"

/* Each program defines WICK, VIEW and TOP: its own rows with what runs them, others with none. */
#define COMMANDS                                                                                   \
	WICK("record", "record what a program does: start it, or join one that runs",              \
	     "[OPTIONS] -p PID | -a | [--] CMD [ARGS]", record_option_specs, cmd_record,           \
	     "  wick record -- ./server --port 8080      until it ends\n"                          \
	     "  wick record -p $(pidof server) -d 30s    what runs already, for 30 seconds\n"      \
	     "  wick record -e wall -- ./server          waiting as well: files, sockets, locks\n" \
	     "  wick record -o x.svg -- ./job            the flame graph at once, the text "       \
	     "beside it\n")                                                                        \
	VIEW("view", "write recordings as one page, and open it in a browser",                     \
	     "[OPTIONS] FILE...", view_option_specs, cmd_view, NULL)                               \
	VIEW("report", "say which functions take most, and who calls them", "[OPTIONS] FILE...",   \
	     report_option_specs, cmd_report, NULL)                                                \
	TOP("top", "show what a program does now: functions, threads, moments",                    \
	    "[OPTIONS] -p PID | [--] CMD [ARGS]", top_option_specs, cmd_top, NULL)                 \
	WICK("stack", "show what every thread of a process is doing now", "[OPTIONS] -p PID",      \
	     stack_option_specs, cmd_stack, NULL)                                                  \
	VIEW("flamegraph", "draw who calls whom, and what it takes", "[OPTIONS] FILE...",          \
	     flamegraph_option_specs, cmd_flamegraph, NULL)                                        \
	VIEW("heatmap", "draw how much is done in which moment", "[OPTIONS] FILE...",              \
	     heatmap_option_specs, cmd_heatmap, NULL)                                              \
	VIEW("diff", "compare two recordings, or two times of one", "[OPTIONS] FILE [FILE]",       \
	     diff_option_specs, cmd_diff, NULL)                                                    \
	VIEW("info", "say what is in a recording", "[OPTIONS] FILE...", info_option_specs,         \
	     cmd_info, NULL)                                                                       \
	VIEW("convert", "write recordings in the formats of other programs", "[OPTIONS] FILE...",  \
	     convert_option_specs, cmd_convert, NULL)                                              \
	VIEW("serve", "serve a folder of recordings to a browser, while they grow",                \
	     "[OPTIONS] DIR", serve_option_specs, cmd_serve, NULL)                                 \
	WICK("doctor", "check this machine, a process or a program, and say the fixes",            \
	     "[OPTIONS] [PID | -- CMD [ARGS] | FILE...]", doctor_option_specs, cmd_doctor, NULL)   \
	WICK("status", "say how a recording is going, or all that run", "[OPTIONS] [-p PID]",      \
	     status_option_specs, cmd_status, NULL)                                                \
	WICK("start", "have a paused recording take samples again", "[OPTIONS] -p PID",            \
	     control_option_specs, cmd_start, NULL)                                                \
	WICK("stop", "have a recording pause", "[OPTIONS] -p PID", control_option_specs, cmd_stop, \
	     NULL)                                                                                 \
	WICK("rate", "give a recording another rate", "[OPTIONS] -p PID HZ", control_option_specs, \
	     cmd_rate, NULL)                                                                       \
	WICK("flush", "have a recording write what it has", "[OPTIONS] -p PID",                    \
	     control_option_specs, cmd_flush, NULL)                                                \
	WICK("split", "have a recording begin another file", "[OPTIONS] -p PID",                   \
	     control_option_specs, cmd_split, NULL)                                                \
	WICK("symbolize", "name the frames that a recording left as module+offset",                \
	     "[OPTIONS] FILE", symbolize_option_specs, cmd_symbolize, NULL)                        \
	WICK("symbols", "list, fill and empty the names that are kept on disk",                    \
	     "[OPTIONS] list | add FILE... | strip SIZE | clear [BUILD-ID | NAME]...",             \
	     symbols_option_specs, cmd_symbols, NULL)                                              \
	WICK("completion", "print a script with which a shell completes what is typed",            \
	     "[OPTIONS] bash | zsh | fish", completion_option_specs, cmd_completion, NULL)         \
	WICK("help", "explain a command", "[COMMAND]", no_options, cmd_help_of, NULL)

/* What has NAME runs in this program, or in another. */
#define COMMAND_HERE(name, summary, synopsis, options, run, examples)                              \
	{name, summary, synopsis, options, run, examples, NULL},
#define COMMAND_OF(program, name, summary, synopsis)                                               \
	{name, summary, synopsis, NULL, NULL, NULL, program},

#endif
