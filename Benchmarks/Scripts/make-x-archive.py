"""Makes a zip such as X gives people who download their archive.

Usage: make-x-archive.py PATH SEED JSON_BYTES ZIP_BYTES

The posts are written as X writes them, indented and with every field that it
writes, in parts of 100 MB, until they have JSON_BYTES together; pictures,
which cannot be packed any smaller, fill the zip up to ZIP_BYTES. The same
seed gives the same archive.
"""

import json
import random
import sys
import zipfile
from datetime import datetime, timedelta, timezone

OWNER = "2244994945"
EPOCH_MS = 1288834974657
PART_BYTES = 100_000_000

ENGLISH = """the of and to in is it that was for on are with as at be this have from or had by but not what all were
we when your can said there use an each which she do how their if will up other about out many then them these so some
her would make like him into time has look two more write go see number no way could people my than first water been
call who oil its now find long down day did get come made may part coffee train rain morning station window light book
garden river bread paper letter winter summer market bridge music quiet kitchen table yellow evening harbour ticket
umbrella bicycle pencil mountain weather soup cloud snow wind library keyboard server deploy compiler release branch
review meeting lunch dinner breakfast weekend holiday museum ferry island lantern notebook""".split()
JAPANESE = """今日 明日 昨日 朝 夜 昼 雨 雪 風 天気 電車 駅 バス 自転車 散歩 公園 川 海 山 空 雲 珈琲 紅茶 パン ごはん 味噌汁 ラーメン
カレー うどん 蕎麦 寿司 本 図書館 映画 音楽 ライブ 写真 カメラ 猫 犬 鳥 花 桜 紅葉 祭り 花火 温泉 旅行 切符 地図 仕事 会議 締切
帰宅 洗濯 掃除 買い物 台所 冷蔵庫 布団 眠い 楽しい 嬉しい 寒い 暑い 静か 綺麗 美味しい 疲れた 始まる 終わる 見た 食べた 飲んだ
読んだ 書いた 歩いた 走った 起きた 寝る です ます した いる ある ない から ので けど まで より そして でも また もう まだ やっと たぶん
きっと コンパイラ サーバー デプロイ キーボード ノート 鉛筆 手紙 傘 窓 灯り 嵯峨野線 鴨川 北山 出町柳 三条 四条 烏丸""".split()
SOURCES = [
    '<a href=\\"https://mobile.twitter.com\\" rel=\\"nofollow\\">Twitter Web App</a>',
    '<a href=\\"http://twitter.com/download/iphone\\" rel=\\"nofollow\\">Twitter for iPhone</a>',
    '<a href=\\"http://twitter.com/download/android\\" rel=\\"nofollow\\">Twitter for Android</a>',
    '<a href=\\"https://about.twitter.com/products/tweetdeck\\" rel=\\"nofollow\\">TweetDeck</a>',
]
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def text_of(rng, japanese):
    if japanese:
        words = rng.choices(JAPANESE, k=rng.randint(4, 40))
        return "".join(words) + rng.choice(["。", "", "!", "…", "🍵", "\n#散歩"])
    words = rng.choices(ENGLISH, k=rng.randint(4, 30))
    return " ".join(words).capitalize() + rng.choice([".", "", "!", " &amp; so on", " &lt;3", " ☔"])


def listed(items, indent):
    """A list as the archive indents it."""
    if not items:
        return "[ ]"
    inner = " " * (indent + 2)
    return "[\n" + ",\n".join(inner + item.replace("\n", "\n" + " " * (indent - 6)) for item in items) + "\n" + " " * indent + "]"


def short_link(rng):
    return "https://t.co/" + "".join(rng.choices(LETTERS, k=10))


def mention(rng, people, start):
    number, name = rng.choice(people)
    item = f"""{{
          "name" : "{name.title()}",
          "screen_name" : "{name}",
          "indices" : [
            "{start}",
            "{start + len(name) + 1}"
          ],
          "id_str" : "{number}",
          "id" : "{number}"
        }}"""
    return number, name, item


