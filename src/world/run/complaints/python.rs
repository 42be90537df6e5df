//! Checks of Python with our own script: errors that the interpreter reports only when a line runs.

use crate::process::shell::quoted;
use crate::run::complaints::append_present;

/// The script; its first lines list what it reports.
const CHECK: &str = include_str!("check.py");

/// Adds the check of `files` to a line.
pub(super) fn append(text: &mut Vec<u8>, files: &[Vec<u8>]) {
    if files.is_empty() {
        return;
    }
    append_present(text, files);
    text.extend(b"if test $# -gt 0; then echo '@idd in python .'\npython3 -I -c ");
    text.extend(quoted(CHECK.as_bytes()));
    text.extend(b" \"$@\" || echo '@idd failed python'\nfi\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process;
    use std::ffi::OsStr;
    use std::fs;

    /// The messages about a source, without its path; `None` if there is no Python here.
    fn said(source: &str) -> Option<Vec<String>> {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("a.py"), source).unwrap();
        let words = ["-I", "-c", CHECK, "a.py"].map(OsStr::new);
        let ran = process::capture(OsStr::new("python3"), &words, place.path(), &[]).ok()?;
        assert_eq!(ran.code, Some(0), "{source}: {}", String::from_utf8_lossy(&ran.stderr));
        let text = String::from_utf8(ran.stdout).unwrap();
        Some(text.lines().map(|line| line.strip_prefix("a.py: warning: ").unwrap().to_owned()).collect())
    }

    #[track_caller]
    fn check(source: &str, expected: &[&str]) {
        if let Some(said) = said(source) {
            assert_eq!(said, expected, "{source}");
        }
    }

    #[test]
    fn what_surely_fails_is_complained_of() {
        check(
            "def f(a):\n    if a:\n        x = 1\n    else:\n        print(x)\n",
            &["`x` is read before it is bound in `f`"],
        );
        check("def f():\n    n += 1\n    del n\n    return n\n", &["`n` is read before it is bound in `f`"]);
        check(
            "def f():\n    try:\n        pass\n    except OSError as e:\n        pass\n    return e\n",
            &["`e` is read before it is bound in `f`"],
        );
        check(
            "print(later())\ndef later(): return missing\n",
            &["`later` is read before it is bound", "`missing` is used in `later` and bound nowhere"],
        );
        check("class A:\n    a = 1\n    def m(self): return a\n", &["`a` is used in `m` and bound nowhere"]);
        check("for i in ():\n    break\n    i = 2\n", &["`i = 2` behind `break` is never reached"]);
        check("def f(a):\n    b = a\n", &["`b` is assigned and never used in `f`"]);
    }

    #[test]
    fn what_may_work_is_not_complained_of() {
        for source in [
            "from os import *\nprint(getcwd(), anything)\n",
            "globals()['x'] = 1\nprint(x)\n",
            "def f():\n    for i in range(3):\n        if i: print(k)\n        k = i\n",
            "def f(a):\n    while True:\n        try:\n            v = a()\n        except OSError:\n            continue\n        break\n    return v\n",
            "def f():\n    def inner(): return later\n    later = 3\n    return inner\n",
            "def set_up():\n    global ready\n    ready = 1\ndef f(): return ready\n",
            "def f(a):\n    n = 0\n    def inner():\n        nonlocal n\n        n += 1\n    inner()\n    return [b for b in a], n\n",
            "def top(self, which): return self, which\n",
            "class A:\n    def m(self): return __class__, super().m()\n",
            "def f():\n    return\n    yield\n",
            "def f(*a, b=1, **c):\n    first, second = a\n    with open(b) as d: e = 1\n    return e, c, __name__, __file__\n",
            "import a.b as c, d.e\nprint(c, d, [x for x in c for y in x])\ntry: g = 1\nfinally: pass\nprint(g)\n",
            "def f(x):\n    y = 1\n    return eval(x)\n",
        ] {
            check(source, &[]);
        }
    }
}
