"""Large histories made by script: the same bytes for the same seed."""

import random
import subprocess

WHO = "bench <bench@example.org>"
# A point in time, so that ids are the same on every day.
BEGIN = 1_600_000_000
# A branch begins at one commit of so many, and has up to so many commits.
BRANCH_EVERY, MAX_BRANCH = 8, 6
FILES_A_DIRECTORY, DIRECTORIES_A_PART = 100, 30


def path_of(n):
    """The path of file `n`: three levels, as in a real tree."""
    directory = n // FILES_A_DIRECTORY
    return f"part{directory // DIRECTORIES_A_PART:02}/module{directory % DIRECTORIES_A_PART:02}/file{n % FILES_A_DIRECTORY:02}.txt"


def content(rng, n_bytes):
    """Text that hardly shrinks, in lines of 65 bytes."""
    text = rng.randbytes((n_bytes + 1) // 2).hex()
    return "\n".join(text[at : at + 64] for at in range(0, n_bytes, 64)).encode() + b"\n"


def stream(n_commits, n_files, n_bytes, culprit, seed):
    """What `git fast-import` reads: the first commit has all files, each further one changes one to three of them.

    From commit `culprit` of the main line on (counted in all commits) the file `value` says `bad`.
    """
    rng = random.Random(seed)
    data = lambda text: b"data %d\n%s\n" % (len(text), text)
    # (branch, commits it still gets, mark it ends in)
    side = None
    main_end, n_main_bad = None, False
    for n in range(1, n_commits + 1):
        merges = side is not None and side[1] == 0
        on_side = side is not None and not merges
        parent = side[2] if on_side else main_end
        lines = [b"commit refs/heads/%s\nmark :%d\n" % (b"side" if on_side else b"main", n)]
        when = BEGIN + 600 * n
        lines.append(f"author {WHO} {when} +0000\ncommitter {WHO} {when} +0000\n".encode())
        kind = "Merge a side branch" if merges else "Change some files"
        lines.append(data(f"{kind}, commit {n}\n\nThis is commit number {n} of a history made for measurements.\n".encode()))
        if parent is not None:
            lines.append(b"from :%d\n" % parent)
        if merges:
            lines.append(b"merge :%d\n" % side[2])
        yield b"".join(lines)
        if n == 1:
            for file in range(n_files):
                yield b"M 100644 inline %s\n" % path_of(file).encode() + data(content(rng, n_bytes))
            yield b"M 100644 inline value\n" + data(b"good\n")
        elif not merges:
            for _ in range(rng.randint(1, 3)):
                yield b"M 100644 inline %s\n" % path_of(rng.randrange(n_files)).encode() + data(content(rng, n_bytes))
            if not on_side and not n_main_bad and n >= culprit:
                n_main_bad = True
                yield b"M 100644 inline value\n" + data(b"bad\n")
        yield b"\n"
        if on_side:
            side = (side[0], side[1] - 1, n)
        else:
            main_end = n
            side = None
            if n < n_commits - MAX_BRANCH and rng.randrange(BRANCH_EVERY) == 0:
                side = ("side", rng.randint(1, MAX_BRANCH), n)
    yield b"reset refs/heads/side\nfrom 0000000000000000000000000000000000000000\n\ndone\n"


def make(repo, env, **shape):
    """Makes the repository `repo`, checked out; returns its path. 60,000 files and 100,000 commits take two minutes."""
    git = lambda *words, **more: subprocess.run(["git", "-C", repo, *words], env=env, check=True, **more)
    repo.mkdir(parents=True)
    git("init", "-q", "-b", "main")
    importing = subprocess.Popen(["git", "-C", repo, "fast-import", "--quiet", "--done"], env=env, stdin=subprocess.PIPE)
    for part in stream(**shape):
        importing.stdin.write(part)
    importing.stdin.close()
    if importing.wait() != 0:
        raise SystemExit("git fast-import failed")
    git("reset", "-q", "--hard")
    return repo
