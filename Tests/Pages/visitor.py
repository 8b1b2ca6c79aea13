"""A browser that visits the pages of one server, and what is wrong with what it sees."""

import json
import os
import shutil
import sys
import urllib.parse

from playwright.sync_api import sync_playwright

# Milliseconds that an answer, or a change on a page, may take.
PATIENCE = 15_000


def tell(**fields):
    """Prints a line for the test that started this program."""
    print(json.dumps(fields), flush=True)


class Visitor:
    """A browser context on a server.

    Every message of the console, every request to another host than those of `elsewhere`, and every error of a script
    is a violation. A policy that blocks something says so in the console.
    """

    def __init__(self, browser, origin, state, folder=None, **options):
        self.origin, self.state, self.folder = origin, state, folder
        self.context = browser.new_context(base_url=origin, reduced_motion="reduce", **options)
        self.context.set_default_timeout(PATIENCE)
        self.context.on("console", lambda message: self._said(message))
        self.context.on("weberror", lambda error: self.violation(error.page, f"script error: {error.error}"))
        self.context.on("request", lambda request: self._asked(request))
        self.requests = []
        # The beginnings of addresses of other hosts that the person opens.
        self.elsewhere = ()

    def page(self, width=1280, height=900):
        page = self.context.new_page()
        page.set_viewport_size({"width": width, "height": height})
        return page

    def violation(self, page, text):
        path = page.url.removeprefix(self.origin) if page else ""
        tell(violation=f"{self.state} {path}: {text}")

    def _said(self, message):
        url = message.location.get("url") or ""
        if url.startswith(self.elsewhere):
            return
        # The browser says so itself of a page that is answered with 4xx or 5xx, which some are meant to be.
        own = message.page and url == message.page.url
        if own and message.text.startswith("Failed to load resource: the server responded with a status of"):
            return
        self.violation(message.page, f"console: {message.text}")

    def _asked(self, request):
        self.requests.append(request)
        if not request.url.startswith((self.origin + "/", *self.elsewhere)):
            self.violation(None, f"asks {request.url}")

    def picture(self, page, name, **options):
        """Keeps a picture of the whole page for a person."""
        if self.folder:
            os.makedirs(self.folder, exist_ok=True)
            page.screenshot(path=f"{self.folder}/{name}.png", full_page=True, **options)

    def close(self):
        self.context.close()


def name_of(state, path):
    """A file name for a page in a state."""
    text = urllib.parse.unquote(path).replace("/m/mika", "", 1).strip("/") or "today"
    return state + "-" + "".join(letter if letter.isalnum() else "-" for letter in text)[:60]


def with_browser(work):
    """Runs work with Debian's Chromium, without a window."""
    program = os.environ.get("MIRROR_BOT_BROWSER", "chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which(program) or program,
            args=["--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--font-render-hinting=none"])
        try:
            work(browser)
        finally:
            browser.close()


def wait_for_go():
    """Waits until the test has looked at the store."""
    if not sys.stdin.readline():
        sys.exit("the test has ended")
