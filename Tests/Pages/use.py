"""What the script does: it renews what changed, leaves what is in use, takes keys, and follows only while it is seen."""

import re

from visitor import PATIENCE, Visitor, tell, wait_for_go

SENTENCE = "#changed:not([hidden])"
HIDE = """hidden => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event('visibilitychange'));
}"""


def use(browser, task):
    visitor = Visitor(browser, task["origin"], task["state"])
    for part in (renews, leaves_what_is_in_use, takes_keys, follows_while_seen, moves_in_the_week):
        part(visitor, task)
    visitor.close()


def expect(visitor, page, text, condition):
    if not condition:
        visitor.violation(page, text)


def changeable(page):
    return page.locator("#coming-list li[id^=slot-]").filter(has=page.locator("details.change"))


def skip_last(visitor):
    """Leaves out the last slot in another tab; returns the slot's id, and the tab with the way back."""
    tick()
    other = visitor.page()
    other.goto("/m/mika")
    slot = changeable(other).last
    name = slot.get_attribute("id")
    slot.get_by_role("button", name="Skip").click()
    other.wait_for_load_state()
    expect(visitor, other, "the sentence is not shown", other.locator(".flash").count() == 1)
    return name, other


def tick():
    """Lets the server's clock, which stands still, go on."""
    tell(step="tick")
    wait_for_go()


def give_back(other):
    tick()
    other.get_by_role("button", name="Send it after all").first.click()
    other.wait_for_load_state()
    other.close()


def renews(visitor, task):
    page = visitor.page()
    page.goto("/m/mika")
    page.evaluate("() => { window.isSame = true }")
    name, other = skip_last(visitor)
    page.wait_for_function(
        "name => !document.getElementById(name)?.querySelector('details.change')", arg=name, timeout=PATIENCE)
    expect(visitor, page, "the page was loaded anew", page.evaluate("() => window.isSame"))
    expect(visitor, page, "it says that something was in use", page.locator(SENTENCE).count() == 0)
    page.close()
    give_back(other)


def leaves_what_is_in_use(visitor, task):
    def typed(page):
        slot = changeable(page).first
        slot.locator("summary").click()
        slot.locator("input[name=time]").fill("21:1")
        return lambda: slot.locator("input[name=time]").input_value() == "21:1" and slot.locator("[open]").count() == 1

    def focused(page):
        button = changeable(page).first.get_by_role("button", name="Skip")
        button.focus()
        return lambda: button.evaluate("button => button === document.activeElement")

    def selected(page):
        page.evaluate("() => getSelection().selectAllChildren(document.querySelector('#coming-list .voice'))")
        return lambda: page.evaluate("() => !getSelection().isCollapsed")

    for begin in (typed, focused, selected):
        page = visitor.page()
        page.goto("/m/mika")
        is_kept = begin(page)
        name, other = skip_last(visitor)
        page.wait_for_selector(SENTENCE, timeout=PATIENCE)
        expect(visitor, page, f"what is in use is gone: {begin.__name__}", is_kept())
        expect(visitor, page, "what is in use was renewed", page.locator(f"#{name} details.change").count() == 1)
        page.locator(SENTENCE).get_by_role("link", name="Look again").click()
        page.wait_for_load_state()
        expect(visitor, page, "it is not shown anew", page.locator(f"#{name} details.change").count() == 0)
        page.close()
        give_back(other)

    # A tick counts as use too.
    page, other = visitor.page(), visitor.page()
    page.goto("/m/mika/waiting")
    box = page.locator("li[data-item] input[name=id]").first
    box.check()
    box.evaluate("box => box.blur()")
    tick()
    other.goto("/m/mika/waiting")
    other.locator("li[data-item]").last.locator("button[name=decline]").click()
    other.wait_for_load_state()
    page.wait_for_selector(SENTENCE, timeout=PATIENCE)
    expect(visitor, page, "the tick is gone", box.is_checked())
    page.close()
    other.close()


