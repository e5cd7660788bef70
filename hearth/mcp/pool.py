"""The threads that work on calls: a bounded number, each conversation in turn, and always some for short calls."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hearth.errors import Closing, TooManyCalls

if TYPE_CHECKING:
    from hearth.logs import Log


@dataclass(frozen=True, slots=True)
class Limits:
    """How many threads there are, how many of them only work on short calls, how many one conversation gets at once,
    and how many calls may wait: of one conversation, and of all."""

    threads: int = 64
    for_short: int = 16
    of_one: int = 32
    waiting_of_one: int = 256
    waiting: int = 4_096


class Task:
    """Something to do, for a conversation."""

    __slots__ = ("act", "conversation", "is_short")

    def __init__(self, conversation: str, act: Callable[[], None], is_short: bool) -> None:
        self.conversation = conversation
        self.act = act
        self.is_short = is_short


class _Lane:
    """What waits, the conversations taking turns."""

    def __init__(self) -> None:
        self._by_conversation: OrderedDict[str, deque[Task]] = OrderedDict()
        self.length = 0

    def waiting_of(self, conversation: str) -> int:
        return len(self._by_conversation.get(conversation, ()))

    def put(self, task: Task) -> None:
        self._by_conversation.setdefault(task.conversation, deque()).append(task)
        self.length += 1

    def take(self, may: Callable[[str], bool]) -> Task | None:
        """The next task of the first conversation that may have one worked on; it is then the last one."""
        conversation = next(filter(may, self._by_conversation), None)
        if conversation is None:
            return None
        tasks = self._by_conversation.pop(conversation)
        task = tasks.popleft()
        if tasks:
            self._by_conversation[conversation] = tasks
        self.length -= 1
        return task

    def remove(self, task: Task) -> bool:
        tasks = self._by_conversation.get(task.conversation)
        if tasks is None or task not in tasks:
            return False
        tasks.remove(task)
        if not tasks:
            del self._by_conversation[task.conversation]
        self.length -= 1
        return True


class Pool:
    """Threads are started when they are needed, and stay. They end with the process, whatever they do."""

    def __init__(self, log: Log, limits: Limits | None = None) -> None:
        self._log = log
        self._limits = limits or Limits()
        self._changed = threading.Condition(threading.Lock())
        self._first: deque[Task] = deque()
        self._short, self._long = _Lane(), _Lane()
        self._working: Counter[str] = Counter()  # by conversation
        self._long_working = 0
        self._threads = 0
        self._idle = 0
        self._closed = False

    def submit(self, conversation: str, act: Callable[[], None], *, is_short: bool) -> Task:
        """Do it as soon as it is this conversation's turn. Raises `TooManyCalls`, `Closing`."""
        task = Task(conversation, act, is_short)
        with self._changed:
            self._check_room(conversation)
            (self._short if is_short else self._long).put(task)
            self._call()
        return task

    def first(self, act: Callable[[], None]) -> None:
        """Do something short before all calls, however many wait: what answers them needs it."""
        with self._changed:
            self._first.append(Task("", act, True))
            self._call()

    def _call(self) -> None:
        """See to it that a thread looks."""
        if self._waiting > self._idle and self._threads < self._limits.threads:
            self._threads += 1
            threading.Thread(target=self._run, name=f"call-{self._threads}", daemon=True).start()
        else:
            self._changed.notify()

    def withdraw(self, task: Task) -> bool:
        """Forget a task; false when it has begun."""
        with self._changed:
            return (self._short if task.is_short else self._long).remove(task)

    def close(self) -> None:
        """Begin nothing more; what waits is forgotten."""
        with self._changed:
            self._closed = True
            self._short, self._long = _Lane(), _Lane()
            self._changed.notify_all()

    @property
    def _waiting(self) -> int:
        return self._short.length + self._long.length + len(self._first)

    def _check_room(self, conversation: str) -> None:
        if self._closed:
            raise Closing("the server is about to end")
        own = self._short.waiting_of(conversation) + self._long.waiting_of(conversation)
        if own >= self._limits.waiting_of_one or self._waiting >= self._limits.waiting:
            whose = "of this conversation " if own >= self._limits.waiting_of_one else ""
            raise TooManyCalls(f"{own if whose else self._waiting} calls {whose}wait for their turn")

    def _run(self) -> None:
        while (task := self._next()) is not None:
            try:
                task.act()
            except BaseException as error:  # the thread is there for other calls
                self._log.warning(f"a call broke its thread off: {error!r}")
            finally:
                self._done(task)

    def _next(self) -> Task | None:
        with self._changed:
            while not self._closed:
                if task := self._choose():
                    return task
                self._idle += 1
                self._changed.wait()
                self._idle -= 1
            return None

    def _choose(self) -> Task | None:
        if self._first:
            return self._first.popleft()
        task = self._short.take(self._may_have_more)
        if task is None and self._long_working < self._limits.threads - self._limits.for_short:
            task = self._long.take(self._may_have_more)
        if task is not None:
            self._working[task.conversation] += 1
            self._long_working += not task.is_short
        return task

    def _may_have_more(self, conversation: str) -> bool:
        return self._working[conversation] < self._limits.of_one

    def _done(self, task: Task) -> None:
        if not task.conversation:
            return
        with self._changed:
            self._working[task.conversation] -= 1
            if not self._working[task.conversation]:
                del self._working[task.conversation]
            self._long_working -= not task.is_short
