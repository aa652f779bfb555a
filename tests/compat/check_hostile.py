#!/usr/bin/env python3
"""Property: whatever the names are, what the writer makes of them loses nothing anywhere.

usage: check_hostile.py WRITER MODE [RUNS [FIRST_SEED]]
"""
import os
import subprocess
import sys
import tempfile


def main():
    writer, mode = sys.argv[1:3]
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 12
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 20261121
    here = os.path.dirname(os.path.abspath(__file__))
    how = {"bare": ["--bare"], "group": ["--bare"],
           "inline": ["--inline", "cpu_ns,rss_kib"]}.get(mode, [])
    for seed in range(first, first + runs):
        print(f"seed {seed}", flush=True)
        with tempfile.NamedTemporaryFile(suffix=".perf") as file:
            subprocess.run([writer, str(seed), "120", mode], stdout=file, check=True)
            done = subprocess.run([sys.executable, os.path.join(here, "check_compat.py"), *how,
                                   file.name], stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            print(done.stdout)
            print(f"again: {writer} {seed} 120 {mode} >x.perf; check_compat.py {' '.join(how)} x.perf")
            return 1
    return 0


sys.exit(main())
