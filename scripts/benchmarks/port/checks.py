"""What is checked of a tree that some method made.

- *parses*: in every C and Java file that differs from `ours`, a parser finds no more errors than in the worst of the three
  versions of that path. The parser is the one of Python's `tree-sitter`, so the program that is measured does not judge itself.
- *commutes*: what the change did must be separable again: the change `ours` -> `base` carried onto the result must give `patched`.
  `equal`: all files of the tree are the same; `space`: they differ in white space only; `differs`; `unknown`: that merge
  conflicts. Git's merge is asked first, ours where git's conflicts. `differs` is no proof of a defect: an edit that both sides made
  alike is undone with the one side.
- *expected*: for backports and merges the paths that the change touches, compared with what the history has: `equal`, `space`, `differs`.
"""

import tree_sitter
import tree_sitter_c
import tree_sitter_java

import methods

PARSERS = {
    ".c": tree_sitter.Parser(tree_sitter.Language(tree_sitter_c.language())),
    ".java": tree_sitter.Parser(tree_sitter.Language(tree_sitter_java.language())),
}
PARSERS[".h"] = PARSERS[".c"]


def n_errors(scratch, path, name, known={}):
    """Nodes that are errors or missing, in a blob."""
    if name is None:
        return 0
    suffix = path[path.rfind("."):]
    if (suffix, name) not in known:
        open_nodes, count = [PARSERS[suffix].parse(scratch.blob(name)).root_node], 0
        while open_nodes:
            node = open_nodes.pop()
            count += node.is_error or node.is_missing
            if node.has_error:
                open_nodes.extend(node.children)
        known[suffix, name] = count
    return known[suffix, name]


def parses(scratch, case, tree):
    """See above. A path that is new in the result is compared with nothing: it must have no error."""
    changed = scratch.changed(case["ours"], tree)
    from_base = {which: scratch.changed(tree, case[which]) for which in ("base", "patched")}
    for path, (before, after) in changed.items():
        if after is None or not path.endswith(tuple(PARSERS)):
            continue
        others = [from_base[which].get(path, (after, after))[1] for which in from_base]
        if n_errors(scratch, path, after) > max(n_errors(scratch, path, name) for name in (before, *others)):
            return False
    return True


def compare(scratch, found, wanted, paths=None):
    """`equal`, `space` or `differs`."""
    changed = scratch.changed(found, wanted)
    if not any(paths is None or path in paths for path in changed):
        return "equal"
    limit = [] if paths is None else ["--", *paths]
    _, text = scratch.run("diff-tree", "-r", "-p", "-w", "--ignore-blank-lines", "--no-renames", found, wanted, *limit)
    return "differs" if b"\n@@" in text or b"\nnew file" in text or b"\ndeleted file" in text else "space"


def inverse(case, tree):
    """The merge that takes the way from `base` to `ours` out of a result again."""
    return {"base": case["ours"], "ours": tree, "patched": case["base"]}


def commutes(scratch, case, tree, ours):
    """`ours`: what our program makes of [`inverse`]."""
    back = methods.git_merge(scratch, inverse(case, tree))
    judge = "git" if back["outcome"] == "clean" else "ours"
    if judge == "ours":
        back = ours
    if back["outcome"] != "clean":
        return {"commutes": "unknown", "judge": None}
    return {"commutes": compare(scratch, back["tree"], case["patched"]), "judge": judge}


def expected(scratch, case, tree):
    """Whether the paths of the change are as in the history."""
    if case["expected"] is None:
        return None
    paths = [path for path in scratch.changed(case["base"], case["patched"])]
    return compare(scratch, tree, case["expected"], paths)
