"""Reports what is surely wrong in Python sources and is seen only when the line is run; nothing is imported or run.

- what the compiler says: errors, and warnings of syntax;
- names that are used and bound in no scope (off where `import *`, `exec` or `globals()` may bind more);
- local names that are read where no binding can come before;
- statements behind `return`, `raise`, `continue` or `break`;
- local names that are assigned and never used.

Prints `path: warning: text` without positions, each once. Works from Python 3.6 on.
"""
import ast
import builtins
import symtable
import sys
import warnings

IMPLICIT = set(dir(builtins)) | {
    "__file__", "__path__", "__builtins__", "__annotations__", "__cached__", "__conditional_annotations__",
    "WindowsError", "__class__", "__classdict__", "__module__", "__qualname__", "__firstlineno__", "__static_attributes__",
}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = FUNCTIONS + (ast.ClassDef, ast.Lambda)
ENDS = {ast.Return: "return", ast.Raise: "raise", ast.Continue: "continue", ast.Break: "break"}


def calls(tree, names):
    """Whether a function of one of these names is called by it."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(isinstance(node.func, ast.Name) and node.func.id in names for node in nodes)


def is_open(tree):
    """Whether names of the module may be bound in ways that are not seen."""
    stars = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    return any(alias.name == "*" for node in stars for alias in node.names) or calls(tree, {"exec", "globals"})


def unbound(table, bound, report):
    """Names that are looked up among the module's and are not there."""
    is_module = table.get_type() == "module"
    where = "" if is_module else " in `%s`" % table.get_name()
    for symbol in table.get_symbols():
        name = symbol.get_name()
        # `is_global` is wrong in a function with the name `top`.
        is_own = symbol.is_parameter() or (symbol.is_assigned() and not symbol.is_declared_global())
        is_outer = not is_own and (is_module or symbol.is_global())
        if symbol.is_referenced() and is_outer and name not in bound and name not in IMPLICIT:
            report("`%s` is used%s and bound nowhere" % (name, where))
    for child in table.get_children():
        unbound(child, bound, report)


def bound_in_module(table):
    """Names that are bound in the module, by itself or by `global`."""
    found = set()
    is_module = table.get_type() == "module"
    for symbol in table.get_symbols():
        is_binding = symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
        if is_binding and (is_module or symbol.is_declared_global()):
            found.add(symbol.get_name())
    for child in table.get_children():
        found |= bound_in_module(child)
    return found


def names_of(target):
    """Names that an assignment to `target` binds."""
    if isinstance(target, ast.Name):
        return {target.id}
    if isinstance(target, (ast.Tuple, ast.List)):
        return set().union(*map(names_of, target.elts)) if target.elts else set()
    if isinstance(target, ast.Starred):
        return names_of(target.value)
    return set()


def inside(node):
    """All nodes of the same scope below `node`; those of comprehensions too."""
    for child in ast.iter_child_nodes(node):
        yield child
        if isinstance(child, SCOPES):
            outer = list(getattr(child, "decorator_list", [])) + list(getattr(child, "bases", []))
            arguments = getattr(child, "args", None)
            if isinstance(arguments, ast.arguments):
                outer += arguments.defaults + [default for default in arguments.kw_defaults if default]
            for part in outer:
                yield part
                yield from inside(part)
        else:
            yield from inside(child)


def own_of_comprehensions(node):
    """The names that are bound only inside of comprehensions."""
    found = set()
    for child in inside(node):
        if isinstance(child, ast.comprehension):
            found |= names_of(child.target)
    return found


def bindings(nodes):
    """Names that are bound somewhere below these nodes, in their scope."""
    found = set()
    skipped = set()
    for top in nodes:
        for node in [top] + list(inside(top)) if not isinstance(top, SCOPES) else [top]:
            if isinstance(node, ast.comprehension):
                skipped |= {id(part) for part in ast.walk(node.target)}
            if isinstance(node, FUNCTIONS + (ast.ClassDef,)):
                found.add(node.name)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                found |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ExceptHandler) and node.name:
                found.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in skipped:
                found.add(node.id)
            elif type(node).__name__ in ("MatchAs", "MatchStar") and node.name:
                found.add(node.name)
            elif type(node).__name__ == "MatchMapping" and node.rest:
                found.add(node.rest)
            elif type(node).__name__ == "TypeAlias":
                found |= names_of(node.name)
    return found


