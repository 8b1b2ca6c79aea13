"""Makes the manual page of mirror-bot from what the program says of itself.

usage: mirror-bot --experimental-dump-help | python3 deploy/manual.py VERSION DATE >mirror-bot.1
"""

import json
import sys


def escaped(text):
    """Text for a line of its own: nothing in it is a request or an escape."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("'", "\\(aq")
    return "\\&" + text if text.startswith(".") else text


def paragraphs(text):
    """Flowing text; indented lines and what is set in columns stay as they are."""
    lines, literal = [], False
    for line in (text or "").split("\n"):
        is_literal = line.startswith("  ") or "   " in line
        if is_literal != literal:
            lines.append(".Bd -literal -offset indent" if is_literal else ".Ed")
            literal = is_literal
        elif not line and lines and lines[-1] != ".Pp":
            lines.append(".Pp")
            continue
        if line:
            # A full stop that ends a sentence ends a line.
            text = escaped(line[2:] if line.startswith("  ") else line)
            lines += [text] if literal else [escaped(part) for part in sentences(line)]
    if literal:
        lines.append(".Ed")
    # No paragraph before a block or the end.
    following = [*lines[1:], ".Bd"]
    return [line for line, next in zip(lines, following) if line != ".Pp" or not next.startswith(".Bd")]


def sentences(line):
    return line.replace(". ", ".\n").split("\n")


def shown(items):
    return [item for item in items or [] if item.get("shouldDisplay", True)]


def option(name):
    return escaped(("-" if name["kind"] == "short" else "--") + name["name"])


def value(argument):
    return "\\fI" + escaped(argument["valueName"]) + "\\fR"


def synopsis(argument):
    if argument["kind"] == "positional":
        text = value(argument)
    else:
        text = "\\fB" + option(argument["preferredName"]) + "\\fR"
        if argument["kind"] == "option":
            text += " " + value(argument)
    if argument.get("isRepeating"):
        text += " ..."
    return f"[{text}]" if argument.get("isOptional") else text


def described(argument):
    if argument["kind"] == "positional":
        head = value(argument)
    else:
        head = ", ".join("\\fB" + option(name) + "\\fR" for name in argument["names"])
        if argument["kind"] == "option":
            head += " " + value(argument)
    default = argument.get("defaultValue")
    return [".It " + head, *sentences_of(argument), *([f"Default: {escaped(default)}."] if default else [])]


def sentences_of(argument):
    return [escaped(part) for part in sentences(argument.get("abstract") or "")] + paragraphs(argument.get("discussion"))


def commands(command, path):
    """Every command that does something, with the words that call it."""
    below = [sub for sub in shown(command.get("subcommands")) if sub["commandName"] != "help"]
    if not below:
        yield path, command
    for sub in below:
        yield from commands(sub, [*path, sub["commandName"]])


def own(command):
    return [a for a in shown(command.get("arguments")) if a["valueName"] not in ("help", "version")]


def shared(root):
    """The options that more than half of the commands have, each once."""
    owners = [own(command) for _, command in commands(root, [])]
    return [
        argument for number, arguments in enumerate(owners) for argument in arguments
        if argument["kind"] != "positional"
        and sum(argument in others for others in owners) * 2 > len(owners)
        and not any(argument in others for others in owners[:number])
    ]


def section(path, command, shared):
    arguments, options = own(command), ""
    if sum(argument in arguments for argument in shared) * 2 > len(shared):
        arguments, options = [a for a in arguments if a not in shared], " [\\fIoptions\\fR]"
    lines = [".Ss mirror\\-bot " + escaped(" ".join(path))]
    usage = "\\fBmirror\\-bot " + escaped(" ".join(path)) + "\\fR" + options
    usage = " ".join([usage, *map(synopsis, arguments)])
    lines += [".Bd -ragged -offset indent", usage, ".Ed", ".Pp"]
    lines += [escaped(part) for part in sentences(command.get("abstract", ""))]
    text = paragraphs(command.get("discussion"))
    lines += [".Pp", *text] if text and not text[0].startswith(".Bd") else text
    if arguments:
        lines += [".Bl -tag -width Ds", *[line for a in arguments for line in described(a)], ".El"]
    return [line.rstrip() for line in lines]


def manual(root, version, date):
    lines = [
        f".Dd {date}", ".Dt MIRROR-BOT 1", f".Os mirror-bot {version}", ".Sh NAME", ".Nm mirror-bot",
        ".Nd " + escaped(root["abstract"].rstrip(".")), ".Sh SYNOPSIS", ".Nm", ".Ar command", ".Op Ar options",
        ".Sh DESCRIPTION", *paragraphs(root["discussion"]),
        ".Pp", "Each command has its own", "\\fB\\-\\-help\\fR.", ".Sh COMMANDS",
    ]
    common = shared(root)
    for path, command in commands(root, []):
        lines += section(path, command, common)
    lines += [
        ".Sh OPTIONS", "Most commands have these, shown above as", ".Op Ar options :", ".Bl -tag -width Ds",
        *[line for argument in common for line in described(argument)], ".El",
        ".Sh ENVIRONMENT", "Settings are read from the environment and from the file", ".Pa .env",
        "in the working folder;", "\\fBmirror\\-bot config\\fR", "lists them all.",
        ".Sh FILES", ".Bl -tag -width Ds", ".It Pa ~/.local/share/mirror-bot/mirror-bot.sqlite",
        "The embedded database, where", "\\fBDATABASE_URL\\fR", "names no other.",
        ".It Pa ~/.local/share/mirror-bot/mirror-bot.sqlite.key", "Seals the logins in it.", ".El",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(manual(json.load(sys.stdin)["command"], sys.argv[1], sys.argv[2]))
