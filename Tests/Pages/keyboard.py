"""Goes through pages by Tab: in the order in which they are seen, and nothing that has the focus is covered."""

from visitor import Visitor

PATHS = ["", "/week", "/week/review", "/waiting", "/actions", "/hours", "/favorites", "/texts", "/people", "/health", "/settings", "/confirm/pause"]
WIDTHS = (360, 1280)

# What has the focus: where it is, whether it is in the frame, and what is wrong with it.
FOCUS = """() => {
    const element = document.activeElement;
    if (!element || element === document.body) return null;
    const box = element.getBoundingClientRect(), style = getComputedStyle(element), wrong = [];
    const tabs = document.querySelector('.pages');
    const isFixed = getComputedStyle(tabs).position === 'fixed', bottom = isFixed ? tabs.getBoundingClientRect().top : innerHeight;
    if (style.outlineStyle === 'none' || parseFloat(style.outlineWidth) < 2) wrong.push('shows no focus');
    const isFrame = !element.closest('main');
    if (!isFrame && (box.top < -1 || box.bottom > bottom + 1) && box.height < bottom) wrong.push('is covered or outside');
    const label = element.localName + ' ' + (element.innerText || element.name || '').trim().slice(0, 30);
    return { label, isFrame, wrong, top: box.top + scrollY, bottom: box.bottom + scrollY, left: box.left, right: box.right,
        isColumn: !!element.closest('.duo, .two, .today'), index: [...document.querySelectorAll('*')].indexOf(element) };
}"""


def keyboard(browser, task):
    visitor = Visitor(browser, task["origin"], task["state"])
    page = visitor.page()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        for path in PATHS:
            page.goto("/m/mika" + path)
            go_through(visitor, page, f"{width} px")
    skip_link(visitor, page)
    wrong_field(visitor, page)
    visitor.close()


def go_through(visitor, page, what):
    seen, last = set(), None
    for _ in range(400):
        page.keyboard.press("Tab")
        focus = page.evaluate(FOCUS)
        if focus is None or focus["index"] in seen:
            break
        seen.add(focus["index"])
        for wrong in focus["wrong"]:
            visitor.violation(page, f"{what}: {focus['label']!r} {wrong}")
        # Columns are read one after the other; all else from above to below, and from left to right in a row.
        if last and not focus["isFrame"] and not last["isFrame"] and not (focus["isColumn"] or last["isColumn"]):
            is_above = focus["bottom"] <= last["top"] + 1
            is_left = focus["top"] < last["bottom"] and focus["right"] <= last["left"]
            if is_above or is_left:
                visitor.violation(page, f"{what}: Tab goes from {last['label']!r} back to {focus['label']!r}")
        last = focus
    if len(seen) < 12:
        visitor.violation(page, f"{what}: Tab reaches only {len(seen)} things")


def skip_link(visitor, page):
    page.goto("/m/mika/waiting")
    page.keyboard.press("Tab")
    skip = page.locator("a.skip")
    box = skip.bounding_box()
    if not skip.evaluate("link => link === document.activeElement") or box["y"] < 0:
        visitor.violation(page, "the first Tab does not show the skip link")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    if not page.evaluate("() => !!document.activeElement.closest('main')"):
        visitor.violation(page, "the skip link does not lead into the page")


def wrong_field(visitor, page):
    """A refused form comes back with the focus in the first wrong field, in view."""
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto("/m/mika")
    slot = page.locator("#coming-list li[id^=slot-]").filter(has=page.locator("details.change")).last
    slot.locator("summary").click()
    slot.locator("input[name=time]").evaluate("field => { field.removeAttribute('pattern'); field.value = '25:99' }")
    press(page, slot.get_by_role("button", name="Move"))
    expect_wrong(visitor, page, "time", "25:99")
    page.goto("/m/mika/settings")
    row = page.locator("tr#QUIET_HOURS")
    row.locator("summary").click()
    row.locator("input[name=value]").fill("23:00-25:00")
    press(page, row.get_by_role("button", name="Set…"))
    expect_wrong(visitor, page, "value", "23:00-25:00")
    page.goto("/m/mika/people")
    page.locator("input[name=account]").fill("two words")
    press(page, page.locator("button[name=do][value=allow]"))
    expect_wrong(visitor, page, "account", "two words")


def press(page, button):
    with page.expect_navigation():
        button.click()
    # The browser sets the focus when it first draws the page.
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def expect_wrong(visitor, page, name, value):
    focus = page.evaluate("""() => {
        const field = document.activeElement, box = field.getBoundingClientRect();
        const tabs = document.querySelector('.pages').getBoundingClientRect();
        return [field.name, field.value, field.getAttribute('aria-invalid'), box.top >= 0 && box.bottom <= tabs.top];
    }""")
    if focus != [name, value, "true", True]:
        visitor.violation(page, f"after 400 the focus is in {focus}, not in {name}={value}, marked and in view")
