"""completion: prints a completion script for a shell, with the commands and options of the parser."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence

from .options import DONE, Commands


class Option(NamedTuple):
    names: Sequence[str]
    help: str
    value: Optional[str]  # The name of its value; None if it takes no value.
    choices: Sequence[str]

    @property
    def is_file(self) -> bool:
        return self.value is not None and self.value.endswith("FILE")

    @property
    def values(self) -> List[str]:
        """The names of its values, if it takes several."""
        return [] if self.value is None else self.value.split(" ")


class Command(NamedTuple):
    name: str
    help: str
    places: List[Option]  # The positional arguments, in their order.
    options: List[Option]


def commands_of(parser: argparse.ArgumentParser) -> List[Command]:
    """All commands of the parser that its help lists."""
    (subparsers,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    found = []
    for shown in subparsers._choices_actions:
        actions = [_option(action) for action in subparsers.choices[shown.dest]._actions]
        places, options = [one for one in actions if not one.names], [one for one in actions if one.names]
        found.append(Command(shown.dest, shown.help or "", places, options))
    return found


def _option(action: argparse.Action) -> Option:
    name = " ".join(action.metavar) if isinstance(action.metavar, tuple) else str(action.metavar or action.dest)
    value = None if action.nargs == 0 else name.upper()
    return Option(action.option_strings, action.help or "", value, [str(choice) for choice in action.choices or ()])


def add(commands: Commands) -> None:
    command = commands.alone("completion", partial(run, commands.parser), "print what a shell needs to complete commands and options", is_hidden=True)
    command.add_argument("shell", choices=list(SHELLS))


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    print(SHELLS[options.shell](commands_of(parser)), end="")
    return DONE


def _words(names: Sequence[str]) -> str:
    return " ".join(names)


def _bash(commands: List[Command]) -> str:
    lines = [
        "# Completion of crealm for bash.",
        "_crealm() {",
        '    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=""',
        "    COMPREPLY=()",
        '    if [ "$COMP_CWORD" -eq 1 ]; then',
        f'        COMPREPLY=($(compgen -W "{_words([command.name for command in commands])} --help --version" -- "$cur"))',
        "        return",
        "    fi",
        '    case "${COMP_WORDS[1]} $prev" in',
    ]
    for command in commands:
        for option in command.options:
            for name in option.names if option.choices else ():
                lines.append(f'        "{command.name} {name}") words="{_words(option.choices)}";;')
    lines += ["    esac", '    if [ -z "$words" ] && [[ $cur == -* ]]; then', '        case "${COMP_WORDS[1]}" in']
    lines += [f'            {command.name}) words="{_words([n for option in command.options for n in option.names])}";;' for command in commands]
    lines += [
        "        esac",
        "    fi",
        '    if [ -n "$words" ]; then',
        '        COMPREPLY=($(compgen -W "$words" -- "$cur"))',
        "    else",
        "        local IFS=$'\\n'",
        '        COMPREPLY=($(compgen -f -- "$cur"))',
        "    fi",
        "}",
        "complete -o filenames -F _crealm crealm",
    ]
    return "\n".join(lines) + "\n"


def _zsh_text(text: str) -> str:
    """A text, escaped for single quotes and the brackets of _arguments."""
    return text.replace("'", "'\\''").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def _zsh_option(option: Option) -> List[str]:
    choices = f"({_words(option.choices)})" if option.choices else ""
    value = "".join(f":{name}:{choices or ('_files' if name.endswith('FILE') else '')}" for name in option.values)
    return [f"'{name}[{_zsh_text(option.help)}]{value}'" for name in option.names]


def _zsh(commands: List[Command]) -> str:
    lines = ["#compdef crealm", "# Completion of crealm for zsh.", "_crealm() {", "    local -a commands", "    commands=("]
    lines += [f"        '{command.name}:{_zsh_text(command.help)}'" for command in commands]
    lines += ["    )", "    if (( CURRENT == 2 )); then", "        _describe command commands", "        return", "    fi"]
    lines += ["    local command=$words[2]", "    shift words", "    (( CURRENT-- ))", "    case $command in"]
    for command in commands:
        options = [text for option in command.options for text in _zsh_option(option)]
        lines.append(f"        {command.name}) _arguments {' '.join([*options, chr(39) + '*:FILE:_files' + chr(39)])};;")
    lines += ["    esac", "}", '_crealm "$@"']
    return "\n".join(lines) + "\n"


def _fish_text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _fish(commands: List[Command]) -> str:
    lines = ["# Completion of crealm for fish."]
    for command in commands:
        lines.append(f"complete -c crealm -f -n __fish_use_subcommand -a {command.name} -d {_fish_text(command.help)}")
    for command in commands:
        for option in command.options:
            names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
            value = f" -x -a {_fish_text(_words(option.choices))}" if option.choices else "" if option.value is None else " -r" if option.is_file else " -x"
            lines.append(f"complete -c crealm -n '__fish_seen_subcommand_from {command.name}' {names}{value} -d {_fish_text(option.help)}")
    return "\n".join(lines) + "\n"


SHELLS: Dict[str, Callable[[List[Command]], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
