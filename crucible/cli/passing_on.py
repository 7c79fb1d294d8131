"""What stands behind `--` is a client's, whatever it looks like.

Owns a command that sets it aside: click would take the first of it for an argument of ours that was left out.
"""

from __future__ import annotations

import click

_MORE = f"{__name__}.more"


class PassingOn(click.Command):
    """A command that hands what stands behind `--` to a client; `client_arguments` has it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Only what stands before the first `--` is parsed."""
        at = args.index("--") if "--" in args else len(args)
        ctx.meta[_MORE] = tuple(args[at + 1 :])
        return super().parse_args(ctx, args[:at])

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The usage line says so."""
        return [*super().collect_usage_pieces(ctx), "[-- CLIENT ARGUMENTS...]"]


def client_arguments(ctx: click.Context) -> tuple[str, ...]:
    """What stands behind `--`."""
    more: tuple[str, ...] = ctx.meta[_MORE]
    return more
