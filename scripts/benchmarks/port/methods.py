"""The ways to carry a change `base` -> `patched` to `ours`. Each returns {"outcome": "clean" or "conflict", "tree", ...}."""

import re
import subprocess
import tempfile
from pathlib import Path


def patch_text(scratch, case):
    """The change as git prints it, with its three lines of context."""
    return scratch.run("diff-tree", "-p", "--no-renames", "--binary", "--full-index", case["base"], case["patched"])[1]


def git_apply(scratch, case):
    """`git apply`: offsets are allowed, every line of context must be there."""
    scratch.git("read-tree", case["ours"])
    code, _ = scratch.run("apply", "--cached", "-p1", "-", stdin=patch_text(scratch, case))
    if code != 0:
        return {"outcome": "conflict"}
    return {"outcome": "clean", "tree": scratch.git("write-tree")}


def patch(scratch, case):
    """`patch -p1` with its default fuzz, in a directory that has only the files of the change."""
    text = patch_text(scratch, case)
    touched = scratch.changed(case["base"], case["patched"])
    scratch.git("read-tree", case["ours"])
    entries = dict(reversed(line.split("\t", 1)) for line in scratch.git("ls-files", "-s").splitlines())
    with tempfile.TemporaryDirectory() as directory:
        for path in touched:
            if path in entries:
                file = Path(directory, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(scratch.blob(entries[path].split()[1]))
        done = subprocess.run(["patch", "-p1", "-f", "--no-backup-if-mismatch"], cwd=directory, input=text, capture_output=True, check=False)
        if done.returncode != 0:
            return {"outcome": "conflict"}
        lines = []
        for path in touched:
            file = Path(directory, path)
            if file.is_file():
                mode = entries[path].split()[0] if path in entries else "100644"
                name = scratch.git("hash-object", "-w", "--stdin", stdin=file.read_bytes())
                lines.append(f"{mode} {name}\t{path}\n")
            elif path in entries:
                lines.append(f"0 {'0' * 40}\t{path}\n")
        scratch.git("update-index", "--index-info", stdin="".join(lines).encode())
    fuzz = max(map(int, re.findall(rb"with fuzz (\d)", done.stdout)), default=0)
    return {"outcome": "clean", "tree": scratch.git("write-tree"), "fuzz": fuzz}


def git_merge(scratch, case):
    """`git merge-tree`, the three-way merge of git with its search for renames."""
    code, stdout = scratch.run("merge-tree", "--write-tree", "--messages", f"--merge-base={case['base']}", case["ours"], case["patched"])
    text = stdout.decode(errors="replace")
    if code == 0:
        return {"outcome": "clean", "tree": text.split("\n", 1)[0]}
    kinds = sorted(set(re.findall(r"^CONFLICT \(([^)]*)\)", text, re.M)))
    paths = sorted(set(re.findall(r"^CONFLICT \(content\): Merge conflict in (.*)$", text, re.M)))
    return {"outcome": "conflict" if code == 1 else "error", "kinds": kinds, "paths": paths}


def ours(binary, scratch, cases):
    """Our merge of all cases, in one run of the program."""
    lines = "".join(f"{case['base']} {case['ours']} {case['patched']}\n" for case in cases)
    done = subprocess.run([binary, scratch.git_directory, scratch.ours], input=lines, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"carry: {done.stderr}")
    found = []
    for line in done.stdout.splitlines():
        outcome, *rest = line.split()
        found.append({"outcome": outcome, **dict(zip(("tree", "rung"), rest))})
    return found


OTHERS = {"git apply": git_apply, "patch": patch, "git merge": git_merge}
