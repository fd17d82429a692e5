"""Progress and interruption of long calls: during one the library repeatedly calls a function of this module, which
decides whether the call continues.

While a call waits, searches, checks or copies, Python runs the program's signal handlers (such as that of Ctrl-C)
inside this function. The function also calls the progress function of the program. An exception of either ends the
call: this module keeps the exception until the call has failed, and it is raised in place of the error of the call.

The call is still in progress then: the functions cannot use its database.
"""

from __future__ import annotations

import threading
from typing import Any, Callable, Generator, List, Optional

from ._prototypes import GoOn

# Arguments: the activity of the call, how much is done, and the total (0: not known). Returning False ends the call.
Progress = Callable[[str, int, int], Any]

INTERRUPTED = 9004
ACTIVITIES = ("waiting", "querying", "checking", "copying")


class Attendant:
    """Decides whether calls of one database continue. The database keeps it alive; during the opening, the opening
    call does."""

    __slots__ = ("function", "asked")

    def __init__(self, function: Optional[Progress] = None) -> None:
        self.function = function
        answers = _answers(self)
        next(answers)
        # Signal handlers run as soon as Python code runs. In a function that is before its first line, where it cannot catch
        # their exceptions; in a generator it is at the `yield`, inside a `try`.
        self.asked = GoOn(answers.send)


def _answers(attendant: Attendant) -> Generator[bool, Any, None]:
    """Receives the progress of a call, and yields whether the call continues. No exception may reach the library, or
    leave this generator, which would end it. A signal may arrive at any step, even between a `try` and the loop
    inside it: then the next outer `try` catches the exception, and a third `try` covers the steps of the second."""
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
    """Keeps an exception for `raised`. False: the call ends."""
    _raised.waiting.append(error)
    return False


class Attended:
    """`with Attended(attendant, progress):` calls inside the block report to `progress`, unless that is None."""

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
    """The exception that ended the call that has just failed on this thread; None if the program raised none."""
    return _raised.waiting.pop() if _raised.waiting else None
