"""The threads that work on calls: a bounded number, each conversation in turn, and always some for short calls."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING

from hearth.errors import Closing, TooManyCalls

if TYPE_CHECKING:
    from hearth.logs import Log


NOBODY = ""  # whose calls are those that nothing named: they share a queue, so that they have no more than others


@dataclass(frozen=True, slots=True)
class Limits:
    """How many threads there are, how many of them only work on short calls, how many one conversation gets at once,
    and how many calls may wait: of one conversation, of all that nothing named together, and of all."""

    threads: int = 64
    for_short: int = 16
    of_one: int = 32
    waiting_of_one: int = 256
    waiting_of_nobody: int = 2_048
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
        self._lock = threading.Lock()
        # A token says that there may be something to do. Threads wait for one without the lock, and so do not wake
        # only to wait for who woke them.
        self._tokens: SimpleQueue[None] = SimpleQueue()
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
        with self._lock:
            self._check_room(conversation)
            (self._short if is_short else self._long).put(task)
            more = self._needs_thread()
        self._call(more)
        return task

    def first(self, act: Callable[[], None]) -> None:
        """Do something short before all calls, however many wait: what answers them needs it."""
        with self._lock:
            self._first.append(Task(NOBODY, act, True))
            more = self._needs_thread()
        self._call(more)

    def withdraw(self, task: Task) -> bool:
        """Forget a task; false when it has begun."""
        with self._lock:
            return (self._short if task.is_short else self._long).remove(task)

    def close(self) -> None:
        """Begin nothing more; what waits is forgotten."""
        with self._lock:
            self._closed = True
            self._short, self._long = _Lane(), _Lane()
            threads = self._threads
        for _ in range(threads):
            self._tokens.put(None)

    @property
    def _waiting(self) -> int:
        return self._short.length + self._long.length + len(self._first)

    def _check_room(self, conversation: str) -> None:
        if self._closed:
            raise Closing("the server is about to end")
        own = self._short.waiting_of(conversation) + self._long.waiting_of(conversation)
        if own >= (self._limits.waiting_of_one if conversation != NOBODY else self._limits.waiting_of_nobody):
            raise TooManyCalls(f"{own} calls of this conversation wait for their turn")
        if self._waiting >= self._limits.waiting:
            raise TooManyCalls(f"{self._waiting} calls wait for their turn")

    def _needs_thread(self) -> bool:
        if self._waiting <= self._idle or self._threads >= self._limits.threads:
            return False
        self._threads += 1
        self._idle += 1
        return True

    def _call(self, more: bool) -> None:
        """See to it that a thread looks, one `more` where none is idle."""
        if more:
            threading.Thread(target=self._run, name="call", daemon=True).start()
        self._tokens.put(None)

    def _run(self) -> None:
        while True:
            self._tokens.get()
            with self._lock:
                if self._closed:
                    return
                task = self._choose()
            if task is not None:
                self._do(task)

    def _do(self, task: Task) -> None:
        try:
            task.act()
        except BaseException as error:  # the thread is there for other calls
            self._log.warning(f"a call broke its thread off: {error!r}")
        with self._lock:
            self._release(task)
            again = self._waiting > 0  # what had to wait for this one's end, whose token is gone
        if again:
            self._tokens.put(None)

    def _choose(self) -> Task | None:
        task = self._first.popleft() if self._first else self._short.take(self._may_have_more)
        if task is None and self._long_working < self._limits.threads - self._limits.for_short:
            task = self._long.take(self._may_have_more)
        if task is not None:
            self._idle -= 1
            self._working[task.conversation] += 1
            self._long_working += not task.is_short
        return task

    def _may_have_more(self, conversation: str) -> bool:
        return self._working[conversation] < self._limits.of_one

    def _release(self, task: Task) -> None:
        self._idle += 1
        self._working[task.conversation] -= 1
        if not self._working[task.conversation]:
            del self._working[task.conversation]
        self._long_working -= not task.is_short
