"""Sets a mirror up on a phone, by its pages alone and without script: from an empty home to *Begin*."""

import html
import re
import urllib.request

import markup
from look import look_at, rules
from operate import Person
from visitor import Visitor, tell, wait_for_go

BASE = "/m/default/setup"


class Newcomer(Person):
    """A person at a phone, and another one who looks at each page that they see."""

    def __init__(self, browser, task):
        super().__init__(browser, task)
        self.task = task
        self.eye = Visitor(browser, task["origin"], task["state"], task.get("folder"))
        self.seen = self.eye.page()
        self.axe = rules()
        if password := task.get("password"):
            for page in (self.page, self.seen):
                page.goto("/login")
                page.fill("input[name=password]", password)
                with page.expect_navigation():
                    page.click("button.main")

    def look(self):
        """Looks at the page that is shown, in every width and theme."""
        path = self.page.url.removeprefix(self.task["origin"])
        # A sentence stands on one page only, so that the person keeps it.
        look_at(self.eye, self.seen, self.axe, path)

    def send(self, button, **fields):
        for name, value in fields.items():
            self.page.locator(f"input[name={name}]").first.fill(value)
        self.press(self.button(button))
        if self.answer.status not in (200, 303):
            alert = self.page.locator("[role=alert]").first
            self.visitor.violation(
                self.page, f"{button}: {self.answer.status}: {alert.text_content() if alert.count() else ''}")

    def log_in(self, role):
        network = self.task["names"]["network"]
        self.open(f"{BASE}?step={role}&on={network}")
        self.look()
        fields = {
            name.split(".")[1]: value for name, value in self.task["names"].items() if name.startswith(role + ".")}
        self.send(f"Log in the {role}", **fields)
        link = self.page.get_by_role("link", name=re.compile("^Open the page of"))
        if not link.count():
            return
        self.look()
        if "leads you back here" in self.page.locator("main").text_content():
            self.come_back(link.first, role)
        else:
            address = html.unescape(link.first.get_attribute("href")) + self.task["names"]["as " + role]
            with urllib.request.urlopen(address) as answer:
                code = re.search(r"<code>([^<]+)</code>", answer.read().decode()).group(1)
            self.send("Go on", code=code)

    def come_back(self, link, role):
        """Allows the login at the network, which leads the browser to the next step without another click."""
        self.visitor.elsewhere = (self.task["names"][f"{role}.server"] + "/",)
        if link.get_attribute("target"):
            self.visitor.violation(self.page, "the page to come back from opens in another window")
        # On a page of its own, so that it is another site that leads back.
        self.page.goto(link.get_attribute("href") + "&allow=ask")
        with self.page.expect_navigation(url=re.compile(r"/setup(\?[^/]*)?$")):
            self.page.get_by_role("link", name="Authorize").click()
        flash = self.page.locator(".flash p")
        said = flash.first.text_content() if flash.count() else "nothing"
        # Without its cookie the browser would be asked for the password, or be another one.
        if f"The {role} is @" not in said:
            self.visitor.violation(self.page, f"the login as {role} came back to {said!r}")
        with urllib.request.urlopen(f"{self.task['origin']}{BASE}/return?code=a&state=b") as answer:
            for problem in markup.problems(answer.read().decode()):
                self.visitor.violation(self.page, f"the page on the way back: {problem}")


def setup(browser, task):
    person = Newcomer(browser, task)
    person.open("/")
    person.look()
    person.send("Set up a mirror", name="default")
    person.look()
    for role in ("human", "bot"):
        person.log_in(role)
    for _ in range(20):
        heading = person.page.locator("#now").text_content()
        person.look()
        if not answer(person, heading):
            break
    person.open(BASE)
    person.look()
    person.send("Begin")
    tell(step="begun", values={})
    wait_for_go()
    person.eye.close()
    person.visitor.close()


def answer(person, heading):
    """Answers a step; false for the last one."""
    if "agreed" in heading:
        person.send("I am this person")
    elif "rules" in heading:
        person.send("I know these rules")
    elif "posts" in heading:
        learn(person, "Read the posts", "posts")
    elif "time zone" in heading:
        person.send("That is it", TIME_ZONE="Europe/Berlin")
    elif "favorites" in heading:
        person.send("The bot favorites nothing")
    elif "profile" in heading:
        person.send("Write that" if person.button("Write that").count() else "Go on")
    else:
        return False
    return True


def learn(person, button, step):
    """Lets something be read, and looks again until it is read."""
    person.send(button)
    again = person.page.locator("#setup-learning a.button", has_text="Look again")
    while again.count():
        person.press(again)
    person.look()
    person.open(BASE)


def upload(browser, task):
    """Sends an archive from the device, with script."""
    visitor = Visitor(browser, task["origin"], task["state"], task.get("folder"))
    page = visitor.page(360, 800)
    page.goto("/")
    page.fill("input[name=name]", "default")
    page.get_by_role("button", name="Set up a mirror").click()
    page.goto(f"{BASE}?step=human&on=archive")
    look_at(visitor, visitor.page(), rules(), f"{BASE}?step=human&on=archive")
    page.set_input_files("#file", task["names"]["archive"])
    page.get_by_role("button", name="Send and read it").click()
    page.wait_for_url("**/setup?step=posts")
    while page.locator("#setup-learning a.button", has_text="Look again").count():
        page.goto(f"{BASE}?step=posts")
    said = page.locator("#setup-learning").text_content()
    if task["names"]["sentence"] not in said:
        visitor.violation(page, f"the archive was not read: {said}")
    visitor.picture(page, f"{task['state']}-read")
    visitor.close()