def link(rng, length):
    short = short_link(rng)
    path = "".join(rng.choices(LETTERS.lower(), k=12))
    item = f"""{{
          "url" : "{short}",
          "expanded_url" : "https://www.example.org/{path}/{rng.randint(1, 99999)}",
          "display_url" : "example.org/{path}",
          "indices" : [
            "{length}",
            "{length + 23}"
          ]
        }}"""
    return short, item


def medium(rng, tweet, length):
    short = short_link(rng)
    number = tweet - rng.randint(1_000, 90_000)
    name = "".join(rng.choices(LETTERS, k=15))
    sizes = ",\n".join(
        f"""            "{size}" : {{
              "w" : "{width}",
              "h" : "{height}",
              "resize" : "{resize}"
            }}"""
        for size, width, height, resize in [
            ("thumb", 150, 150, "crop"), ("small", 680, 510, "fit"), ("medium", 1200, 900, "fit"),
            ("large", 2048, 1536, "fit"),
        ])
    item = f"""{{
          "expanded_url" : "https://twitter.com/someone/status/{tweet}/photo/1",
          "indices" : [
            "{length}",
            "{length + 23}"
          ],
          "url" : "{short}",
          "media_url" : "http://pbs.twimg.com/media/{name}.jpg",
          "id_str" : "{number}",
          "id" : "{number}",
          "media_url_https" : "https://pbs.twimg.com/media/{name}.jpg",
          "sizes" : {{
{sizes}
          }},
          "type" : "photo",
          "display_url" : "pic.twitter.com/{short[13:]}"
        }}"""
    return short, item


