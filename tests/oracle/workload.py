# workload.py - interpreter, json, regular expressions, sorting with callbacks, zlib, threads
import hashlib
import json
import re
import threading
import zlib


def fold(depth, value):
    return value if depth == 0 else fold(depth - 1, value * 31 % 65521)


def turn(n):
    data = {str(i): [i, i * 0.5, "x" * (i % 7)] for i in range(n)}
    text = json.dumps(data)
    json.loads(text)
    sorted(data, key=lambda key: (len(key), key[::-1]))
    re.sub(r"(\d+)\.5", lambda match: match.group(1)[::-1], text)
    zlib.compress(text.encode() * 4)
    hashlib.sha256(text.encode() * 16).hexdigest()
    fold(60, n)


def work():
    while True:
        turn(400)


threading.Thread(target=work, daemon=True).start()
work()
