"""Where patches change something: the declarations that they touch, by name."""

import ast
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from running import environment, git

HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
# Functions, types, macros and tables; local variables and prototypes are none.
C_KINDS, JAVA_KINDS = "dfgstuv", "cefgim"
# What is no code in a file whose declarations ctags gives no ends of.
COMMENT, STRING = r"//[^\n]*|/\*.*?\*/", r'"(?:\\.|[^"\\])*"'
QUOTED = {
    ".go": re.compile(rf"{COMMENT}|{STRING}|`[^`]*`|'(?:\\[^\n]+?|[^\\'])'", re.S),
    ".rs": re.compile(rf"{COMMENT}|\br(#*)\".*?\"\1|{STRING}|'(?:\\[^\n]+?|[^\\'])'", re.S),
    ".js": re.compile(rf"{COMMENT}|{STRING}|`(?:\\.|[^`\\])*`|'(?:\\.|[^'\\\n])*'"
                      r"|(?P<kept>(?:[(,=:\[!&|?{};]|\breturn)\s*)/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/", re.S),
}
JS_NAMED = re.compile(r"\s*(?:export\s+|default\s+|async\s+)*(?:function\*?|class)\s+(?P<name>[\w$]+)")
JS_OTHER = re.compile(r"""\s*(?:export\s+|static\s+|async\s+|get\s+|set\s+|var\s+|let\s+|const\s+)*(?:
    (?P<name>(?!(?:if|for|while|switch|catch|return|else|do|with|this)\b)[\w$.\[\]]+)\s*
        (?:[:=](?!=)\s*(?:[\w$.]+\s*=\s*)*(?:async\s+)?(?:function\b|\([^()]*\)\s*=>|[\w$]+\s*=>)?|\([^()]*\)\s*\{)
    |[\w$.]+\(.*\bfunction\b)""", re.X)


def patched_tree(repo, commit, patch, is_reversed=False):
    """The tree of the commit with the patch put on it, or taken out of it; None where it does not apply."""
    with tempfile.TemporaryDirectory() as scratch:
        env = {**environment(scratch), "GIT_INDEX_FILE": str(Path(scratch, "index"))}
        run = lambda *arguments, **more: subprocess.run(["git", "-C", repo, *arguments], env=env, capture_output=True, **more)
        run("read-tree", commit, check=True)
        direction = ["-R"] if is_reversed else []
        if run("apply", "--cached", "--unidiff-zero", *direction, "-", input=patch).returncode != 0:
            return None
        return run("write-tree", check=True).stdout.decode().strip()


def touched(repo, older, newer, paths=(".",)):
    """The declarations of two trees that differ, as `path:name`; the name is empty where a change lies in none."""
    diff = git(repo, "diff", "--find-renames", "--no-ext-diff", "--no-color", "-U0", older, newer, "--", *paths)
    found, sides, at = set(), [None, None], [0, 0]
    for line in diff.split("\n"):
        if line.startswith("diff "):
            at = None
        elif at is None and line.startswith(("--- ", "+++ ")):
            is_newer = line.startswith("+++ ")
            path = line[4:].split("/", 1)[1] if line[4:] != "/dev/null" else None
            tree = newer if is_newer else older
            sides[is_newer] = (path, declarations(git_bytes(repo, tree, path), path)) if path else None
        elif hunk := HUNK.match(line):
            at = [int(hunk[1]), int(hunk[3])]
        elif at and line[:1] in ("-", "+"):
            index = "-+".index(line[0])
            # A blank line lies between two declarations as often as in one.
            if sides[index] and line[1:].strip():
                found.add(f"{sides[index][0]}:{name_of(sides[index][1], at[index])}")
            at[index] += 1
    return found


def name_of(places, line):
    """The innermost declaration of a line."""
    around = [place for place in places if place[0] <= line <= place[1]]
    return min(around, key=lambda place: place[1] - place[0])[2] if around else ""


def git_bytes(repo, tree, path):
    return subprocess.run(["git", "-C", repo, "show", f"{tree}:{path}"], capture_output=True, check=True).stdout


