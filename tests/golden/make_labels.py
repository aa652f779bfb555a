#!/usr/bin/env python3
"""A recording whose samples have labels, and that has lines of exact counts.

usage: make_labels.py OUT [SAMPLES [REQUESTS]]

The same bytes every time.  Without numbers it is labels.perf of this folder.
"""
import json
import random
import sys

HEAD = """\
# ========
# captured on    : 2026-11-21T08:16:26Z
# hostname : db7
# os release : 6.1.0-37-amd64
# arch : x86_64
# nrcpus online : 4
# cmdline : wick record -e wall -- ./orders
# wick : {"format":1,"version":"0.1.0","clock":"CLOCK_MONOTONIC","epoch_offset_ns":1700000000000000000,\
"event":"wall-clock","hz":99,"pid":4000,"metrics":[{"name":"cpu_ns","unit":"ns","kind":"counter"},\
{"name":"minflt","unit":"1","kind":"counter"},{"name":"rss_kib","unit":"KiB","kind":"gauge"}]}
# ========
#
"""
IDENTITIES = ["GET /users", "POST /orders,now", "<script>\x1b[31m%41", "r\xe9sum\xe9 \u2713"]
TIERS = ["service", "queue", "db"]
TASKS = ["handle@orders.c:12", "flush@orders.c:80"]
STACKS = [("recv", "loop", "main"), ("db_query", "handle", "loop", "main"), ("memcpy", "reply", "handle", "loop", "main")]
SECOND = 1000000000
SINCE = 12344 * SECOND


def word(text):
    return "".join(chr(byte) if 0x20 < byte < 0x7f and chr(byte) not in "%<>\\," else f"%{byte:02X}" for byte in text.encode())


def escaped(row):
    text = json.dumps(row, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def tier_rows(since, until, n):
    """n requests of each identity took 1 ms in each tier; bucket 1216 is that of 1 ms."""
    for tier in ["request", *TIERS]:
        for identity in ["_total", *IDENTITIES]:
            count = n * (len(IDENTITIES) if identity == "_total" else 1)
            sums = {name: 1000000 for name in ("mean_ns", "min_ns", "max_ns", "p25_ns", "p50_ns", "p75_ns", "p90_ns", "p99_ns", "p999_ns")}
            yield {"since_ns": since, "time_ns": until, "tier": tier, "identity": identity, "count": count,
                   "sum_ns": count * 1000000, "self_ns": count * 400000, **sums, "sd_ns": 0,
                   "buckets": [[BUCKET_OF_1_MS, count]], "trace": f"{n:032x}", "trace_ns": 1000000}


# 1,000,000 >> 13 is 122: bucket 64 * 13 + 122 - 64 (base/histogram.h)
BUCKET_OF_1_MS = 64 * 13 + 122 - 64


def task_rows(since, until, n):
    for at, task in enumerate(TASKS):
        name, place = task.split("@")
        file, line = place.split(":")
        yield {"since_ns": since, "time_ns": until, "task": name, "file": file, "line": int(line), "exec_ns": n * 100000,
               "exec_max_ns": 200000, "children_ns": at * 1000, "exec_with_children_ns": n * 100000 + at * 1000,
               "wall_ns": n * 300000, "calls": n, "live": 1, "stillborn": 0, "cancelled": at, "failed": 0, "stalls": 0}


def counts(since, until, n):
    return "".join(f"# req : {escaped(row)}\n" for rows in (tier_rows, task_rows) for row in rows(since, until, n))


def samples(n_samples, n_requests):
    some = random.Random(7)
    ids = [(f"{some.getrandbits(128):032x}", f"{some.getrandbits(64):016x}") for _ in range(n_requests)]
    for i in range(n_samples):
        at = i * n_requests // n_samples
        labels = ""
        if i % 5:
            labels = f" trace={ids[at][0]} span={ids[at][1]} identity={word(IDENTITIES[at % 4])} task={TASKS[i % 2]}"
            labels += f" tier={TIERS[at % 3]}" if i % 3 else ""
            labels += " attr_wait=7%2C8" if i % 7 == 0 else ""
        us = 12345010101 + i * 10101
        frames = "".join(f"\t{0x4000 + 16 * len(name):16x} {name}+0x{len(name):x} (/opt/orders)\n" for name in STACKS[i % 3])
        state = "st=sleeping wait=futex on=futex:0x7f12a0" if i % 4 == 3 else "st=running"
        yield (f"# s {state}{labels} cpu_ns={i * 10101000},{10101000 if i else 0} "
               f"minflt={i // 3 * 5},{5 if i % 3 == 0 and i else 0} rss_kib={1000 + i % 9},{(i % 9 and 1) or (-8 if i else 0)}\n"
               f"orders  4000/{4000 + i % 3}  [{i % 4:03}] {us // 1000000}.{us % 1000000 or 1:06}:          1 wall-clock: \n{frames}\n")


def main():
    out = sys.argv[1]
    n_samples, n_requests = (int(text) for text in [*sys.argv[2:4], *["90", "12"][len(sys.argv) - 2:]])
    with open(out, "w", encoding="ascii") as file:
        file.write(HEAD)
        for i, sample in enumerate(samples(n_samples, n_requests)):
            if i == n_samples // 2:
                file.write(counts(SINCE, SINCE + SECOND, 10))
            file.write(sample)
        file.write(counts(SINCE + SECOND, SINCE + 2 * SECOND, 5))
        file.write(f'# wick-end : {{"samples":{n_samples},"weight":{n_samples}}}\n')


if __name__ == "__main__":
    main()
