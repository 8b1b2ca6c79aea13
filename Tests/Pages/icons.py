"""Draws the icons of the web page as an app: icon.svg in the sizes that phones and desktops ask for.

A maskable icon (https://www.w3.org/TR/appmanifest/#icon-masks) is cut to a circle of 80 % of its width or any larger form,
so its drawing is smaller and its ground is whole; the icon of Apple's phones has a whole ground too.

Usage: python3 Tests/Pages/icons.py, after a change of icon.svg or of the ground in app.webmanifest.
"""

import json
import pathlib
import re
import struct
import zlib

RESOURCES = pathlib.Path(__file__).resolve().parents[2] / "Sources" / "Web" / "Resources"
LEVELS = 15  # of coverage between none and all


def strokes() -> tuple[float, list[tuple[tuple[int, int, int], float, list[tuple[float, ...]]]]]:
    """The width of the drawing, and of each path its color, the width of its lines and the lines."""
    svg = (RESOURCES / "icon.svg").read_text()
    size = float(re.search(r'viewBox="0 0 ([\d.]+)', svg).group(1))
    paths = []
    for color, width, path in re.findall(r'stroke="#([0-9a-f]{6})" stroke-width="([\d.]+)" d="([^"]+)"', svg):
        lines = re.findall(r"M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)", path)
        assert path == "".join(f"M{a} {b}L{c} {d}" for a, b, c, d in lines), "only lines are drawn here"
        paths.append((rgb(color), float(width), [tuple(map(float, line)) for line in lines]))
    return size, paths


def rgb(text: str) -> tuple[int, int, int]:
    value = int(text.lstrip("#"), 16)
    return value >> 16, value >> 8 & 255, value & 255


def coverage(x: float, y: float, line: tuple[float, ...], width: float, pixel: float) -> float:
    """How much of a pixel a line with butt ends covers, to a good approximation."""
    ax, ay, bx, by = line
    length = ((bx - ax) ** 2 + (by - ay) ** 2) ** 0.5
    dx, dy = (bx - ax) / length, (by - ay) / length
    along = (x - ax) * dx + (y - ay) * dy
    across = abs((x - ax) * dy - (y - ay) * dx)
    inside = min(width / 2 - across, along, length - along)
    return max(0.0, min(1.0, inside / pixel + 0.5))


def draw(pixels: int, scale: float, ground: tuple[int, int, int] | None) -> bytes:
    """An indexed PNG whose drawing has a part of its width; without a ground it is transparent."""
    size, paths = strokes()
    unit = size / (pixels * scale)
    margin = (size / scale - size) / 2
    rows = bytearray()
    for row in range(pixels):
        rows.append(0)
        y = (row + 0.5) * unit - margin
        for column in range(pixels):
            x = (column + 0.5) * unit - margin
            found = [max(coverage(x, y, line, width, unit) for line in lines) for _, width, lines in paths]
            best = max(range(len(paths)), key=lambda index: found[index])
            level = round(found[best] * LEVELS)
            rows.append(0 if level == 0 else 1 + best * LEVELS + level - 1)
    colors, opacities = bytearray(ground or (0, 0, 0)), bytearray([0 if ground is None else 255])
    for color, _, _ in paths:
        for level in range(1, LEVELS + 1):
            part = level / LEVELS
            colors += bytes(color if ground is None else [round(g + (c - g) * part) for c, g in zip(color, ground)])
            opacities.append(255 if ground else round(255 * part))
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", pixels, pixels, 8, 3, 0, 0, 0))
        + chunk(b"PLTE", bytes(colors))
        + (b"" if ground else chunk(b"tRNS", bytes(opacities)))
        + chunk(b"IDAT", zlib.compress(bytes(rows), 9))
        + chunk(b"IEND", b"")
    )


def chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def main() -> None:
    ground = rgb(json.loads((RESOURCES / "app.webmanifest").read_text())["background_color"])
    for name, pixels, scale, whole in [
        ("icon-192.png", 192, 1.0, False),
        ("icon-512.png", 512, 1.0, False),
        ("icon-maskable.png", 512, 0.7, True),
        ("apple-touch-icon.png", 180, 0.8, True),
    ]:
        (RESOURCES / name).write_bytes(draw(pixels, scale, ground if whole else None))


if __name__ == "__main__":
    main()
