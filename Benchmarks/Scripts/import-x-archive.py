"""Imports the posts of an X archive into Postgres as mirror-bot does.

Usage: import-x-archive.py ZIP DATABASE_URL MIRROR TIME_ZONE

Reads the parts of the archive one after the other, makes of each post the
row that mirror-bot makes of it, and sends all rows through one COPY.
"""

import re
import sys
import time
import zipfile
from datetime import date, datetime
from zoneinfo import ZoneInfo

import orjson
import psycopg

EPOCH_MS = 1288834974657
COLUMNS = [
    ("mirror", "text"), ("network", "text"), ("post_id", "text"), ("author", "text"), ("address", "text"),
    ("text", "text"), ("created_ms", "int8"), ("minute", "int8"), ("local_day", "text"), ("weekday", "int8"),
    ("is_reply", "bool"), ("reply_to_author", "text"), ("reply_to_post", "text"), ("visibility", "text"),
    ("language", "text"), ("has_media", "bool"), ("has_link", "bool"), ("mentions", "text"), ("sensitive", "bool"),
    ("time_trusted", "bool"), ("source", "text"), ("observed_ms", "int8"),
]
PARTS = re.compile(r"data/tweets?(-part\d{1,6})?\.js")
REPOST = re.compile(r"RT @\w+:")
MARKS = re.compile(r"https?://t\.co/[A-Za-z0-9]{1,64}|&lt;|&gt;|&amp;")
ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}
LINK = re.compile(r"https?://", re.IGNORECASE)
CONTROL = {code: None for code in [*range(32), *range(127, 160)] if code not in (9, 10)} | {0x2028: "\n", 0x2029: "\n"}
PRIVATE = re.compile(r"q[a-t][a-z]")


def load(archive, name):
    data = archive.read(name)
    return orjson.loads(memoryview(data)[data.index(b"[" if b"= [" in data[:200] else b"{"):])


def language_of(tag):
    tag = {"in": "id", "iw": "he"}.get(tag, tag)
    if not tag or tag in ("und", "zxx", "mul", "mis") or PRIVATE.fullmatch(tag) or len(tag) == 3 and tag[0] == "q":
        return None
    return tag


def reply_of(post, text, mentions):
    """Whether the post answers somebody, whom, and which post."""
    answered = post.get("in_reply_to_status_id_str") or None
    user = post.get("in_reply_to_user_id_str") or None
    if user or answered or post.get("in_reply_to_screen_name"):
        return True, user, answered
    if re.match(r"@[A-Za-z0-9_]", text):
        return True, next((m["id_str"] for m in mentions if m["indices"][0] == "0"), None), None
    return False, None, None


def rows(path, mirror, zone, observed):
    """The rows of the owner's own posts that were not deleted since."""
    days = {}
    with zipfile.ZipFile(path) as archive:
        owner = load(archive, "data/account.js")[0]["account"]["accountId"]
        deleted = {entry["tweet"]["id_str"] for entry in load(archive, "data/deleted-tweets.js")}
        for name in filter(PARTS.fullmatch, archive.namelist()):
            for entry in load(archive, name):
                post = entry["tweet"]
                number, raw = post["id_str"], post["full_text"]
                if number in deleted or REPOST.match(raw):
                    continue
                entities = post["entities"]
                mentions = entities["user_mentions"]
                media = entities.get("media", []) + post.get("extended_entities", {}).get("media", [])
                links = {link["url"]: link["expanded_url"] for link in entities["urls"]}
                links.update((medium["url"], "") for medium in media)
                text = MARKS.sub(lambda m: ENTITIES.get(m[0]) or links.get(m[0], m[0]), raw)
                text = text.translate(CONTROL).strip()
                milliseconds = (int(number) >> 22) + EPOCH_MS
                local = datetime.fromtimestamp(milliseconds / 1000, zone)
                day = local.toordinal()
                if day not in days:
                    days[day] = date.fromordinal(day).isoformat(), local.isoweekday()
                is_reply, author, answered = reply_of(post, raw, mentions)
                yield (
                    mirror, "x", number, owner, number, text, milliseconds, local.hour * 60 + local.minute,
                    *days[day], is_reply, author, answered, "public", language_of(post.get("lang")), bool(media),
                    LINK.search(text) is not None, " ".join(mention["id_str"] for mention in mentions),
                    post.get("possibly_sensitive", False), True, "archive", observed,
                )


def main():
    path, url, mirror, zone = sys.argv[1:]
    observed = int(time.time() * 1000)
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        names = ", ".join(name for name, _ in COLUMNS)
        with cursor.copy(f"COPY posts ({names}) FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types([kind for _, kind in COLUMNS])
            for row in rows(path, mirror, ZoneInfo(zone), observed):
                copy.write_row(row)


main()
