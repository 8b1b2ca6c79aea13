#!/usr/bin/env python3
"""Tells how long each module of a build took.

  times.py FOLDER COMMAND...     COMMAND is a `swift build` without a scratch path; it builds in FOLDER, which is emptied
                                 first
  times.py --compiler FOLDER     prints the path of a compiler that notes its calls in FOLDER; other commands use it if
                                 SWIFT_EXEC names it
  times.py --report FOLDER       tells what was noted in FOLDER, by what was built where
  times.py --note LOG COMPILER ARGUMENT...   is what that compiler calls

Every call of the compiler is noted with its processor seconds and its wall time. The unit is one yardstick: the
processor seconds of compiling NIOCore with `-O` in the same run, the only figure that two machines can compare. If no
noted call optimized NIOCore, it is compiled so afterwards.

The chain is what decided the wall time: from the call that ended last, each time back to the one that ended last before
it began.

Exit codes: that of the build, or 64 for wrong arguments.
"""

import json
import os
import resource
import shlex
import shutil
import subprocess
import sys
import time

YARDSTICK = "NIOCore"
# Modules that take less are summed up in one line, in processor seconds.
SMALL = 5.0
# How long a call may begin before the one that it waited for has ended, in seconds: clocks are read apart.
SLACK = 0.2


def compile_and_note(log, compiler, arguments):
    """Calls the compiler as SwiftPM asked, and notes what it took."""
    start = time.time()
    code = subprocess.run([compiler, *arguments]).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    module = argument_after("-module-name", arguments)
    if module is not None:
        links = "-emit-executable" in arguments or "-emit-library" in arguments
        line = {
            "module": f"link {module}" if links else module, "start": start, "end": time.time(),
            "seconds": used.ru_utime + used.ru_stime, "optimized": "-O" in arguments,
            "place": os.path.dirname(argument_after("-module-cache-path", arguments) or "")}
        with open(log, "a") as lines:
            lines.write(json.dumps(line) + "\n")
    return code


def argument_after(name, arguments):
    return next((value for option, value in zip(arguments, arguments[1:]) if option == name), None)


def noting_compiler(folder):
    """Makes a compiler that notes its calls in a folder; returns its path.

    SwiftPM looks for the toolchain's libraries in `lib` beside the compiler's folder, and for tools in the folder.
    """
    compiler = shutil.which("swiftc")
    programs = os.path.dirname(os.path.realpath(compiler))
    home = os.path.join(os.path.abspath(folder), "compiler")
    os.makedirs(os.path.join(home, "bin"))
    os.symlink(os.path.join(os.path.dirname(programs), "lib"), os.path.join(home, "lib"))
    path = os.path.join(home, "bin", "swiftc")
    words = [sys.executable, os.path.abspath(__file__), "--note", os.path.abspath(log_in(folder)), compiler]
    with open(path, "w") as script:
        script.write(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    os.chmod(path, 0o755)
    open(log_in(folder), "w").close()
    return path


def log_in(folder):
    return os.path.join(folder, "calls.jsonl")


def noted(folder):
    """Returns the calls of the compiler that were noted in a folder."""
    with open(log_in(folder)) as lines:
        return [json.loads(line) for line in lines]


def build(folder, command, *more):
    """Runs a build below a folder; returns its exit code, its calls of the compiler, its processor and wall seconds."""
    shutil.rmtree(folder, ignore_errors=True)
    environment = os.environ | {"SWIFT_EXEC": noting_compiler(folder)}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    code = subprocess.run([*command, *more, "--scratch-path", folder], env=environment).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return code, noted(folder), used, time.time() - start


def sums(calls):
    """Returns the processor seconds of each module, the longest first."""
    modules = {}
    for call in calls:
        modules[call["module"]] = modules.get(call["module"], 0) + call["seconds"]
    return sorted(modules.items(), key=lambda entry: -entry[1])


def chain(calls):
    """Returns the calls that decided the wall time, in their order."""
    found = []
    rest = calls
    while rest:
        last = max(rest, key=lambda call: call["end"])
        found.append(last)
        rest = [call for call in rest if call["end"] <= last["start"] + SLACK and call is not last]
    return found[::-1]


def yardstick(calls, folder, swift):
    """Returns the processor seconds of compiling the yardstick with `-O`, which it does if no call did.

    Raises SystemExit with the exit code of a build that failed.
    """
    seconds = sum(call["seconds"] for call in calls if call["module"] == YARDSTICK and call["optimized"])
    if seconds:
        return seconds
    code, calls, *_ = build(
        folder + "-yardstick", [swift, "build"], "-c", "release", "-debug-info-format", "none", "--quiet", "--target",
        YARDSTICK)
    seconds = sum(call["seconds"] for call in calls if call["module"] == YARDSTICK)
    if code != 0 or not seconds:
        print(f"could not compile {YARDSTICK} with -O", file=sys.stderr)
        sys.exit(code or 70)
    return seconds


def report(calls, wall, unit, rest=None):
    """Prints the seconds of each module, their sum, and the chain; `rest` are seconds outside of the compiler."""
    print(f"{'module':40} {'s':>8} {'yardsticks':>11}")
    small = 0.0
    for module, seconds in sums(calls):
        if seconds < SMALL:
            small += seconds
        else:
            row(module, seconds, unit)
    row(f"modules below {SMALL:.0f} s", small, unit)
    if rest is not None:
        row("C, planning and fetching", rest, unit)
    used = sum(call["seconds"] for call in calls) + (rest or 0)
    row("all", used, unit)
    print(f"\nwall time {wall:.0f} s, {wall / used:.2f} of the processor seconds, on {os.cpu_count()} processors")
    print("\nthe chain that decided the wall time, in wall seconds:")
    names = [f"{call['module']} {call['end'] - call['start']:.0f}" for call in chain(calls)]
    print(" → ".join(names))


def row(name, seconds, unit):
    print(f"{name:40} {seconds:8.1f} {seconds / unit:11.2f}")


def report_noted(folder):
    """Tells what was noted in a folder, a table for each place that was built in."""
    calls = noted(folder)
    if not calls:
        print(f"nothing was compiled by {folder}/compiler/bin/swiftc")
        return
    unit = yardstick(calls, folder, "swift")
    for place in sorted({call["place"] for call in calls}):
        there = [call for call in calls if call["place"] == place]
        print(f"\nbuilt in {place}:")
        report(there, max(call["end"] for call in there) - min(call["start"] for call in there), unit)
    print(f"\nyardstick: {YARDSTICK} with -O takes {unit:.1f} s")


def main(arguments):
    match arguments:
        case ["--note", log, compiler, *rest]:
            return compile_and_note(log, compiler, rest)
        case ["--compiler", folder]:
            shutil.rmtree(folder, ignore_errors=True)
            print(noting_compiler(folder))
        case ["--report", folder]:
            report_noted(folder)
        case [folder, *command] if command and not folder.startswith("-"):
            load = os.getloadavg()[0]
            code, calls, used, wall = build(folder, command)
            if code != 0:
                return code
            unit = yardstick(calls, folder, command[command.index("build") - 1])
            report(calls, wall, unit, used - sum(call["seconds"] for call in calls))
            print(f"\nyardstick: {YARDSTICK} with -O takes {unit:.1f} s; load of the machine before: {load:.1f}")
        case _:
            print(__doc__, file=sys.stderr)
            return 64
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
