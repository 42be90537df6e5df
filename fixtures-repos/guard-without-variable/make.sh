#!/bin/sh
# Empty settings are written; the guard that kept them out tests a variable that went with it.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
__pycache__/
END
put settings.py <<'END'
"""Writes settings: `settings.py name=value...` prints a section of a configuration file."""

import sys

DEFAULTS = {"colour": ["auto"], "pager": ["less", "more"]}


def render(pairs, section):
    """The lines of one section; what is empty or a default is left out."""
    lines = ["[" + section + "]"]
    for name, value in pairs:
        known = DEFAULTS.get(name, [])
        if not value or value in known:
            continue
        lines.append("    " + name + " = " + value)
    return lines


def main(arguments):
    pairs = [argument.partition("=")[::2] for argument in arguments]
    for line in render(pairs, "core"):
        print(line)


if __name__ == "__main__":
    main(sys.argv[1:])
END
put suite.sh <<'END'
# What settings.py has to do: prints a line for each case, and fails if one is wrong.
n_wrong=0
check() {
    if [ "$2" = "$3" ]; then echo "ok: $1"; else echo "not ok: $1"; n_wrong=1; fi
}
check 'no settings' "$(python3 settings.py)" '[core]'
check 'a setting' "$(python3 settings.py editor=ed 2>/dev/null | tail -n 1)" '    editor = ed'
check 'a pager of our own' "$(python3 settings.py pager=cat 2>/dev/null | tail -n 1)" '    pager = cat'
exit $n_wrong
END
commit ada 0 'Write settings'
news bob 'Announce the first version'
for topic in comments sections; do news dee "Collect wishes about $topic"; done

put settings.py <<'END'
"""Writes settings: `settings.py name=value...` prints a section of a configuration file."""

import sys


def render(pairs, section):
    """The lines of one section, in the order of the names."""
    lines = ["[" + section + "]"]
    for name, value in sorted(pairs):
        lines.append("    {} = {}".format(name, value))
    return lines


def main(arguments):
    pairs = [argument.partition("=")[::2] for argument in arguments]
    for line in render(pairs, "core"):
        print(line)


if __name__ == "__main__":
    main(sys.argv[1:])
END
next eli 'Write defaults as well, and sort the settings'
news bob 'Thank the translators'
news cho 'Plan the second version'

put_test
next cho 'Test an empty setting'
finish
