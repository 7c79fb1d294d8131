"""Find the Jinja templates, and fill in a built-in one or a vault's own.

A vault's own template may come with somebody else's repository.  So it may print values, test whether they are there
and loop over one, and nothing else: that bounds what it can cost and reach before it runs, in Jinja's sandbox all the
same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Protocol

from jinja2 import (
    Environment,
    FileSystemLoader,
    StrictUndefined,
    Template,
    TemplateError,
    TemplateSyntaxError,
    nodes,
)
from jinja2.sandbox import ImmutableSandboxedEnvironment

from crucible.core.errors import VaultError
from crucible.core.settings.settings import VaultSettings

LARGEST_TEMPLATE = 64 * 1024
"""Characters of a vault's template."""

_LONGEST_TEXT = 2_000_000
"""Characters that a vault's template may print."""


def template_folder() -> Path:
    """The wheel's own copy when there is one, else the checkout's folder (an editable install has no copy)."""
    package = Path(__file__).parent.parent
    packed = package / "_templates"
    return packed if packed.is_dir() else package.parent / "templates"


@cache
def _environment(folder: Path) -> Environment:
    return Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        # Templates here make Markdown and plain text: HTML escapes would be wrong in them.
        autoescape=False,  # noqa: S701
    )


def render_template(name: str, **values: object) -> str:
    """The text of `templates/NAME` with its values; a value the template asks for and does not get is an error."""
    return _environment(template_folder()).get_template(name).render(**values)


class OwnTemplate:
    """One of ours, by its name in `templates/`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def render(self, **values: object) -> str:
        """Its text with these values."""
        return render_template(self._name, **values)


# --- a vault's own ---------------------------------------------------------------------------------------------------

_ALLOWED = (
    nodes.Template,
    nodes.Output,
    nodes.TemplateData,
    nodes.Const,
    nodes.Name,
    nodes.Getattr,
    nodes.If,
    nodes.For,
    nodes.CondExpr,
    nodes.Compare,
    nodes.Operand,
    nodes.And,
    nodes.Or,
    nodes.Not,
    nodes.Filter,
    nodes.Test,
)
_FILTERS = frozenset({"length", "count", "trim", "upper", "lower", "default", "d"})
_TESTS = frozenset({"defined", "undefined", "none", "string"})


class VaultTemplate:
    """One of a vault's: its text, the file's path as messages tell it, the names it is given, and those it must print.

    `VaultError` in one line, with file and line, for whatever is wrong with it.
    """

    def __init__(self, text: str, path: str, *, names: Collection[str], required: Collection[str] = ()) -> None:
        self._path = path
        self._required = tuple(sorted(required))
        self._looped: dict[str, int] = {}
        if len(text) > LARGEST_TEMPLATE:
            raise self._wrong(1, f"longer than {LARGEST_TEMPLATE:,} characters")
        self._template = self._compiled(text, frozenset(names))

    def render(self, **values: object) -> str:
        """Its text with these values; those that must be printed stand in it as they are."""
        for name, line in self._looped.items():
            if isinstance(values[name], str):  # a loop over all its letters would take for ever
                raise self._wrong(line, f"{name!r} is a text, and a loop goes over a list")
        pieces: list[str] = []
        size = 0
        try:
            for piece in self._template.generate(**values):
                pieces.append(piece)
                size += len(piece)
                if size > _LONGEST_TEXT:
                    raise self._wrong(1, f"its text is longer than {_LONGEST_TEXT:,} characters")
        except (TemplateError, TypeError, ValueError, LookupError, ArithmeticError, RecursionError) as error:
            raise self._wrong(_line_of(error, self._path), _one_line(error)) from error
        text = "".join(pieces)
        for name in self._required:
            if str(values[name]) not in text:
                raise self._wrong(1, f"it does not print {{{{ {name} }}}}, which must never be left out")
        return text

    def _compiled(self, text: str, names: frozenset[str]) -> Template:
        environment = ImmutableSandboxedEnvironment(
            undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True
        )
        try:
            tree = environment.parse(text, filename=self._path)
            for line, problem in _problems(tree, names):
                raise self._wrong(line, problem)
            self._looped = {
                loop.iter.name: loop.lineno
                for loop in tree.find_all(nodes.For)
                if isinstance(loop.iter, nodes.Name) and loop.iter.name in names
            }
            # Compiled from the tree that was looked at, and only now: compiling works out constants.
            return Template.from_code(
                environment, environment.compile(tree, filename=self._path), environment.make_globals(None)
            )
        except TemplateSyntaxError as error:
            raise self._wrong(error.lineno, _one_line(error)) from error
        except (RecursionError, MemoryError, OverflowError, SyntaxError, ValueError) as error:
            raise self._wrong(1, f"no template that can be read ({type(error).__name__})") from error

    def _wrong(self, line: int, problem: str) -> VaultError:
        return VaultError(
            f"{self._path}:{line}: {problem}",
            "mend the template, or move it away: then Crucible uses its own",
        )


def _problems(tree: nodes.Template, names: frozenset[str]) -> Iterator[tuple[int, str]]:
    """What a vault's template must not do, in the order of its lines."""
    looped = {name.name for loop in tree.find_all(nodes.For) for name in loop.target.find_all(nodes.Name)}
    looped |= {loop.target.name for loop in tree.find_all(nodes.For) if isinstance(loop.target, nodes.Name)}
    parts = looped | {"loop"}
    known = names | parts
    todo: list[tuple[nodes.Node, bool]] = [(tree, False)]
    while todo:
        node, inside = todo.pop()
        if problem := _problem(node, known, inside) or _asks_too_much(node, parts):
            yield node.lineno, problem
        within = inside or isinstance(node, nodes.For)
        todo += [(child, within) for child in reversed(list(node.iter_child_nodes()))]


