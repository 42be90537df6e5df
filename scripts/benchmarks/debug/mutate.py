"""Mutants of C programs: one operator, constant or condition is changed."""

import re

# Each operator and what takes its place. Longer operators come first, so that `<=` is not read as `<`.
REPLACED = {
    "<<": None, ">>": None, "->": None, "+=": "-=", "-=": "+=", "++": "--", "--": "++", "<=": "<", ">=": ">", "==": "!=", "!=": "==",
    "&&": "||", "||": "&&", "<": "<=", ">": ">=", "+": "-", "-": "+", "*": "/", "/": "*", "%": "*",
}
TOKEN = re.compile(
    r"""/\*.*?\*/|//[^\n]*|^[ \t]*\#(?:[^\n\\]|\\.)*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|"""
    r"""[A-Za-z_]\w*|(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)\w*|"""
    + "|".join(re.escape(operator) for operator in REPLACED) + r"|[^\s]", re.S | re.M)
# Before these words or signs, `-`, `+` and `*` have one operand.
PREFIX = re.compile(r"^(?:[(\[{,;=<>+\-*/%&|!?:~^]|return|case|.=|&&|\|\||<<|>>)$")


def closing(tokens, at):
    """The index of the token that closes the bracket at an index, or None."""
    depth = 0
    for index in range(at, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[index][0], 0)
        if depth == 0:
            return index
    return None


def mutants(text):
    """All mutants of a source: pairs of a number of a line, from 1, and the whole text with that line changed."""
    tokens = [(found.group(), found.start(), found.end()) for found in TOKEN.finditer(text)]
    tokens = [token for token in tokens if not token[0].lstrip().startswith(("/*", "//", "#", '"'))]
    line = lambda place: text.count("\n", 0, place) + 1
    depth, found = 0, []
    for index, (token, begin, end) in enumerate(tokens):
        depth += {"{": 1, "}": -1}.get(token, 0)
        if depth < 1 or index == 0:
            continue
        before = tokens[index - 1][0]
        put = lambda new: found.append((line(begin), text[:begin] + new + text[end:]))
        if REPLACED.get(token) and not (token in "+-*" and PREFIX.match(before)):
            put(REPLACED[token])
        elif re.fullmatch(r"\d+", token):
            put(str(int(token) + 1))
        elif token == "(" and before in ("if", "while"):
            close = closing(tokens, index)
            # A condition in one line: the fault has one place.
            if close is not None and line(begin) == line(tokens[close][1]):
                found.append((line(begin), f"{text[:begin]}(!{text[begin:tokens[close][2]]}){text[tokens[close][2]:]}"))
    return found
