"""view and serve: the page in one file, and recordings over HTTP that only the right one gets."""
import base64
import contextlib
import gzip
import http.client
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest
import urllib.parse

import procfs
from recorded import LONG, WICK, Case, text_of, wait_for

TOKEN = "0123456789abcdefSECRET"
HEAD = ("# ========\n# captured on    : 2026-11-21T08:16:26Z\n# hostname : {host}\n"
        "# wick : {{\"format\":1,\"version\":\"0.1.0\",\"clock\":\"CLOCK_MONOTONIC\","
        "\"epoch_offset_ns\":{offset},\"event\":\"cpu-clock\",\"hz\":99,\"metrics\":[]}}\n"
        "# ========\n#\n")
EVIL = "</script><script>alert(1)</script>"


def sample(second, name="work", comm="app"):
    return (f"{comm}  4000/4001  [000] {second}.010101:          1 cpu-clock: \n"
            f"\t            7f01 {name}+0x1a (/opt/app)\n\t            4011 main+0x2b (/opt/app)\n\n")


def text(seconds, host="box", offset=1795000000000000000, name="work"):
    return HEAD.format(host=host, offset=offset) + "".join(sample(s, name) for s in seconds)


def sections(pack):
    """The sections of a pack, by name: flamescope/pack/pack.h is what this is written from."""
    assert pack[:8] == b"wickpack", pack[:16]
    found = {}
    for i in range(int.from_bytes(pack[12:16], "little")):
        row = pack[24 + 40 * i:64 + 40 * i]
        offset, count = (int.from_bytes(row[at:at + 8], "little") for at in (16, 24))
        size = int.from_bytes(row[32:36], "little")
        found[row[:16].rstrip(b"\0").decode()] = pack[offset:offset + count * size], count
    return found


def files_of(pack):
    """The path and the problem of each file that a pack was made of."""
    return pack["file_text"][0].decode().split("\0")[:-1]


class Served(Case):
    def setUp(self):
        super().setUp()
        self.folder = self.path("rec")
        os.mkdir(self.folder)
        self.put("a.perf", text(range(100, 110)))
        self.wick_process = None

    def put(self, name, content):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb" if isinstance(content, bytes) else "w") as file:
            file.write(content)
        return path

    def serve(self, *options, token=TOKEN):
        env = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
        env["XDG_CACHE_HOME"] = self.path("cache")
        words = ["--token", token] if token else []
        self.wick_process = self.start(WICK, "serve", *words, *options, self.folder, env=env, text=True)
        address = self.wick_process.stdout.readline().strip()
        match = re.match(r"http://([^/]+?):(\d+)/(?:\?token=(\S+))?$", address)
        self.assertTrue(match, address)
        self.host, self.port, self.token = match[1].strip("[]"), int(match[2]), match[3]
        return address

    def get(self, path, token=TOKEN, method="GET", headers=None, host=None, body=None):
        """(status, headers, body); the path goes out as it is."""
        with contextlib.closing(http.client.HTTPConnection(self.host, self.port, timeout=20)) as to:
            if token:
                path += ("&" if "?" in path else "?") + "token=" + token
            to.putrequest(method, path, skip_host=host is not None)
            for value in [host] if isinstance(host, str) else host or []:
                to.putheader("Host", value)
            for name, value in (headers or {}).items():
                to.putheader(name, value)
            if body is not None:
                to.putheader("Content-Length", str(len(body)))
            to.endheaders(body)
            answer = to.getresponse()
            return answer.status, answer.headers, answer.read()

    def raw(self, content, wait=5):
        """What comes back for bytes as they are."""
        with socket.create_connection((self.host, self.port), timeout=wait) as to:
            to.sendall(content)
            said = b""
            with contextlib.suppress(TimeoutError, ConnectionResetError):
                while piece := to.recv(65536):
                    said += piece
        return said

    def pack(self, query):
        status, _, body = self.get("/api/pack?" + query)
        self.assertEqual(status, 200, body)
        return sections(gzip.decompress(body))

    def list(self, more=""):
        status, _, body = self.get("/api/list" + more)
        self.assertEqual(status, 200, body)
        return json.loads(body)

    def alive(self):
        self.assertIsNone(self.wick_process.poll())
        self.assertEqual(self.get("/")[0], 200)

    def n_threads(self):
        return len(procfs.tasks(self.wick_process.pid))

    def rss_mb(self):
        return procfs.status(self.wick_process.pid, "VmRSS") / 1024


