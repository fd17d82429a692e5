"""The command line.

crealm info FILE [--check]            what kind of file it is, how much is in it, who uses it
crealm show FILE [--limit N]          classes, properties and the first objects of each
crealm schema FILE                    the classes, as text or as declarations of a language
crealm rules FILE [--check]           the rules of the classes, and what breaks them; --set replaces them
crealm migrate FILE MODELS            what models of a program would change; --write begins a migration
crealm query FILE 'Person where …'    the objects that meet a query
crealm sql FILE 'SELECT …'            the rows of a SQL statement that reads
crealm export FILE OUT                everything, or some classes, in another format
crealm check FILE                     everything about the file, also one that cannot be opened
crealm why FILE                       why it is as large as it is
crealm where FILE CLASS KEY PROPERTY  where in the file a value lies
crealm versions FILE                  which versions are in use, and by whom
crealm diff A B                       what two files differ in; with --slots, the two versions of one
crealm watch FILE                     what others change, while they do it
crealm browse FILE [FILE…]            a web page to see, search and understand files
crealm sync ACTION [HUB] FILE         changes to and from other copies, through PostgreSQL
crealm backup FILE COPY               a copy without free space, also of a file in use
crealm import FILE SOURCE             the reverse of export
crealm restore FILE STEP...           a file from the steps of a backup (backup --first-step, --since)
crealm compact FILE                   rewrite the file without free space
crealm salvage FILE OUT               a new file of everything that a damaged file still holds
crealm recover-deleted FILE           deleted objects that still lie in free space
crealm encrypt | rekey | decrypt FILE a key, another one, or none

import, compact, encrypt, rekey, decrypt, sync, rules --set and browse --edit change a file. The others, but for watch and
browse, read one version of it, which other programs may be writing, and change nothing in its folder. They copy it
first: --immutable reads a file that nobody changes in its place. With --evidence they
tell the file's SHA-256 before and after, on the standard error output. The key of an encrypted file is in a file: --key KEYFILE; a passphrase: --passphrase-file FILE.

Exit codes: 0 done; 1 an error, told on the standard error output, or rules --check found objects that break a rule;
2 wrong arguments; 3 check found faults, salvage lost something, migrate found changes, or the file changed under
--evidence;
4 diff found differences; 130 ended by Ctrl-C, which is 0 for watch and browse.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from importlib import import_module
from typing import List, Optional, Sequence

from .. import __version__, library_version
from ..errors import Error
from .options import DONE, FAILED, INTERRUPTED, Commands
from .output import print_error, safe_streams


# Modules of one command, of the same name.
_COMMANDS = ("info", "why", "where", "show", "schema", "rules", "migrate", "query", "sql", "export", "diff", "watch", "browse", "sync")
_MODULES = (*_COMMANDS, "imports", "files", "rescue", "completion")


def main(arguments: Optional[Sequence[str]] = None) -> int:
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = make_parser(given[0] if given else "").parse_args(given)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    with safe_streams():
        try:
            code: int = options.run(options)
            sys.stdout.flush()
            return code
        except BrokenPipeError:
            # The reader of the output has closed it. The null device takes what is still flushed at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return DONE
        except KeyboardInterrupt:
            return INTERRUPTED
        except RecursionError:
            print_error("The file holds something that contains itself: it is damaged. `crealm check` tells where")
            return FAILED
        except (Error, OSError) as error:
            print_error(error)
            return FAILED


def make_parser(only: str = "") -> argparse.ArgumentParser:
    """The parser of all commands. only: the name of the wanted command; if it has its own module, only that is imported, because importing all of
    them takes a while."""
    parser = argparse.ArgumentParser(
        prog="crealm", description="Look into realm files, and change them.", epilog="\n\n".join(about()[1:]),
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", action="version", version=f"crealm {__version__} ({library_version})")
    commands = Commands(parser)
    for name in (only,) if only in _COMMANDS else _MODULES:
        import_module(f".{name}", __name__).add(commands)
    if only not in _COMMANDS:
        import_module(".manual", __name__).add(commands, about())
    return parser


def about() -> List[str]:
    """The paragraphs of this module's docstring without the first: the list of commands, notes on all commands, and the exit codes."""
    return (__doc__ or "").strip().split("\n\n")[1:]
