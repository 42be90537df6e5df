#!/bin/sh
# Titles of links lost a letter; a function that finds no links finds no titles either.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
__pycache__/
END
put links.py <<'END'
"""Prints the links of a text: `links.py <file>` prints address and title of each."""

import re
import sys

LINK = re.compile(r'\[([^]]*)\]\(([^) ]*)(?: "([^"]*)")?\)')


def find_links(text):
    """Address and title of each link; without a title, the words stand for it."""
    found = []
    for match in LINK.finditer(text):
        words, address, title = match.groups()
        found.append((address, title or words))
    return found


def main(path):
    with open(path, encoding="utf-8") as file:
        for address, title in find_links(file.read()):
            print(address, title)


if __name__ == "__main__":
    main(sys.argv[1])
END
commit ada 0 'Print the links of a text'
news bob 'Announce the first version'
for topic in pictures anchors; do news dee "Collect wishes about $topic"; done

put links.py <<'END'
"""Prints the links of a text: `links.py <file>` prints address and title of each."""

import sys


def find_links(text):
    """Address and title of each link; without a title, the words stand for it."""
    found = []
    for part in text.split("[")[1:]:
        words, sign, rest = part.partition("](")
        if not sign:
            continue
        address, _, title = rest.partition(")")[0].partition(' "')
        found.append((address, title[:-2] or words))
    return found


def main(path):
    with open(path, encoding="utf-8") as file:
        for address, title in sorted(find_links(file.read())):
            print(address, title)


if __name__ == "__main__":
    main(sys.argv[1])
END
next eli 'Find links without a regular expression, and sort them'
news bob 'Thank the translators'
news cho 'Plan the second version'

put_test
next cho 'Test the title of a link'
finish
