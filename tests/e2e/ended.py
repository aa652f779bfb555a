"""ended - programs that are run to their end, within limits: what they said and what they used."""
import fcntl
import os
import pty
import resource
import struct
import subprocess
import tempfile
import termios
import threading
import time
from typing import NamedTuple


class Ended(NamedTuple):
    status: int  # as subprocess has it
    stdout: bytes
    stderr: bytes
    cpu_s: float
    wall_s: float
    most_bytes: int


def run(argv, most_cpu_s, data=b"", most_wall_s=None, **popen):
    """ARGV with DATA as its input; it is killed when it uses more CPU, or is there for longer."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as told:
        given.write(data)
        given.seek(0)
        began = time.monotonic()
        # wait4() waits for it. pylint: disable-next=consider-using-with
        process = subprocess.Popen(argv, stdin=given, stdout=out, stderr=told, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_CPU, (most_cpu_s, most_cpu_s)), **popen)
        killer = threading.Timer(most_wall_s or threading.TIMEOUT_MAX, process.kill)
        killer.daemon = True
        killer.start()
        _, status, usage = os.wait4(process.pid, 0)
        killer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        told.seek(0)
        return Ended(process.returncode, out.read(), told.read(), usage.ru_utime + usage.ru_stime,
                     time.monotonic() - began, 1024 * usage.ru_maxrss)


def on_terminal(argv, columns=80, streams=("stdout",), **popen):
    """(the status of ARGV, what it wrote to those of its streams that are a terminal)."""
    ours, its = pty.openpty()
    try:
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        popen = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL,
                 **{name: its for name in streams}, **popen}
        with subprocess.Popen(argv, **popen) as process:
            os.close(its)
            said = b""
            try:
                while part := os.read(ours, 65536):
                    said += part
            except OSError:  # EIO: the other end is closed
                pass
        return process.returncode, said
    finally:
        os.close(ours)
