"""What others do with a noisy test: each takes the number of revisions and a test of one position, 1 the oldest that may be the
culprit, and returns the first bad position and the confidence that the method gives with it."""


def bisected(n, fails):
    """As `git bisect run` goes: position 0 is said to be good, position n to be bad, and each revision is tested once."""
    good, bad = 0, n
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (good, middle) if fails(middle) else (middle, bad)
    return bad, None


def by_majority(n, fails):
    """The same with the majority of five runs, which end as soon as three agree."""

    def mostly_fails(position):
        n_fails = n_passes = 0
        while max(n_fails, n_passes) < 3:
            if fails(position):
                n_fails += 1
            else:
                n_passes += 1
        return n_fails == 3

    return bisected(n, mostly_fails)


METHODS = {"git bisect run": bisected, "majority of 5": by_majority}

try:
    from git_bayesect import Bisector
except ImportError:
    pass
else:

    def by_bayesect(n, fails):
        """As `git bayesect run` with its defaults: index 0 is the newest revision, and what is sought is the oldest bad one."""
        bisector = Bisector([1.0] * (n + 1))
        for _ in range(2000):
            index = bisector.select()
            bisector.record(index, fails(n - index))
            if bisector.distribution.max() >= 0.95:
                break
        return n - int(bisector.distribution.argmax()), float(bisector.distribution.max())

    METHODS["git_bayesect"] = by_bayesect
