/* elide_rules.c - reads rules of frames to leave out, and holds those that come with wick */
#include "tools/elide_rules.h"

#include "base/buf.h"
#include "base/io.h"
#include "tools/pattern.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum { MAX_RULES_BYTES = 64 * 1024, MAX_PATTERN_BYTES = 60 * 1024 };

/* What only hands a call on. */
static const char wrappers[] =
	"[C++ callables]\n"
	"frame = ^std::(__1::)?(function|move_only_function|copyable_function)<\n"
	"frame = ^std::(__1::)?_Function_(handler|base)\n"
	"frame = ^std::(__1::)?__(invoke|apply|invoke_impl|invoke_r|function)\\b\n"
	"frame = ^std::(__1::)?(invoke|apply|_Bind|_Mem_fn|reference_wrapper|bind_front)\\b\n"
	"frame = ^std::__detail::__variant::|^std::(__1::)?visit\\b\n"
	"frame = ^(boost::(asio::)?detail::|boost::_bi::|boost::function|boost::_mfi::)\n"
	"frame = ^fu2::|^absl::(lts_\\d+::)?(functional_internal|base_internal)::\n"
	"frame = ^folly::(detail::function::|Function<)\n"
	"[C++ threads and futures]\n"
	"frame = ^std::(__1::)?thread::(_Invoker|_State_impl)\n"
	"frame = ^std::(__1::)?(__future_base::|packaged_task<|__thread_proxy|__async_)\n"
	"frame = ^std::(__1::)?(call_once|once_flag)\\b|^__once_proxy$\n"
	"frame = ^execute_native_thread_routine\n"
	"[Executors]\n"
	"frame = ^boost::asio::(io_context|detail::scheduler|execution)::\n"
	"frame = ^tokio::runtime::|^tokio::task::|^core::ops::function::Fn(Once|Mut)?::call\n"
	"frame = ^std::(panicking|panic|rt|sys_common|sys)::.*(try|catch_unwind|lang_start|"
	"__rust_begin_short_backtrace)\n"
	"frame = __rust_(begin|end)_short_backtrace\n"
	"frame = ^<?alloc::boxed::Box<.* as core::ops::function::Fn\n"
	"[Beginnings]\n"
	"frame = ^(_start|__libc_start_main.*|__libc_start_call_main|start_thread|clone3?|"
	"__clone3?)$\n";

/* One line between the ends of a text; what it was is not changed. */
struct rule_line {
	const char *at;
	size_t len;
	unsigned number;
};

static bool next_line(const char **at, struct rule_line *line)
{
	if (!**at)
		return false;
	line->at = *at;
	line->len = strcspn(*at, "\n");
	line->number++;
	*at += line->len + ((*at)[line->len] == '\n');
	while (line->len && strchr(" \t\r", line->at[line->len - 1]))
		line->len--;
	while (line->len && strchr(" \t", *line->at)) {
		line->at++;
		line->len--;
	}
	return true;
}

/* Adds the line's expression to an alternation. */
static int add_rule(struct buf *all, const char *name, const struct rule_line *line,
		    struct err *err)
{
	static const char key[] = "frame";
	struct pattern *pattern = NULL;
	const char *value = memchr(line->at, '=', line->len);
	char text[1024];
	size_t len;
	int r;

	if (!line->len || strchr(";#[", *line->at))
		return 0;
	if (!value || strncmp(line->at, key, sizeof(key) - 1) != 0 ||
	    strspn(line->at + sizeof(key) - 1, " \t=") <
		    (size_t)(value + 1 - line->at) - (sizeof(key) - 1))
		return err_set(err, 0, "'%s', line %u: is not frame = RE", name, line->number);
	value += 1 + strspn(value + 1, " \t");
	len = value < line->at + line->len ? (size_t)(line->at + line->len - value) : 0;
	if (len == 0 || len >= sizeof(text))
		return err_set(err, 0, "'%s', line %u: an expression of %zu bytes", name,
			       line->number, len);
	memcpy(text, value, len);
	text[len] = '\0';
	r = pattern_new(text, &pattern, err);
	pattern_free(pattern);
	if (r == 0)
		buf_printf(all, "%s(?:%s)", all->len ? "|" : "", text);
	return r;
}

static int join(const char *text, const char *name, char **ret_pattern, struct err *err)
{
	struct rule_line line = {0};
	struct buf all;
	int r = 0;

	buf_init(&all, MAX_PATTERN_BYTES);
	while (r == 0 && next_line(&text, &line))
		r = add_rule(&all, name, &line, err);
	if (r == 0 && all.failed)
		r = err_set(err, EFBIG, "read '%s'", name);
	if (r == 0 && !all.len)
		r = err_set(err, 0, "'%s' has no rule: frame = RE", name);
	if (r == 0) {
		(void)buf_text(&all);
		*ret_pattern = all.data;
		return 0;
	}
	buf_release(&all);
	return r;
}

int elide_rules_read(const char *name, char **ret_pattern, struct err *err)
{
	struct buf text;
	int r;

	if (strcmp(name, "wrappers") == 0)
		return join(wrappers, "@wrappers", ret_pattern, err);
	buf_init(&text, MAX_RULES_BYTES);
	r = io_read_file(name, &text, err);
	if (r == 0 && memchr(text.data ? text.data : "", '\0', text.len))
		r = err_set(err, 0, "'%s' is no text", name);
	if (r == 0)
		r = join(buf_text(&text), name, ret_pattern, err);
	buf_release(&text);
	return r;
}
