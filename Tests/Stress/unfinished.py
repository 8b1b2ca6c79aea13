#!/usr/bin/env python3
"""Names the tests that had begun and not ended when a run was cut off.

  unfinished.py EVENTS

EVENTS is what `swift test --event-stream-output-path EVENTS` wrote. A test counts as begun while it waits for its turn, so
that only those named first, which began first, are likely to hang.
"""

import sys

from stress import Report

SHOWN = 40

unfinished = Report().read(sys.argv[1], width=0, run=0)
for name in unfinished[:SHOWN]:
    print(f"  {name}")
if len(unfinished) > SHOWN:
    print(f"  and {len(unfinished) - SHOWN} more")
if not unfinished:
    print("  none: it was no test that hung")