def _problem(node: nodes.Node, known: Collection[str], inside: bool) -> str:
    what = type(node).__name__.lower()
    if not isinstance(node, _ALLOWED):
        return f"a vault's template may not hold a {what}"
    if isinstance(node, nodes.For) and (inside or not isinstance(node.iter, nodes.Name) or node.recursive):
        return "a loop goes over a value by its name, and does not stand in another loop"
    if isinstance(node, nodes.Filter) and node.name not in _FILTERS:
        return f"the filter {node.name!r} is none of {', '.join(sorted(_FILTERS))}"
    if isinstance(node, nodes.Test) and node.name not in _TESTS:
        return f"the test {node.name!r} is none of {', '.join(sorted(_TESTS))}"
    if isinstance(node, nodes.Name) and node.ctx == "load" and node.name not in known:
        return f"{node.name!r} is no value that this template is given; those are {', '.join(sorted(known))}"
    return ""


def _asks_too_much(node: nodes.Node, parts: Collection[str]) -> str:
    """Only a list's parts have fields; a text has methods, which print differently each time."""
    if isinstance(node, nodes.Getattr):
        is_part = isinstance(node.node, nodes.Name) and node.node.name in parts
        if not is_part or node.attr.startswith("_"):
            return f"{node.attr!r} is nothing that a template may ask for"
    if isinstance(node, nodes.Filter) and node.name == "trim" and (node.args or node.kwargs):
        return "trim with an argument takes a fence away"
    return ""


def _line_of(error: BaseException, path: str) -> int:
    """The last line of the template that the error came through."""
    line, trace = 1, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _one_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).split("\n", 1)[0][:200]


def load_template(
    settings: VaultSettings, name: str, *, names: Collection[str], required: Collection[str]
) -> OwnTemplate | VaultTemplate:
    """The template `name` for a vault with these settings.  Raises `VaultError` if it is broken."""
    own = next((one for one in settings.templates if one.name == name), None)
    if own is None:
        return OwnTemplate(name)
    try:
        text = own.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise VaultError(f"{own.path}: it is not UTF-8", "save it as UTF-8, or move it away") from error
    return VaultTemplate(text, own.path, names=names, required=required)


class Renderer(Protocol):
    """A template; which values it is given is its caller's to say."""

    def render(self, **values: object) -> str:
        """The text with these values."""
        ...


def render_document(template: Renderer, **values: object) -> str:
    """The text with one newline at its end, and without comments that a vault's own template writes as if they were ours."""
    return template.render(**values).replace("<!-- cru:", "<\\!-- cru:").strip("\n") + "\n"
