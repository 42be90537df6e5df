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
    diff = git(repo, "diff", "--no-renames", "--no-ext-diff", "--no-color", "-U0", older, newer, "--", *paths)
    found, sides = set(), [None, None]
    for line in diff.splitlines():
        if line.startswith(("--- ", "+++ ")):
            is_newer = line.startswith("+++ ")
            path = line[4:].split("/", 1)[1] if line[4:] != "/dev/null" else None
            tree = newer if is_newer else older
            sides[is_newer] = (path, declarations(git_bytes(repo, tree, path), path)) if path else None
        elif hunk := HUNK.match(line):
            ranges = [(int(hunk[1]), int(hunk[2] or 1)), (int(hunk[3]), int(hunk[4] or 1))]
            for side, (first, n_lines) in zip(sides, ranges):
                if side and n_lines:
                    found |= {f"{side[0]}:{name}" for name in names_of(side[1], first, first + n_lines - 1)}
    return found


def names_of(places, first, last):
    """The innermost declaration of each line of a range."""
    found = set()
    for line in range(first, last + 1):
        around = [place for place in places if place[0] <= line <= place[1]]
        found.add(min(around, key=lambda place: place[1] - place[0])[2] if around else "")
    return found


def git_bytes(repo, tree, path):
    return subprocess.run(["git", "-C", repo, "show", f"{tree}:{path}"], capture_output=True, check=True).stdout


def declarations(source, path):
    """First line, last line (1-based, both within) and name of each declaration of a file."""
    if path.endswith(".py"):
        return in_python(source)
    if path.endswith((".c", ".h", ".java", ".y", ".l")):
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
    found = []
    for line in done.stdout.decode(errors="replace").splitlines():
        tag = json.loads(line)
        if tag.get("_type") == "tag":
            scope = tag.get("scope", "")
            found.append((tag["line"], tag.get("end", tag["line"]), f"{scope}.{tag['name']}" if scope else tag["name"]))
    return found
