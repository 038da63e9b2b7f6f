"""A bounded queue of jobs: each waits, is worked on, and can be read for a while."""

from __future__ import annotations

import logging
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Condition, Thread
from typing import Any, TypeAlias

from setwise._support.progress import Progress
from setwise.errors import SetwiseError
from setwise.page.settings import Limits

logger = logging.getLogger("setwise")

STEPS = {  # of a job, for programs and for people
    "reading": "Reading the photos",
    "looking": "Looking for them in the gallery",
    "comparing": "Finding the most similar photos",
}
LOOK_S = 0.05  # between two looks whether a job is over
MEMORY = 0.7  # share of the old estimate in the new one
Work: TypeAlias = Callable[["Job"], Any]


class QueueFullError(Exception):
    """Too many jobs wait already."""


class StoppedError(Exception):
    """The job was cancelled or took too long, or the server ends."""


@dataclass
class Step:
    """Progress of one step of a job."""

    done: int = 0
    total: int = 0
    state: str = "waiting"
    began: float = 0.0


@dataclass
class Job:
    """Identifying the photos of one upload."""

    id: str  # which cannot be guessed
    work: Work  # its value is the result
    clean_up: Callable[[], None]  # called once, when the job is forgotten or has failed
    limit_s: float
    name: str = ""
    n_images: int = 0
    asked: float = field(default_factory=time.time)  # by the clock, to be shown
    state: str = "waiting"
    error: str | None = None
    result: Any = None
    n_bytes: int = 0
    began: float = 0.0
    ended: float = 0.0
    steps: dict[str, Step] = field(default_factory=lambda: {name: Step() for name in STEPS})

    @property
    def is_over(self) -> bool:
        """Whether the job has ended."""
        return self.state in ("done", "failed", "cancelled")

    @property
    def step(self) -> str:
        """The latest step that has begun."""
        begun = [name for name, step in self.steps.items() if step.state != "waiting"]
        return begun[-1] if begun else "reading"

    @property
    def version(self) -> str:
        """Changes with everything that can be seen of the job."""
        return f"{self.state} {self.step} {self.steps[self.step].done}"

    def check(self) -> None:
        """Raise StoppedError if the job was cancelled or took too long."""
        self.look_at_clock()
        if self.is_over:
            raise StoppedError

    def look_at_clock(self) -> None:
        """Fail the job if it takes too long, at once and not with its next step."""
        if self.state == "working" and time.monotonic() - self.began > self.limit_s:
            words = f"This took longer than {self.limit_s:.0f} s. Send fewer photos at once."
            self.end("failed", words)

    def report(self, step: str) -> Progress:
        """A progress callback for one step."""

        def told(what: str, done: int, total: int) -> None:
            self.check()
            now = self.steps[step]
            now.done, now.total = done, max(total, done)

        return told

    @contextmanager
    def at(self, name: str, total: int) -> Iterator[None]:
        """Do one step within this context."""
        self.check()
        step = self.steps[name]
        step.state, step.total, step.began = "working", total, time.monotonic()
        yield
        self.check()
        step.state, step.done = "done", step.total

    def end(self, state: str, error: str | None = None) -> None:
        """End the job; later ends are ignored."""
        if not self.is_over:
            self.error, self.ended = error, time.monotonic()
            self.state = state


