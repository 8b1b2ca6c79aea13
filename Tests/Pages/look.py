"""Looks at pages in both languages: layout at every width and theme, axe-core, markup, console; pictures for a person."""

import importlib.resources

import markup
from visitor import Visitor, name_of

WIDTHS = (320, 360, 768, 1280)
THEMES = ("light", "dark")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

# Elements that reach out of the window, and do not scroll in a box of their own.
WIDE = """() => {
    const root = document.documentElement, wide = root.scrollWidth > root.clientWidth;
    const found = [];
    for (const element of document.querySelectorAll('body *')) {
        if (!element.checkVisibility() || element.closest('svg') && element.localName !== 'svg' || element.closest('.vh, .skip')) continue;
        const box = element.getBoundingClientRect();
        if (!box.width || !box.height || (box.right <= root.clientWidth + 1 && box.left >= -1)) continue;
        let parent = element.parentElement, scrolls = false;
        for (; parent && parent !== document.body; parent = parent.parentElement) {
            if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(parent).overflowX)) scrolls = true;
        }
        if (!scrolls) found.push(`${element.localName}.${element.className} ${Math.round(box.left)}–${Math.round(box.right)}`);
    }
    return wide || found.length ? `${root.scrollWidth} px wide: ${found.slice(0, 4).join(', ')}` : '';
}"""

# Makes the words of the program longer, as German ones are, and leaves those of people.
LONGER = """() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), nodes = [];
    while (walker.nextNode()) nodes.push(walker.currentNode);
    for (const node of nodes) {
        if (node.parentElement.closest('bdi, .voice, code, time, svg, script')) continue;
        node.data = node.data.replace(/\\p{L}[\\p{L}’]*/gu, word => word + word.slice(0, Math.ceil(word.length * 0.4)).toLowerCase());
    }
}"""

# The spacing of WCAG 1.4.12. A style sheet made by a script is no inline style, which the policy would block.
SPACING = """() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important }'
        + 'p { margin-bottom: 2em !important }');
    document.adoptedStyleSheets = [sheet];
}"""

# Text at 200 %, as a browser's own text zoom makes it.
LARGE = """() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('html { font-size: 200% !important }');
    document.adoptedStyleSheets = [sheet];
}"""

OPEN = "() => document.querySelectorAll('details').forEach(each => { each.open = true })"


def show(page, width, theme="light"):
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": 900})


def look(browser, task):
    """Looks at the task's paths.

    `paths` are pairs of a path and its status, the nine pages first. `isDeep` asks for pictures of all of them, and of
    the nine pages for axe-core in both themes and all pictures.
    """
    visitor = Visitor(browser, task["origin"], task["state"], task.get("folder"))
    axe = rules()
    page = visitor.page()
    if password := task.get("password"):
        page.goto("/login")
        page.fill("input[name=password]", password)
        page.click("button.main")
    for number, (path, status) in enumerate(task["paths"]):
        look_at(visitor, page, axe, path, status, number, task["isDeep"])
    for problem in markup.faint_tokens(page.request.get("/style.css").text()):
        visitor.violation(page, f"style: {problem}")
    visitor.close()


def rules():
    """The script of axe-core."""
    return importlib.resources.files("axe_playwright_python").joinpath("axe.min.js").read_text()


def look_at(visitor, page, axe, path, status=200, number=0, is_deep=False):
    """Looks at one path, the number of a state's, in both languages."""
    # The nine pages come first.
    has_variants = is_deep and number < 9
    # The other pages of a state differ in one line.
    has_pictures = is_deep or number == 0 or path.endswith("/health")
    views = [(320, "dark"), (1280, "light")]
    views = views if has_variants else views[number % 2:][:1]
    load(visitor, page, path, status, "en")
    for theme in THEMES:
        for width in WIDTHS:
            show(page, width, theme)
            measure(visitor, page, f"{width} px, {theme}")
    if has_pictures:
        pictures(visitor, page, path, has_variants)
    look_inside(visitor, page, axe, views)
    page.evaluate("() => { document.adoptedStyleSheets = [] }")
    page.evaluate(LONGER)
    for width in (320, 1280):
        show(page, width)
        measure(visitor, page, f"{width} px, longer labels")
    if has_variants:
        show(page, 360)
        visitor.picture(page, f"{name_of(visitor.state, path)}-360-longer")
    load(visitor, page, path, status, "ja")
    if has_pictures:
        for width, theme in [(360, "light"), (1280, "dark")]:
            show(page, width, theme)
            visitor.picture(page, f"{name_of(visitor.state, path)}-{width}-{theme}-ja")
    # What is open is wider than what is closed, and no theme changes the layout.
    look_inside(visitor, page, axe, views)
    page.set_extra_http_headers({})


def load(visitor, page, path, status, language):
    """Opens a path in a language, and reads its markup."""
    page.set_extra_http_headers({"Accept-Language": language})
    answer = page.goto(path)
    if answer.status != status:
        visitor.violation(page, f"status {answer.status}, not {status}")
    if (found := page.evaluate("() => document.documentElement.lang")) != language:
        visitor.violation(page, f"in {found}, not {language}")
    for problem in markup.problems(answer.text()):
        visitor.violation(page, f"markup, {language}: {problem}")


def look_inside(visitor, page, axe, views):
    """Looks at the page that is shown with all details open, wide spacing and large text."""
    language = page.evaluate("() => document.documentElement.lang")
    page.evaluate(OPEN)
    for width in WIDTHS:
        show(page, width)
        measure(visitor, page, f"{width} px, {language}, all open")
    for width, theme in views:
        show(page, width, theme)
        check_rules(visitor, page, axe, f"{width} px, {theme}, {language}, all open")
    page.evaluate(SPACING)
    for width in (320, 1280):
        show(page, width)
        measure(visitor, page, f"{width} px, {language}, wide spacing")
    page.evaluate(LARGE)
    show(page, 360)
    measure(visitor, page, f"360 px, {language}, text at 200 %")


def measure(visitor, page, what):
    if wide := page.evaluate(WIDE):
        visitor.violation(page, f"{what}: {wide}")


def check_rules(visitor, page, axe, what):
    page.evaluate(axe)
    result = page.evaluate(
        "rules => axe.run({ runOnly: { type: 'tag', values: rules }, resultTypes: ['violations'] })", RULES)
    for rule in result["violations"]:
        for node in rule["nodes"][:3]:
            visitor.violation(page, f"axe, {what}: {rule['id']}: {node['html'][:160]} — {node['failureSummary'][:240]}")


def pictures(visitor, page, path, has_variants):
    name = name_of(visitor.state, path)
    for width, theme in [(360, "light"), (1280, "dark")] + ([(360, "dark"), (1280, "light")] if has_variants else []):
        show(page, width, theme)
        visitor.picture(page, f"{name}-{width}-{theme}")
    if not has_variants:
        return
    page.emulate_media(forced_colors="active", color_scheme="dark")
    visitor.picture(page, f"{name}-forced-colors")
    page.emulate_media(forced_colors="none", media="print", color_scheme="light")
    visitor.picture(page, f"{name}-print")
    # 1280 px at 200 %.
    page.emulate_media(media="screen")
    page.set_viewport_size({"width": 640, "height": 450})
    visitor.picture(page, f"{name}-zoom")
