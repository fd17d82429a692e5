"""manual: prints the page for `man`, made from the parser."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Iterator, List

from .completion import Command, Option, commands_of
from .options import DONE, Commands


def add(commands: Commands, about: List[str]) -> None:
    """about: the list of commands, which is omitted here, paragraphs about all commands, and one about exit codes."""
    commands.alone("manual", partial(run, commands.parser, about[1:]), "print the page for man", is_hidden=True)


def run(parser: argparse.ArgumentParser, about: List[str], options: argparse.Namespace) -> int:
    print("\n".join(_lines(parser, about)))
    return DONE


def _text(text: str) -> str:
    """A text for roff, in which lines that begin with a point or an apostrophe are commands."""
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("%%", "%")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in plain.split("\n"))


def _lines(parser: argparse.ArgumentParser, about: List[str]) -> Iterator[str]:
    yield '.TH CREALM 1 "" "CRealm" "User Commands"'
    yield ".SH NAME"
    yield _text("crealm - look into realm files, and change them")
    yield ".SH SYNOPSIS"
    yield ".B crealm"
    yield "\\fICOMMAND\\fR [\\fIOPTIONS\\fR]"
    yield ".SH DESCRIPTION"
    for paragraph in about[:-1]:
        yield from (".PP", _text(paragraph))
    yield ".SH COMMANDS"
    for command in commands_of(parser):
        yield from _command(command)
    yield ".SH EXIT STATUS"
    yield from map(_text, about[-1:])
    yield ".SH ENVIRONMENT"
    yield from (".TP", "CREALM_PLAIN", _text("With any value, terminals get plain text, too."))


def _command(command: Command) -> Iterator[str]:
    yield f".SS crealm {command.name} {' '.join(_text(place.value or '') for place in command.places)}"
    yield _text(command.help[:1].upper() + command.help[1:] + ".")
    for place in command.places:
        if place.help:
            yield from (".TP", f"\\fI{_text(place.value or '')}\\fR", _text(place.help))
    for option in command.options:
        if "--help" not in option.names:
            yield from (".TP", _named(option), _text(option.help))


def _named(option: Option) -> str:
    names = ", ".join(f"\\fB{_text(name)}\\fR" for name in option.names)
    value = "{" + ",".join(option.choices) + "}" if option.choices else option.value
    return names if value is None else f"{names} \\fI{_text(value)}\\fR"
