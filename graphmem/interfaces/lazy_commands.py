"""Commands that are built when they are asked for, so that one does not wait for thirty."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from typer._click.core import Command, Context

_MODULES = {
    "cli_demo": ("demo",),
    "cli_write": (
        *("add", "feedback", "archive", "restore", "undo", "erase"),
        *("maintain", "reindex"),
    ),
    "cli_read": ("recall", "show", "links", "history", "stats", "namespaces", "check"),
    "cli_derive": ("summarise", "rebuild"),
    "cli_view": ("view",),
    "cli_browser": ("browser",),
    "cli_import": ("import",),
    "cli_export": ("export", "copy"),
    "cli_mcp": ("mcp",),
    "cli_models": ("models",),
    "cli_calibrate": ("calibrate",),
    "cli_eval": ("bench", "eval"),
}
_MODULE_OF = {command: module for module, commands in _MODULES.items() for command in commands}


class LazyCommands(TyperGroup):
    """The commands of the modules beside this one; a module is imported for its own only."""

    def list_commands(self, ctx: Context) -> list[str]:
        """Return the names in the order help lists them."""
        return list(_MODULE_OF)

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        """Return a command, or ``None`` when there is none of this name."""
        return built(cmd_name) if cmd_name in _MODULE_OF else None

    def resolve_command(
        self, ctx: Context, args: list[str]
    ) -> tuple[str | None, Command | None, list[str]]:
        """Find a command; one that is mistyped is compared with all that there are."""
        if args and args[0] not in _MODULE_OF:
            self.commands = {name: built(name) for name in _MODULE_OF}
        return super().resolve_command(ctx, args)


@cache
def built(name: str) -> Command:
    """Build one command; several of a module are one `typer.Typer` there, called ``app``."""
    module = import_module(f"graphmem.interfaces.{_MODULE_OF[name]}")
    part: typer.Typer = getattr(module, f"{name}_app", module.app)
    command = typer.main.get_command(part)
    if isinstance(command, TyperGroup) and name in command.commands:
        command = command.commands[name]
    command.name = name
    return command