class Queue:
    """The queue and its worker threads."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.pace: dict[str, float] = {}
        self._waiting: deque[Job] = deque()
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._is_over = False
        self.n_working = 0
        self.told: Callable[[Job], None] = lambda _: None  # called with each job that ended
        self._changed = Condition()
        self._threads = [
            Thread(target=self._run, name=f"setwise-page-{i}", daemon=True)
            for i in range(limits.workers)
        ]

    def start(self) -> None:
        """Start the workers."""
        for thread in self._threads:
            thread.start()

    @property
    def n_waiting(self) -> int:
        """Jobs that wait."""
        return len(self._waiting)

    @property
    def is_alive(self) -> bool:
        """Whether all workers are there."""
        return all(thread.is_alive() for thread in self._threads)

    def check_room(self) -> None:
        """Raise QueueFullError if no more jobs may wait."""
        if len(self._waiting) >= self.limits.waiting:
            raise QueueFullError

    @property
    def is_busy(self) -> bool:
        """Whether a job waits or is worked on, so that background work should wait."""
        return bool(self._waiting) or self.n_working > 0

    @property
    def jobs(self) -> list[Job]:
        """All jobs that are kept, newest first."""
        with self._changed:
            self._forget_old()
            return list(reversed(self._jobs.values()))

    def add(
        self, work: Work, clean_up: Callable[[], None], job_id: str = "", **about: Any
    ) -> Job:
        """Add a job at the end of the queue; QueueFullError if there is no room.

        A job with an id was asked before the server was started again, and always has room.
        """
        name = job_id or secrets.token_urlsafe(12)
        job = Job(name, work, clean_up, self.limits.seconds, **about)
        job.steps["reading"].total = job.n_images
        with self._changed:
            if not job_id:
                self.check_room()
            self._forget_old()
            self._jobs[job.id] = job
            self._waiting.append(job)
            self._changed.notify()
        return job

    def get(self, job_id: str) -> Job | None:
        """A job by its id; None if it is not kept."""
        with self._changed:
            self._forget_old()
            job = self._jobs.get(job_id)
        if job is not None:
            job.look_at_clock()
        return job

    def wait(self, job: Job) -> None:
        """Wait until a job is over, however it ends."""
        while not job.is_over and not self._is_over:
            job.look_at_clock()
            time.sleep(LOOK_S)

    def cancel(self, job: Job) -> None:
        """Stop a job, or forget it once it is over."""
        with self._changed:
            is_working = job.state == "working"
            if job.is_over:
                self._jobs.pop(job.id, None)
            if job in self._waiting:
                self._waiting.remove(job)
            job.end("cancelled")
        if not is_working:
            job.clean_up()

    def estimate(self, job: Job) -> float | None:
        """Estimated seconds until a job is over; None if nothing is known."""
        if job.is_over:
            return 0.0
        seconds = 0.0
        for name, step in job.steps.items():
            pace = self.pace.get(name)
            if step.state == "working" and step.done:
                pace = (time.monotonic() - step.began) / step.done
            if step.state != "done":
                if pace is None:
                    return None
                seconds += pace * max(step.total - step.done, 0)
        return seconds

    def close(self) -> None:
        """Cancel all jobs; those at work end with their next step."""
        with self._changed:
            self._is_over = True
            self._waiting = deque()
            for job in self._jobs.values():
                job.clean_up = _nothing  # a server that is started again answers it
                job.end("cancelled")
            self._changed.notify_all()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(timeout=5.0)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._is_over)
                if self._is_over:
                    return
                job = self._waiting.popleft()
                job.began, job.state = time.monotonic(), "working"
                self.n_working += 1
            try:
                self._do(job)
            finally:
                with self._changed:
                    self.n_working -= 1
                self.told(job)

    def _do(self, job: Job) -> None:
        try:
            job.result = job.work(job)
            job.end("done")
            self._learn_pace(job)
        except StoppedError:
            pass
        except SetwiseError as error:
            job.end("failed", str(error))
        except Exception:
            logger.exception("A job has failed")
            job.end("failed", "Something went wrong inside setwise. Its log says what.")
        finally:
            if job.state != "done":
                job.result = None
                job.clean_up()
            job.work = lambda _: None  # the work holds the files of the job

    def _learn_pace(self, job: Job) -> None:
        steps = list(job.steps.items())
        ends = [step.began for _, step in steps[1:]] + [job.ended]
        for (name, step), end in zip(steps, ends, strict=True):
            measured = (end - step.began) / max(step.total, 1)
            before = self.pace.get(name, measured)
            self.pace[name] = MEMORY * before + (1 - MEMORY) * measured

    def _forget_old(self) -> None:
        """Drop jobs that are over and beyond the limits, oldest first."""
        n_bytes, over = 0, [job for job in self._jobs.values() if job.is_over]
        for n_kept, job in enumerate(reversed(over)):
            n_bytes += job.n_bytes
            is_old = time.monotonic() - job.ended > self.limits.kept_seconds
            if is_old or n_kept >= self.limits.kept or n_bytes > self.limits.kept_bytes:
                del self._jobs[job.id]
                job.clean_up()


def _nothing() -> None:
    """Nothing is to be cleaned up."""
