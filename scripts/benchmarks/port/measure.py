"""Runs the methods on every case and writes a JSON line for each."""

import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import checks
import choosing
import methods
from objects import Scratch, forget_user


def load(path):
    """Seed and histories of a file; paths in it are relative to it."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    for history in document["history"]:
        history["repo"] = str(path.resolve().parent / history["repo"])
        history.setdefault("commits", document.get("commits", 10))
    return document


def is_trivial(scratch, case):
    """Whether no file of the change differs between `base` and `ours`: then every method just takes the new files."""
    touched = scratch.changed(case["base"], case["patched"])
    moved = scratch.changed(case["base"], case["ours"])
    case["files"] = sorted(touched)
    case["absent"] = sum(path in moved and moved[path][1] is None for path in touched)
    return not touched.keys() & moved.keys()


def carry_by_ours(binary, scratch, cases):
    """Our merge of the cases, and the checks of what came out. A result in which nothing of the change is left is `empty`."""
    found = methods.ours(binary, scratch, cases)
    for case, result in zip(cases, found, strict=True):
        case["methods"]["ours"] = result
        for result in case["methods"].values():
            if result["outcome"] == "clean" and result["tree"] == case["ours"]:
                result["outcome"] = "empty"
    clean = [(case, result) for case in cases for result in case["methods"].values()
             if result["outcome"] == "clean" and "parses" not in result]
    back = methods.ours(binary, scratch, [checks.inverse(case, result["tree"]) for case, result in clean])
    for (case, result), back in zip(clean, back, strict=True):
        result["parses"] = checks.parses(scratch, case, result["tree"])
        result["expected"] = checks.expected(scratch, case, result["tree"])
        result.update(checks.commutes(scratch, case, result["tree"], back))


def by_file(binary, scratch, cases):
    """Of the files in which git's merge has a content conflict: which ours carries, when the change is that file's alone."""
    parts = []
    for case in cases:
        touched = scratch.changed(case["base"], case["patched"])
        case["by_file"] = {}
        for path in case["methods"]["git merge"].get("paths", []):
            if all(touched.get(path, (None, None))):
                scratch.git("read-tree", case["base"])
                mode = scratch.git("ls-files", "-s", "--", path).split(" ", 1)[0]
                scratch.git("update-index", "--cacheinfo", f"{mode},{touched[path][1]},{path}")
                parts.append((case, path, {**case, "patched": scratch.git("write-tree")}))
    found = methods.ours(binary, scratch, [part for _, _, part in parts])
    for (case, path, _), result in zip(parts, found, strict=True):
        case["by_file"][path] = result


def measure(binary, history, seed, earlier):
    """All cases of one history."""
    with tempfile.TemporaryDirectory() as directory:
        scratch = Scratch(directory, history["repo"])
        if earlier is not None:
            cases = [case for case in earlier if case["history"] == history["name"]]
            for case in cases:
                case["methods"] = {name: case["methods"][name] for name in methods.OTHERS} if not case["trivial"] else {}
        else:
            cases = list(choosing.all_cases(scratch, history, seed))
            for case in cases:
                case.update(history=history["name"], trivial=is_trivial(scratch, case), methods={})
        told = [case for case in cases if not case["trivial"]]
        if earlier is None:
            for case in told:
                for name, method in methods.OTHERS.items():
                    case["methods"][name] = method(scratch, case)
        carry_by_ours(binary, scratch, told)
        by_file(binary, scratch, told)
        scratch.close()
    return cases


def main(arguments, raw):
    """Measures; `raw` is written anew."""
    forget_user()
    document = load(arguments.histories)
    earlier = None
    if arguments.only_ours:
        earlier = [json.loads(line) for line in arguments.only_ours.read_text(encoding="utf-8").splitlines()]
    Path(raw).parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for history in document["history"]:
        if arguments.names and history["name"] not in arguments.names:
            continue
        try:
            cases = measure(arguments.binary.resolve(), history, document["seed"], earlier)
        except subprocess.CalledProcessError as error:
            print(f"{history['name']}: left out, it is not whole: {error}", file=sys.stderr, flush=True)
            continue
        told = [case for case in cases if not case["trivial"]]
        count = lambda name: sum(case["methods"][name]["outcome"] == "clean" for case in told)
        shown = ", ".join(f"{name} {count(name)}" for name in [*methods.OTHERS, "ours"])
        print(f"{history['name']}: {len(cases)} cases, {len(told)} not trivial; clean: {shown}", file=sys.stderr, flush=True)
        lines += [json.dumps(case) for case in cases]
        Path(raw).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
