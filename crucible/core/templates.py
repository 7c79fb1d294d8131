"""Find the Jinja templates, and render built-in templates or a vault's own.

A vault's template may come from an untrusted repository.  A check before rendering allows only printing values, testing
them and looping over one, which bounds its cost.  It still runs in Jinja's sandbox.
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
"""Maximum characters in a vault's template."""

_LONGEST_TEXT = 2_000_000
"""Maximum characters that a vault's template may print."""


def template_folder() -> Path:
    """Return the folder of templates: the wheel's copy, else the checkout's (an editable install has no copy)."""
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
        # Templates render Markdown and plain text, where HTML escapes would be wrong.
        autoescape=False,  # noqa: S701
    )


def render_template(name: str, **values: object) -> str:
    """Render `templates/NAME`; a missing value is an error."""
    return _environment(template_folder()).get_template(name).render(**values)


class OwnTemplate:
    """A built-in template that a vault may replace.

    `name` is its file in `templates/`, `names` are the values it gets, and `required` those that a vault's must print, by
    default all.
    """

    def __init__(self, name: str, names: Collection[str] = (), required: Collection[str] | None = None) -> None:
        self.name = name
        self.names = frozenset(names)
        self._required = self.names if required is None else required

    def render(self, **values: object) -> str:
        """Render the built-in template with these values."""
        return render_template(self.name, **values)

    def of(self, settings: VaultSettings) -> Renderer:
        """Return the vault's own template if the user trusts it, else this one; `VaultError` if it is broken."""
        own = next((one for one in settings.templates if one.name == self.name), None)
        if own is None:
            return self
        try:
            text = own.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise VaultError(f"{own.path}: it is not UTF-8", "save it as UTF-8, or remove it") from error
        return VaultTemplate(text, own.path, names=self.names, required=self._required)


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
    """A vault's own template: its text, its path for messages, the values it gets, and those it must print.

    Errors are one-line `VaultError`s with file and line number.
    """

    def __init__(self, text: str, path: str, *, names: Collection[str], required: Collection[str] = ()) -> None:
        self._path = path
        self._required = tuple(sorted(required))
        self._looped: dict[str, int] = {}
        if len(text) > LARGEST_TEMPLATE:
            raise self._error(1, f"longer than {LARGEST_TEMPLATE:,} characters")
        self._template = self._compiled(text, frozenset(names))

    def render(self, **values: object) -> str:
        """Render the template with these values, and check that the required ones appear unchanged."""
        for name, line in self._looped.items():
            if isinstance(values[name], str):  # a loop over all its letters would take forever
                raise self._error(line, f"{name!r} is a string, but a loop needs a list")
        pieces: list[str] = []
        size = 0
        try:
            for piece in self._template.generate(**values):
                pieces.append(piece)
                size += len(piece)
                if size > _LONGEST_TEXT:
                    raise self._error(1, f"its text is longer than {_LONGEST_TEXT:,} characters")
        except (TemplateError, TypeError, ValueError, LookupError, ArithmeticError, RecursionError) as error:
            raise self._error(_line_of(error, self._path), _one_line(error)) from error
        text = "".join(pieces)
        for name in self._required:
            if str(values[name]) not in text:
                raise self._error(1, f"it does not print {{{{ {name} }}}}, which is required")
        return text

    def _compiled(self, text: str, names: frozenset[str]) -> Template:
        environment = ImmutableSandboxedEnvironment(
            undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True
        )
        try:
            tree = environment.parse(text, filename=self._path)
            for line, problem in _problems(tree, names):
                raise self._error(line, problem)
            self._looped = {
                loop.iter.name: loop.lineno
                for loop in tree.find_all(nodes.For)
                if isinstance(loop.iter, nodes.Name) and loop.iter.name in names
            }
            # Compile the tree that was checked, and only now: compiling evaluates constants.
            return Template.from_code(
                environment, environment.compile(tree, filename=self._path), environment.make_globals(None)
            )
        except TemplateSyntaxError as error:
            raise self._error(error.lineno, _one_line(error)) from error
        except (RecursionError, MemoryError, OverflowError, SyntaxError, ValueError) as error:
            raise self._error(1, f"not a readable template ({type(error).__name__})") from error

    def _error(self, line: int, problem: str) -> VaultError:
        return VaultError(
            f"{self._path}:{line}: {problem}",
            "fix the template, or remove it to use the built-in one",
        )


def _problems(tree: nodes.Template, names: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Yield each thing in the tree that a vault's template must not do, in line order."""
    looped = {name.name for loop in tree.find_all(nodes.For) for name in loop.target.find_all(nodes.Name)}
    looped |= {loop.target.name for loop in tree.find_all(nodes.For) if isinstance(loop.target, nodes.Name)}
    parts = looped | {"loop"}
    known = names | parts
    todo: list[tuple[nodes.Node, bool]] = [(tree, False)]
    while todo:
        node, inside = todo.pop()
        if problem := _problem(node, known, inside) or _attribute_problem(node, parts):
            yield node.lineno, problem
        within = inside or isinstance(node, nodes.For)
        todo += [(child, within) for child in reversed(list(node.iter_child_nodes()))]


def _problem(node: nodes.Node, known: Collection[str], inside: bool) -> str:
    what = type(node).__name__.lower()
    if not isinstance(node, _ALLOWED):
        return f"a vault's template must not contain a {what}"
    if isinstance(node, nodes.For) and (inside or not isinstance(node.iter, nodes.Name) or node.recursive):
        return "a loop must iterate over a named value, and loops cannot be nested"
    if isinstance(node, nodes.Filter) and node.name not in _FILTERS:
        return f"the filter {node.name!r} is unknown; known filters: {', '.join(sorted(_FILTERS))}"
    if isinstance(node, nodes.Test) and node.name not in _TESTS:
        return f"the test {node.name!r} is unknown; known tests: {', '.join(sorted(_TESTS))}"
    if isinstance(node, nodes.Name) and node.ctx == "load" and node.name not in known:
        return f"{node.name!r} is not a value of this template; its values: {', '.join(sorted(known))}"
    return ""


def _attribute_problem(node: nodes.Node, parts: Collection[str]) -> str:
    """Return the problem with an attribute.

    Only loop variables may have one: strings have methods with variable output.
    """
    if isinstance(node, nodes.Getattr):
        is_part = isinstance(node.node, nodes.Name) and node.node.name in parts
        if not is_part or node.attr.startswith("_"):
            return f"{node.attr!r} is not allowed in a template"
    if isinstance(node, nodes.Filter) and node.name == "trim" and (node.args or node.kwargs):
        return "trim with an argument would remove a fence"
    return ""


def _line_of(error: BaseException, path: str) -> int:
    """Return the last line of the template that the error passed through."""
    line, trace = 1, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _one_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).split("\n", 1)[0][:200]


class Renderer(Protocol):
    """A template.  The caller decides which values it gets."""

    def render(self, **values: object) -> str:
        """Render the template with these values."""
        ...


def render_document(template: Renderer, **values: object) -> str:
    """Render a document with one newline at its end.  A vault's template cannot write Crucible's own comments."""
    return template.render(**values).replace("<!-- cru:", "<\\!-- cru:").strip("\n") + "\n"
