"""Reductions by `git idd minimize`."""

import json
import re
import signal
import subprocess
import threading
import time

from cases import PROBE

OUTCOMES = {"pass": "pass", "fail": "fail"}
USED = re.compile(r"^  probe \d+ (\w+): tree ([0-9a-f]{12}) (\S+)")
# Names a file for the list of what is refused without a probe: JSON lines with `tree` and `reason`. The trees are among
# the candidates.
AUDIT = "IDD_AUDIT"


def knows(binary, options):
    """Whether `git idd minimize` knows these options, hidden ones included: an unknown one is an error of usage."""
    return subprocess.run([binary, "minimize", *options, "--help"], capture_output=True).returncode == 0


def patched(bench, tree, patch, *options):
    """The id of a tree with a patch of the report put in; `None` if there is none that fits."""
    if not isinstance(patch, str) or not patch:
        return None
    env = {**bench.env, "GIT_INDEX_FILE": str(bench.directory / "patched-index")}
    run = lambda *words, **more: subprocess.run(["git", "-C", bench.repo, *words], env=env, capture_output=True, **more)
    run("read-tree", tree, check=True)
    if run("apply", *options, "--cached", "--unidiff-zero", "-", input=patch.encode()).returncode:
        return None
    return run("write-tree", check=True).stdout.decode().strip()


def reduce(binary, bench, options, seconds, max_probes, progress, refused=None):
    """Runs the reductions of the necessary and of the sufficient change, which grows around it; the others make the latter alone.
    The program is interrupted when it begins to prove the result.

    `refused`: a file for the list of what is refused without a probe."""
    jobs = [] if any(option.startswith("-j") for option in options) else ["-j1"]
    command = [binary, "minimize", "--json", "--verbose", "--no-port", "--no-hold", "--no-cache", "--effort", "unlimited", "--signature", "exit",
               "--timeout", str(2 * bench.case["timeout"] + 5), "--build", f"{PROBE} build", *jobs, *options,
               bench.good, bench.bad, "--", str(PROBE), "test"]
    env = {**bench.env, AUDIT: str(refused)} if refused else bench.env
    begin = time.time()
    child = subprocess.Popen(command, cwd=bench.repo, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
    output = []
    reader = threading.Thread(target=lambda: output.append(child.stdout.read()))
    reader.start()
    is_over = threading.Event()

    def stop():
        if not is_over.is_set():
            is_over.set()
            child.send_signal(signal.SIGINT)

    watches = [threading.Timer(seconds, stop), threading.Timer(seconds + 60, child.kill)]
    for watch in watches:
        watch.start()
    used, is_complete, end = [], False, None
    with open(progress, "w", encoding="utf-8") as kept:
        for line in child.stderr:
            print(f"{time.time() - begin:9.3f} {line}", end="", file=kept)
            match = USED.match(line)
            if not match or is_over.is_set():
                continue
            phase, tree, outcome = match.groups()
            # Both ends are verified before the reduction, its result after it.
            is_after = phase == "verify" and any(row["phase"] == "reduce" for row in used)
            if is_after:
                is_complete = True
                end = time.time()
                stop()
            used.append({"phase": phase, "tree": tree, "outcome": OUTCOMES.get(outcome, "unresolved"), "at": time.time()})
            tried = {row["tree"] for row in used if row["phase"] == "reduce"}
            if len(tried - {bench.good_tree[:12], bench.bad_tree[:12]}) >= max_probes:
                stop()
    child.wait()
    reader.join()
    for watch in watches:
        watch.cancel()
    end = end or time.time()
    try:
        report = json.loads(output[0])
    except ValueError:
        report = {"status": f"no report, exit {child.returncode}"}
    if not is_over.is_set():
        # It ended by itself before it asked for another reduction.
        is_complete = report.get("status") == "found"
    return evaluate(bench, report, used, is_complete, begin, end)


def verdict(row, failing):
    """What the last command of a probe says."""
    if row["code"] == 0:
        return "pass"
    return "fail" if row["stage"] == "test" and row["code"] == failing else "unresolved"


def evaluate(bench, report, used, is_complete, begin, end):
    """The row of one run."""
    change = (report.get("change") or {}).get("sufficient") or {}
    reducing = [row for row in used if row["phase"] == "reduce"]
    # The last one, or the two last ones, are the beginning of the next reduction.
    if is_complete and reducing and reducing[-1]["tree"] == bench.bad_tree[:12]:
        reducing.pop()
        # To take back the sufficient change is tried first.
        after = patched(bench, bench.bad_tree, change.get("patch"), "-R")
        if reducing and after and reducing[-1]["tree"] == after[:12]:
            reducing.pop()
            if all(row["tree"] != after[:12] for row in reducing):
                end = min([row["begin"] for row in bench.rows() if row["tree"] == after], default=end)
    outcomes = {row["tree"]: row["outcome"] for row in reducing}
    others = {row["tree"] for row in used} - set(outcomes)
    ran, begins = {}, []
    for row in bench.rows():
        name = row["tree"][:12]
        # A run whose answer was not used was speculation; its verdict is that of its last command.
        if name not in others and row["begin"] < end:
            ran[row["tree"]] = outcomes.get(name, verdict(row, bench.case["fail"]))
            begins.append(row["begin"])
    started = min(begins, default=end)
    rows, sizes = [], {bench.bad_tree: bench.case["lines"]}
    borrow_candidates(bench)
    for tree, outcome in ran.items():
        is_used = outcomes.get(tree[:12]) == "fail"
        if is_used:
            sizes[tree] = bench.size(tree)[0]
        rows.append([outcome, sizes.get(tree)])
    best = is_complete and patched(bench, bench.good_tree, change.get("patch")) or min(sizes, key=sizes.get)
    error = None if change or not is_complete else f"no sufficient change: {report.get('status')} {report.get('sentence')}"
    probes = report.get("probes") or {}
    return {"rows": rows, "cut": not is_complete, "error": error, "tree": best, "wall": end - started,
            "refused": probes.get("refused"), "units": len(change.get("units") or []) or None,
            "reported_lines": change.get("lines"), "is_minimal": change.get("is_minimal"), "status": report.get("status"),
            "setup": [row["phase"] for row in used if row["phase"] != "reduce"]}


def borrow_candidates(bench):
    """Makes the trees of candidates, which the program keeps in a repository of its own, readable in the scratch one."""
    alternates = bench.repo / ".git" / "objects" / "info" / "alternates"
    known = alternates.read_text() if alternates.exists() else ""
    found = [f"{objects}\n" for objects in (bench.repo / ".git").rglob("objects.git/objects")]
    alternates.write_text(known + "".join(line for line in found if line not in known))
