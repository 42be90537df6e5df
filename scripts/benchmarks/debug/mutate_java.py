"""Mutants of Java programs: one operator, constant, condition or returned value is changed."""

import bisect
import re

from mutate import PREFIX, closing

# Each operator and what may take its place. Longer operators come first, so that `<=` is not read as `<`.
REPLACED = {
    ">>>=": None, "<<=": None, ">>=": None, ">>>": [">>"], "<<": [">>"], ">>": ["<<"], "->": None, "::": None,
    "+=": ["-="], "-=": ["+="], "*=": ["/="], "/=": ["*="], "++": ["--"], "--": ["++"],
    "<=": ["<", ">"], ">=": [">", "<"], "==": ["!="], "!=": ["=="], "&&": ["||"], "||": ["&&"],
    "<": ["<=", ">="], ">": [">=", "<="], "+": ["-", "*"], "-": ["+", "*"], "*": ["/", "+"], "/": ["*", "-"], "%": ["*"], "&": ["|"], "|": ["&"], "^": ["&"],
}
NUMBER = r"(?:0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)\w*"
TOKEN = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[A-Za-z_$][\w$]*|""" + NUMBER + "|" + "|".join(re.escape(operator) for operator in REPLACED) + r"|[^\s]", re.S)
WHOLE = re.compile(r"\d+")
PART = re.compile(r"\d*\.\d+(?:[eE][+-]?\d+)?|\d+\.\d*(?:[eE][+-]?\d+)?")


def returned(value):
    """What may be returned in place of a value."""
    if value in ("true", "false"):
        return ["false" if value == "true" else "true"]
    return ["null"] if value == "this" or value.startswith("new ") else []


def mutants(text):
    """All mutants of a source: pairs of a number of a line, from 1, and the whole text with that line changed."""
    tokens = [(found.group(), found.start(), found.end()) for found in TOKEN.finditer(text)]
    tokens = [token for token in tokens if not token[0].startswith(("/*", "//", '"', "'"))]
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    line = lambda place: bisect.bisect_right(starts, place)
    depth, found = 0, []
    for index, (token, begin, end) in enumerate(tokens):
        depth += {"{": 1, "}": -1}.get(token, 0)
        if depth < 2 or index == 0:
            continue
        before = tokens[index - 1][0]
        put = lambda new, begin=begin, end=end: found.append((line(begin), text[:begin] + new + text[end:]))
        if REPLACED.get(token):
            if token not in ("+", "-", "*") or not PREFIX.match(before):
                for other in REPLACED[token]:
                    put(other)
            elif token == "-":
                put("")
        elif WHOLE.fullmatch(token):
            for other in {int(token) + 1, max(int(token) - 1, 0)} - {int(token)}:
                put(str(other))
        elif PART.fullmatch(token):
            put(f"({token} + 1.0)")
        elif token in ("if", "while") and tokens[index + 1][0] == "(":
            close = closing(tokens, index + 1)
            # A condition in one line: the fault has one place.
            if close is not None and line(begin) == line(tokens[close][1]):
                first, last = tokens[index + 1][1], tokens[close][2]
                found.append((line(begin), f"{text[:first]}(!{text[first:last]}){text[last:]}"))
        elif token == "return":
            close = text.find(";", end)
            for other in returned(text[end:close].strip()):
                found.append((line(begin), f"{text[:end]} {other}{text[close:]}"))
    return found