def post(rng, people, when, number):
    japanese = rng.random() < 0.6
    kind = rng.random()
    text = text_of(rng, japanese)
    mentions, links, media, reply = [], [], [], ""
    if kind < 0.08:
        author, name, item = mention(rng, people, 3)
        text, mentions = f"RT @{name}: {text}", [item]
    elif kind < 0.38:
        author, name, item = mention(rng, people, 0)
        text, mentions = f"@{name} {text}", [item]
        if rng.random() < 0.95:
            answered = number - rng.randint(1, 1 << 36)
            reply = f"""
      "in_reply_to_status_id_str" : "{answered}",
      "in_reply_to_user_id" : "{author}",
      "in_reply_to_status_id" : "{answered}",
      "in_reply_to_screen_name" : "{name}",
      "in_reply_to_user_id_str" : "{author}","""
    if rng.random() < 0.15:
        short, item = link(rng, len(text) + 1)
        text, links = f"{text} {short}", [item]
    if kind >= 0.38 and rng.random() < 0.12:
        short, item = medium(rng, number, len(text) + 1)
        text, media = f"{text} {short}", [item]
    language = ("ja" if japanese else "en") if rng.random() < 0.95 else rng.choice(["und", "qme", "in", "qht"])
    made = when.strftime("%a %b %d %H:%M:%S +0000 %Y")
    until = (when + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    hashtags = listed([], 6)
    extended = f""",
      "extended_entities" : {{
        "media" : {listed(media, 8)}
      }}""" if media else ""
    own = f""",
        "media" : {listed(media, 8)}""" if media else ""
    sensitive = '\n      "possibly_sensitive" : false,' if links or media else ""
    return f"""  {{
    "tweet" : {{
      "edit_info" : {{
        "initial" : {{
          "editTweetIds" : [
            "{number}"
          ],
          "editableUntil" : "{until}",
          "editsRemaining" : "5",
          "isEditEligible" : true
        }}
      }},
      "retweeted" : false,
      "source" : "{rng.choice(SOURCES)}",
      "entities" : {{
        "hashtags" : {hashtags},
        "symbols" : [ ],
        "user_mentions" : {listed(mentions, 8)},
        "urls" : {listed(links, 8)}{own}
      }},
      "display_text_range" : [
        "0",
        "{len(text)}"
      ],
      "favorite_count" : "{rng.randint(0, 30)}",{reply}
      "id_str" : "{number}",
      "truncated" : false,
      "retweet_count" : "{rng.randint(0, 5)}",
      "id" : "{number}",{sensitive}
      "created_at" : "{made}",
      "favorited" : false,
      "full_text" : {json.dumps(text, ensure_ascii=False)},
      "lang" : "{language}"{extended}
    }}
  }}"""


def ids(rng):
    """The times and ids of posts, newest first, a hundred a day or so."""
    when = datetime(2025, 6, 1, tzinfo=timezone.utc)
    while True:
        when -= timedelta(milliseconds=rng.randint(1_000, 860_000))
        milliseconds = int(when.timestamp() * 1000)
        yield when, (milliseconds - EPOCH_MS) << 22 | rng.getrandbits(12)


def entry(name, packing):
    info = zipfile.ZipInfo(name, (2025, 6, 1, 0, 0, 0))
    info.compress_type = packing
    return info


def write_posts(archive, rng, people, size):
    """Writes the posts; returns some of their ids and how many parts there are."""
    written, part, noted, moments = 0, 0, [], ids(rng)
    while written < size:
        name = f"data/tweets{'' if part == 0 else f'-part{part}'}.js"
        with archive.open(entry(name, zipfile.ZIP_DEFLATED), "w", force_zip64=True) as member:
            in_part = member.write(f"window.YTD.tweets.part{part} = [\n".encode())
            first = True
            while in_part < PART_BYTES and written + in_part < size:
                when, number = next(moments)
                if rng.random() < 0.001:
                    noted.append(number)
                in_part += member.write(("" if first else ",\n").encode() + post(rng, people, when, number).encode())
                first = False
            in_part += member.write(b"\n]")
        written += in_part
        part += 1
    return noted, part


def write_small(archive, noted, parts):
    """Writes what tells about the account and which files there are."""
    names = ["data/tweets.js"] + [f"data/tweets-part{part}.js" for part in range(1, parts)]
    files = [{"fileName": name, "globalName": f"YTD.tweets.part{part}", "count": "0"} for part, name in enumerate(names)]
    deleted = [{"tweet": {"id_str": str(number), "full_text": "gone"}} for number in noted]
    contents = {
        "account.js": ("window.YTD.account.part0 = ",
            [{"account": {"accountId": OWNER, "username": "someone", "createdVia": "web"}}]),
        "account-timezone.js": ("window.YTD.account_timezone.part0 = ",
            [{"accountTimezone": {"accountId": OWNER, "timeZone": "Tokyo"}}]),
        "deleted-tweets.js": ("window.YTD.deleted_tweets.part0 = ", deleted),
        "note-tweet.js": ("window.YTD.note_tweet.part0 = ", []),
        "manifest.js": ("window.__THAR_CONFIG = ",
            {"userInfo": {"accountId": OWNER, "userName": "someone"},
             "dataTypes": {"tweets": {"mediaDirectory": "data/tweets_media", "files": files}}}),
    }
    for name, (head, value) in contents.items():
        archive.writestr(entry("data/" + name, zipfile.ZIP_DEFLATED), head + json.dumps(value, indent=2))


def write_pictures(archive, rng, size):
    """Fills the archive with pictures up to `size` bytes."""
    while (missing := size - archive.fp.tell()) > 0:
        length = min(rng.randint(60_000, 900_000), missing)
        name = f"data/tweets_media/{rng.getrandbits(60)}-{''.join(rng.choices(LETTERS, k=15))}.jpg"
        archive.writestr(entry(name, zipfile.ZIP_STORED), rng.randbytes(length))


def main():
    path, seed, posts, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    rng = random.Random(seed)
    people = [(str(rng.randint(10**7, 10**18)), rng.choice(ENGLISH) + str(rng.randint(1, 9999))) for _ in range(800)]
    with zipfile.ZipFile(path, "w", allowZip64=True) as archive:
        noted, parts = write_posts(archive, rng, people, posts)
        write_small(archive, noted, parts)
        write_pictures(archive, rng, size)


main()
