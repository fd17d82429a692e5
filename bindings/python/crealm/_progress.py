"""Long calls of the library: it asks from time to time whether they shall go on.

The question is the place where an interrupt (Ctrl-C) and the other signals of the program arrive while a call waits,
searches, checks or copies; where the progress function of the program is called; and where either of them ends
the call by raising. The exception waits here until the call has failed, and takes the place of its error.

While the question is asked the call is in progress: its database refuses to be used.
"""

from __future__ import annotations

import threading
from typing import Any, Callable, Generator, List, Optional

from ._prototypes import GoOn

# What a call does, how much of it is done, of how much (0: not known). False ends the call.
Progress = Callable[[str, int, int], Any]

INTERRUPTED = 9004
ACTIVITIES = ("waiting", "querying", "checking", "copying")


class Attendant:
    """Answers for one database. It lives as long as that; whoever opens it keeps it meanwhile."""

    __slots__ = ("function", "asked")

    def __init__(self, function: Optional[Progress] = None) -> None:
        self.function = function
        answers = _answers(self)
        next(answers)
        # Signal handlers run as soon as Python code runs: in a function that would be before its first line, where it cannot
        # catch what they raise. In a generator it is at the `yield`.
        self.asked = GoOn(answers.send)


def _answers(attendant: Attendant) -> Generator[bool, Any, None]:
    """Gets what a call tells, and gives whether it shall go on. What is raised must not get into the library, and would end this: a signal
    may come at any step, also between a `try` and its loop. There the next `try` around it is ready, and one more for a signal in that."""
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
