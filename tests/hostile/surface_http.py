"""HTTP: what a stranger, or a hostile recording in the folder, can do to `wick serve`."""
import contextlib
import gzip
import http.client
import os
import re
import socket
import threading
import time

from hostile import MEGABYTE, Case, Input
from recorded import WICK

TOKEN = "0123456789abcdef"
SAMPLE = "a 1/1 [000] 1.000000: 1 cpu-clock: \n\t    1000 f+0x0 (/bin/a)\n\n"
LIST_S = 0.1  # a list is there within
SMALL_S = 2.0  # and a small recording
N_LISTS = 20
SPARSE_BYTES = 200 << 30


class Client(threading.Thread):
    """Asks while the server runs; what it found wrong is in `wrong`."""

    def __init__(self, folder, ask):
        super().__init__(daemon=True)
        self.folder, self.ask, self.wrong = folder, ask, "it never answered"
        self.port = 0
        self.start()

    def run(self):
        try:
            self.port = self.find_port()
            self.wrong = self.ask(self)
        except Exception as error:  # whatever it is, it is told
            self.wrong = f"{type(error).__name__}: {error}"

    def find_port(self):
        for _ in range(2000):
            with contextlib.suppress(OSError), open(os.path.join(self.folder, "stdout"), encoding="utf-8") as file:
                if match := re.search(r"http://[^/]*:(\d+)/", file.read()):
                    return int(match[1])
            time.sleep(0.01)
        raise RuntimeError("it prints no address")

    def get(self, path, timeout=20, token=TOKEN, **headers):
        """(status, seconds, body)"""
        began = time.monotonic()
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)) as to:
            to.request("GET", path + ("&" if "?" in path else "?") + f"token={token}",
                       headers={name.replace("_", "-"): value for name, value in headers.items()})
            answer = to.getresponse()
            body = answer.read()
            return answer.status, time.monotonic() - began, body

    def lists(self):
        """What is wrong with the lists of the next seconds; the machine may be late once."""
        times = []
        for _ in range(N_LISTS):
            status, seconds, _ = self.get("/api/list")
            if status != 200:
                return f"the list has status {status}"
            times.append(seconds)
            time.sleep(0.05)
        late = sorted(times)[-2]
        return f"a list took {late:.2f} s" if late > LIST_S else None

    def begin(self, path):
        """A request whose answer is not read."""
        to = socket.create_connection(("127.0.0.1", self.port), timeout=20)
        to.sendall(f"GET {path}&token={TOKEN} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        return to


def case(name, prepare, ask, stop_s=6.0):
    clients = []

    def make(folder):
        recordings = os.path.join(folder, "rec")
        os.mkdir(recordings)
        n_bytes = prepare(recordings)
        clients.append(Client(folder, ask))
        return Input([WICK, "serve", "--token", TOKEN, recordings], n_bytes, stop_s,
                     {"XDG_CACHE_HOME": folder, "DISPLAY": "", "BROWSER": ""})

    def judge(_):
        client = clients.pop()
        client.join(20)
        return client.wrong

    return Case("http", name, make, judge)


def put(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)
    return len(text)


def small(folder):
    return put(folder, "small.perf", SAMPLE)


def endless(folder):
    """Two files that take minutes: zeros, and a newline here and there, of which the disk has little."""
    for name in "ab":
        with open(os.path.join(folder, f"{name}.perf"), "wb") as file:
            file.write(SAMPLE.encode())
            for at in range(1 << 28, SPARSE_BYTES, 1 << 28):
                file.seek(at)
                file.write(b"\n")
    return small(folder) + 2 * SPARSE_BYTES


def ask_beside(client):
    """Lists, and a small recording, while hostile ones load."""
    with client.begin("/api/pack?file=a.perf"), client.begin("/api/pack?file=b.perf"), \
            client.begin("/api/pack?file=b.perf"), client.begin("/api/pack?file=a.perf"):
        time.sleep(0.3)
        if wrong := client.lists():
            return wrong
        status, seconds, _ = client.get("/api/pack?file=small.perf", timeout=8)
        return None if status == 200 and seconds < SMALL_S else f"a small recording: status {status} in {seconds:.1f} s"


def heads(folder):
    """Files whose heads take long to read, and have no end."""
    n_bytes = put(folder, "0.perf", ("a " + "1: " * (MEGABYTE // 8) + "\n") * 3)
    for i in range(1, 2000):
        os.link(os.path.join(folder, "0.perf"), os.path.join(folder, f"{i}.perf"))
    return 2000 * n_bytes


def samples_of_pprof(folder):
    """60 MB of samples in 60 KB, of two bytes each: what is read as a whole takes seconds then."""
    with gzip.open(os.path.join(folder, "a.perf.gz"), "wb") as file:
        file.write(b"\x0a\x04\x08\x01\x10\x02\x32\x00\x32\x01n\x32\x01c")
        for _ in range(60):
            file.write(b"\x12\x00" * (MEGABYTE // 2))
    return 60 * MEGABYTE


def ask_packed(client):
    """It is told to end while the file is loaded."""
    client.begin("/api/pack?file=a.perf.gz")


def ask_strange(client):
    """Malformed requests, or those of another client."""
    if client.get("/api/list", token="wrong")[0] != 403:
        return "a wrong token is let in"
    if client.get("/api/list", Host="evil.example")[0] != 421:
        return "a name of others is let in"
    if client.get("/api/list", Sec_Fetch_Site="cross-site", Origin="http://evil.example")[0] != 403:
        return "a page of others is let in"
    for path in ("/api/pack?" + "file=a&" * 1000, "/api/pack?last=" + "9" * 1000, "/api/list?since=" + "f" * 1000,
                 "/api/list?wait=" + "9" * 1000, "/api/pack?file=" + "../" * 1000, "/api/pack?host=" + "%41" * 5000):
        try:
            status = client.get(path)[0]
        except ConnectionError:
            continue  # more than a request may have
        if not 400 <= status < 500:
            return f"{path[:30]}...: status {status}"
    return client.lists()


def ask_large(client):
    """Headers without an end."""
    for line in (b"X: " + b"a" * (4 * MEGABYTE), b"a: b\r\n" * MEGABYTE, b"\r\n" * MEGABYTE):
        with socket.create_connection(("127.0.0.1", client.port), timeout=5) as to, \
                contextlib.suppress(ConnectionError, TimeoutError):
            to.sendall(b"GET /api/list HTTP/1.1\r\n" + line)
    return client.lists()


def ask_slowly(client):
    """300 that never end what they ask for."""
    with contextlib.ExitStack() as stack:
        for _ in range(300):
            to = stack.enter_context(socket.create_connection(("127.0.0.1", client.port), timeout=5))
            to.sendall(b"GET /api/list HTTP/1.1\r\nHost: ")
        return client.lists()


def ask_and_take_nothing(client):
    """100 whose answers are not read."""
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(client.begin("/api/pack?file=small.perf"))
        return client.lists()


CASES = [
    case("two files of 200 GB are asked for, twice", endless, ask_beside),
    case("2,000 files of 1 MB that have no head", heads, Client.lists),
    case("60 MB of empty samples in 60 KB", samples_of_pprof, ask_packed, 1.5),
    case("requests of others", small, ask_strange, 4.0),
    case("headers of 4 MB", small, ask_large, 4.0),
    case("300 requests without an end", small, ask_slowly, 4.0),
    case("100 answers that are not read", small, ask_and_take_nothing, 4.0),
]
