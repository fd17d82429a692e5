"""Long calls of the library: from time to time it calls a function here, which decides whether the call goes on.

In this function Ctrl-C and the other signals of the program arrive while a call waits, searches, checks or copies.
It also calls the progress function of the program. An exception of either of them ends the call: it is kept here
until the call has failed, and is raised in place of the error of the call.

Meanwhile the call is in progress: its database cannot be used.
"""

from __future__ import annotations

import threading
from typing import Any, Callable, Generator, List, Optional

from ._prototypes import GoOn

# Gets what a call is doing, how much is done, and of how much (0: not known). Returning False ends the call.
Progress = Callable[[str, int, int], Any]

INTERRUPTED = 9004
ACTIVITIES = ("waiting", "querying", "checking", "copying")


class Attendant:
    """Decides for the calls of one database, and lives as long as the database; until that is open, the opening call keeps it alive."""

    __slots__ = ("function", "asked")

    def __init__(self, function: Optional[Progress] = None) -> None:
        self.function = function
        answers = _answers(self)
        next(answers)
        # Signal handlers run as soon as Python code runs. In a function that is before its first line, where it cannot catch
        # their exceptions; in a generator it is at the `yield`, inside a `try`.
        self.asked = GoOn(answers.send)


def _answers(attendant: Attendant) -> Generator[bool, Any, None]:
    """Receives the progress of a call, and yields whether the call goes on. No exception may reach the library, or leave this generator, which
    would end it. A signal may come at any step, also between a `try` and its loop: then the next `try` around it catches the exception, and
    a third one catches that of a signal there."""
    answer = True
    while True:
        try:
            while True:
                try:
                    while True:
                        try:
                            told = (yield answer).contents
                            function = attendant.function
                            answer = function is None or function(ACTIVITIES[told.activity], told.done, told.total) is not False
                        except GeneratorExit:
                            return
                        except BaseException as error:
                            answer = _keep(error)
                except GeneratorExit:
                    return
                except BaseException as error:
                    answer = _keep(error)
        except GeneratorExit:
            return
        except BaseException as error:
            answer = _keep(error)


def _keep(error: BaseException) -> bool:
    """For `raised`."""
    _raised.waiting.append(error)
    return False


class Attended:
    """`with Attended(attendant, progress):` the calls inside tell `progress`, where it is given."""

    def __init__(self, attendant: Optional[Attendant], function: Optional[Progress]) -> None:
        self._attendant = attendant
        self._function = function
        self._before: Optional[Progress] = None

    def __enter__(self) -> None:
        if self._attendant is not None and self._function is not None:
            self._before, self._attendant.function = self._attendant.function, self._function

    def __exit__(self, *exception: object) -> None:
        if self._attendant is not None and self._function is not None:
            self._attendant.function = self._before


class _Raised(threading.local):
    def __init__(self) -> None:
        self.waiting: List[BaseException] = []


_raised = _Raised()


def raised() -> Optional[BaseException]:
    """What ended the call that has just failed on this thread; None: nothing of the program."""
    return _raised.waiting.pop() if _raised.waiting else None
