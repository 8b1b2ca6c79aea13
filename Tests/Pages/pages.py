"""Checks pages of a running server in Debian's Chromium; started by the suites *InBrowserTests.

The first line of the input is a task as JSON: what to do ("look", "operate", "setup", "upload", "use", "keyboard",
"login"), the server's origin, the name of its state, the folder for pictures, and what the task needs besides. Each line
of the output is JSON: a `violation`; a `step`, after which the program waits for a line so that the test can look at the
store; or `done` at the end.

usage: echo TASK | python3 pages.py
"""

import json
import sys

from look import look
from operate import operate
from keyboard import keyboard
from login import login
from setup import setup, upload
from use import use
from visitor import tell, with_browser

WORK = {
    "look": look, "use": use, "operate": operate, "keyboard": keyboard, "login": login, "setup": setup,
    "upload": upload,
}


def main():
    task = json.loads(sys.stdin.readline())
    with_browser(lambda browser: WORK[task["do"]](browser, task))
    tell(done=True)


if __name__ == "__main__":
    main()
