"""What must hold for the text of every page: it parses without an error, and holds nothing that a policy blocks."""

import re

import html5lib


def problems(text):
    """Returns what is wrong with the text of a page, a sentence each."""
    parser = html5lib.HTMLParser(tree=html5lib.getTreeBuilder("etree"), namespaceHTMLElements=False)
    tree = parser.parse(text)
    found = [f"line {line}, column {column}: {code} {data or ''}" for (line, column), code, data in parser.errors]
    ids = set()
    for element in tree.iter():
        if not isinstance(element.tag, str):
            continue
        if element.tag == "style":
            found.append("a <style>")
        if element.tag == "script" and not element.get("src"):
            found.append("a script in the page")
        for name, value in element.attrib.items():
            if name == "style" or re.match(r"on[a-z]+$", str(name)):
                found.append(f"<{element.tag}> has {name}={value!r}")
            if name == "id":
                if value in ids:
                    found.append(f"id {value} twice")
                ids.add(value)
            if name in ("src", "href", "action", "formaction") and re.match(r"(?i)\s*(//|[a-z][a-z0-9+.-]*:)", value):
                if element.tag != "a" or "noreferrer" not in element.get("rel", "").split():
                    found.append(f"<{element.tag}> leads to {value!r} without rel=noreferrer")
    for element in tree.iter():
        if not isinstance(element.tag, str):
            continue
        for name in ("for", "aria-labelledby", "aria-describedby", "aria-controls", "list"):
            for value in element.get(name, "").split():
                if value not in ids:
                    found.append(f"<{element.tag}> has {name}={value!r}, which is not there")
    return found


# Grounds, and what stands on them, with the least contrast that WCAG 2.2 asks for.
GROUNDS = ("paper", "sheet", "sunk")
TEXTS = ("ink", "soft", "human", "bot", "good", "warn", "bad", "rest")
SHAPES = ("edge", "focus")


def faint_tokens(style):
    """Returns pairs of colors of the style sheet that do not differ enough."""
    found = []
    blocks = re.findall(r"\{([^{}]*--paper:[^{}]*)\}", style)
    if len(blocks) != 3:
        return [f"{len(blocks)} sets of colors, not 3: light, dark by the system, and dark by choice"]
    if sorted(re.findall(r"--[\w-]+: #\w+", blocks[1])) != sorted(re.findall(r"--[\w-]+: #\w+", blocks[2])):
        found.append("the two dark sets of colors differ")
    for block in blocks:
        tokens = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
        pairs = [(text, ground, 4.5) for text in TEXTS for ground in GROUNDS]
        pairs += [(shape, ground, 3) for shape in SHAPES for ground in GROUNDS]
        pairs += [("press-ink", "press", 4.5), ("paper", "bad", 4.5), ("paper", "ink", 4.5)]
        for one, other, least in pairs:
            ratio = contrast(tokens[one], tokens[other])
            if ratio < least:
                found.append(f"{one} {tokens[one]} on {other} {tokens[other]}: {ratio:.2f} to 1, not {least}")
    return found


def contrast(one, other):
    lights = sorted((luminance(one), luminance(other)))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def luminance(color):
    parts = [int(color[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
