"""A rich console that sends no control character but its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.segment import Segment

from askew.cli.guard import line_commands_parted
from askew.report.words import clean

if TYPE_CHECKING:
    from rich.console import ConsoleOptions, RenderableType


class TextConsole(Console):
    """Every text that is rendered is cleaned; what rich itself sends to draw is left alone."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The segments of a renderable, their texts cleaned."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(clean(segment.text), segment.style)

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        # Where lines have been broken: one that begins with "::" is a build server's command.
        return line_commands_parted(super()._render_buffer(buffer))
