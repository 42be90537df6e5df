"""A scratch repository that borrows the objects of a history: where the methods work and leave what they make."""

import os
import subprocess
from functools import cached_property
from pathlib import Path

from running import environment


class Scratch:
    """A bare repository that borrows from the history; git sees the objects of our merges beside its own."""

    def __init__(self, directory, history):
        self.directory = Path(directory)
        self.history = Path(history).resolve()
        if not (self.history / "objects").is_dir():
            self.history = self.history / ".git"
        self.ours = self.directory / "ours"
        self.git_directory = self.directory / "scratch.git"
        self.environment = {**environment(self.directory), "GIT_DIR": str(self.git_directory),
                            "GIT_INDEX_FILE": str(self.directory / "index"),
                            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(self.ours / "objects.git" / "objects")}
        # A git that is started before a directory of alternates is there never looks into it.
        (self.ours / "objects.git" / "objects").mkdir(parents=True)
        subprocess.run(["git", "init", "-q", "--bare", self.git_directory], check=True)
        alternates = self.git_directory / "objects" / "info" / "alternates"
        alternates.write_text(f"{self.history / 'objects'}\n", encoding="utf-8")
        head = subprocess.run(["git", "--git-dir", self.history, "rev-parse", "HEAD"], capture_output=True, check=True)
        (self.git_directory / "HEAD").write_bytes(head.stdout)
        self.blobs = {}
        self.reader = None

    def run(self, *arguments, stdin=None, cwd=None):
        """Runs git; returns exit code and stdout as bytes."""
        done = subprocess.run(["git", *arguments], input=stdin, cwd=cwd, env=self.environment, capture_output=True, check=False)
        return done.returncode, done.stdout

    def git(self, *arguments, stdin=None):
        """What git prints, without the last newline; git must succeed."""
        code, stdout = self.run(*arguments, stdin=stdin)
        if code != 0:
            raise RuntimeError(f"git {' '.join(map(str, arguments))}: exit {code}")
        return stdout.decode(errors="replace").rstrip("\n")

    def log(self, *arguments):
        """`git log` of the history itself, whose branches the scratch repository does not have."""
        done = subprocess.run(["git", "--git-dir", self.history, "log", *arguments], capture_output=True, check=True)
        return done.stdout.decode(errors="replace")

    @cached_property
    def tips(self):
        """What `git log` is told to start from: all refs; the branches alone where a snapshot lacks commits of the others."""
        command = ["git", "--git-dir", self.history, "log", "--all", "--numstat", "--format=%T"]
        is_whole = subprocess.run(command, capture_output=True, check=False).returncode == 0
        return ["--all"] if is_whole else ["--branches", "--remotes"]

    def blob(self, name):
        """The bytes of an object."""
        if name not in self.blobs:
            if self.reader is None:
                self.reader = subprocess.Popen(["git", "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.environment)
            self.reader.stdin.write(f"{name}\n".encode())
            self.reader.stdin.flush()
            head = self.reader.stdout.readline().split()
            if head[-1] == b"missing":
                raise RuntimeError(f"{name} is not there")
            self.blobs[name] = self.reader.stdout.read(int(head[2]))
            self.reader.stdout.read(1)
        return self.blobs[name]

    def changed(self, older, newer):
        """Path -> (blob in `older`, blob in `newer`) of what differs; None where there is no file. Renames are not sought."""
        if older == newer:
            return {}
        found = {}
        for line in self.git("diff-tree", "-r", "--no-renames", older, newer).splitlines():
            state, path = line.split("\t", 1)
            _, _, before, after, _ = state.split(" ")
            found[path] = tuple(None if set(name) == {"0"} else name for name in (before, after))
        return found

    def close(self):
        """Ends the reader."""
        if self.reader is not None:
            self.reader.stdin.close()
            self.reader.wait()


def forget_user():
    """Keeps the configuration of whoever measures out of every git that is started here."""
    os.environ["GIT_CONFIG_NOSYSTEM"] = "1"
    os.environ["GIT_CONFIG_GLOBAL"] = os.devnull
