"""Trials from mutants of Java libraries."""

import os
import random
import shutil
import subprocess
import tempfile
import tomllib
from fnmatch import fnmatch
from pathlib import Path

from mutate_java import mutants
from running import environment

HERE = Path(__file__).resolve().parent
ASM = ["--add-exports", "java.base/jdk.internal.org.objectweb.asm=ALL-UNNAMED"]
# Short runs of virtual machines: no second compiler, no threads of a collector.
FAST = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
# A test method that takes longer, in milliseconds, is not used; a mutant that does is not one that fails.
SLOW = 5000


class Worker:
    """A virtual machine that compiles sources and runs test methods; it is started again if a test ends it."""

    def __init__(self, place, classes, path):
        self.words = ["java", *FAST.split(), "-Xmx1g", *ASM, "-cp", os.pathsep.join([str(place), *path]), "Worker", str(classes)]
        self.cwd, self.child = classes.parent, None

    def ask(self, *words):
        """The lines of an answer; none if the virtual machine ended."""
        if self.child is None or self.child.poll() is not None:
            self.child = subprocess.Popen(self.words, cwd=self.cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            self.child.stdin.write("\t".join(map(str, words)) + "\n")
            self.child.stdin.flush()
        except OSError:
            return []
        lines = []
        for line in self.child.stdout:
            if line == ".\n":
                return lines
            lines.append(line.rstrip("\n"))
        return []

    def first(self, *words):
        """The first word of an answer."""
        return (self.ask(*words) or ["error"])[0].split("\t")[0]

    def end(self):
        if self.child is not None:
            self.child.kill()
            self.child.wait()


class Library:
    """A library whose sources and tests are compiled once."""

    def __init__(self, table, here, scratch):
        self.name, self.root = table["name"], here / table["directory"]
        self.path = [str(here / entry) for entry in table["class_path"]]
        self.flags = [*table.get("flags", []), "-g"]
        self.sources, self.excluded = table["sources"], table.get("exclude", [])
        self.files = [self.root / name for name in table.get("files", [])]
        self.tested = table.get("tested", ["**/*Test.java"])
        self.place, self.classes = scratch / "worker", scratch / "stage" / "classes"
        self.place.mkdir(parents=True, exist_ok=True)
        command = ["javac", "-nowarn", *ASM, "-cp", os.pathsep.join(self.path), "-d", self.place, HERE / "Worker.java", HERE / "One.java"]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        self.worker = Worker(self.place, self.classes, self.path)
        if not self.classes.exists():
            self.classes.mkdir(parents=True)
            self.compile_all([*self.sources, table["tests"]])
            for file in self.files:
                self.copy(file, self.classes.parent)
        tests = self.root / table["tests"]
        self.tests = sorted({path.relative_to(tests) for pattern in self.tested for path in tests.glob(pattern) if self.is_wanted(path)})

    @staticmethod
    def copy(file, place):
        if file.is_dir():
            shutil.copytree(file, place / file.name, dirs_exist_ok=True)
        else:
            shutil.copy(file, place)

    def is_wanted(self, path):
        return not any(fnmatch(str(path.relative_to(self.root)), pattern) for pattern in self.excluded)

    def compile_all(self, directories):
        for directory in directories:
            files = [path for path in sorted((self.root / directory).rglob("*")) if path.is_file()]
            sources = [path for path in files if path.suffix == ".java" and self.is_wanted(path)]
            told = self.worker.ask("compile", self.classes, *self.javac(self.classes), "--", *sources)
            if told[:1] != ["ok"]:
                shutil.rmtree(self.classes)
                raise SystemExit(f"{self.name}: {directory} does not build: {told}")
            for path in files:
                if path.suffix not in (".java", ".html"):
                    target = self.classes / path.relative_to(self.root / directory)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, target)

    def javac(self, classes):
        return [*self.flags, "-proc:none", "-cp", os.pathsep.join([str(classes), *self.path])]

    def source(self, name):
        """The path of a source of the library, by its name below the directories; None if it is one of a test."""
        found = (self.root / directory / name for directory in self.sources)
        return next((path for path in found if path.exists()), None)


def methods(library):
    """All test methods: class and name."""
    for path in library.tests:
        name = ".".join(path.with_suffix("").parts)
        for method in library.worker.ask("tests", name):
            if not method.startswith("error"):
                yield name, method


