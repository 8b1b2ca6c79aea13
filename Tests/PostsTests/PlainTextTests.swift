import Expectations
import Testing

@testable import Posts

@Suite struct PlainTextTests {
    @Test(arguments: [
        // Paragraphs and lines.
        ("", ""),
        ("plain", "plain"),
        ("<p>a</p><p>b<br />c</p>", "a\n\nb\nc"),
        ("<p>a<br>b<br/>c</p>", "a\nb\nc"),
        ("<P>a</P><p>b</P>", "a\n\nb"),
        ("<p>a<br></p><p>b</p>", "a\n\nb"),
        ("a<br><br><br>b", "a\n\n\nb"),
        ("<p>a</p>\n\n  <p>b</p>\n", "a\n\nb"),
        ("<p></p><p>a</p><p></p><p>b</p>", "a\n\nb"),
        ("<p>one\ntwo</p>", "one two"),
        ("<p>two  spaces</p>", "two  spaces"),
        ("<p>a <br> b</p>", "a\n b"),
        ("<div>a</div><div>b</div>", "a\nb"),
        ("<p>  a  </p>", "a"),
        // Lists, quotes, code.
        ("<p>x</p><ul><li>a</li><li>b</li></ul><p>y</p>", "x\n\n- a\n- b\n\ny"),
        ("<ol><li><p>a</p></li><li>b</li></ol>", "1. a\n2. b"),
        ("<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>", "- a\n- b\n- c"),
        ("<ul><li></li></ul><p>x</p>", "x"),
        ("<blockquote><p>q</p></blockquote><p>a</p>", "> q\n\na"),
        ("<pre><code>if x {\n  y\n}</code></pre>", "if x {\n  y\n}"),
        ("<strong>b</strong><em>i</em><del>d</del><u>u</u>", "bi~~d~~u"),
        ("<ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>", "漢字(かんじ)"),
        // Entities, once.
        ("<p>1 &lt; 2 &amp;amp; x</p>", "1 < 2 &amp; x"),
        ("&quot;&#39;&apos;&#x27;&#X3042;&eacute;&hellip;&hearts;", "\"'''あé…♥"),
        (
            "AT&T &unknown; &amp &; &#; &#x; &#+65; a&b;c",
            "AT&T &unknown; &amp &; &#; &#x; &#+65; a&b;c"
        ),
        ("&#128522;&#xD800;&#1114112;", "😊\u{FFFD}\u{FFFD}"),
        ("&lt;br&gt;&lt;script&gt;", "<br><script>"),
        ("a&nbsp;b", "a\u{A0}b"),
        // What is not text.
        ("a\u{0}b&#0;c\u{7}d&#27;e\u{85}f", "abcdef"),
        ("a&#8232;b\u{2029}c", "a\nb\nc"),
        ("a<!-- <p>no</p> -->b<!doctype html>c<?php x ?>d", "abcd"),
        ("a<script>alert('<p>')</script>b<STYLE>p{}</style>c", "abc"),
        ("a<img src=x onerror=alert(1)>b", "ab"),
        ("1 < 2 <3 a<", "1 < 2 <3 a<"),
        ("a<p", "a"),
        ("a<a href=\"https://e.org", "a"),
        ("a<!-- b", "a"),
        ("a</", "a</"),
        ("a</p", "a"),
        ("a<script>b", "a"),
        ("</p></a></span></li></ul></pre>a", "a"),
    ])
    func readsHTML(html: String, expected: String) {
        #expect(PlainText.fromHTML(html) == expected)
    }

