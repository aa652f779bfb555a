"""Sockets of another user: one that lies, says nothing, or stands where root's would; a flood of the agents' own.

Each stage plays in a /tmp of its own, in a mount namespace, with this file as its program; it prints what it
has read as JSON.  Only root can be other users."""
import glob
import json
import os
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import time

from hostile import Case, Input
from procfs import comm, own_cpu_s
from recorded import WICK, wait_for

USER, OTHER = 65534, 65533
HOME, OF_USER = "/tmp/work", f"/tmp/wick-{USER}"
REPLY = "<IHHiiIIII10Q64s1024s512s"
MAGIC, VERSION, DONE = 0x6b636977, 3, 1
WORK = f"""import os, subprocess, time
while not os.path.exists("{HOME}/end"):
    began = time.monotonic()
    subprocess.run(["true"], check=True)
    with open("{HOME}/starts", "a") as file:
        file.write(f"{{time.monotonic() - began}}\\n")
    time.sleep(0.1)
"""
MOST_SILENT_S = 0.5
PATIENCE_S = 1.0  # for the command itself, on a busy machine
MOST_FLOOD = 0.02  # of a processor
MOST_START_S = 0.1  # later than with no flood
FLOOD_S = 6


def reply_to(request, path):
    """It claims to be any requested process."""
    pid = struct.unpack("<IHHiI", request)[3]
    return struct.pack(REPLY, MAGIC, VERSION, DONE, pid, pid, *[99] * 2, 0, 1, *[7] * 10, b"liar", path, b"")


def as_user(uid, act):
    """ACT in a process of UID, which goes with the stage."""
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            act()
        finally:
            os._exit(0)
    return pid


def serve(path, answers):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.bind(path + ".new")
        os.chmod(path + ".new", 0o777)
        server.listen(64)
        os.rename(path + ".new", path)
        while True:
            if not answers:
                signal.pause()
            client = server.accept()[0]
            client.send(reply_to(client.recv(64), b"/etc/passwd"))
            client.close()


def socket_of_user(answers, uid=USER, directory=OF_USER):
    def act():
        os.mkdir(directory, 0o700 if uid == USER else 0o755)
        serve(directory + "/7.control", answers)
    as_user(uid, act)
    wait_for(lambda: os.path.exists(directory + "/7.control"))


def quietly(*argv):
    return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def users_process():
    process = quietly("setpriv", "--reuid", str(USER), "--clear-groups", "sleep", "30")
    wait_for(lambda: os.stat(f"/proc/{process.pid}").st_uid == USER
             and comm(process.pid) == "sleep")
    return process.pid


def roots_recording(pid):
    wick = quietly(WICK, "record", "-o", HOME + "/x.perf", "-p", str(pid))
    wait_for(lambda: glob.glob(f"/tmp/wick-0*/{wick.pid}.control"))
    wait_for(lambda: json.loads(ask("status", wick.pid, "--json")["stdout"] or "{}").get("processes"))
    return wick.pid


def ask(verb, pid, *more):
    began = time.monotonic()
    done = subprocess.run([WICK, verb, "-p", str(pid), *more], stdin=subprocess.DEVNULL, capture_output=True,
                          check=False)
    return {"status": done.returncode, "stdout": done.stdout.decode(), "stderr": done.stderr.decode(),
            "took_s": time.monotonic() - began}


def stage_own(verb, answers):
    """Root records the user's process; the user's socket is there as well."""
    pid = users_process()
    wick = roots_recording(pid)
    socket_of_user(answers)
    told = ask(verb, pid, *["--json"] * (verb == "status"))
    return {**told, "wick": wick, "state": json.loads(ask("status", wick, "--json")["stdout"])}


def stage_alone(verb, answers):
    """Nobody records it but, as it says, the user."""
    pid = users_process()
    socket_of_user(answers)
    return ask(verb, pid)


def stage_link(verb, _answers):
    """In the user's directory is a link to a socket of another user."""
    pid = users_process()
    socket_of_user(True, OTHER, "/tmp/others")

    def act():
        os.mkdir(OF_USER, 0o700)
        os.symlink("/tmp/others/7.control", OF_USER + "/7.control")
    as_user(USER, act)
    wait_for(lambda: os.path.islink(OF_USER + "/7.control"))
    return ask(verb, pid)


def stage_squat(verb, _answers):
    """The user has made root's directory."""
    as_user(USER, lambda: os.mkdir("/tmp/wick-0", 0o700))
    wait_for(lambda: os.path.isdir("/tmp/wick-0"))
    pid = users_process()
    with open(HOME + "/said", "w+b") as said:
        with subprocess.Popen([WICK, "record", "-o", HOME + "/x.perf", "-p", str(pid)], stderr=said) as wick:
            time.sleep(1.5)
            told = ask(verb, pid)
            state = ask("status", wick.pid, "--json")["stdout"]
            wick.send_signal(signal.SIGINT)
            wick.wait()
        said.seek(0)
        return {**told, "state": json.loads(state or "{}"), "said": said.read().decode()}


def flood(path):
    until = time.monotonic() + FLOOD_S
    while time.monotonic() < until:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK) as peer:
            peer.connect_ex(path)


