"""What the script does: it renews what changed, leaves what is in use, takes keys, and follows only while it is seen."""

from visitor import PATIENCE, Visitor, tell, wait_for_go

SENTENCE = "#changed:not([hidden])"
HIDE = """hidden => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event('visibilitychange'));
}"""


def use(browser, task):
    visitor = Visitor(browser, task["origin"], task["state"])
    for part in (renews, leaves_what_is_in_use, takes_keys, follows_while_seen):
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