def covered(library, test, max_lines):
    """The lines of the library that a test runs, by file; None if it does not pass, or runs too many."""
    told = library.worker.ask("cover", *test, library.classes, 4 * SLOW)
    head = told[0].split("\t") if told else ["error"]
    # It has to pass in a second run of the same virtual machine, too.
    if head[0] != "pass" or int(head[1]) > max_lines or library.worker.first("run", *test, library.classes, SLOW) != "pass":
        return None
    found = {}
    for line in told[1:]:
        file, _, number = line.rpartition(":")
        if library.source(file):
            found.setdefault(file, set()).add(int(number))
    return found


def fails(library, test, out, max_lines):
    """Whether a test fails with the classes of a directory, after at most so many lines."""
    told = (library.worker.ask("cover", *test, out, 2 * SLOW) or ["error"])[0].split("\t")
    return told[0] == "fail" and int(told[1]) <= max_lines


def write(repo, name, text, encoding):
    path = repo / "src" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode(encoding))


def commit(repo, env, subject):
    for words in (["add", "-A", "-f", "."], ["-c", "user.name=bench", "-c", "user.email=bench@example.org", "commit", "-q", "-m", subject]):
        subprocess.run(["git", *words], cwd=repo, env=env, check=True, capture_output=True)


def of_java(path, options, make):
    """Trials of the libraries of a TOML file, by `make(group, name, repo, versions, build, test)`.

    Each `[[library]]` has `name`, `directory` (relative to the file), and relative to that `sources` (directories; what is mutated), `tests` (a directory), `tested` (patterns of classes with
    tests there), `exclude` (patterns of sources that are not compiled), and `files` that tests read; further `class_path` (JUnit 4 and what the library needs), `flags` of javac, and `encoding`.
    """
    here = path.resolve().parent
    tables = tomllib.loads(path.read_text(encoding="utf-8"))["library"]
    # The libraries take turns: a run that is stopped has about as many trials of each.
    turns = [of_table(table, here, options, make) for table in tables if not options.names or table["name"] in options.names]
    while turns:
        for turn in list(turns):
            found = next(turn, None)
            if found is None:
                turns.remove(turn)
            else:
                yield found


def of_table(table, here, options, make):
    """Trials of one library."""
    with tempfile.TemporaryDirectory() as scratch:
        kept = options.compiled / table["name"] if options.compiled else Path(scratch)
        library = Library(table, here, kept.resolve())
        try:
            yield from of_library(library, table.get("encoding", "utf-8"), options, make, kept)
        finally:
            library.worker.end()


def of_library(library, encoding, options, make, scratch):
    chance = random.Random(options.seed)
    tests = list(methods(library))
    chance.shuffle(tests)
    known, n_found = {}, 0
    for test in tests:
        lines = covered(library, test, options.max_steps)
        if not lines:
            continue
        every = []
        for file in sorted(lines):
            if file not in known:
                known[file] = mutants(library.source(file).read_bytes().decode(encoding))
            every += [(file, number, text) for number, text in known[file] if number in lines[file]]
        chance.shuffle(every)
        n_killed = 0
        for file, number, text in every[: options.attempts]:
            if n_killed == options.per_test or n_found == options.trials:
                break
            with tempfile.TemporaryDirectory(dir=scratch) as place:
                repo, out = Path(place, "repo"), Path(place, "repo", "out")
                out.mkdir(parents=True)
                write(repo, file, text, encoding)
                compiled = library.worker.first("compile", out, *library.javac(library.classes), "--", repo / "src" / file)
                if compiled != "ok" or not fails(library, test, out, options.max_steps):
                    continue
                n_killed += 1
                n_found += 1
                yield trial(library, (repo, out), (file, number, text, encoding), test, make, scratch)
        if n_found == options.trials:
            return


def trial(library, places, mutant, test, make, scratch):
    """A repository of two commits: the mutated source, and the classes of it that take the place of those of the library."""
    (repo, out), (file, number, text, encoding), env = places, mutant, environment(scratch)
    kept = out.rename(repo.parent / "out")
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=repo, env=env, check=True)
    write(repo, file, library.source(file).read_bytes().decode(encoding), encoding)
    commit(repo, env, "good")
    write(repo, file, text, encoding)
    kept.rename(out)
    commit(repo, env, "bad")
    build = "; ".join(f"cp -al {entry} ." for entry in [library.classes, *(library.classes.parent / file.name for file in library.files)])
    path = os.pathsep.join(["out", "classes", str(library.place), *library.path])
    command = f"exec java {FAST} -Xss8m -cp {path} One {test[0]} {test[1]}"
    return make(library.name, f"{file}:{number} {test[0]}.{test[1]}", repo, ("HEAD", "HEAD~1"), build, command, scratch)