class Flow:
    """Walks the statements of one scope in their order; `None` is the state where nothing arrives.

    A state is the set of names that may be bound. It is rather too large than too small: so a name that is not in it is surely
    not bound.
    """

    def __init__(self, local, report):
        self.local = local
        self.report = report

    def read(self, node, state, hidden=frozenset()):
        """What is read by an expression, in about the order in which it is done."""
        if node is None or state is None:
            return
        if isinstance(node, ast.Lambda):
            for default in node.args.defaults + [default for default in node.args.kw_defaults if default]:
                self.read(default, state, hidden)
        elif isinstance(node, ast.Name):
            is_read = isinstance(node.ctx, ast.Load) and node.id in self.local and node.id not in hidden
            if is_read and node.id not in state:
                self.report(node.id)
                state.add(node.id)
        elif isinstance(node, COMPREHENSIONS):
            hidden = hidden | set().union(*(names_of(part.target) for part in node.generators))
            first = node.generators[0]
            self.read(first.iter, state, hidden - names_of(first.target))
            if isinstance(node, ast.GeneratorExp):
                state |= bindings([node])
                return
            for part in node.generators:
                if part is not first:
                    self.read(part.iter, state, hidden)
                for test in part.ifs:
                    self.read(test, state, hidden)
            for name in ("key", "value", "elt"):
                self.read(getattr(node, name, None), state, hidden)
        elif type(node).__name__ == "NamedExpr":
            self.read(node.value, state, hidden)
            state |= names_of(node.target)
        else:
            for child in ast.iter_child_nodes(node):
                self.read(child, state, hidden)

    def assign(self, target, state):
        if state is not None:
            self.read(target, state)
            state |= names_of(target)

    def block(self, statements, state):
        for statement in statements:
            state = self.statement(statement, state)
        return state

    def statement(self, node, state):
        if state is None:
            return None
        if isinstance(node, SCOPES):
            for part in list(node.decorator_list) + list(getattr(node, "bases", [])):
                self.read(part, state)
            arguments = getattr(node, "args", None)
            if arguments is not None:
                for default in arguments.defaults + [default for default in arguments.kw_defaults if default]:
                    self.read(default, state)
            state.add(node.name)
        elif isinstance(node, ast.Assign):
            self.read(node.value, state)
            for target in node.targets:
                self.assign(target, state)
        elif isinstance(node, ast.AugAssign):
            if isinstance(node.target, ast.Name):
                self.read(ast.Name(id=node.target.id, ctx=ast.Load()), state)
            self.read(node.value, state)
            self.assign(node.target, state)
        elif isinstance(node, ast.AnnAssign):
            self.read(node.value, state)
            if node.value is not None:
                self.assign(node.target, state)
        elif isinstance(node, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
            for child in ast.iter_child_nodes(node):
                self.read(child, state)
            return None
        elif isinstance(node, ast.If):
            self.read(node.test, state)
            return join(self.block(node.body, set(state)), self.block(node.orelse, set(state)))
        elif isinstance(node, (ast.While, ast.For, ast.AsyncFor)):
            return self.loop(node, state)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                self.read(item.context_expr, state)
                if item.optional_vars is not None:
                    self.assign(item.optional_vars, state)
            # What it enters may keep an exception from going on.
            return (self.block(node.body, set(state)) or set()) | state | bindings(node.body)
        elif type(node).__name__ in ("Try", "TryStar"):
            return self.attempt(node, state)
        elif type(node).__name__ == "Match":
            self.read(node.subject, state)
            after = set(state)
            for case in node.cases:
                inner = state | bindings([case.pattern])
                self.read(case.guard, inner)
                after = join(after, self.block(case.body, inner))
            return after
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self.read(ast.Name(id=target.id, ctx=ast.Load()), state)
                    state.discard(target.id)
                else:
                    self.read(target, state)
        elif isinstance(node, (ast.Import, ast.ImportFrom)) or type(node).__name__ == "TypeAlias":
            state |= bindings([node])
        else:
            self.read(node, state)
            state |= bindings([node])
        return state

    def loop(self, node, state):
        if isinstance(node, ast.While):
            # What the test reads the first time.
            self.read(node.test, state)
        else:
            self.read(node.iter, state)
        around = state | bindings([node])
        if not isinstance(node, ast.While):
            self.assign(node.target, around)
        self.block(node.body, set(around))
        self.block(node.orelse, set(around))
        return around

    def attempt(self, node, state):
        anywhere = state | bindings(node.body)
        after = self.block(node.body, set(state))
        after = self.block(node.orelse, after)
        for handler in node.handlers:
            inner = set(anywhere)
            self.read(handler.type, inner)
            if handler.name:
                inner.add(handler.name)
            inner = self.block(handler.body, inner)
            if inner is not None and handler.name:
                inner.discard(handler.name)
            after = join(after, inner)
        self.block(node.finalbody, anywhere | bindings(node.handlers) | bindings(node.orelse))
        return None if after is None else after | bindings(node.finalbody)


def join(one, other):
    if one is None or other is None:
        return other if one is None else one
    return one | other


def locals_of(function):
    """Parameters, and names that are bound in a function."""
    arguments = function.args
    parameters = getattr(arguments, "posonlyargs", []) + arguments.args + arguments.kwonlyargs
    parameters = {argument.arg for argument in parameters + [arguments.vararg, arguments.kwarg] if argument}
    elsewhere = set()
    for node in inside(function):
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            elsewhere |= set(node.names)
    return parameters, bindings(function.body) - elsewhere


def unused(function, local, report):
    """Names that are only ever assigned, each by itself: what is unpacked, counted or caught may well be left."""
    assigned = set()
    for node in inside(function):
        if isinstance(node, ast.Assign):
            assigned |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
            assigned.add(node.target.id)
    used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store)}
    used |= {node.target.id for node in ast.walk(function) if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)}
    for node in ast.walk(function):
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            used |= set(node.names)
    for name in (assigned & local) - used:
        if not name.startswith("_"):
            report("`%s` is assigned and never used in `%s`" % (name, function.name))