def declarations(source, path):
    """First line, last line (1-based, both within) and name of each declaration of a file."""
    if path.endswith(".py"):
        return in_python(source)
    if path.endswith((".js", ".mjs", ".cjs")):
        return in_javascript(source)
    if path.endswith((".c", ".h", ".java", ".y", ".l", ".rs", ".go")):
        return in_others(source, path)
    return []


def in_python(source):
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    found = []

    def visit(node, prefix):
        for child in getattr(node, "body", []):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                found.append((first, child.end_lineno, prefix + child.name))
                visit(child, prefix + child.name + ".")
            elif isinstance(child, (ast.Assign, ast.AnnAssign)) and isinstance(node, (ast.Module, ast.ClassDef)):
                targets = child.targets if isinstance(child, ast.Assign) else [child.target]
                name = ast.unparse(targets[0])
                found.append((child.lineno, child.end_lineno, prefix + name))

    visit(module, "")
    return found


def in_others(source, path):
    """By universal-ctags."""
    suffix = ".c" if path.endswith((".y", ".l")) else os.path.splitext(path)[1]
    with tempfile.NamedTemporaryFile(suffix=suffix) as file:
        file.write(source)
        file.flush()
        kinds = [f"--kinds-C={C_KINDS}", f"--kinds-C++={C_KINDS}", f"--kinds-Java={JAVA_KINDS}"]
        done = subprocess.run(["ctags", "--options=NONE", "--langmap=C:.c.h", *kinds, "--output-format=json", "--fields=+neS", "-f-", file.name],
                              capture_output=True, check=True)
    code = blanked(source.decode(errors="replace"), suffix) if suffix in QUOTED else None
    found = []
    for line in done.stdout.decode(errors="replace").splitlines():
        tag = json.loads(line)
        if tag.get("_type") == "tag" and tag.get("kind") != "package":
            scope = tag.get("scope", "").replace("::", ".")
            end = tag.get("end") or (end_of(code, tag["line"]) if code else tag["line"])
            found.append((tag["line"], end, f"{scope}.{tag['name']}" if scope else tag["name"]))
    return found


def blanked(text, suffix):
    """The code with comments, strings and regular expressions as blanks, so that its brackets can be counted."""
    def blank(hit):
        kept = hit.groupdict().get("kept") or ""
        return kept + re.sub(r"[^\n]", " ", hit[0][len(kept):])
    return QUOTED[suffix].sub(blank, text)


def end_of(code, line):
    """The last line of the declaration that begins on a line: where its brackets are closed, or its semicolon is."""
    lines, depth = code.split("\n"), 0
    for number in range(line, len(lines) + 1):
        for letter in lines[number - 1]:
            depth += (letter in "([{") - (letter in ")]}")
            if depth < 0 or depth == 0 and letter in ";}":
                return number
        # A line of a Go `var` block, a field, or a property ends where it does.
        if depth == 0 and lines[number - 1].rstrip().endswith((")", "]", ",")) and not opens(lines, number):
            return number
    return line


def opens(lines, number):
    """Whether the next line that has code begins with a bracket, `where` or `->`: the header of a body goes on."""
    rest = next((line.strip() for line in lines[number:] if line.strip()), "")
    return rest.startswith(("{", "where", "->"))


def in_javascript(source):
    """By patterns: ctags gives no ends, and knows few of the ways to declare something."""
    code = blanked(source.decode(errors="replace"), ".js")
    text, found, inside = source.decode(errors="replace").split("\n"), [], []
    for number, line in enumerate(code.split("\n"), 1):
        inside = [(last, is_function, name) for last, is_function, name in inside if last >= number]
        hit = JS_NAMED.match(line)
        # In a function, only functions with a name are declarations.
        if not hit and not any(is_function for _, is_function, _ in inside):
            hit = JS_OTHER.match(line)
        if not hit:
            continue
        last = end_of(code, number)
        # A string is part of such a name: DEFMETHOD("print", function
        name = hit["name"] or text[number - 1][:hit.end() - len("function")].strip(" ,")
        name = ".".join([*(outer for _, _, outer in inside), name])
        found.append((number, last, name))
        is_function = re.search(r"\bfunction\b|=>|\)\s*\{", hit[0]) is not None
        inside.append((last, is_function, hit["name"] or ""))
    return found
