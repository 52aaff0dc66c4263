"""The directive `askew-commands`: commands with every argument and option, as the program has them.

    ```{askew-commands} audit run
    ```

It is made from the program itself whenever the site is built, so that it cannot go stale.
"""

from __future__ import annotations

import re
from typing import Any

import typer.main
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from askew.cli.app import app as askew_app


def text(words: str) -> str:
    """Help as Markdown: code in backticks stays, all other markup is shown as it stands."""
    parts = re.split(r"(`[^`]*`)", " ".join(words.split()))
    return "".join(
        part if place % 2 else re.sub(r"([\\*_<>\[\]|#$~])", r"\\\1", part)
        for place, part in enumerate(parts)
    )


def table(heads: tuple[str, str], rows: list[tuple[str, str]]) -> list[str]:
    """A Markdown table of two columns, the first of them code."""
    body = [f"| `` {name.replace('|', chr(92) + '|')} `` | {text(said)} |" for name, said in rows]
    return [f"| {heads[0]} | {heads[1]} |", "|---|---|", *body, ""]


def page(command: Any, path: str, level: int) -> list[str]:
    """The lines of a command's section, and of those of its own commands."""
    context = command.make_context(path, [], resilient_parsing=True)
    lines = [f"{'#' * level} `{path}`", ""]
    for paragraph in re.split(r"\n\s*\n", command.help or ""):
        lines += [text(paragraph), ""]
    below = getattr(command, "commands", {})
    if not below:
        usage = " ".join(command.collect_usage_pieces(context))
        lines += ["```text", f"{path} {usage}".rstrip(), "```", ""]
    for kind, heads in (
        ("argument", ("argument", "what it is")),
        ("option", ("option", "what it does")),
    ):
        records = [
            record
            for param in command.get_params(context)
            if param.param_type_name == kind and (record := param.get_help_record(context))
        ]
        if records and not (below and path == "askew"):
            lines += table(heads, records)
    for name, child in below.items():
        lines += page(child, f"{path} {name}", level + 1)
    return lines


class Commands(SphinxDirective):
    """Sections for the commands named, in that order."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """The parsed sections; an unknown name is an error of the page."""
        self.env.note_reread()  # the page depends on the program, which Sphinx does not watch
        root = typer.main.get_command(askew_app)
        lines: list[str] = []
        for name in self.arguments[0].split():
            if name not in root.commands:
                raise self.error(f"askew has no command {name!r}")
            lines += page(root.commands[name], f"askew {name}", 2)
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def setup(app: Any) -> dict[str, bool]:
    """Adds the directive."""
    app.add_directive("askew-commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
