"""Presses every button of the pages without script, as a person would, and reads the sentence that follows."""

import re

from visitor import Visitor, tell, wait_for_go


class Person:
    """A person with a browser that runs no script."""

    def __init__(self, browser, task):
        self.visitor = Visitor(browser, task["origin"], task["state"], java_script_enabled=False)
        self.page = self.visitor.page(360, 800)
        self.answer = None

    def open(self, path):
        self.page.goto(path)

    def press(self, button):
        """Presses a button or follows a link, and waits for the answer."""
        with self.page.expect_navigation():
            with self.page.expect_response(lambda answer: answer.request.is_navigation_request()) as answer:
                button.click()
        self.answer = answer.value

    def button(self, name, within=None):
        return (within or self.page).get_by_role("button", name=re.compile("^" + re.escape(name))).first

    def done(self, step, sentence, **values):
        """Expects 303 and the sentence, and lets the test look at the store."""
        if self.answer.status != 303:
            alert = self.page.locator("[role=alert]").first
            text = alert.text_content() if alert.count() else self.page.title()
            self.visitor.violation(self.page, f"{step}: status {self.answer.status}: {text}")
        flash = self.page.locator(".flash p")
        said = flash.first.text_content() if flash.count() else "nothing"
        if not re.search(sentence, said):
            self.visitor.violation(self.page, f"{step}: says {said!r}, not {sentence!r}")
        tell(step=step, values=values)
        wait_for_go()

    def slot(self, number=0):
        """A slot that can be changed, and its id."""
        slot = self.page.locator("li[id^=slot-]").filter(has=self.page.locator("details.change")).nth(number)
        return slot, slot.get_attribute("id").removeprefix("slot-")

    def back(self, name):
        """Presses the way back beside the sentence."""
        self.press(self.button(name, self.page.locator(".flash")))


def operate(browser, task):
    person = Person(browser, task)
    for part in (today, waiting, actions, texts, favorites, settings, people, health):
        part(person, task)
    person.visitor.close()


def today(person, task):
    page = person.page
    person.open("/m/mika")
    slot, name = person.slot()
    person.press(person.button("Skip", slot))
    person.done("skip", "is left out", id=name)
    person.back("Send it after all")
    person.done("restore", "is planned again", id=name)

    slot, name = person.slot()
    slot.locator("summary").click()
    slot.get_by_label("Another time").or_(slot.locator("input[name=time]")).first.fill("23:17")
    person.press(person.button("Move", slot))
    person.done("move", "23:17", id=name)

    slot, name = person.slot()
    slot.locator("summary").click()
    slot.locator("input[name=post]").fill(task["names"]["post"])
    person.press(person.button("Use it", slot))
    person.done("pin", ".", id=name)

    person.open("/m/mika")
    slot, name = person.slot(1)
    slot.locator("summary").click()
    person.press(person.button("Keep as it is", slot))
    person.done("keep", ".", id=name)

    person.press(person.button("Pause for 3 h"))
    person.done("pause", "[Pp]ause")
    person.press(person.button("Go on now", page.locator("#verdict")))
    person.done("resume", "It goes on")
    person.press(page.get_by_role("link", name="Pause until…"))
    page.locator("input[name=until]").fill("2026-05-29 18:00")
    page.locator("input[name=reason]").fill("a <b>walk</b>")
    person.press(person.button("Pause"))
    person.done("pause until", "[Pp]ause")
    person.back("Go on now")
    person.done("resume", "It goes on")

    person.press(page.locator("#coming-list").get_by_role("link", name=re.compile("anew")))
    person.press(person.button("Draw anew"))
    person.done("reroll", "Drawn anew")

    person.open("/m/mika/week")
    chosen = page.locator("#ws option").last.get_attribute("value")
    page.locator("#ws").select_option(chosen)
    page.locator("#wt").fill("23:19")
    person.press(person.button("Move"))
    person.done("move in the week", "It comes at 23:19 now", slot=chosen.split(" ")[0], time="23:19")


def waiting(person, task):
    page = person.page

    def item(number):
        item = page.locator("li[data-item]").nth(number)
        return item, item.locator("input[name=id]").get_attribute("value")

    person.open("/m/mika/waiting")
    row, name = item(0)
    person.press(row.locator("button[name=approve]"))
    person.done("approve", ".", id=name)
    row, name = item(0)
    person.press(row.locator("button[name=decline]"))
    person.done("decline", ".", id=name)
    person.back("Let it wait again")
    person.done("reopen", "Waits again", id=name)
    for verb in ("Approve", "Decline"):
        names = []
        for number in (0, 1):
            row, name = item(number)
            row.locator("input[name=id]").check()
            names.append(name)
        person.press(person.button(verb, page.locator(".sheet.row")))
        person.done(f"{verb.lower()} ticked", "2", ids=" ".join(names))
    box = page.locator("#proposed input[name=id]").first
    name = box.get_attribute("value")
    box.check()
    person.press(person.button("Let those ticked stay"))
    person.done("keep proposed", "stay", id=name)
    box = page.locator("#proposed input[name=id]").first
    name = box.get_attribute("value")
    box.check()
    person.press(person.button("Take back those ticked…"))
    person.press(person.button("Take back"))
    person.done("take back proposed", "taken back", id=name)


