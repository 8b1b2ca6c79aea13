"""Imports the posts of an X archive into Postgres as mirror-bot does.

Usage: import-x-archive.py ZIP DATABASE_URL MIRROR TIME_ZONE COLUMN...

Reads the parts of the archive one after the other, makes of each post the
row that mirror-bot makes of it, and sends all rows through one COPY. COLUMN
are the columns of the table that mirror-bot fills.
"""

import functools
import operator
import re
import sys
import zipfile
from datetime import date, datetime
from zoneinfo import ZoneInfo

import orjson
import psycopg

EPOCH_MS = 1288834974657
# What a row of `rows` holds, by the name of its column.
VALUES = [
    "mirror", "network", "post_id", "author", "address", "text", "created_ms", "minute", "local_day", "is_reply",
    "reply_to_author", "reply_to_post", "visibility", "language", "has_media", "mentions", "sensitive", "time_trusted",
    "warning", "client", "pictures", "utc_offset", "is_quote", "link_words",
]
PARTS = re.compile(r"data/tweets?(-part\d{1,6})?\.js")
REPOST = re.compile(r"RT @\w+:")
MARKS = re.compile(r"https?://t\.co/[A-Za-z0-9]{1,64}|&lt;|&gt;|&amp;")
ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}
TAG = re.compile(r"<[^>]*>")
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


@functools.cache
def client_of(source):
    """The program that a post was written with, which the archive wraps into a link."""
    return MARKS.sub(lambda m: ENTITIES.get(m[0], m[0]), TAG.sub("", source or "")).strip() or None


def pictures_of(media):
    """The still pictures of a post as JSON, if all its media are some."""
    distinct = {medium["id_str"]: medium for medium in media}.values()
    if not distinct or len(distinct) > 4 or any(medium["type"] != "photo" for medium in distinct):
        return None
    pictures = []
    for medium in distinct:
        size = medium["sizes"]["large"]
        pictures.append({
            "alt": medium.get("ext_alt_text", ""), "height": int(size["h"]), "url": medium["media_url_https"],
            "width": int(size["w"]),
        })
    return orjson.dumps(pictures).decode()


def rows(path, mirror, zone):
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
                    days[day] = date.fromordinal(day).isoformat()
                is_reply, author, answered = reply_of(post, raw, mentions)
                yield (
                    mirror, "x", number, owner, number, text, milliseconds, local.hour * 60 + local.minute,
                    days[day], is_reply, author, answered, "public", language_of(post.get("lang")), bool(media),
                    " ".join(mention["id_str"] for mention in mentions), post.get("possibly_sensitive", False), True,
                    None, client_of(post.get("source")), pictures_of(media), None, False, None,
                )


def main():
    path, url, mirror, zone, *columns = sys.argv[1:]
    unknown = [column for column in columns if column not in VALUES]
    if unknown:
        sys.exit(f"this importer makes no value for {', '.join(unknown)}, which mirror-bot fills")
    pick = operator.itemgetter(*map(VALUES.index, columns))
    names = ", ".join(columns)
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT {names} FROM posts LIMIT 0")
        types = [column.type_code for column in cursor.description]
        with cursor.copy(f"COPY posts ({names}) FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(types)
            for row in rows(path, mirror, ZoneInfo(zone)):
                copy.write_row(pick(row))


main()