def part(pid, seconds):
    """Of a processor that PID uses, and how long its children take to start and end meanwhile."""
    with open(HOME + "/starts", "w", encoding="ascii"):
        pass
    began, used = time.monotonic(), own_cpu_s(pid)
    time.sleep(seconds)
    used = (own_cpu_s(pid) - used) / (time.monotonic() - began)
    with open(HOME + "/starts", encoding="ascii") as file:
        starts = [float(line) for line in file]
    return used, statistics.median(starts), max(starts)


def stage_flood(_verb, _answers):
    wick = quietly(WICK, "record", "-o", HOME + "/x.perf", "--", sys.executable, "-c", WORK)
    path = wait_for(lambda: glob.glob("/tmp/wick-??????/socket"))[0]
    wait_for(lambda: os.path.exists(HOME + "/starts"))
    quiet = part(wick.pid, 3)
    peer = as_user(USER, lambda: flood(path))
    flooded = part(wick.pid, FLOOD_S - 1)
    os.waitpid(peer, 0)
    with open(HOME + "/end", "w", encoding="ascii"):
        pass
    return {"status": wick.wait(), "used": flooded[0] - quiet[0], "late_s": flooded[1] - quiet[1], "all": (quiet, flooded)}


def stage_users_folder(_verb, _answers):
    """Who but the user of a recording can reach the agents' socket."""
    wick = quietly("setpriv", "--reuid", str(USER), "--clear-groups", "--", "env", "-C", "/tmp/work", WICK, "record",
                   "-o", HOME + "/x.perf", "--", "sleep", "2")
    path = wait_for(lambda: glob.glob("/tmp/wick-??????/socket"))[0]
    mode = os.stat(os.path.dirname(path)).st_mode & 0o7777
    return {"status": wick.wait(), "mode": oct(mode)}


def play(name, verb, answers):
    global WICK  # pylint: disable=global-statement
    # It may be below /tmp itself, or where only root comes.
    path = os.path.realpath(WICK)
    subprocess.run(["mount", "--bind", os.path.dirname(os.path.dirname(path)), "/mnt"], check=True)
    WICK = "/mnt/bin/" + os.path.basename(path)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=1777", "none", "/tmp"], check=True)
    os.mkdir(HOME)
    os.chmod(HOME, 0o777)
    os.environ.pop("XDG_RUNTIME_DIR", None)
    os.setpgid(0, 0)
    try:
        print(json.dumps(globals()["stage_" + name](verb, answers == "answers")), flush=True)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(0, signal.SIGTERM)


def told(result):
    return json.loads(result.stdout) if result.stdout.startswith("{") else {"status": None, "stderr": result.stderr[-200:]}


def right(result):
    read = told(result)
    if read["status"] != 0:
        return f"no answer: {read['stderr'].strip()[:80]}"
    if read["took_s"] > MOST_SILENT_S + PATIENCE_S:
        return f"took {read['took_s']:.1f} s"
    if "state" not in read or "liar" in read["stdout"] or "/etc/passwd" in read["stdout"]:
        return "the user's socket was believed"
    return None


def right_stop(result):
    return right(result) or (None if told(result)["state"]["state"] == "paused" else "root's recording goes on")


def right_squat(result):
    return right_stop(result) or (None if "/tmp/wick-0" in told(result)["said"] else "nothing was said")


def refused(result):
    read = told(result)
    if read["status"] in (0, None) or not read["stderr"].strip():
        return "the user's socket was believed: " + read.get("stdout", "").strip()[:40]
    return f"took {read['took_s']:.1f} s" if read["took_s"] > MOST_SILENT_S + PATIENCE_S else None


def no_cost(result):
    read = told(result)
    if read["status"] != 0:
        return "it failed"
    wrong = [f"{read['used'] * 100:.1f} % of a core"] * (read["used"] > MOST_FLOOD)
    wrong += [f"children start {read['late_s'] * 1000:.0f} ms later"] * (read["late_s"] > MOST_START_S)
    return "; ".join(wrong) or None


def private(result):
    return None if told(result).get("mode") == "0o700" else f"its mode is {told(result).get('mode')}"


def case(name, judge, stage, verb="-", answers="answers"):
    def make(_folder):
        return Input(["unshare", "-m", sys.executable, "-B", os.path.abspath(__file__), stage, verb, answers])
    return Case("sockets", name, make, judge)


def all_cases():
    if os.geteuid() != 0 or not shutil.which("unshare") or subprocess.run(
            ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], stderr=subprocess.DEVNULL, check=False).returncode:
        print("sockets: skipped: only root, with mount namespaces, can be another user")
        return []
    return [
        case("root's status beside a lying socket", right, "own", "status"),
        case("root's split beside a lying socket", right, "own", "split"),
        case("root's stop beside a lying socket", right_stop, "own", "stop"),
        case("root's status beside a silent socket", right, "own", "status", "silent"),
        case("root's stop beside a silent socket", right_stop, "own", "stop", "silent"),
        case("root's split where only a liar answers", refused, "alone", "split"),
        case("root's status where only a liar answers", refused, "alone", "status"),
        case("root's stop where all are silent", refused, "alone", "stop", "silent"),
        case("root's stop by a link to another user", refused, "link", "stop"),
        case("root's directory is another user's", right_squat, "squat", "stop"),
        case("a flood of the agents' socket", no_cost, "flood"),
        case("the agents' directory of a user", private, "users_folder"),
    ]


if __name__ == "__main__":
    play(*sys.argv[1:])
else:
    CASES = all_cases()