def takes_keys(visitor, task):
    page = visitor.page()
    page.goto("/m/mika/waiting")
    rows = page.locator("li[data-item]")

    def focus():
        return page.evaluate(
            "() => [...document.querySelectorAll('li[data-item]')].indexOf(document.activeElement.closest('li'))")

    # Without the focus in the list a key does nothing.
    for key in "jkadx":
        page.keyboard.press(key)
    expect(visitor, page, "keys count outside of the list", focus() == -1 and rows.locator(":checked").count() == 0)
    rows.nth(0).locator("input[name=id]").focus()
    page.keyboard.press("x")
    expect(visitor, page, "x does not tick", rows.nth(0).locator("input[name=id]").is_checked())
    page.keyboard.press("j")
    expect(visitor, page, "j does not go on", focus() == 1)
    page.keyboard.press("k")
    page.keyboard.press("k")
    expect(visitor, page, "k does not go back", focus() == 0)
    page.keyboard.press("j")
    ticked, declined = [rows.nth(number).locator("input[name=id]").get_attribute("value") for number in (0, 1)]
    with page.expect_navigation():
        page.keyboard.press("d")
    expect(visitor, page, "it is not said", page.locator(".flash").count() == 1)
    tell(step="one declined, another ticked", values={"ticked": ticked, "declined": declined})
    wait_for_go()
    page.close()


def follows_while_seen(visitor, task):
    page = visitor.page()
    with page.expect_request("**/events*"):
        page.goto("/m/mika")
    with page.expect_event("requestfailed", lambda request: "/events" in request.url, timeout=PATIENCE):
        page.evaluate(HIDE, True)
    with page.expect_request("**/events*", timeout=PATIENCE):
        page.evaluate(HIDE, False)
    page.close()


def moves_in_the_week(visitor, task):
    """A post is dragged along its day, and another one moved by keys; Escape puts it back."""
    page = visitor.page(360, 800)

    def told(how):
        flash = page.locator(".flash p")
        said = flash.first.text_content() if flash.count() else ""
        found = re.search(r"It comes at (\d\d:\d\d) now", said)
        expect(visitor, page, f"{how}: it says {said!r}", found)
        tell(step=how, values={"slot": slot, "time": found.group(1) if found else ""})
        wait_for_go()

    page.goto("/m/mika/week")
    expect(visitor, page, "the hint is hidden", page.locator("#drag").is_visible())
    slot, lane, minute = page.locator("#ws option").last.evaluate(
        "option => [option.value.split(' ')[0], Number(option.dataset.lane), Number(option.dataset.minute)]")
    lanes = page.locator(".lanes")
    lanes.scroll_into_view_if_needed()
    top, height, left, below, box = lanes.evaluate("""lanes => [...['top', 'lane', 'left', 'below']
        .map(name => Number(lanes.dataset[name])), lanes.getBoundingClientRect().toJSON()]""")
    x = box["x"] + box["width"] * (left + (100 - left) * minute / 1440) / 100
    y = box["y"] + top + height * lane + below
    page.mouse.move(x, y)
    page.mouse.down()
    # To the other half of the day.
    page.mouse.move(x + (60 if minute < 720 else -60), y, steps=5)
    with page.expect_navigation():
        page.mouse.up()
    told("moved by pointer")

    slot = page.locator("#ws option").first.evaluate("option => option.value.split(' ')[0]")
    grip = page.get_by_role("slider")
    before = grip.get_attribute("aria-valuetext")
    grip.focus()
    page.keyboard.press("PageUp")
    expect(visitor, page, "Page Up moves nothing", grip.get_attribute("aria-valuetext") != before)
    page.keyboard.press("Escape")
    expect(visitor, page, "Escape does not put it back", grip.get_attribute("aria-valuetext") == before)
    page.keyboard.press("ArrowRight")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    told("moved by keys")
    page.close()
