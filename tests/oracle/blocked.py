# blocked.py - threads that wait for locks, queues, sockets, timers and a child, at many depths
import queue
import random
import select
import socket
import subprocess
import threading
import time

work = queue.Queue()
event = threading.Event()
lock = threading.Lock()
here, there = socket.socketpair()
child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def deep(n, function):
    return function() if n == 0 else deep(n - 1, function)


def repeat(function):
    while True:
        deep(random.randrange(20), function)


def locked():
    with lock:
        time.sleep(0.003)


def by_callback():
    sorted(range(3), key=lambda n: time.sleep(0.003) or n)


for wait in (lambda: time.sleep(0.005), work.get, lambda: event.wait(0.004), locked, locked,
             by_callback, lambda: here.recv(1), lambda: select.select([here], [], [], 0.006),
             lambda: child.stdout.read(1)):
    threading.Thread(target=repeat, args=(wait,), daemon=True).start()
while True:
    time.sleep(0.002)
    work.put(1)
    there.send(b"x")
    child.stdin.write(b"x")
    child.stdin.flush()
    if random.random() < 0.1:
        event.set()
        event.clear()
