"""Checks eleven rules of docs/architecture.md and CONTRIBUTING.md that the compiler does not know.

1. Files of different folders of a target do not depend on each other in a circle. What did when this rule was made
   stands in knots.txt; a circle may lose files, and gain none.
2. A comment describes no parameter that is not there. It need not describe those whose names say all.
3. A command holds no SQL and asks no table: it calls the desk and reports.
4. The name of a JSON document is written in one place: it means one shape.
5. Every statement that changes an action begins with `OutboxStore.changing`, which raises the row's revision, or with
   `OutboxStore.noting`, which keeps it.
6. Instants become local times by ZoneRules alone: Foundation's own rules are those of the toolchain's year.
7. A line has 100 columns; one that is longer has a literal, and would not be without it.
8. A tuple is assigned to a tuple only where the same names stand on both sides, as in a swap.
9. A conditional expression holds no other one in its branches, other than in a closure there.
10. A `try?` says what its failures mean: in a comment on its line, in the three lines above it or above the `if` whose
    chain it stands in, or in the documentation of its function or property, which names `nil`, none or the failure.
11. The folders of Control are in one order: health, reports, operations, notices. A file uses those of its own folder
    and of folders before it.

Types are found by their names: a file uses another one if it names a type, or a function outside types, that only the
other declares. Comments, literals and names of nested types of its own do not count.

Usage: python3 Tests/Structure/check.py [--list]; --list prints the circles of today.
Exit codes: 0 all is well, 1 a rule is broken.
"""

import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ROOT / "Sources"
KNOTS = pathlib.Path(__file__).with_name("knots.txt")

# The folders of a target whose order is fixed; those after another one may use it, and not the other way round.
FOLDERS = {"Control": ["Health", "Reports", "Desk", "Keeping", "Register", "Login", "Effects", "Steering", "Telling"]}
DECLARATION = re.compile(r"^(?:[\w@()]+ )*?(?:struct|class|enum|protocol|actor|typealias|func) +`?(\w+)", re.M)
NESTED = re.compile(r"^ +(?:[\w@()]+ )*?(?:struct|class|enum|protocol|actor|typealias) +`?(\w+)", re.M)
EXTENSION = re.compile(r"^(?:[\w@]+ )*?extension +([\w.]+)", re.M)
WORD = re.compile(r"[A-Za-z_]\w*")
# A comment, a regular expression or the beginning of any other literal.
OPENING = re.compile(
    r"//[^\n]*|/\*(?:.|\n)*?\*/|#/(?:.|\n)*?/#|(?<=[\s(\[,:])/(?![\s/*])(?:\\.|[^/\\\n])+/"
    r'|(?P<hashes>#*)(?P<quote>"""|")'
)
# The end of a line whose expression the next one continues.
CONTINUATION = re.compile(r"\s*[?:.&|+*/<>=-]")


