"""How many experiments `git idd explain` makes a second on a Java program: each one runs the program with another value."""

import json
import subprocess
import time

from running import git, usage

# A chain of so many links.
N_LINKS = 60
BUILD = "javac -g -nowarn -d out {path} *.java"
MAIN = """public class Main {{
{methods}
    public static void main(String[] args) {{
        if (end() != {right}) {{
            throw new IllegalStateException("end " + end());
        }}
    }}
}}
"""
TEST = """import org.junit.Assert;
import org.junit.Test;
public class MainTest {
    @Test public void ends() { Assert.assertEquals(RIGHT, Main.end()); }
    @Test public void begins() { Assert.assertTrue(Main.end() > 0); }
}
"""


def source(first):
    """A program whose result is wrong if the first value is not 1."""
    lines = [f"        int value0 = {first};"]
    lines += [f"        int value{n} = value{n - 1} * 3 % 1000 + {n};" for n in range(1, N_LINKS)]
    methods = "    static int end() {\n" + "\n".join(lines) + f"\n        return value{N_LINKS - 1};\n    }}"
    value = 1
    for n in range(1, N_LINKS):
        value = value * 3 % 1000 + n
    return MAIN.format(methods=methods, right=value), TEST.replace("RIGHT", str(value))


def measure(junit, options, env, place):
    """Experiments a second, runs of the test a second, and how many of the links were tested."""
    repo = place / "repo"
    repo.mkdir()
    git(repo, "init", "-q")
    (repo / ".gitignore").write_text("out/\n", encoding="utf-8")
    for first in (1, 2):
        main, test = source(first)
        (repo / "Main.java").write_text(main, encoding="utf-8")
        if junit:
            (repo / "MainTest.java").write_text(test, encoding="utf-8")
        for words in (["add", "-A", "."], ["commit", "-qm", "Next"]):
            subprocess.run(["git", "-c", "user.name=bench", "-c", "user.email=bench@example.org", *words], cwd=repo, env=env, check=True)
    path = ":".join(["out", *junit])
    java = ["java", "-cp", path, *(["org.junit.runner.JUnitCore", "MainTest"] if junit else ["Main"])]
    build = BUILD.format(path=f"-cp {path}" if junit else "")
    command = [options.binary, "explain", "--json", "--bad", "HEAD", "--good", "HEAD~1", "--build", build, "--", *java]
    _, _, said = usage(command, repo, env)
    chain = json.loads(said)
    tested = sum(1 for link in chain["chain"] if link.get("tested"))
    subprocess.run(["sh", "-c", build], cwd=repo, env=env, check=True)
    begin = time.monotonic()
    for _ in range(options.rounds):
        subprocess.run(java, cwd=repo, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    runs = options.rounds / (time.monotonic() - begin)
    n_trials = chain["n_trials"]
    return {"n_trials": n_trials, "trials": n_trials / chain["trial_seconds"] if n_trials else 0.0, "runs": runs, "tested": tested, "links": len(chain["chain"])}
