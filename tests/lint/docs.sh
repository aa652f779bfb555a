#!/bin/sh
# docs.sh ROOT BUILD - what README.md, SECURITY.md, docs/*.md and docs/how-to/*.md tell people to type exists
#
# Commands of wick in blocks and in `spans`: the command is in `wick help`, and each of its
# options in `wick help COMMAND`.  Also keys (<kbd>) are keys of the page, links to files lead to
# one, and pictures are shown somewhere and small.  The promises of SECURITY.md each name a test that
# holds them, and it exists.
set -eu
root=${1:?usage: docs.sh ROOT BUILD}
wick=${2:?usage: docs.sh ROOT BUILD}/bin/wick
[ -x "$wick" ] || { echo "docs: '$wick' is missing"; exit 2; }
exec /usr/bin/python3 -B - "$root" "$wick" <<'PYTHON'
import os, pathlib, re, shlex, subprocess, sys

MOST_PICTURE_BYTES = 64 * 1024
OPERATORS = {"|", "||", "&", "&&", ";", ">", "<", "\\"}
root, wick = pathlib.Path(sys.argv[1]), os.path.abspath(sys.argv[2])
bad = []


def help_of(*words):
    return subprocess.run([wick, "help", *words], capture_output=True, check=True, text=True).stdout


def options_of(command):
    """Every -x and --long that starts a line of the command's help."""
    found = set()
    for line in help_of(command).splitlines():
        start = re.match(r" +((?:-\w, +)?--[a-z-]+|-\w)\b", line)
        found.update(start.group(1).replace(",", "").split() if start else ())
    return found


listed = re.findall(r"^  ([a-z]+)  ", help_of().split("Commands:", 1)[-1].split("\n\n", 1)[0], re.M)
options = {command: options_of(command) for command in listed if command != "help"}
if not any(options.values()):
    sys.exit(f"docs: '{wick} help' lists no command with options")
check = root / "check"
every_option = set(re.findall(r"--[a-z-]+", check.read_text(encoding="utf-8")) if check.exists() else ())
every_option.update(*options.values())


def words_of(text):
    """Words as a shell has them; None where TEXT is no command."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        return list(lexer)
    except ValueError:
        return None


def check_command(where, words):
    """WORDS follow `wick`; up to `--` or the next command they are its own."""
    command = words[0]
    if command == "help":
        check_known(where, words[1:2])
        return
    if command not in options:
        bad.append(f"{where}: there is no 'wick {command}'")
        return
    for word in words[1:]:
        if word == "--" or word in OPERATORS:
            break
        option = word.split("=")[0]
        if re.match(r"--?[A-Za-z]", option) and option not in options[command]:
            bad.append(f"{where}: wick {command} has no option {option}")


def check_known(where, names):
    for name in names:
        if name not in listed:
            bad.append(f"{where}: there is no 'wick {name}'")


def check_text(where, text, in_block):
    """The commands of a line of a block, or of a span."""
    words = words_of(text.removeprefix("$ ")) or []
    for at, word in enumerate(words):
        begins = at == 0 or words[at - 1] in OPERATORS
        follows = words[at + 1:at + 2]
        if begins and os.path.basename(word) == "wick" and follows and re.fullmatch("[a-z]+", follows[0]):
            check_command(where, words[at + 1:])
            return 1
    option = re.match(r"(--[a-z-]+)", text)
    if option and not in_block and option.group(1) not in every_option:
        bad.append(f"{where}: no command has the option {option.group(1)}")
    return 0


def keys_of_the_page():
    modules = sorted((root / "flamescope/web").rglob("*.js"))
    quoted = re.findall(r'"([^"\n]{1,20})"', "\n".join(m.read_text(encoding="utf-8") for m in modules))
    views = {str(number) for number in range(1, 10)}
    return set(quoted) | views if modules else None


def check_page(path, keys, shown):
    in_block, n = False, 0
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        where = f"{path.relative_to(root)}:{number}"
        if line.startswith("```"):
            in_block = not in_block
        elif in_block:
            n += check_text(where, line, True)
        else:
            n += sum(check_text(where, span, False) for span in re.findall(r"`([^`]+)`", line))
            bad.extend(f"{where}: the page has no key {key}"
                       for key in re.findall("<kbd>(.*?)</kbd>", line) if keys is not None and key not in keys)
            for target in re.findall(r'\]\(([^)#\s]+)|(?:src|srcset)="([^"#]+)"', line):
                target = target[0] or target[1]
                if re.match("[a-z]+:", target):
                    continue
                shown.add((path.parent / target).resolve())
                if not (path.parent / target).exists():
                    bad.append(f"{where}: '{target}' is missing")
    return n


# Where the tests of a label are (one of the patterns), and what a name within them is written as.
TESTS = {"unit": ("tests/unit/**/{}_test.c", "(void **"), "e2e": ("tests/e2e/test_{}.py", "(self"),
         "physics": ("tests/physics/test_{}.py", "(self"), "hostile": ("tests/hostile/surface_{}.py tests/hostile/{}", ""),
         "fuzz": ("tests/fuzz/fuzz_{}.c", ""), "lint": ("tests/lint/{}.sh", ""), "web": ("tests/web/{}.test.mjs", ""),
         "tripwire": ("tests/tripwire/{}.c", "")}


def has_test(name, part):
    """NAME as ctest has it, PART one of its functions; true where it stands in the tree."""
    label, _, test = name.partition(".")
    patterns, end = TESTS.get(label, ("", ""))
    found = [path for pattern in patterns.split() for path in root.glob(pattern.format(test))]
    return bool(found) and (not part or f"{part}{end}" in found[0].read_text(encoding="utf-8"))


def check_promises(path):
    """Rows of the page's tables: a promise, then the `tests` that hold it."""
    n = 0
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or len(cells) != 2 or set(cells[0]) <= set("-") or cells[1] == "held by":
            continue
        where, n = f"{path.relative_to(root)}:{number}", n + 1
        tests = re.findall("`([^`]+)`", cells[1])
        if not tests:
            bad.append(f"{where}: no test holds this promise")
        bad.extend(f"{where}: there is no test '{test}'"
                   for test in tests if not has_test(*(test.split(" ", 1) + [""])[:2]))
    if n == 0:
        bad.append(f"{path.relative_to(root)}: it promises nothing")


security = root / "SECURITY.md"
if security.exists():
    check_promises(security)
else:
    bad.append("SECURITY.md is missing")
pages = [page for page in [root / "README.md", security, *sorted((root / "docs").glob("*.md")),
                          *sorted((root / "docs/how-to").glob("*.md"))] if page.exists()]
keys, shown = keys_of_the_page(), set()
n_commands = sum(check_page(page, keys, shown) for page in pages)
for picture in sorted((root / "docs").glob("**/*.png")):
    if picture.resolve() not in shown:
        bad.append(f"{picture.relative_to(root)}: no page shows it")
    if picture.stat().st_size > MOST_PICTURE_BYTES:
        bad.append(f"{picture.relative_to(root)}: {picture.stat().st_size} bytes, the limit is {MOST_PICTURE_BYTES}")
if n_commands == 0:
    bad.append("docs: no page has a command of wick")
print("\n".join([*bad, f"docs: {n_commands} commands on {len(pages)} pages"]))
sys.exit(1 if bad else 0)
PYTHON
