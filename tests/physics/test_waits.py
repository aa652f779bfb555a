"""What blocked threads wait in, while nothing wakes them: no EINTR, no signal."""
import ctypes.util
import os
import re
import unittest

import judged  # finds recorded
from recorded import LONG, Case, target

SECONDS = 60 if LONG else 4
PEER_SECONDS = 20 if LONG else 1
HZ = 100
# Of 6,000 periods in the long form, each with a sample of its own: a call is over after five of
# them, so that its thread is looked at in every one.
LEAST = 5000 if LONG else SECONDS * HZ // 2

# Every call of the target: the word, and what it waits for.
CALLS = {
    "poll": ("poll", "50ms"),
    "ppoll": ("poll", "50ms"),
    "select": ("select", "50ms"),
    "epoll_wait": ("epoll", r"anon_inode:\[eventpoll\],50ms"),
    "nanosleep": ("sleep", "50ms"),
    "clock_nanosleep": ("sleep", "50ms"),
    "futex": ("futex", "futex:0x[0-9a-f]+"),
    "sem_timedwait": ("futex", "futex:0x[0-9a-f]+"),
    "recv": ("recv", r"socket:\[[0-9]+\]"),
    "msgrcv": ("msg", "msg:[0-9]+"),
    "semop": ("sem", "sem:[0-9]+"),
    "sigtimedwait": ("signal", "50ms"),
}


def table(output):
    """Name -> calls made, ended by a signal, and times that the thread gave up the CPU."""
    lines = [line.split() for line in output.decode().splitlines()]
    return {line[0]: tuple(map(int, line[1:])) for line in lines}


def sampled_by_itimer(case, seconds):
    """The same calls under gperftools with ITIMER_REAL, each in a process of its own; None."""
    library = ctypes.util.find_library("profiler")
    if not library:
        return None
    environment = dict(os.environ, LD_PRELOAD=library, CPUPROFILE="/dev/null",
                       CPUPROFILE_REALTIME="1", CPUPROFILE_FREQUENCY=str(HZ))
    running = [case.start(target("eintr_calls"), seconds, name, env=environment) for name in CALLS]
    return table(b"".join(process.communicate()[0] for process in running))


class Waits(Case):
    def test_blocked_calls_are_named_and_none_is_interrupted(self):
        run = self.record(target("eintr_calls"), str(SECONDS), hz=HZ,
                          options=("-e", "wall", "--max-overhead", "off"))
        self.assertEqual(run.status, 0, run.summary)
        ours, peer = table(run.stdout), sampled_by_itimer(self, PEER_SECONDS)
        self.assertEqual(set(ours), set(CALLS))
        names = {sample.tid: sample.comm for sample in run.samples}
        print(f"\n{'call':14} {'wick -e wall, ' + str(SECONDS) + ' s':^52}  "
              f"{'ITIMER_REAL, ' + str(PEER_SECONDS) + ' s':^16}\n"
              f"{'':14} {'calls':>6} {'EINTR':>6} {'switches':>9} {'samples':>7} {'weight':>7} {'blocked':>7} {'right':>6}"
              f"  {'calls':>7} {'EINTR':>7}")
        for name, (word, on) in CALLS.items():
            made, ended, switches = ours[name]
            mine = [s for s in run.samples if names[s.tid] == name]
            weight = sum(s.weight for s in mine)
            blocked = sum(s.weight for s in mine if s.state not in ("running", "runnable"))
            right = [s for s in mine if s.state == "sleeping" and s.wait == word and
                     re.fullmatch(on, s.on or "") and
                     any(frame.symbol == "make_calls" for frame in s.frames)]
            n, right = len(right), sum(s.weight for s in right)
            theirs = f"{peer[name][0]:7} {peer[name][1]:7}" if peer else "not installed"
            print(f"{name:14} {made:6} {ended:6} {switches:9} {n:7} {weight:7} {blocked:7} {right:6}  {theirs}")
            with self.subTest(call=name):
                self.assertEqual(ended, 0)
                # A signal that restarts a call would wake the thread all the same.
                self.assertLessEqual(switches, made + SECONDS)
                self.assertGreaterEqual(n, LEAST)
                self.assertGreaterEqual(weight, 0.97 * SECONDS * HZ)
                self.assertGreaterEqual(right, 0.98 * blocked)

    @unittest.skipUnless(ctypes.util.find_library("profiler"), "libprofiler is not installed")
    def test_the_counting_program_sees_signals(self):
        for name, (made, ended, _) in sampled_by_itimer(self, 1).items():
            with self.subTest(call=name):
                self.assertGreater(ended, 0.5 * made, f"{made} calls")


if __name__ == "__main__":
    unittest.main()