class Answers(Served):
    def test_page_list_and_pack(self):
        self.serve("--group", "state")
        status, headers, body = self.get("/")
        page = body.decode()
        self.assertEqual(status, 200)
        nonce = re.search(r"script-src 'nonce-([0-9a-f]{32})'", headers["Content-Security-Policy"])
        self.assertTrue(nonce, headers)
        self.assertIn("frame-ancestors 'none'", headers["Content-Security-Policy"])
        for element in re.findall(r"<(?:script|style)[^>]*>", page):
            if "application/" not in element:  # those are data
                self.assertIn(f'nonce="{nonce[1]}"', element)
        self.assertNotIn(nonce[1], self.get("/")[2].decode())
        self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
        self.assertEqual(headers["Cache-Control"], "no-store")
        self.assertIn('"state":"group=state"', page)
        self.assertNotRegex(page, r"<[^>]* (?:src|href)=")  # all that it needs is in it
        listed = self.list()["recordings"]
        self.assertEqual([row["file"] for row in listed], ["a.perf"])
        self.assertEqual(listed[0]["host"], "box")
        self.assertEqual(listed[0]["from_ns"], str(1795000000000000000 + 100010101000))
        self.assertEqual(listed[0]["to_ns"], str(1795000000000000000 + 109010101000))
        pack = self.pack("file=a.perf")
        self.assertEqual(pack["stack"][1], 10)
        self.assertEqual(files_of(pack), ["a.perf", ""])
        status, headers, body = self.get("/api/pack?file=a.perf", method="HEAD")
        self.assertEqual((status, body), (200, b""))
        self.assertGreater(int(headers["Content-Length"]), 100)

    def test_several_files_ranges_and_hosts(self):
        self.put("b/c.perf", text(range(4000, 4010), host="other"))
        self.put("z.perf.gz", gzip.compress(text(range(5000, 5010)).encode()))
        os.utime(os.path.join(self.folder, "z.perf.gz"), ns=(0, 1795000000000000000 + 5009 * 10**9))
        self.serve()
        self.put("0.perf", "nothing\n")  # of which the file's time is all that is known
        os.utime(os.path.join(self.folder, "0.perf"), ns=(0, 1795000000000000000 + 4500 * 10**9))
        wait_for(lambda: len(self.list()["recordings"]) == 4)
        self.assertEqual([row["file"] for row in self.list()["recordings"]], ["z.perf.gz", "0.perf", "b/c.perf", "a.perf"])
        self.assertEqual(self.pack("file=a.perf&file=b/c.perf")["stack"][1], 20)
        self.assertEqual(self.pack("last=1800")["stack"][1], 20)
        self.assertEqual(self.pack("last=3600&host=other")["stack"][1], 10)
        self.assertEqual(self.pack("last=10800")["stack"][1], 30)
        # 1003.99 s before the newest: what is older is left out of the file that reaches into it
        self.assertEqual(self.pack("last=1004")["stack"][1], 15)
        for wrong in ("last=", "last=x", "last=-1", "last=99999999999999999999", "host=none&last=9",
                      "file=", "nothing=1&host=none"):
            self.assertIn(self.get("/api/pack?" + wrong)[0], (400, 404), wrong)

    def test_follows_a_growing_folder(self):
        self.serve()
        first = self.list()
        start = time.monotonic()
        same = self.list(f"?since={first['version']}&wait=1")
        self.assertGreater(time.monotonic() - start, 0.8)
        self.assertEqual(same["version"], first["version"])
        for grow in (lambda: self.put("b.perf", text(range(110, 115))),
                     lambda: self.put("b.perf", text(range(110, 120))),
                     lambda: os.remove(os.path.join(self.folder, "b.perf"))):
            threading.Timer(0.3, grow).start()
            start = time.monotonic()
            now = self.list(f"?since={first['version']}&wait=20")
            self.assertLess(time.monotonic() - start, 5)
            self.assertNotEqual(now["version"], first["version"])
            first = now
        self.assertEqual([row["file"] for row in first["recordings"]], ["a.perf"])
        self.put("a.perf", text(range(100, 150)))
        self.assertEqual(self.pack("file=a.perf")["stack"][1], 50)

    def test_a_file_that_vanishes(self):
        self.serve()
        version = self.list()["version"]
        self.put("gone.perf", text(range(5)))
        self.assertEqual(len(self.list(f"?since={version}&wait=20")["recordings"]), 2)
        os.remove(os.path.join(self.folder, "gone.perf"))
        self.assertEqual(self.get("/api/pack?file=gone.perf")[0], 404)
        status, headers, _ = self.get("/api/pack?file=gone.perf&file=a.perf")
        self.assertEqual((status, headers["X-Wick-Files"]), (200, "1"))
        shutil.rmtree(self.folder)
        self.assertEqual(self.get("/api/pack?file=a.perf")[0], 404)
        self.alive()

    def test_names_are_never_markup(self):
        self.put(f"x{EVIL.replace('/', '%2F')}.perf",
                 text([1, 2], host="<script>", name=EVIL.replace("/", "|")))
        os.mkdir(os.path.join(self.folder, "<script>alert(2)<"))
        self.put("<script>alert(2)</script>.perf", text([1]))
        self.put(b"\xff\xfe.perf".decode("utf-8", "surrogateescape"), text([1]))
        self.serve("--only", EVIL)
        status, headers, body = self.get("/api/list")
        self.assertNotIn(b"<", body)
        self.assertEqual(headers["Content-Type"], "application/json")
        names = [row["file"] for row in json.loads(body)["recordings"]]
        self.assertEqual(len(names), 3, names)
        for name in names:
            self.assertEqual(self.get("/api/pack?file=" + urllib.parse.quote(name))[0], 200, name)
        self.assertEqual(status, 200)
        self.assertNotIn("alert(1)", self.get("/")[2].decode().replace("alert(1)%3C", ""))
        status, _, body = self.get("/api/pack?file=" + urllib.parse.quote(f"no{EVIL}.perf"))
        self.assertEqual(status, 404)
        self.assertNotIn(b"<", body)

    def test_what_cannot_be_read_is_said(self):
        self.put("cut.perf.gz", gzip.compress(text(range(500)).encode())[:-40])
        self.put("junk.perf", os.urandom(5000))
        self.put("empty.perf", "")
        self.serve()
        for name in ("cut.perf.gz", "junk.perf", "empty.perf"):
            path, problem = files_of(self.pack("file=" + name))
            self.assertEqual(path, name)
            self.assertNotIn("/proc/self", problem)
        self.alive()