def actions(person, task):
    page = person.page
    person.open("/m/mika/actions?kind=reply&state=done")
    person.press(page.locator("#actions h3 a").first)
    name = page.url.rsplit("/", 1)[1].split("?")[0].split("#")[0]
    person.press(page.locator("#why a.grave"))
    person.press(person.button("Take back"))
    person.done("take back", "taken back", id=name)


def texts(person, task):
    page = person.page

    def text(number):
        """A text of the list, with its words."""
        row = page.locator("#list > li").nth(number)
        return row, row.locator(".voice").text_content()

    person.open("/m/mika/texts")
    row, words = text(0)
    person.press(person.button("Post now…", row))
    person.press(person.button("Post it now"))
    person.done("post", "sent as soon as", text=words)
    row, words = text(1)
    person.press(row.get_by_role("link", name="Use it in a slot…"))
    person.press(person.button("Use it there"))
    person.done("slot", "says this text", text=words)
    row, words = text(2)
    row.get_by_text("Change", exact=False).first.click()
    person.press(person.button("Never send it…", row))
    person.press(person.button("Never send it"))
    person.done("never", "never", text=words)
    person.press(person.button("Let it be sent again"))
    person.done("allow text", "again", text=words)
    row, words = text(3)
    row.get_by_text("Change", exact=False).first.click()
    person.press(person.button("Forget it…", row))
    person.press(person.button("Forget it"))
    person.done("forget text", "orgotten", text=words)
    # The digest of a forgotten post stays among what is muted; only words and days are looked at here.
    for step, fields in [
        ("mute word", {"word": "rosemary"}), ("mute day", {"day": "12-24"}),
        ("mute days", {"from": "2020-03-01", "to": "2020-06-30"}),
    ]:
        for name, value in fields.items():
            page.locator(f"#muted input[name={name}]").fill(value)
        form = page.locator("#muted form").filter(has=page.locator(f"input[name={next(iter(fields))}]"))
        person.press(person.button("Mute…", form))
        person.press(person.button("Mute it"))
        person.done(step, "muted")
        person.press(person.button("Allow again", page.locator("#muted")))
        person.done("unmute", "Allowed again")


def people(person, task):
    page = person.page
    person.open("/m/mika/people")
    page.locator("input[name=account]").fill("pal@far.example")
    person.press(page.locator("button[name=do][value=deny]"))
    person.press(person.button("Leave"))
    person.done("deny", ".")
    person.back("Allow again")
    person.done("allow", ".")
    page.locator("input[name=first]").fill("pal@far.example")
    page.locator("input[name=second]").fill("other@near.example")
    person.press(person.button("They are one"))
    person.done("link", "One person")
    person.open(f"/m/mika/people/{task['names']['pal']}")
    person.press(person.button("Somebody else"))
    person.done("unlink", "somebody else")
    person.open(f"/m/mika/people/{task['names']['pal']}")
    person.press(page.get_by_role("link", name="Forget…"))
    page.locator("#sure").fill("@Pal@Far.example")
    person.press(person.button("Forget this person"))
    person.done("forget person", "Forgotten")


def settings(person, task):
    page = person.page
    person.open("/m/mika/settings")
    row = page.locator("tr#MAX_PER_DAY")
    row.locator("summary").click()
    row.locator("input[name=value]").fill("3")
    person.press(person.button("Set…", row))
    person.press(person.button("Set it"))
    person.done("set", "MAX_PER_DAY")
    row = page.locator("tr#MAX_PER_DAY")
    row.locator("summary").click()
    person.press(person.button("Use the default again", row))
    person.done("unset", "MAX_PER_DAY")
    page.locator("#z").fill("Asia/Tokyo")
    page.locator("#zf").fill("2015-01-01")
    page.locator("#zt").fill("2016-01-01")
    person.press(person.button("Add…"))
    person.press(person.button("Add it"))
    person.done("add zone", "Tokyo")
    person.press(person.button("Remove…"))
    person.press(person.button("Remove it"))
    person.done("remove zone", ".")
    page.get_by_label("dark").check()
    person.press(person.button("Keep"))
    if page.locator("html").get_attribute("data-theme") != "dark":
        person.visitor.violation(page, "theme: it is not dark")
    tell(step="theme")
    wait_for_go()


def favorites(person, task):
    page = person.page
    person.open("/m/mika/favorites")
    page.locator("#tx").fill("bread of the morning")
    page.locator("#au").fill("pal@far.example")
    person.press(person.button("Judge it"))
    if person.answer.status != 200 or not page.locator("#judgement .lead").text_content():
        person.visitor.violation(page, f"try: status {person.answer.status}")
    tell(step="try")
    wait_for_go()


def health(person, task):
    page = person.page
    person.open("/m/mika/health")
    person.press(person.button("Look at everything now"))
    person.done("look", "Looked at")
    person.press(page.get_by_role("link", name="Take everything back…"))
    page.locator("#sure").fill("@mika@bots.example")
    person.press(person.button("Take back all"))
    person.done("take everything back", "taken back")
