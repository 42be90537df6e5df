"""Markdown tables."""


def shown(value):
    """A cell: nothing known is a dash, times get one digit, a bar is escaped, and so is what would not be seen."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.1f}"
    text = str(value).replace("|", "\\|").replace("\n", " ")
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def short(text, n_letters=44):
    """A subject that fits into a table."""
    return text if text is None or len(text) <= n_letters else text[: n_letters - 1].rstrip() + "…"


def table(head, rows):
    """A table; columns of which all cells are numbers stand on the right."""
    rows = list(rows)
    cells = [[shown(value) for value in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(head, *cells)]
    is_number = [all(isinstance(row[i], (int, float, type(None))) for row in rows) for i in range(len(head))]
    pad = lambda row: "| " + " | ".join(
        cell.rjust(width) if right else cell.ljust(width) for cell, width, right in zip(row, widths, is_number)) + " |"
    rule = "|" + "|".join(("-" * (width + 1) + ":") if right else ("-" * (width + 2)) for width, right in zip(widths, is_number)) + "|"
    return "\n".join([pad(head), rule, *map(pad, cells)])