class Guard(Served):
    def test_traversal_in_all_spellings(self):
        secret = self.write("secret.perf", text([1], name="SECRET_FUNCTION"))
        os.symlink(secret, os.path.join(self.folder, "link.perf"))
        os.symlink("..", os.path.join(self.folder, "up"))
        self.put(".hidden.perf", text([1]))
        os.mkfifo(os.path.join(self.folder, "fifo.perf"))
        self.serve()
        names = ["../secret.perf", "%2e%2e/secret.perf", "..%2fsecret.perf", "%2e%2e%2fsecret.perf",
                 "..%5csecret.perf", "....//secret.perf", "..;/secret.perf", "%252e%252e%252fsecret.perf",
                 "..%c0%afsecret.perf", "%c0%ae%c0%ae/secret.perf", secret, "/" + secret,
                 "./a.perf", "link.perf", "up/secret.perf", "up/rec/a.perf", "rec/../../secret.perf",
                 "../secret.perf%00a.perf", "a.perf%00", ".hidden.perf", "fifo.perf", "a.perf/", "",
                 "../rec/a.perf", "/proc/self/environ", "/proc/self/root" + secret, ".", "..",
                 "file:///etc/passwd", "a" * 5000 + ".perf", "%2e/a.perf", "\\..\\secret.perf"]
        for name in names:
            status, _, body = self.get("/api/pack?file=" + name.replace("\\", "%5c"))
            self.assertIn(status, (400, 404), name)
            self.assertTrue(body.startswith(b'{"error"'), name)
            self.assertNotIn(b"SECRET_FUNCTION", body)
            status, _, body = self.get("/api/code?function=work&file=" + name.replace("\\", "%5c"))
            self.assertIn(status, (400, 404), name)
            self.assertRegex(body, rb"no such recording|one file|zero inside|takes longer|No sample")
        for path in ("/../secret.perf", "/api/..%2f..%2fsecret.perf", "/a.perf", "//", "/api/",
                     "/api/../", "/api/%2e%2e/a.perf", "/api/list/", "/api//list", "/none%00",
                     "*", "/rec/a.perf", "http://evil.example/", "/api/..\\a.perf"):
            status, _, body = self.get(path.replace("\\", "%5c"))
            self.assertIn(status, (400, 404, 421), path)
        self.assertEqual([row["file"] for row in self.list()["recordings"]], ["a.perf"])

    def test_token(self):
        address = self.serve(token=None)
        self.assertGreaterEqual(len(self.token), 32, address)
        paths = ["/", "/api/list", "/api/pack?file=a.perf", "/none",
                 "/api/code?file=a.perf&function=work"]
        wrong = [None, "x", self.token[:-1], self.token + "x", self.token.swapcase(), "%00"]
        for path in paths:
            for token in wrong:
                status, _, body = self.get(path, token=token)
                self.assertEqual(status, 403, (path, token))
                self.assertNotIn(b"a.perf", body)
                self.assertNotIn(self.token.encode(), body)
        for word in (f"Bearer {self.token}x", f"Basic {self.token}", self.token, "Bearer "):
            self.assertEqual(self.get("/api/list", token=None,
                                      headers={"Authorization": word})[0], 403, word)
        self.assertEqual(self.get("/api/list", token=None, headers={
            "Authorization": f"Bearer {self.token}"})[0], 200)
        self.assertEqual(self.get("/", token=self.token)[0], 200)

    def test_host(self):
        self.serve("--host", "profiles.example")
        port = self.port
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "10.0.0.1",
                     "localhost.evil.example", "", f"localhost:{port}:{port}", "0.0.0.0", "[::2]"):
            self.assertIn(self.get("/api/list", host=host)[0], (400, 421), host)
        self.assertEqual(self.get("/api/list", host=["localhost", "evil.example"])[0], 400)
        self.assertEqual(self.get("/api/list", host=["evil.example", "localhost"])[0], 400)
        self.assertIn(b" 400 ", self.raw(
            f"GET /api/list?token={TOKEN} HTTP/1.1\r\n\r\n".encode(), 3).split(b"\r\n")[0])
        for host in (f"127.0.0.1:{port}", f"localhost:{port}", "localhost:9999", "[::1]:1",
                     "profiles.example"):
            self.assertEqual(self.get("/api/list", host=host)[0], 200, host)
        for site in ("cross-site", "same-site"):
            self.assertEqual(self.get("/api/list", headers={"Sec-Fetch-Site": site})[0], 403)
        self.assertEqual(self.get("/api/list", headers={"Sec-Fetch-Site": "same-origin"})[0], 200)

    def test_only_reads(self):
        self.serve()
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND",
                       "GETX"):
            status, headers, _ = self.get("/api/list", method=method, body=b"x" * 100)
            self.assertEqual(status, 405, method)
            self.assertEqual(headers["Allow"], "GET, HEAD")
        self.assertEqual(self.get("/api/list", body=b"x" * 100000)[0], 200)
        for junk in (b"\0" * 1000, b"\r\n" * 1000, b"GET\r\n\r\n", os.urandom(20000),
                     b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
                     b"GET /" + b"a" * 300000 + b" HTTP/1.1\r\n\r\n",
                     b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 50000 + b"\r\n",
                     b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
                     b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"):
            with contextlib.suppress(ConnectionError):
                self.assertNotIn(b" 200 ", self.raw(junk, 1)[:20])
        self.alive()

    def test_command_line(self):
        def status(*args):
            done = subprocess.run([WICK, "serve", *args], capture_output=True, timeout=10,
                                  check=False, text=True)
            return done.returncode, done.stderr
        for args in (("--no-token", self.folder), ("--no-token", "--listen", "0.0.0.0", self.folder),
                     ("--token", "short", self.folder), ("--token", "a/b" * 10, self.folder),
                     ("--no-token", "--listen", "127.0.0.1", "--token", TOKEN, self.folder),
                     ("--port", "65536", self.folder), ("--port", "x", self.folder), (),
                     (self.folder, self.folder), ("--listen", "localhost", self.folder),
                     ("--host", "0.0.0.0", self.folder), ("--host", "::", self.folder)):
            self.assertEqual(status(*args)[0], 2, args)
        self.assertIn("--listen 0.0.0.0", status("--host", "0.0.0.0", self.folder)[1])
        self.assertEqual(status(self.path("none"))[0], 8)
        self.serve("--no-token", "--listen", "127.0.0.1", token=None)
        self.assertEqual(self.get("/api/list", token=None)[0], 200)
        code, said = status("--port", str(self.port), self.folder)
        self.assertEqual(code, 8)
        self.assertIn(str(self.port), said)


class Crowds(Served):
    def test_slow_clients_do_not_keep_others_out(self):
        self.serve()
        slow = [socket.create_connection((self.host, self.port)) for _ in range(100)]
        try:
            for to in slow:
                to.sendall(b"GET /api/list HTTP/1.1\r\nHo")
            for _ in range(3):
                for to in slow:
                    with contextlib.suppress(ConnectionError):
                        to.sendall(b"s")
                start = time.monotonic()
                self.alive()
                self.assertLess(time.monotonic() - start, 3)
            self.assertLess(self.n_threads(), 8)
            # one that takes no byte of its answer
            to = slow[0]
            to.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            self.alive()
        finally:
            for to in slow:
                to.close()

    @unittest.skipUnless(LONG, "takes half a minute")
    def test_one_that_drips_its_request_is_ended(self):
        self.serve()
        with socket.create_connection((self.host, self.port)) as to:
            to.settimeout(1)
            start = time.monotonic()
            with self.assertRaises((ConnectionError, EOFError)):
                while time.monotonic() - start < 60:
                    to.sendall(b"G")
                    with contextlib.suppress(TimeoutError):
                        if to.recv(100) == b"":
                            raise EOFError
            self.assertLess(time.monotonic() - start, 40)
        self.alive()

    def test_many_connections(self):
        wanted = 10000 if LONG else 300
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, wanted + 500), hard))
        wanted = min(wanted, min(hard, wanted + 500) - 200)
        self.serve()
        before = self.rss_mb()
        crowd = []
        try:
            for i in range(wanted):
                to = socket.socket()
                to.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    to.connect((self.host, self.port))
                crowd.append(to)
                if i % 1000 == 999:
                    self.alive()
            start = time.monotonic()
            for _ in range(5):
                self.alive()
                self.assertEqual(self.pack("file=a.perf")["stack"][1], 10)
            print(f"{len(crowd)} connections: 5 answers in {time.monotonic() - start:.2f} s, "
                  f"{self.rss_mb() - before:.0f} MB more, {self.n_threads()} threads")
            self.assertLess(time.monotonic() - start, 10)
            self.assertLess(self.rss_mb() - before, 150)
            self.assertLess(self.n_threads(), 8)
        finally:
            for to in crowd:
                to.close()
        self.alive()

    def test_many_at_once(self):
        for i in range(8):
            self.put(f"m{i}.perf", text(range(200)))
        self.serve()
        results = []

        def ask(i):
            with contextlib.suppress(OSError, http.client.HTTPException):
                results.append(self.get(f"/api/pack?file=m{i % 8}.perf")[0])
        threads = [threading.Thread(target=ask, args=(i,)) for i in range(100)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(results), 100)
        self.assertLessEqual(set(results), {200, 503})
        self.assertGreater(results.count(200), 20)
        self.alive()

    def test_ends_cleanly(self):
        for signo in (signal.SIGINT, signal.SIGTERM):
            self.serve()
            waiting = [threading.Thread(target=lambda: contextlib.suppress(Exception) and self.get(
                "/api/list?since=1&wait=20")) for _ in range(3)]
            version = self.list()["version"]
            held = socket.create_connection((self.host, self.port))
            held.sendall(f"GET /api/list?since={version}&wait=20&token={TOKEN} HTTP/1.1\r\n"
                         f"Host: localhost\r\n\r\n".encode())
            for thread in waiting:
                thread.start()
            time.sleep(0.3)
            start = time.monotonic()
            self.wick_process.send_signal(signo)
            self.assertEqual(self.wick_process.wait(10), 0)
            self.assertLess(time.monotonic() - start, 3)
            held.close()
            for thread in waiting:
                thread.join()
            self.assertNotIn("error", self.wick_process.stderr.read())


