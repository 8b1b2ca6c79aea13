#!/usr/bin/env python3
"""Runs the built tests again and again on a busy machine and lists every test that ever failed.

  RUNS   number of runs (5)
  LOAD   busy loops beside them (4)
  SEED   seed of the first run's order; each run adds one (1)
  SWIFT  the swift command
  FLAGS  what `swift test` needs to find the products as they were built

Arguments are passed on to `swift test list` and narrow the choice: --filter REGEX, --skip REGEX.

Each run has its own parallel width (1, 2, 4, 8, 16 in turn) and its own order: the suites are shuffled by the seed and
dealt into groups, and each group runs in a process of its own, so that every test meets other neighbours each time.

Exit codes: 0 if no test failed, 1 if one did, 69 if the tests could not be listed.
"""

import collections
import json
import os
import random
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

WIDTHS = [1, 2, 4, 8, 16]
GROUPS = 6
SLOWEST = 20
# A group that takes longer hangs; test suites have their own time limits, which are shorter.
GROUP_SECONDS = 3_600
WIDTH_VARIABLE = "SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH"


def swift_test(*arguments):
    return shlex.split(os.environ.get("SWIFT", "swift")) + ["test", *arguments, "--skip-build"] + shlex.split(
        os.environ.get("FLAGS", ""))


def list_suites(arguments):
    """Returns the suites, and the tests that are in none, that the arguments select, and the arguments that skip some."""
    listing = subprocess.run(swift_test("list"), stdout=subprocess.PIPE, text=True)
    if listing.returncode != 0:
        sys.exit(69)
    names = re.findall(r"^\w+\.\S.*$", listing.stdout, re.MULTILINE)
    skips = []
    for option, pattern in zip(arguments[::2], arguments[1::2]):
        if option not in ("--filter", "--skip"):
            sys.exit(f"could not read the arguments: {option} is neither --filter nor --skip")
        names = [name for name in names if (re.search(pattern, name) is not None) == (option == "--filter")]
        if option == "--skip":
            skips += [option, pattern]
    if not names:
        print("could not find a test to run", file=sys.stderr)
        sys.exit(69)
    # `Target.Suite/function()`; a function outside of a suite has no slash.
    return sorted({name.rsplit("/", 1)[0] if "/" in name else name for name in names}), skips


class Report:
    """What was seen of every test in all runs."""

    def __init__(self):
        self.failures = collections.defaultdict(lambda: collections.defaultdict(list))
        self.seconds = collections.defaultdict(list)
        self.tests = 0

    def read(self, path, width, run):
        """Reads the event stream of one process and returns the tests that had begun and not ended."""
        names, parameterized, begun, seconds = {}, set(), {}, collections.Counter()
        previous = None
        with open(path, encoding="utf-8", errors="replace") as stream:
            for line in stream:
                try:
                    record = json.loads(line)
                except ValueError:
                    continue  # The last line of a process that was killed.
                kind, payload = record["kind"], record["payload"]
                if kind == "test":
                    if payload["kind"] == "function":
                        names[payload["id"]] = payload["id"].rsplit("/", 1)[0]
                        if payload.get("isParameterized"):
                            parameterized.add(payload["id"])
                    continue
                kind, identifier, now = payload["kind"], payload.get("testID"), payload["instant"]["absolute"]
                name = names.get(identifier)
                if kind == "issueRecorded" and not payload.get("issue", {}).get("isKnown", False):
                    self.fail(name or identifier or "(no test)", run, self.text(payload))
                elif kind == "testStarted" and name:
                    begun[name] = now
                    previous = previous or now
                elif kind in ("testCaseEnded", "testEnded") and name:
                    # A test counts as started while it waits for its turn. One at a time, it runs from the end of the
                    # one before it.
                    if kind == "testCaseEnded" or identifier not in parameterized:
                        seconds[name] += max(0, now - previous)
                        previous = max(previous, now)
                    if kind == "testEnded" and begun.pop(name, None) is not None:
                        self.tests += 1
        if width == 1:
            for name, total in seconds.items():
                self.seconds[name].append(total)
        return list(begun)

    def fail(self, name, run, text):
        self.failures[name][run].append(text)

    @staticmethod
    def text(payload):
        place = payload.get("issue", {}).get("sourceLocation") or {}
        words = "; ".join(message["text"] for message in payload["messages"])
        where = f"{place['fileID']}:{place['line']}: " if "fileID" in place else ""
        return where + " ".join(words.split())


def pattern_of(name):
    """Returns what matches a function outside of suites, or all functions of a suite but not those of suites in it."""
    return re.escape(name) + ("" if name.endswith(")") else r"/[^/]*\)")


def run_group(report, suites, skips, width, run):
    """Runs some suites in one process and reads what became of each test."""
    with tempfile.TemporaryDirectory(prefix="mirror-bot-stress.") as folder:
        events, output = os.path.join(folder, "events"), os.path.join(folder, "output")
        pattern = "^(" + "|".join(pattern_of(suite) for suite in suites) + r")(/|$)"
        command = swift_test("--event-stream-output-path", events, "--filter", pattern, *skips)
        with open(output, "wb") as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, env={**os.environ, WIDTH_VARIABLE: str(width)})
            try:
                status = process.wait(GROUP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                status = process.wait()
        before = sum(len(runs) for runs in report.failures.values())
        unfinished = report.read(events, width, run) if os.path.exists(events) else []
        has_failure = sum(len(runs) for runs in report.failures.values()) > before
        if status != 0 and (unfinished or not has_failure):
            with open(output, encoding="utf-8", errors="replace") as log:
                last = " ".join(log.read()[-600:].split())
            for name in unfinished or ["(a process of its own)"]:
                report.fail(name, run, f"the process ended with {status} while this ran: {last}")


def main():
    runs, load = int(os.environ.get("RUNS", "5")), int(os.environ.get("LOAD", "4"))
    seed = int(os.environ.get("SEED", "1"))
    suites, skips = list_suites(sys.argv[1:])
    report, loops = Report(), []
    print(f"{len(suites)} suites, runs: {runs}, beside {load} busy loops on {os.cpu_count()} cores", flush=True)
    try:
        loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(load)]
        for run in range(runs):
            width, order = WIDTHS[run % len(WIDTHS)], list(suites)
            random.Random(seed + run).shuffle(order)
            start, tests = time.monotonic(), report.tests
            for group in range(GROUPS):
                if order[group::GROUPS]:
                    run_group(report, order[group::GROUPS], skips, width, run)
            failed = sum(run in failing for failing in report.failures.values())
            print(
                f"run {run + 1}: width {width}, seed {seed + run}, {report.tests - tests} tests, {failed} failed, "
                f"{time.monotonic() - start:.0f} s, load average {os.getloadavg()[0]:.1f}", flush=True)
    finally:
        for loop in loops:
            loop.kill()
    print(f"\n{len(report.failures)} tests failed at least once")
    for name, failing in sorted(report.failures.items(), key=lambda item: (-len(item[1]), item[0])):
        texts = sorted({text for texts in failing.values() for text in texts})
        print(f"{len(failing)} of {runs}  {name}  " + "  |  ".join(texts))
    print(f"\nthe {SLOWEST} slowest, in seconds, of the runs with width 1: median, longest")
    slowest = sorted(report.seconds.items(), key=lambda item: -statistics.median(item[1]))[:SLOWEST]
    for name, seconds in slowest:
        print(f"{statistics.median(seconds):8.1f} {max(seconds):8.1f}  {name}")
    sys.exit(1 if report.failures else 0)


if __name__ == "__main__":
    main()