def unreachable(tree, lines, report):
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if not isinstance(block, list):
                continue
            for one, following in zip(block, block[1:]):
                is_yield = isinstance(following, ast.Expr) and isinstance(following.value, (ast.Yield, ast.YieldFrom))
                if type(one) in ENDS and not is_yield:
                    text = lines[following.lineno - 1].strip() if following.lineno <= len(lines) else ""
                    report("`%s` behind `%s` is never reached" % (text, ENDS[type(one)]))


def check(path, report):
    with open(path, "rb") as file:
        source = file.read()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            compile(source, path, "exec", dont_inherit=True)
            tree = ast.parse(source, path)
        except (SyntaxError, ValueError) as error:
            report("%s: %s" % (type(error).__name__, getattr(error, "msg", error)), "error")
            return
    for warning in caught:
        if issubclass(warning.category, (SyntaxWarning, DeprecationWarning)):
            report("%s: %s" % (warning.category.__name__, warning.message))
    text = decoded(source)
    unreachable(tree, text.split("\n"), report)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = symtable.symtable(text, path, "exec")
    bound = bound_in_module(table)
    if not is_open(tree):
        unbound(table, bound, report)
        elsewhere = {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
        flow = Flow(bindings(tree.body) - elsewhere - IMPLICIT, lambda name: report("`%s` is read before it is bound" % name))
        flow.block(tree.body, set())
    for function in ast.walk(tree):
        if isinstance(function, FUNCTIONS):
            parameters, local = locals_of(function)
            name = function.name
            flow = Flow(local, lambda read: report("`%s` is read before it is bound in `%s`" % (read, name)))
            flow.block(function.body, set(parameters))
            if not calls(function, {"locals", "vars", "exec", "eval"}):
                unused(function, local - parameters, report)


def decoded(source):
    import io
    import tokenize
    encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
    return io.TextIOWrapper(io.BytesIO(source), encoding, errors="replace").read()


def main(paths):
    sys.setrecursionlimit(10000)
    out = open(sys.stdout.fileno(), "w", encoding="utf-8", errors="replace", closefd=False)
    for path in paths:
        found = set()
        check(path, lambda text, kind="warning": found.add("%s: %s: %s" % (path, kind, " ".join(text.split()))))
        for line in sorted(found):
            out.write(line + "\n")
    out.flush()


main(sys.argv[1:])