class View(Served):
    def view(self, *args, env=None, **more):
        environ = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
        environ.update({"XDG_CACHE_HOME": self.path("cache"), **(env or {})})
        return subprocess.run([WICK, "view", *args], env=environ, capture_output=True, text=True,
                              check=False, cwd=self.dir, **more)

    def packs(self, path):
        page = text_of(path)
        return page, [sections(gzip.decompress(base64.b64decode(part, validate=True))) for part in
                      re.findall(r'<script type="application/x-wick-pack"[^>]*>([^<]*)</script>', page)]

    def test_one_file_with_everything(self):
        run = self.view("rec/a.perf", "--time", "1-3@0-100ms", "--group", "comm", "--only", "w&r|k",
                        "--metric", "samples")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stdout, "rec/a.perf.html\n")
        page, packs = self.packs(self.path("rec/a.perf.html"))
        self.assertEqual([pack["stack"][1] for pack in packs], [10])
        start = json.loads(re.search(r'id="wick-start">(.*?)</script>', page)[1])
        self.assertEqual(start["mode"], "view")
        self.assertEqual(start["state"],
                         "time=1-3@0ns-100000000ns&only=w%26r%7Ck&group=comm&metric=samples")
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
        self.assertIn("default-src 'none'", policy)
        self.assertIn("connect-src 'none'", policy)
        self.assertEqual(re.findall(r'(?:src|href)="?(?!data:)[^"> ]+', page), [])
        self.assertIn("ssh -t -L", run.stderr)
        self.assertEqual([n for n in os.listdir(self.folder) if n.startswith(".")], [])

    def test_the_line_for_ssh_works(self):
        run = self.view("rec/a.perf")
        line = next(row for row in run.stderr.splitlines() if "ssh" in row)
        command = re.search(r"ssh -t -L (\d+):127\.0\.0\.1:\1 \S+ (.*?)  #", line)
        self.wick_process = self.start("sh", "-c", "exec " + command[2], text=True)
        address = self.wick_process.stdout.readline()
        self.assertTrue(address.startswith(f"http://127.0.0.1:{command[1]}/?token="), address)

    def test_baseline_and_stdin(self):
        self.put("old.perf", text(range(20), name="before"))
        run = self.view("--baseline", "rec/old.perf", "rec/a.perf", "-o", "c.html", "--no-open")
        self.assertEqual((run.returncode, run.stdout), (0, "c.html\n"), run.stderr)
        _, packs = self.packs(self.path("c.html"))
        self.assertEqual([pack["stack"][1] for pack in packs], [10, 20])
        run = self.view("-", "--no-open", input=text(range(7)))
        self.assertEqual((run.returncode, run.stdout), (0, "wick.html\n"), run.stderr)
        self.assertEqual(self.packs(self.path("wick.html"))[1][0]["stack"][1], 7)

    def test_each_file_is_a_recording_and_a_folder_is_one(self):
        self.put("old.perf", text(range(20), name="before"))
        for words, samples in ((("rec/a.perf", "rec/old.perf"), [10, 20]),
                               (("rec/a.perf", "rec", "rec/old.perf"), [10, 30, 20]),
                               (("--baseline", "rec/old.perf", *["rec/a.perf"] * 11), [10, 20, *[10] * 10])):
            run = self.view(*words, "-f", "-o", "several.html", "--no-open")
            self.assertEqual(run.returncode, 0, run.stderr)
            page, packs = self.packs(self.path("several.html"))
            self.assertEqual([pack["stack"][1] for pack in packs], samples)
            names = [word.split("/")[-1] if word.endswith("perf") else "2 recordings" for word in words if word[0] != "-"]
            self.assertEqual(sorted(re.findall('data-name="([^"]*)"', page)), sorted(names))
            self.assertEqual(json.loads(re.search(r'id="wick-start">(.*?)</script>', page)[1])["state"], "view=sides")
        for words in (["rec/a.perf"] * 13, ["--baseline", "rec/old.perf", *["rec/a.perf"] * 12]):
            run = self.view(*words, "-o", "many.html", "--no-open")
            self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
            self.assertIn("a page shows 12 recordings at most, try: wick view FOLDER", run.stderr)

    def test_the_page_to_stdout_and_never_over_the_baseline(self):
        run = self.view("rec/a.perf", "-o", "-")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertTrue(run.stdout.startswith("<!DOCTYPE html>"), run.stdout[:80])
        self.assertTrue(run.stdout.endswith("</html>\n"), run.stdout[-80:])
        before = text(range(20), name="before")
        self.put("old.perf", before)
        run = self.view("--baseline", "rec/old.perf", "rec/a.perf", "-o", "rec/old.perf")
        self.assertEqual((run.returncode, run.stdout), (8, ""), run.stderr)
        self.assertIn("wick does not overwrite it", run.stderr)
        self.assertEqual(text_of(self.path("rec/old.perf")), before)

    def test_hostile_names_stay_data(self):
        self.put("e.perf", text([1, 2], host=EVIL, name="</script><script>alert(1)</script><!--"))
        run = self.view("rec/e.perf", "--only", "script", "--no-open")
        self.assertEqual(run.returncode, 0, run.stderr)
        page, packs = self.packs(self.path("rec/e.perf.html"))
        self.assertIn(b"<script>alert(1)", packs[0]["strings"][0])
        self.assertNotIn("alert(1)", page)
        self.assertEqual(page.count("<script"), page.count("</script>"))

    def browser(self):
        """The environment of a display whose xdg-open says what it is asked to open."""
        os.mkdir(self.path("tools"))
        self.write("tools/xdg-open", f"#!/bin/sh\necho \"$1\" > {self.path('opened')}.tmp\n"
                   f"mv {self.path('opened')}.tmp {self.path('opened')}\n", 0o755)
        return {"DISPLAY": ":0", "PATH": self.path("tools") + ":" + os.environ["PATH"]}

    def opened(self):
        """What it was asked to open, once."""
        path = self.path("opened")
        wait_for(lambda: os.path.exists(path))
        said = text_of(path).strip()
        os.unlink(path)
        return said

    def test_opens_it_where_there_is_a_display(self):
        env = self.browser()
        # a name is neither an option of xdg-open nor an address
        for options, page in (((), "rec/a.perf.html"), (("-o", "-n.html"), "-n.html"),
                              (("-o", "mailto:b.html"), "mailto:b.html")):
            run = self.view("rec/a.perf", *options, env=env)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertNotIn("ssh", run.stderr)
            self.assertEqual(self.opened(), os.path.realpath(self.path(page)))

    def test_a_browser_gets_the_token_but_no_command_line_does(self):
        env = {**os.environ, "XDG_RUNTIME_DIR": self.dir, **self.browser()}
        self.wick_process = self.start(WICK, "serve", self.folder, env=env, text=True)
        address = self.wick_process.stdout.readline().strip()
        page = self.opened()
        self.assertNotIn("token", page)
        self.assertEqual(os.stat(page).st_mode & 0o777, 0o600)
        self.assertIn(f'url={address}"', text_of(page))
        self.wick_process.send_signal(signal.SIGINT)
        self.assertEqual(self.wick_process.wait(10), 0)
        self.assertFalse(os.path.exists(page))

    def test_failures(self):
        before = sorted(os.listdir(self.folder))
        for args, status in (((), 2), (("none.perf",), 8), (("rec/a.perf", "-o", "rec/a.perf"), 8),
                             (("rec/a.perf", "-o", "no/such/x.html"), 8),
                             (("rec/a.perf", "--group", "nonsense"), 2),
                             (("rec/a.perf", "--only", "("), 2)):
            run = self.view(*args)
            self.assertEqual(run.returncode, status, (args, run.stderr))
            self.assertEqual(run.stdout, "")
        self.assertEqual(sorted(os.listdir(self.folder)), before)



if __name__ == "__main__":
    unittest.main()
