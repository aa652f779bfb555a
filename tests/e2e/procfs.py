"""procfs - what the kernel says in /proc of a process and its threads (proc(5))."""
import contextlib
import glob
import os

USER_HZ = os.sysconf("SC_CLK_TCK")
PARANOID = "/proc/sys/kernel/perf_event_paranoid"


def text_of(path):
    """A file of /proc, where names of programs may be any bytes."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def read(pid, name):
    """The text of /proc/PID/NAME; raises FileNotFoundError or ProcessLookupError when it has ended."""
    return text_of(f"/proc/{pid}/{name}")


def children(pid):
    return [int(word) for word in read(pid, f"task/{pid}/children").split()]


def tasks(pid):
    """The tids of a process."""
    return [int(name) for name in os.listdir(f"/proc/{pid}/task")]


def comm(pid):
    return read(pid, "comm").rstrip("\n")


def status(pid, name, base=10):
    """The first number of a field of a process's status file; 0 without that field, or when it has ended."""
    try:
        fields = dict(line.split(":\t", 1) for line in read(pid, "status").splitlines() if ":\t" in line)
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return int(fields[name].split()[0], base) if name in fields else 0


def stat(pid):
    """The fields of /proc/PID/stat behind the name: the first is the state."""
    return read(pid, "stat").rpartition(")")[2].split()


def state(pid):
    """The letter of a process's state."""
    return stat(pid)[0]


def own_cpu_s(pid):
    """What a process has used itself, without its children; a zombie still says it."""
    return sum(map(int, stat(pid)[11:13])) / USER_HZ


def schedstats(pid):
    """tid -> [ns that it ran, ns that it waited for a processor, slices] of every thread."""
    found = {}
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found[int(path.split("/")[4])] = [int(word) for word in text_of(path).split()]
    return found


def cpu_ns(pid):
    """What the threads that a process has now have used."""
    return sum(ran for ran, _, _ in schedstats(pid).values())


def perf_is_allowed(most_paranoid):
    """Whether perf events may be used: by root, or where perf_event_paranoid is no more than that."""
    if not os.path.exists(PARANOID):
        return False
    return os.geteuid() == 0 or int(text_of(PARANOID)) <= most_paranoid
