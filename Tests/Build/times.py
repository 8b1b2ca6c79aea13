#!/usr/bin/env python3
"""Builds a product from nothing and tells how long each module took.

  times.py FOLDER COMMAND...

COMMAND is a `swift build` without a scratch path; it builds in FOLDER, which is emptied first. The compiler is called
through this file, which notes the processor seconds and the wall time of every call. The unit is one yardstick: the
processor seconds of compiling NIOCore with `-O` in the same run, the only figure that two machines can compare. A build
that does not optimize NIOCore is followed by one that does.

The chain is what decided the wall time: from the call that ended last, each time back to the one that ended last before
it began.

Exit codes: that of the build, or 64 for wrong arguments.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import time

LOG_VARIABLE = "MIRROR_BOT_BUILD_LOG"
COMPILER_VARIABLE = "MIRROR_BOT_BUILD_COMPILER"
YARDSTICK = "NIOCore"
# Modules that take less are summed up in one line, in processor seconds.
SMALL = 5.0
# How long a call may begin before the one that it waited for has ended, in seconds: clocks are read apart.
SLACK = 0.2


def compile_and_note(arguments):
    """Calls the compiler as SwiftPM asked, and notes what it took."""
    start = time.time()
    code = subprocess.run([os.environ[COMPILER_VARIABLE], *arguments]).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    module = argument_after("-module-name", arguments)
    if module is not None:
        links = "-emit-executable" in arguments or "-emit-library" in arguments
        line = {
            "module": f"link {module}" if links else module, "start": start, "end": time.time(),
            "seconds": used.ru_utime + used.ru_stime, "optimized": "-O" in arguments}
        with open(os.environ[LOG_VARIABLE], "a") as log:
            log.write(json.dumps(line) + "\n")
    return code


def argument_after(name, arguments):
    return next((value for option, value in zip(arguments, arguments[1:]) if option == name), None)


def stand_in(folder, compiler):
    """Makes what is called in place of the compiler; returns its path.

    SwiftPM looks for the toolchain's libraries in `lib` beside the compiler's folder, and for tools in the folder.
    """
    programs = os.path.dirname(os.path.realpath(compiler))
    home = os.path.join(os.path.abspath(folder), "compiler")
    os.makedirs(os.path.join(home, "bin"))
    os.symlink(os.path.join(os.path.dirname(programs), "lib"), os.path.join(home, "lib"))
    path = os.path.join(home, "bin", "swiftc")
    with open(path, "w") as script:
        script.write(f'#!/bin/sh\nexec "{sys.executable}" "{os.path.abspath(__file__)}" "$@"\n')
    os.chmod(path, 0o755)
    return path


def build(folder, command, *more):
    """Runs a build below a folder; returns its exit code, its calls of the compiler, its processor and wall seconds."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    log = os.path.join(folder, "calls.jsonl")
    open(log, "w").close()
    compiler = os.environ.get(COMPILER_VARIABLE) or shutil.which("swiftc")
    environment = os.environ | {
        "SWIFT_EXEC": stand_in(folder, compiler), LOG_VARIABLE: log, COMPILER_VARIABLE: compiler}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    code = subprocess.run([*command, *more, "--scratch-path", folder], env=environment).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    with open(log) as lines:
        calls = [json.loads(line) for line in lines]
    return code, calls, used, time.time() - start


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


def yardstick(calls):
    """Returns the seconds of the yardstick; None if it was not optimized."""
    seconds = [call["seconds"] for call in calls if call["module"] == YARDSTICK and call["optimized"]]
    return sum(seconds) or None


def report(calls, used, wall, unit, load):
    total = sum(call["seconds"] for call in calls)
    print(f"{'module':40} {'s':>8} {'yardsticks':>11}")
    small = 0.0
    for module, seconds in sums(calls):
        if seconds < SMALL:
            small += seconds
        else:
            print(f"{module:40} {seconds:8.1f} {seconds / unit:11.2f}")
    print(f"{f'modules below {SMALL:.0f} s':40} {small:8.1f} {small / unit:11.2f}")
    print(f"{'C, planning and fetching':40} {used - total:8.1f} {(used - total) / unit:11.2f}")
    print(f"{'all':40} {used:8.1f} {used / unit:11.2f}")
    print(f"\nwall time {wall:.0f} s, {wall / used:.2f} of the processor seconds, on {os.cpu_count()} processors")
    print(f"yardstick: {YARDSTICK} with -O takes {unit:.1f} s; load of the machine before: {load:.1f}")
    print("\nthe chain that decided the wall time, in wall seconds:")
    names = [f"{call['module']} {call['end'] - call['start']:.0f}" for call in chain(calls)]
    print(" → ".join(names))


def main(arguments):
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 64
    folder, command = arguments[0], arguments[1:]
    load = os.getloadavg()[0]
    code, calls, used, wall = build(folder, command)
    if code != 0:
        return code
    unit = yardstick(calls)
    if unit is None:
        code, others, *_ = build(
            folder + "-yardstick", [command[command.index("build") - 1], "build"], "-c", "release", "-debug-info-format", "none", "--quiet",
            "--target", YARDSTICK)
        unit = yardstick(others)
        if code != 0 or unit is None:
            print(f"could not compile {YARDSTICK} with -O", file=sys.stderr)
            return code or 70
    report(calls, used, wall, unit, load)
    return 0


if __name__ == "__main__":
    if LOG_VARIABLE in os.environ:
        sys.exit(compile_and_note(sys.argv[1:]))
    sys.exit(main(sys.argv[1:]))
