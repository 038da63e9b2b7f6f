"""A process of its own for every attack, so that what it costs can be measured."""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LIMIT_S = 2.0
LIMIT_MB = 300.0
# Imports take longer than most attacks. So a small server has them done, and forks a process
# for each attack: a line of JSON in, a line of JSON out.
SERVER = """
import json, os, select, signal, sys, time, warnings

def peak_megabytes():
    try:  # ru_maxrss survives exec, so that it would count the memory of the tests
        with open("/proc/self/status") as table:
            return next(int(line.split()[1]) for line in table if "VmHWM" in line) / 1024
    except OSError:
        import resource
        unit = 2**20 if sys.platform == "darwin" else 2**10
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit

def attack(code, arguments):
    sys.argv[1:] = arguments
    error, message = None, ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        started = time.process_time()  # of the processor: others may be busy, too
        try:
            exec(code, names)
        except BaseException as raised:
            error, message = type(raised).__name__, str(raised)
        seconds = time.process_time() - started
    return {"error": error, "message": message, "seconds": seconds,
            "megabytes": peak_megabytes(), "warnings": [str(w.message) for w in caught]}

def answer(code, arguments, patience_s):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(2, 1)  # what an attack prints is no answer
        os.write(write, json.dumps(attack(code, arguments)).encode())
        os._exit(0)
    os.close(write)
    is_done = bool(select.select([read], [], [], patience_s)[0])
    if not is_done:
        os.kill(child, signal.SIGKILL)
    with open(read, "rb") as file:
        told = file.read()
    status = os.waitpid(child, 0)[1]
    if not is_done:
        return {"error": "Hang", "message": f"still running after {patience_s} s"}
    return json.loads(told or json.dumps({"error": "Crash", "message": f"status {status}"}))

names = {"sys": sys}
exec(sys.argv[1], names)
for line in sys.stdin:
    print(json.dumps(answer(*json.loads(line))), flush=True)
"""


@dataclass(frozen=True)
class Attack:
    """What one load did: how it ended, and what it cost.

    ``error`` is the name of the exception class, ``None`` where the load went through,
    ``"Hang"`` where it was stopped, ``"Crash"`` where the process died.
    """

    error: str | None
    message: str
    seconds: float = float("inf")
    megabytes: float = float("inf")
    warnings: tuple[str, ...] = ()

    def assert_refused(self, *words: str, error: str = "DataError") -> None:
        """The load ended in one error, soon and cheaply, of one line with these words."""
        assert self.error == error, self
        assert "\n" not in self.message, self
        for word in words:
            assert word in self.message, self
        self._assert_cheap()

    def assert_harmless(self) -> None:
        """The load went through, or ended in our error, soon and cheaply."""
        assert self.error in (None, "DataError"), self
        self._assert_cheap()

    def _assert_cheap(self) -> None:
        assert not self.warnings, self
        assert self.seconds < LIMIT_S, self
        assert self.megabytes < LIMIT_MB, self


def attacked(
    code: str, *arguments: str | Path, setup: str = "", patience_s: float = 60.0
) -> Attack:
    """Run ``code``, which loads ``sys.argv[1:]``, in a process of its own and measure it.

    ``setup`` has run before and is not on the clock: put the imports there. Its names, and
    ``sys``, are known to ``code``.
    """
    server = _server(setup)
    request = [code, [str(argument) for argument in arguments], patience_s]
    server.stdin.write(json.dumps(request) + "\n")
    server.stdin.flush()
    told = json.loads(server.stdout.readline())
    return Attack(**told | {"warnings": tuple(told.get("warnings", ()))})


@cache
def _server(setup: str) -> subprocess.Popen[str]:
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, setup],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    atexit.register(_end, server)
    return server


def _end(server: subprocess.Popen[str]) -> None:
    server.stdin.close()
    server.stdout.close()
    server.wait(10)
