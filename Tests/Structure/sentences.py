"""Checks that each sentence of the sources has a Japanese translation, and each translation a sentence.

A sentence is a literal in `localized(…)` or `LocalizedText(…)`, or the noun in `count(number, "post")`. Its key has `{0}`,
`{1}` and so on in place of the values; see Sources/Localization. The texts of the web page's templates are in
web-templates.po, which TemplateTextTests compares with the templates.

Usage: python3 Tests/Structure/sentences.py [FILE...]; with files of Sources, prints the entries that their sentences lack.
Exit codes: 0 all is well, 1 a sentence or a translation is missing or does not fit.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ROOT / "Sources"
TABLES = SOURCES / "Localization" / "Resources" / "ja"
TEMPLATES = "web-templates.po"

CALL = re.compile(r"\b(localized|LocalizedText|count)\(")
PLACEHOLDER = re.compile(r"\{\d+\}")
ESCAPES = {"n": "\n", "t": "\t"}


def literal(text: str, start: int) -> tuple[str, int]:
    """The key of the literal whose quotation mark is at `start`, and the place after it."""
    quote = '"""' if text.startswith('"""', start) else '"'
    place = start + len(quote)
    key = ""
    values = 0
    while not text.startswith(quote, place):
        if text[place] != "\\":
            key += text[place]
            place += 1
        elif text[place + 1] == "(":
            key += f"{{{values}}}"
            values += 1
            place = arguments(text, place + 1)[1]
        elif text[place + 1] == "u":
            end = text.index("}", place)
            key += chr(int(text[place + 3 : end], 16))
            place = end + 1
        elif text[place + 1] == "\n":
            # The next line goes on with this one, without its indentation.
            place += 2
            while text[place] == " ":
                place += 1
        else:
            key += ESCAPES.get(text[place + 1], text[place + 1])
            place += 2
    if quote == '"""':
        indentation = len(key) - len(key.rstrip(" "))
        key = "\n".join(
            line[indentation:] if line.startswith(" " * indentation) else line for line in key.split("\n")[1:-1]
        )
    return key, place + len(quote)


def arguments(text: str, start: int) -> tuple[list[str], int]:
    """The keys of the literals in the parentheses that open at `start`, and the place after these."""
    keys = []
    depth = 0
    place = start
    while True:
        if text.startswith("//", place):
            place = text.index("\n", place)
        elif text[place] == '"':
            key, place = literal(text, place)
            keys.append(key)
        else:
            depth += {"(": 1, ")": -1}.get(text[place], 0)
            place += 1
            if depth == 0:
                return keys, place


def sentences(file: pathlib.Path) -> list[str]:
    """The keys of a file's sentences, in their order."""
    text = file.read_text()
    keys = []
    for match in CALL.finditer(text):
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if "//" in line or line.rstrip().endswith("func"):
            continue
        found, _ = arguments(text, match.end() - 1)
        if match.group(1) != "count":
            keys += [key for key in found if PLACEHOLDER.sub("", key).strip()]
        elif found and (line.endswith("Words.") or file.is_relative_to(SOURCES / "Web")):
            plural = found[1] if len(found) > 1 else found[0] + "s"
            keys += ["{0} " + found[0], "{0} " + plural]
    return list(dict.fromkeys(keys))


def table(file: pathlib.Path) -> list[tuple[str, str]]:
    """The entries of a file in the format PO."""
    entries = []
    for line in file.read_text().splitlines():
        match = re.fullmatch(r'(msgid |msgstr |)"(.*)"', line)
        if not match:
            continue
        text = re.sub(r"\\(.)", lambda escape: ESCAPES.get(escape.group(1), escape.group(1)), match.group(2))
        if match.group(1) == "msgid ":
            entries.append([text, None])
        elif match.group(1) == "msgstr ":
            entries[-1][1] = text
        elif entries[-1][1] is None:
            entries[-1][0] += text
        else:
            entries[-1][1] += text
    return [(key, translation or "") for key, translation in entries]


def main() -> int:
    places: dict[str, str] = {}
    for file in sorted(SOURCES.rglob("*.swift")):
        if file == SOURCES / "Localization" / "LocalizedText.swift":
            continue
        for key in sentences(file):
            places.setdefault(key, file.relative_to(ROOT).as_posix())
    problems = []
    owners: dict[str, str] = {}
    for file in sorted(TABLES.glob("*.po")):
        for key, translation in table(file):
            name = f"{file.name}: {key!r}"
            if key in owners:
                problems.append(f"{name} stands in {owners[key]} too")
            owners[key] = file.name
            if not translation:
                problems.append(f"{name} has no translation")
            if set(PLACEHOLDER.findall(key)) != set(PLACEHOLDER.findall(translation)):
                problems.append(f"{name} has other placeholders in its translation")
            if file.name != TEMPLATES and key not in places:
                problems.append(f"{name} is said nowhere")
    missing = {key: place for key, place in places.items() if key not in owners}
    if len(sys.argv) > 1:
        asked = [pathlib.Path(name).resolve().relative_to(ROOT).as_posix() for name in sys.argv[1:]]
        for key in (key for key, place in missing.items() if place in asked):
            escaped = key.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            print(f'msgid "{escaped}"\nmsgstr ""\n')
        return 0
    problems += [f"{place}: {key!r} has no translation" for key, place in missing.items()]
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