def dependencies(target: pathlib.Path) -> dict[str, set[str]]:
    """Which files of a target each of its files uses."""
    texts = {
        file.relative_to(target).as_posix(): code(file.read_text()) for file in sorted(target.rglob("*.swift"))
    }
    owners: dict[str, set[str]] = {}
    for file, text in texts.items():
        for name in DECLARATION.findall(text):
            owners.setdefault(name, set()).add(file)
    unique = {name: next(iter(files)) for name, files in owners.items() if len(files) == 1}
    return {
        file: {
            unique[word] for word in set(WORD.findall(text)) - set(NESTED.findall(text)) if word in unique
        }
        - {file}
        for file, text in texts.items()
    }


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected parts of a graph that have more than one member (Tarjan, without recursion)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []
    for root in graph:
        if root in number:
            continue
        work = [(root, iter(sorted(graph[root])))]
        number[root] = low[root] = len(number)
        stack.append(root)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in number:
                    number[other] = low[other] = len(number)
                    stack.append(other)
                    work.append((other, iter(sorted(graph[other]))))
                    break
                if other in stack:
                    low[node] = min(low[node], number[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    part = []
                    while not part or part[-1] != node:
                        part.append(stack.pop())
                    if len(part) > 1:
                        found.append(sorted(part))
    return found


def knots() -> dict[str, list[list[str]]]:
    """The circles of each target that join files of different folders."""
    result = {}
    for target in sorted(path for path in SOURCES.iterdir() if path.is_dir()):
        across = [
            part for part in circles(dependencies(target)) if len({pathlib.PurePath(f).parent for f in part}) > 1
        ]
        if across:
            result[target.name] = sorted(across)
    return result


def misplaced_uses() -> list[str]:
    """The uses of a folder by one that stands before it in the order of its target."""
    places = []
    for target, order in FOLDERS.items():
        place = {folder: number for number, folder in enumerate(order)}
        for file, used in dependencies(SOURCES / target).items():
            folder = file.split("/")[0]
            if folder not in place:
                places.append(f"Sources/{target}/{file}: is in no folder of the order in Tests/Structure/check.py")
                continue
            places += [
                f"Sources/{target}/{file}: uses {other}; {folder} stands before {other.split('/')[0]}"
                for other in sorted(used)
                if place.get(other.split("/")[0], -1) > place[folder]
            ]
    return places


def statements_in_commands() -> list[str]:
    """The places in commands that ask the database themselves."""
    asks = re.compile(r"\.storage\.(?:query|execute|transaction|read|note)\b|\bSQL\b|\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM) ")
    places = []
    for file in sorted((SOURCES / "MirrorBot").rglob("*.swift")):
        for number, line in enumerate(file.read_text().split("\n"), 1):
            if asks.search(re.sub(r"//.*", "", line)):
                path = file.relative_to(ROOT).as_posix()
                places.append(f"{path}:{number}: asks the database; that is for Control")
    return places


def shared_schemas() -> list[str]:
    """The names of JSON documents that more than one place writes."""
    found: dict[str, list[str]] = {}
    for file in sorted(SOURCES.rglob("*.swift")):
        for number, line in enumerate(file.read_text().split("\n"), 1):
            for name in re.findall(r'"(mirror-bot/[a-z-]+/\d+)"', re.sub(r"//.*", "", line)):
                found.setdefault(name, []).append(f"{file.relative_to(ROOT).as_posix()}:{number}")
    return [
        f"{places[1]}: writes {name}, as {places[0]} does; one name means one shape"
        for name, places in found.items()
        if len(places) > 1
    ]


def bare_updates() -> list[str]:
    """The statements that change actions and do not say whether the revision stays."""
    places = []
    for file in sorted(SOURCES.rglob("*.swift")):
        for number, line in enumerate(file.read_text().split("\n"), 1):
            if "UPDATE actions" in line and not re.search(r"static let (?:changing|noting): SQL", line):
                path = file.relative_to(ROOT).as_posix()
                places.append(f"{path}:{number}: changes actions; begin with OutboxStore.changing or OutboxStore.noting")
    return places


ZONES = re.compile(r"\b(?:secondsFromGMT\(for|isDaylightSavingTime|daylightSavingTimeOffset|nextDaylightSavingTimeTransition|Calendar\(|DateFormatter\()")


def foreign_zones() -> list[str]:
    """The places that ask Foundation what a clock shows."""
    places = []
    for file in sorted(SOURCES.rglob("*.swift")):
        path = file.relative_to(SOURCES).as_posix()
        if path == "Posts/ZoneRules.swift":
            continue
        for number, line in enumerate(code(file.read_text()).split("\n"), 1):
            if ZONES.search(line):
                places.append(f"Sources/{path}:{number}: asks Foundation for local time; ask the zone for its offset(at:)")
    return places


def unknown_parameters() -> list[str]:
    """The described parameters that their declaration does not have."""
    row = re.compile(r"\s*///\s+- (?:Parameter )?(\w+):")
    places = []
    for file in sorted(SOURCES.rglob("*.swift")):
        lines = file.read_text().split("\n")
        described: list[tuple[int, str]] = []
        is_list = False
        for number, line in enumerate(lines, 1):
            if not line.lstrip().startswith("///"):
                # An attribute may stand between a comment and its declaration.
                if described and not re.fullmatch(r"\s*@\w+(\(.*\))?", line):
                    declaration = ""
                    for part in lines[number - 1 :]:
                        declaration += part + "\n"
                        if part.endswith(("{", "}")) and declaration.count("(") == declaration.count(")"):
                            break
                    missing = [(at, name) for at, name in described if not re.search(rf"\b{name}\b", declaration)]
                    path = file.relative_to(ROOT).as_posix()
                    places += [f"{path}:{at}: describes {name}, which is no parameter" for at, name in missing]
                    described = []
                is_list = False
            elif "- Parameters:" in line:
                is_list = True
            elif re.match(r"\s*/// - (?!Parameter )", line):
                is_list = False
            elif found := row.match(line):
                if is_list and re.match(r"\s*///   - ", line) or "- Parameter " in line:
                    described.append((number, found.group(1)))
    return places


def swift_files() -> list[pathlib.Path]:
    """All files of the package that people write."""
    folders = [SOURCES, ROOT / "Tests", ROOT / "Benchmarks" / "Sources"]
    return sorted(file for folder in folders for file in folder.rglob("*.swift"))


def long_lines() -> list[str]:
    """Lines of more than 100 columns that could be shorter."""
    places = []
    for file in swift_files():
        is_text = False
        for number, line in enumerate(file.read_text().split("\n"), 1):
            was_text = is_text
            if line.count('"""') % 2 == 1:
                is_text = not is_text
            if len(line) <= 100 or was_text or is_text:
                continue
            is_comment = line.lstrip().startswith("//")
            if '"' in line and not is_comment or "#/" in line:
                continue
            # A row of a table cannot be broken, nor can a word that is longer, such as an address.
            words = line.lstrip("/ ").split(" ")
            if is_comment and (words[0] == "|" or len(words) == 1):
                continue
            places.append(f"{file.relative_to(ROOT)}:{number}: has {len(line)} columns; 100 are allowed")
    return places


def closing(text: str, start: int) -> int:
    """The place of the parenthesis that closes the one at `start`; -1 if there is none."""
    depth = 0
    for place in range(start, len(text)):
        if text[place] in "([{":
            depth += 1
        elif text[place] in ")]}":
            depth -= 1
            if depth == 0:
                return place
    return -1


def tuple_assignments() -> list[str]:
    """Assignments of one tuple to another that could be one line for each value."""
    places = []
    for file in swift_files():
        text = code(file.read_text())
        for match in re.finditer(r"(?:^|[{;:])[ \t]*(?:\w+ )*\(([^()=]*)\)(?:: \([^=\n]*\))?\s*=\s*\(", text, re.M):
            end = closing(text, match.end() - 1)
            rest = re.match(r"[ \t]*(?:\n|\}|$)", text[end + 1 :])
            if end < 0 or not rest or "," not in match.group(1) or re.search(r":\s*\w", match.group(1)):
                continue
            line = text[text.rfind("\n", 0, match.start(1)) + 1 : match.start(1)]
            # A parameter's type and default.
            is_parameter = line.rstrip("( ").endswith(":") and not re.search(r"\b(case|default)\b", line)
            if is_parameter or re.search(r"\b(if|guard|while|for|case)\b", match.group(0)):
                continue
            left = set(re.findall(r"[\w.]+", match.group(1)))
            right = set(re.findall(r"[\w.]+", text[match.end() : end]))
            if len(left & right) >= 2:
                continue
            number = text.count("\n", 0, match.start(1)) + 1
            places.append(f"{file.relative_to(ROOT)}:{number}: assigns a tuple; write a line for each value")
    return places


@functools.cache
def code(text: str) -> str:
    """The text without comments and literals, where `//` in a literal begins no comment, and what a literal embeds goes
    with it."""
    kept = []
    place = 0
    while match := OPENING.search(text, place):
        kept.append(text[place : match.start()])
        end = match.end()
        if match.group("quote"):
            end = literal_end(text, end, match.group("hashes"), match.group("quote"))
            kept.append('""')
        kept.append("\n" * text.count("\n", match.start(), end))
        place = end
    return "".join(kept) + text[place:]


def literal_end(text: str, start: int, hashes: str, quote: str) -> int:
    """Where a literal ends whose first sign is at `start`."""
    ending, escape = quote + hashes, "\\" + hashes
    place = start
    while place < len(text):
        if text.startswith(ending, place):
            return place + len(ending)
        if text.startswith(escape + "(", place):
            place = embedded_end(text, place + len(escape))
        elif text.startswith(escape, place):
            place += len(escape) + 1
        elif text[place] == "\n" and quote == '"':
            return place
        else:
            place += 1
    return place


def embedded_end(text: str, start: int) -> int:
    """Where what a literal embeds ends, whose parenthesis is at `start`."""
    depth = 0
    place = start
    while place < len(text):
        match = OPENING.match(text, place)
        if match and match.group("quote"):
            place = literal_end(text, match.end(), match.group("hashes"), match.group("quote"))
            continue
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        place += 1
        if depth == 0:
            break
    return place


def nested_conditionals() -> list[str]:
    """Conditional expressions in the branches of others, also in parentheses and brackets there; not in braces: a
    closure is a function of its own."""
    places = []
    for file in swift_files():
        text = code(file.read_text())
        for match in re.finditer(r"\s\?(?=\s)", text):
            opened: list[str] = []
            place = match.end()
            while place < len(text):
                sign = text[place]
                if sign in "([{":
                    opened.append(sign)
                elif sign in ")]}":
                    if not opened:
                        break
                    opened.pop()
                elif not opened and (sign in ",;" or sign == "\n" and not CONTINUATION.match(text, place)):
                    break
                elif "{" not in opened and re.match(r"\s\?\s", text[place : place + 3]):
                    number = text.count("\n", 0, match.start() + 1) + 1
                    places.append(f"{file.relative_to(ROOT)}:{number}: a conditional expression holds another one")
                    break
                place += 1
    return places


FAILURE = re.compile(
    r"\bnil`? (?:if|where|for|from|once)\b|\bnone (?:if|where|from)\b|\bcannot be\b|\bunreadable\b|\bis ignored\b|\bloses\b", re.I
)
OWNER = re.compile(r"\s*(?:@?[\w()]+ )*(?:func|var|let|subscript|init)\b")


def indent(line: str) -> int:
    """How far a line is indented."""
    return len(line) - len(line.lstrip())


def chain_start(lines: list[str], place: int) -> int:
    """The line of the `if` that begins the chain in which a line continues; that line itself if it continues none."""
    margin = indent(lines[place])
    while lines[place].lstrip().startswith("} else if "):
        place -= 1
        while indent(lines[place]) != margin or not lines[place].lstrip().startswith(("if ", "} else if ")):
            place -= 1
    return place


def documentation(lines: list[str], place: int) -> str:
    """What documents the innermost documented declaration around a line, without its parameters."""
    margin = indent(lines[place]) + 1
    for above in range(place, 0, -1):
        line = lines[above]
        # The end of a declaration that has several lines stands where its beginning does.
        if not line.strip() or indent(line) >= margin or line.lstrip()[0] in "){}":
            continue
        margin = indent(line)
        start = above
        while start > 0 and re.match(r"\s*(?:///|@\w+(?:\(.*\))?$)", lines[start - 1]):
            start -= 1
        if start < above and OWNER.match(line):
            text = " ".join(part.strip().removeprefix("///").strip() for part in lines[start:above])
            return re.sub(r"- Parameters?\b.*?(?=- (?:Returns|Throws)|$)", "", text)
    return ""


def unexplained_failures() -> list[str]:
    """The places where `try?` makes nothing of an error and nothing says why."""
    places = []
    for file in sorted(SOURCES.rglob("*.swift")):
        text = file.read_text()
        if "try?" not in text:
            continue
        lines = text.split("\n")
        for place, line in enumerate(code(text).split("\n")):
            if not re.search(r"\btry\?", line):
                continue
            start = chain_start(lines, place)
            comments = lines[max(0, start - 3) : start + 1] + lines[max(0, place - 3) : place + 1]
            if any(re.search(r"(?<![:/])//(?!/| MARK)", comment) for comment in comments):
                continue
            if not FAILURE.search(documentation(lines, place)):
                path = file.relative_to(ROOT).as_posix()
                places.append(f"{path}:{place + 1}: try? hides errors; say in a comment what a failure means")
    return places


def main() -> int:
    found = knots()
    lines = [f"{target}/{file}" for target, parts in found.items() for part in parts for file in part]
    if "--list" in sys.argv:
        print("\n".join(sorted(lines)))
        return 0
    known = set(KNOTS.read_text().split()) if KNOTS.exists() else set()
    problems = unknown_parameters() + statements_in_commands() + shared_schemas()
    problems += bare_updates()
    problems += foreign_zones()
    problems += long_lines() + tuple_assignments() + nested_conditionals()
    problems += unexplained_failures() + misplaced_uses()
    problems += [
        f"Sources/{line}: depends in a circle on files of other folders; see Tests/Structure/check.py --list"
        for line in sorted(set(lines) - known)
    ]
    problems += [
        f"Sources/{line}: is in no circle any more; take it out of Tests/Structure/knots.txt"
        for line in sorted(known - set(lines))
    ]
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
