"""The difference of two trees as atoms, one for each changed line, and putting a part of them into a directory.

This is what line-based reducers get. It knows nothing of git idd, and uses nothing but git and the standard library, so that
it also runs under the interpreter that a peer is installed for.
"""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.M)
TEXT_MODES = ("100644", "100755")
DIFF = ["diff", "--no-renames", "--diff-algorithm=histogram", "--no-ext-diff", "--no-color"]


def git_bytes(repo, *arguments, stdin=None, index=None):
    """What git prints."""
    env = {**os.environ, "GIT_INDEX_FILE": str(index)} if index else None
    return subprocess.run(["git", "-C", repo, *arguments], input=stdin, capture_output=True, check=True, env=env).stdout


@dataclass
class FileChange:
    """How one path differs. A whole-file change (binary, link, mode, empty) is one atom."""

    path: str
    old_mode: str | None
    new_mode: str | None
    old: bytes
    new: bytes
    # Runs of changed lines: (first old line, its end, first new line, its end), 0-based. `None`: a whole-file change.
    hunks: list | None
    first: int = 0
    n_atoms: int = 0

    def rendered(self, chosen):
        """The mode and bytes with the atoms of `chosen` taken from the new side; `None` if there is no such file."""
        mine = range(self.first, self.first + self.n_atoms)
        if self.hunks is None:
            side = (self.new_mode, self.new) if self.first in chosen else (self.old_mode, self.old)
            return None if side[0] is None else side
        taken = [atom in chosen for atom in mine]
        if (self.old_mode is None and not any(taken)) or (self.new_mode is None and all(taken)):
            return None
        old, new = split(self.old), split(self.new)
        text, at, index = [], 0, 0
        for old_begin, old_end, new_begin, new_end in self.hunks:
            text += old[at:old_begin]
            for line in old[old_begin:old_end]:
                text += [] if taken[index] else [line]
                index += 1
            for line in new[new_begin:new_end]:
                text += [line] if taken[index] else []
                index += 1
            at = old_end
        return self.old_mode or self.new_mode, b"".join(text + old[at:])

    def shown(self):
        """What each atom is: path, sign and line; a whole-file change is its path."""
        if self.hunks is None:
            return [self.path]
        old, new = split(self.old), split(self.new)
        text = lambda sign, line: f"{self.path}: {sign}{line.decode(errors='replace').rstrip()}"
        return [text(sign, line) for a, b, c, d in self.hunks for sign, side in (("-", old[a:b]), ("+", new[c:d])) for line in side]


def split(text):
    """Lines with their `\\n`, and no other line ends."""
    lines = text.split(b"\n")
    return [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def read_changes(repo, good, bad):
    """The changes from tree to tree, in the order of git, with their atoms numbered from 0; and how many atoms there are."""
    words = git_bytes(repo, *DIFF, "--raw", "--no-abbrev", "-z", good, bad).decode("utf-8", "surrogateescape").split("\0")
    changes, n_atoms = [], 0
    for about, path in zip(words[0::2], words[1::2]):
        old_mode, new_mode, old_id, new_id, _ = about[1:].split(" ")
        old_mode, new_mode = (None if mode == "000000" else mode for mode in (old_mode, new_mode))
        blob = lambda mode, name: git_bytes(repo, "cat-file", "blob", name) if mode and mode != "160000" else b""
        old, new = blob(old_mode, old_id), blob(new_mode, new_id)
        modes = {mode for mode in (old_mode, new_mode) if mode}
        is_text = len(modes) == 1 and modes <= set(TEXT_MODES) and b"\0" not in old + new
        hunks = None
        if is_text and old != new:
            hunks = []
            for match in HUNK.finditer(git_bytes(repo, *DIFF, "--text", "-U0", good, bad, "--", f":(literal){path}")):
                old_at, old_n, new_at, new_n = (1 if group is None else int(group) for group in match.groups())
                old_at, new_at = old_at - (old_n > 0), new_at - (new_n > 0)
                hunks.append((old_at, old_at + old_n, new_at, new_at + new_n))
        change = FileChange(path, old_mode, new_mode, old, new, hunks, n_atoms)
        change.n_atoms = sum(b - a + d - c for a, b, c, d in hunks) if hunks is not None else 1
        n_atoms += change.n_atoms
        changes.append(change)
    return changes, n_atoms


class Directory:
    """A checkout of the good tree, into which parts of the change are put; a file that stays equal is not touched."""

    def __init__(self, path, changes):
        self.path = Path(path)
        self.changes = changes
        self.now = {change.path: (change.old_mode, change.old) if change.old_mode else None for change in changes}

    def put(self, chosen):
        """Writes the candidate; returns its content by path."""
        wanted = {change.path: change.rendered(chosen) for change in self.changes}
        self.put_files(wanted)
        return wanted

    def put_files(self, wanted):
        """Writes these files, given as mode and bytes by path."""
        for name, content in wanted.items():
            if content == self.now[name]:
                continue
            path = self.path / name
            if path.is_symlink() or path.exists():
                path.unlink()
            if content:
                mode, data = content
                path.parent.mkdir(parents=True, exist_ok=True)
                if mode == "120000":
                    path.symlink_to(os.fsdecode(data))
                else:
                    path.write_bytes(data)
                    path.chmod(0o755 if mode == "100755" else 0o644)
            self.now[name] = content


def write_tree(repo, base, files, index):
    """The id of the tree that is `base` with these files (mode and bytes, or `None`) put in. `index` is a scratch path."""
    git_bytes(repo, "read-tree", base, index=index)
    lines = []
    for path, content in files.items():
        name = os.fsencode(path)
        if content is None:
            lines.append(b"0 " + b"0" * 40 + b"\t" + name)
            continue
        mode, data = content
        if mode == "160000":
            continue
        blob = git_bytes(repo, "hash-object", "-w", "--stdin", stdin=data).strip()
        lines.append(mode.encode() + b" " + blob + b"\t" + name)
    git_bytes(repo, "update-index", "-z", "--index-info", stdin=b"".join(line + b"\0" for line in lines), index=index)
    return git_bytes(repo, "write-tree", index=index).decode().strip()


def size(repo, good, tree):
    """Changed lines between two trees, and runs of changed lines; a whole-file change counts one of each."""
    changes, n_atoms = read_changes(repo, good, tree)
    return n_atoms, sum(len(change.hunks) if change.hunks is not None else 1 for change in changes)
