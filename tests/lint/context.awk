# context.awk - finds the function declarations of headers and the comments before them
#
# Reads characters, not lines: comments are kept, preprocessor lines and the insides of braces
# are dropped, and what is left up to a ';' or '{' at depth 0 is one statement.

BEGIN {
	words = "handler|agent|any thread|collector thread|main thread"
}

function tell(text)
{
	print FILENAME ":" start ": " text
	bad = 1
}

# The declared name: the last word before the first parenthesis that no attribute owns.
function declared_name(text,    head)
{
	gsub(/__attribute__[ \t]*\(\([^()]*(\([^()]*\))?[^()]*\)\)/, " ", text)
	if (match(text, /\(/) && substr(text, RSTART) ~ /^\([ \t]*\*/)
		return "" # a variable that points to a function
	if (!match(text, /[A-Za-z_][A-Za-z0-9_]*[ \t]*\(/))
		return ""
	head = substr(text, RSTART, RLENGTH)
	sub(/[ \t]*\($/, "", head)
	return head
}

function statement(text, opener,    name)
{
	if (text ~ /^[ \t]*(typedef|_Static_assert|static_assert|_Pragma|enum|extern "C")/)
		return
	if (text ~ /^[ \t]*(struct|union)[ \t]+[A-Za-z_0-9]*[ \t]*$/ || text !~ /\(/)
		return
	if (text ~ /=/ && opener != "{")
		return
	name = declared_name(text)
	if (name == "")
		return
	n_declared++
	if (comment == "")
		tell(name "() has no comment")
	else if (comment !~ /^\/\*\*/)
		tell(name "() has a comment that does not start with /**")
	else if (index(comment, "* " name " - ") == 0)
		tell(name "() has the comment of something else")
	else if (!says_context(comment) && !header_says)
		tell(name "() does not say its Context:, nor does its header")
	else if (says_context(comment) && !is_context(comment))
		tell(name "() has a Context: that starts with none of: " words)
}

function says_context(text)
{
	return text ~ /\n[ \t]*\*[ \t]*Context:/
}

function is_context(text)
{
	return text ~ "\n[ \t]*\\*[ \t]*Context:[ \t]*(" words ")[^a-z]"
}

# The comment that a header begins with may say the Context: of all its functions.
function first_comment(text)
{
	header_says = says_context(text)
	if (header_says && !is_context(text))
		tell("the header has a Context: that starts with none of: " words)
}

function forget()
{
	text = ""
	start = 0
}

function character(c)
{
	if (c == "{") {
		if (depth++ == 0) {
			if (text ~ /extern[ \t]+"C"[ \t]*$/) {
				depth = 0
				forget()
				comment = ""
				return
			}
			statement(text, "{")
			was_function = text ~ /\)[ \t]*$/
		}
		return
	}
	if (c == "}") {
		if (depth > 0 && --depth == 0 && was_function) {
			forget()
			comment = ""
		}
		return
	}
	if (depth > 0)
		return
	if (c == ";") {
		statement(text, ";")
		forget()
		comment = ""
		return
	}
	if (start == 0 && c ~ /[^ \t\n]/)
		start = FNR
	text = text (c == "\n" ? " " : c)
}

FNR == 1 {
	forget()
	comment = ""
	depth = in_comment = in_macro = n_comments = header_says = 0
	n_headers++
}

{
	line = $0 "\n"
	if (!in_comment && depth == 0 && (in_macro || line ~ /^[ \t]*#/)) {
		in_macro = line ~ /\\\n$/
		comment = ""
		next
	}
	while (line != "") {
		if (in_comment) {
			at = index(line, "*/")
			if (!at) {
				body = body line
				next
			}
			body = body substr(line, 1, at + 1)
			line = substr(line, at + 2)
			in_comment = 0
			if (n_comments++ == 0)
				first_comment(body)
			if (depth == 0 && text !~ /[^ \t]/)
				comment = body
		} else if (substr(line, 1, 2) == "/*") {
			in_comment = 1
			body = "/*"
			line = substr(line, 3)
		} else {
			character(substr(line, 1, 1))
			line = substr(line, 2)
		}
	}
}

END {
	if (!n_headers || !n_declared) {
		print "context: no function declaration was found in " n_headers + 0 " headers"
		exit 2
	}
	exit bad
}