    @Test(arguments: [
        // The shape of Mastodon's own links.
        (
            """
            <p>see <a href="https://e.org/long/path?a=1&amp;b=2" target="_blank" rel="nofollow noopener"><span \
            class="invisible">https://</span><span class="ellipsis">e.org/long</span><span \
            class="invisible">/path?a=1&amp;b=2</span></a> now</p>
            """, "see https://e.org/long/path?a=1&b=2 now"
        ),
        (#"<a href='https://e.org/'>x</a>"#, "x (https://e.org/)"),
        (#"<a href=https://e.org/a>x</a>b"#, "x (https://e.org/a) b"),
        (#"<A HREF = "HTTPS://E.ORG/">x</A>"#, "x (HTTPS://E.ORG/)"),
        (
            #"<a class="u-url" href="https://e.org/1" href="https://evil.example/">x</a>"#,
            "x (https://e.org/1)"
        ),
        (#"<a href="javascript:alert(1)">click</a>"#, "click"),
        (#"<a href="/relative">text</a>"#, "text"),
        (#"<a href="https://e.org/a b">text</a>"#, "text"),
        (#"<a>text</a>"#, "text"),
        // A link that is never closed ends with its paragraph, or with the next link.
        (#"<p><a href="https://e.org/1">x</p><p>y</p>"#, "x (https://e.org/1)\n\ny"),
        (
            #"<a href="https://e.org/1">x <a href="https://e.org/2">y</a>"#,
            "x (https://e.org/1) y (https://e.org/2)"
        ),
        (#"<a href="https://e.org/1">x"#, "x (https://e.org/1)"),
        // The shapes of mentions: known, known by its text only, unknown.
        (
            #"<span class="h-card"><a href="https://b.example/@ann" class="u-url mention">@<span>ann</span></a></span> hi"#,
            "@ann@b.example hi"
        ),
        (#"<a href="https://b.example/@ann">@ann</a> hi"#, "@ann@b.example hi"),
        (#"<a href="https://b.example/@ann">her page</a>"#, "her page (https://b.example/@ann)"),
        (
            #"<a href="https://c.example/@bob" class="u-url mention">@<span>bob</span></a> hi"#,
            "@bob hi"
        ),
        // Hashtags carry the class of mentions too.
        (
            #"<a href="https://a.example/tags/cats" class="mention hashtag" rel="tag">#<span>cats</span></a>"#,
            "#cats"
        ),
        (
            #"<a class="hashtag" data-tag="猫" href="https://a.example/tag/猫" rel="tag ugc">#猫</a>"#,
            "#猫"
        ),
        (
            #"<a href="https://blog.example/tag/x" rel="tag">category</a>"#,
            "category (https://blog.example/tag/x)"
        ),
        // The line for software that does not know quotes.
        (
            #"<p class="quote-inline">RE: <a href="https://q.example/1">q</a></p><p>so true</p>"#,
            "so true"
        ),
        (
            #"<p>so true<span class="quote-inline"><br><br>RE: <a href="https://q.example/1">q</a></span></p>"#,
            "so true"
        ),
        (#"<p class="quote-inline">RE: x<p>kept</p>"#, "kept"),
        (#"<p>a<span class="quote-inline">RE: <span>x</span> y</span>b</p><p>c</p>"#, "ab\n\nc"),
        (#"<p><span class="quote-inline">RE: x</p><p>kept</p>"#, "kept"),
    ])
    func readsLinks(html: String, expected: String) {
        let mentions = ["https://b.example/@ann": "ann@b.example"]
        #expect(PlainText.fromHTML(html, mentions: mentions) == expected)
    }

    @Test(arguments: [
        ("a &amp; b &lt;3 &gt;", "a & b <3 >"),
        ("&amp;lt;&amp;amp;", "&lt;&amp;"),
        ("&quot;&#39;", "&quot;&#39;"),
        (
            "see https://t.co/Ab1 and https://t.co/Ab12.",
            "see https://e.org/?a=1&b=2 and https://t.co/Ab12."
        ),
        ("photo https://t.co/pic", "photo"),
        ("見てhttps://t.co/oldです。", "見てhttps://o.example/ です。"),
        ("「https://t.co/old」", "「https://o.example/ 」"),
        ("https://t.co/old(笑)", "https://o.example/ (笑)"),
        ("(https://t.co/old).", "(https://o.example/)."),
        ("https://t.co/old).それ", "https://o.example/ ).それ"),
        ("https://t.co/old\u{3000}次", "https://o.example/\u{3000}次"),
        ("絵https://t.co/picです", "絵です"), ("https://t.co/unknownです", "https://t.co/unknown です"),
        ("http://t.co/old!", "https://o.example/!"),
        ("https://t.co/", "https://t.co/"),
        ("  a\u{0}b\r\nc ", "ab\nc"),
        ("", ""),
    ])
    func readsTextOfX(text: String, expected: String) {
        let links = [
            "https://t.co/Ab1": "https://e.org/?a=1&b=2", "https://t.co/pic": "",
            "http://t.co/old": "https://o.example/", "https://t.co/old": "https://o.example/",
        ]
        #expect(PlainText.fromX(text, links: links) == expected)
    }

    @Test func cutsBetweenCharacters() {
        let long = String(repeating: "猫", count: 50_000)
        let text = PlainText.fromHTML("<p>\(long)</p>")
        #expect(text.utf8.count <= PlainText.maximumOutput)
        #expect(text.utf8.count > PlainText.maximumOutput - 4)
        expect(text) { $0.allSatisfy { $0 == "猫" } }
        expect(PlainText.fromX(long)) { $0.allSatisfy { $0 == "猫" } }
    }

    @Test func readsOnlyTheFirstMebibyte() {
        let padding = String(repeating: "<b></b>", count: PlainText.maximumInput / 7 + 1)
        #expect(PlainText.fromHTML("a\(padding)z") == "a")
    }

    @Test func aLongNameOfAMentionCannotBlowUpTheText() {
        let name = String(repeating: "n", count: 1_000)
        let html = String(repeating: #"<a href="http://a">@x</a>"#, count: 10_000)
        #expect(
            PlainText.fromHTML(html, mentions: ["http://a": name]).utf8.count
                <= PlainText.maximumOutput)
    }
}
