import Expectations
import Foundation
import TestSupport
import Testing

@testable import Posts

/// What becomes of the HTML of each program.
@Suite struct HTMLTextTests {
    // MARK: Links

    @Test func tellsTheWordsOfLinks() {
        let read = HTMLText(
            "<p><a href=\"https://e.org/a\">why I<br>left</a>, <a href=\"https://e.org/b\">e.org/b</a> "
                + "<a href=\"https://e.org/tags/x\" rel=\"tag\">#x</a></p>")
        #expect(read.text == "why I left (https://e.org/a), https://e.org/b #x")
        #expect(read.linkWords == ["why I left"])
    }

    @Test(arguments: [
        // Mastodon: words, and the address with its ends hidden.
        (
            #"<p>I finally wrote <a href="https://blog.example/2023/leaving">why I left the city</a>, it took a year.</p>"#,
            "I finally wrote why I left the city (https://blog.example/2023/leaving), it took a year."
        ),
        (
            """
            <p>News: <a href="https://www.example.org/very/long/path/that/is/cut" target="_blank"><span \
            class="invisible">https://www.</span><span class="ellipsis">example.org/very/long/path/that</span><span \
            class="invisible">/is/cut</span></a></p>
            """, "News: https://www.example.org/very/long/path/that/is/cut"
        ),
        // Words with markup, white space, line breaks and pictures inside.
        (
            #"see <a href="https://e.org/1"><b>my</b> <i>new</i> page</a>!"#,
            "see my new page (https://e.org/1)!"
        ),
        (#"see<a href="https://e.org/1"> it </a>now"#, "see it (https://e.org/1) now"),
        (#"<a href="https://e.org/1">two<br>lines</a>"#, "two lines (https://e.org/1)"),
        (
            #"<a href="https://e.org/1"><img class="emoji" alt="🐱"> cats</a>"#,
            "🐱 cats (https://e.org/1)"
        ),
        (
            #"<a href="https://e.org/1"><div>Title</div><div>Words</div></a>"#,
            "Title (https://e.org/1)\nWords"
        ),
        (#"<ul><li><a href="https://e.org/1">one</a></li></ul>"#, "- one (https://e.org/1)"),
        // What goes on behind an address does not become a part of it.
        (#"見て<a href="https://e.org/1">e.org/1</a>です"#, "見てhttps://e.org/1 です"),
        (#"見て<a href="https://e.org/1">ここ</a>です"#, "見てここ (https://e.org/1) です"),
        (#"<a href="https://e.org/1">e.org/1</a>."#, "https://e.org/1."),
        // What leads nowhere is no link.
        (#"<a href="mailto:a@b.example">write to me</a>"#, "write to me"),
        // Nothing to see.
        (#"a <a href="https://e.org/1"></a> b"#, "a https://e.org/1 b"),
    ])
    func aLinkKeepsItsWords(html: String, expected: String) {
        #expect(PlainText.fromHTML(html) == expected)
    }

    @Test(arguments: [
        ("https://example.org/a?b=1", "https://example.org/a?b=1", true),
        ("example.org/a", "https://www.example.org/a/b", true),
        ("EXAMPLE.org", "https://example.org/", true),
        ("www.example.org/a…", "http://example.org/a/b", true),
        ("example.org/a...", "https://example.org/a/b", true),
        ("example.org/a…/z", "https://example.org/a/b/z", true),
        ("exam…", "https://example.org/", true),
        ("https://example.org/", "https://example.org", true),
        ("https://exam", "https://example.org/a", true),
        ("https://example.org/käse", "https://example.org/k%C3%A4se", true),
        ("https://müller.example/x", "https://xn--mller-kva.example/x", true),
        ("a.ex", "https://a.example/long", true), ("localhost:8080", "http://localhost:8080", true),
        ("example", "https://example.org/", false), ("e", "https://e.org/", false),
        ("blog", "https://blog.example/x", false), ("read…", "https://example.org/", false),
        ("example.org/a…/y", "https://example.org/a/b/z", false),
        ("…", "https://example.org/", false),
        ("example.com", "https://example.org/", false),
        ("example.org/b", "https://example.org/a", false),
        ("bücher", "https://xn--bcher-kva.example/", false),
        ("100%", "https://example.org/", false),
    ])
    func aBeginningOfTheAddressStandsForIt(shown: String, address: String, expected: Bool) {
        #expect(LinkText.isBeginning(shown, of: address) == expected)
    }

    // MARK: Hashtags and mentions

    @Test(arguments: [
        // Friendica, with the mark outside.
        (
            ##"along the river #<a href="https://f.example/search?tag=walk" class="tag" rel="tag" title="walk">walk</a>"##,
            "along the river #walk"
        ),
        (
            ##"#<span class="tag"><a href="https://g.example/tag/a" rel="tag">a</a></span> b"##,
            "#a b"
        ),
        // Hubzilla, without a class.
        (
            ##"<p>in the <a href="https://hub.example/tag/rain">#rain</a> again</p>"##,
            "in the #rain again"
        ),
        // Misskey, Pixelfed, WordPress.
        (##"<a href="https://m.example/tags/%E7%8C%AB" rel="tag">#猫</a>です"##, "#猫です"),
        (
            ##"<a href="https://p.example/discover/tags/x?src=hash" class="u-url hashtag">#x</a>"##,
            "#x"
        ),
        (
            ##"<a rel="tag" class="hashtag u-tag u-category" href="https://w.example/tag/x/">#x</a>"##,
            "#x"
        ),
        (##"<a class="hashtag" href="https://w.example/tag/x/">x</a>"##, "#x"),
        // No hashtags: a number, and several words.
        (
            ##"bug <a href="https://git.example/issues/12">#12</a>"##,
            "bug #12 (https://git.example/issues/12)"
        ),
        (
            ##"bug #<a href="https://git.example/issues/12">12</a>"##,
            "bug #12 (https://git.example/issues/12)"
        ),
        (##"<a href="https://e.org/1">#1 of two</a>"##, "#1 of two (https://e.org/1)"),
    ])
    func aHashtagIsOneInTheFormOfAnyProgram(html: String, expected: String) {
        #expect(PlainText.fromHTML(html) == expected)
    }

    @Test func aHashtagIsKnownByItsAddress() {
        let html = ##"<a href="https://E.org/Tag/a-b">#a/b</a>"##
        #expect(HTMLText(html, hashtags: ["https://e.org/tag/a-b"]).text == "#a/b")
        #expect(HTMLText(html).text == "#a/b (https://E.org/Tag/a-b)")
    }

    @Test(arguments: [
        (#"@<span class="vcard"><a href="https://f.example/profile/ann" class="url u-url mention">ann</a></span> hi"#),
        (#"@<a href="https://f.example/profile/ann" class="mention"><span class="fn nickname">Ann A.</span></a> hi"#),
        (#"<a rel="mention" class="u-url mention" href="https://f.example/profile/ann">@ann@f.example</a> hi"#),
        (#"<a class="zrl" href="https://f.example/profile/ann">@ann</a> hi"#),
        (#"@<a href="https://F.example/profile/Ann">ann</a> hi"#),
    ])
    func aMentionIsNamedInFull(html: String) {
        let names = ["https://f.example/profile/ann": "ann@f.example"]
        #expect(PlainText.fromHTML(html, mentions: names) == "@ann@f.example hi")
    }

    @Test func aMentionOfAGroupKeepsItsMark() {
        let html = #"!<a href="https://f.example/profile/club" class="mention">club</a> hi"#
        #expect(PlainText.fromHTML(html) == "!club hi")
    }

    // MARK: Lists, tables, formulas

    @Test(arguments: [
        (
            "<p>My morning:</p><ol><li>wake up</li><li>make tea</li><li>open the window</li></ol>",
            "My morning:\n\n1. wake up\n2. make tea\n3. open the window"
        ),
        ("<ol start=\"4\"><li>fourth</li><li>fifth</li></ol>", "4. fourth\n5. fifth"),
        ("<ol><li>a</li><li value=\"7\">b</li><li>c</li></ol>", "1. a\n7. b\n8. c"),
        ("<ol start=\"-1\"><li>a<li>b<li>c</ol>", "-1. a\n0. b\n1. c"),
        (
            "<ol reversed><li>a</li><li>b<ol><li>x</li></ol></li><li>c</li></ol>",
            "3. a\n2. b\n1. x\n1. c"
        ),
        ("<ol start=9 reversed><li>a</li><li>b</li></ol>", "9. a\n8. b"),
        ("<ol type=\"a\"><li>a</li><li>b</li></ol>", "a. a\nb. b"),
        ("<ol type=A start=27><li>x</li></ol>", "AA. x"),
        ("<ol type=\"i\" start=\"9\"><li>a</li><li>b</li></ol>", "ix. a\nx. b"),
        ("<ol start=\"x\"><li>a</li></ol>", "1. a"),
        ("<ol start=99999999999999999999><li>a</li></ol>", "1. a"),
        ("<ol><li>a<ul><li>b</li></ul></li><li>c</li></ol>", "1. a\n- b\n2. c"),
        ("<ol><li></li><li>b</li></ol>", "2. b"), ("<li>a</li>", "- a"),
    ])
    func itemsKeepTheirNumbers(html: String, expected: String) {
        #expect(PlainText.fromHTML(html) == expected)
    }

    @Test(arguments: [
        (
            "<table><tr><td>Mon</td><td>green</td></tr><tr><td>Tue</td><td>blue</td></tr></table>",
            "Mon green\nTue blue"
        ),
        (
            "<p>x</p><table><thead><tr><th>a</th>\n<th>b</th></tr></thead><tbody>\n<tr><td><p>1</p><p>2</p></td>"
                + "<td>3<br>4</td></tr></tbody></table><p>y</p>", "x\n\na b\n1 2 3 4\n\ny"
        ),
        ("<table><tr><td>a<td>b<tr><td>c<td>d</table>e", "a b\nc d\n\ne"),
        ("<table><caption>T</caption><tr><td></td><td>b</td></tr></table>", "T\nb"),
    ])
    func cellsAreApart(html: String, expected: String) {
        #expect(PlainText.fromHTML(html) == expected)
    }

    @Test(arguments: [
        (
            "area <math><semantics><mrow><mi>π</mi><msup><mi>r</mi><mn>2</mn></msup></mrow>"
                + #"<annotation encoding="application/x-tex">\pi r^2</annotation></semantics></math> it is"#,
            #"area \pi r^2 it is"#
        ),
        (
            #"<math><semantics><mi>x</mi><annotation encoding="text/plain">one</annotation><annotation "#
                + #"encoding="application/x-tex">two</annotation><annotation-xml>three</annotation-xml></semantics></math>"#,
            "two"
        ),
        (
            #"<math><semantics><mi>x</mi><annotation encoding="text/plain">one</annotation></semantics></math>"#,
            "one"
        ),
        (
            #"<math><semantics><mi>x</mi><annotation-xml>three</annotation-xml></semantics></math>"#,
            "x"
        ),
        (#"<math alttext="x + y"><mi>x</mi></math>"#, "x + y"),
        ("<math><mi>x</mi><mo>+</mo></math>", "x+"),
        (#"a <math display="block"><mi>x</mi></math>b"#, "a\nx\nb"), ("a <math><mi>x", "a x"),
        (
            #"<span class="katex"><math><semantics><mi>x</mi><annotation encoding="application/x-tex">x</annotation>"#
                + #"</semantics></math><span class="katex-html" aria-hidden="true"><span>x</span></span></span> y"#,
            "x y"
        ),
        // Misskey, and what the others have for powers.
        ("<code>x^2</code>", "x^2"),
        ("m<sup>2</sup> H<sub>2</sub>O 10<sup>-3</sup>", "m² H₂O 10⁻³"),
        ("1<sup>st</sup> x<sub>max</sub>", "1st xmax"),
    ])
    func aFormulaIsThereOnce(html: String, expected: String) {
        #expect(PlainText.fromHTML(html) == expected)
    }

    // MARK: Pictures

    @Test(arguments: [
        (#"lovely <img src="x" alt="😀" class="emoji" draggable="false"> day"#, "lovely 😀 day"),
        (#"lovely <img src="x" alt="😀"> day"#, "lovely 😀 day"), (#"<img alt="❤">"#, "❤"),
        (#"<img class="smiley" src="x" alt=":-)" title=":-)">"#, ":-)"),
        (#"<img src="x" alt=":blob_cat:">"#, ":blob_cat:"),
        (#"<img class="wp-smiley" alt="🙂">"#, "🙂"),
    ])
    func aPictureThatIsAnEmojiIsText(html: String, expected: String) {
        let read = HTMLText(html)
        #expect(read.text == expected)
        #expect(!read.quotesPost)
        #expect(!read.hasMedia)
    }

    @Test(arguments: [
        (#"a <img src="x" alt="a lake in the morning"> b"#, "a  b"), (#"a<img src=x>b"#, "ab"),
        (#"<a href="https://e.org/1.jpg"><img src="x" alt="7"></a> b"#, "b"),
        ("a <video><source src=x>No video here</video> b", "a  b"), ("<audio src=x></audio>a", "a"),
        (#"a <iframe src="https://video.example/">x</iframe>"#, "a"), ("a<embed src=x>b", "ab"),
        ("<figure><img src=x><figcaption>the lake</figcaption></figure>", "the lake"),
        (
            #"a<span class="original-media-link"> <a href="https://e.org/1">[Attached: 5 images]</a></span>"#,
            "a"
        ),
    ])
    func anyOtherPictureIsMedia(html: String, expected: String) {
        let read = HTMLText(html)
        #expect(read.text == expected)
        #expect(!read.quotesPost)
        #expect(read.hasMedia)
    }

    // MARK: Words of others

    @Test(arguments: [
        // Friendica: as it federates, in its own pages, by its API, and as it once federated.
        (#"I agree<br><b><a href="https://f.example/display/9">♲ bob@other.example</a>:</b><br>"#
            + "\n"
            + #"<blockquote class="shared_content" dir="auto">Cities</blockquote>"#),
        (#"I agree<div class="shared-wrapper"><div class="shared_header"><div><a href="https://o.example/">Bob</a>"#
            + #"</div></div><blockquote class="shared_content">Cities</blockquote></div>"#),
        ("I agree<br><p>♲  bob@other.example: </p>\nCities"),
        (#"I agree<div><a href="https://o.example/1">♲</a> @<span class="vcard"><a href="https://o.example/bob" "#
            + #"class="url u-url mention">bob@o.example</a>:</span><blockquote>Cities</blockquote></div>"#),
        // Hubzilla.
        (#"I agree<div class="shared_container"> <div class="shared_header"><a href="https://h.example/"><img "#
            + #"src="x" alt="Bob"></a> Bob wrote</div><div class="reshared-content">Cities</div></div>"#),
        // Mastodon, Pleroma and Misskey, Fedibird; and servers that drop the class.
        (#"<p class="quote-inline">RE: <a href="https://o.example/@bob/1">o.example</a></p><p>I agree</p>"#),
        (#"<p>I agree<span class="quote-inline"><br/><br/>RE: <a href="https://o.example/1">x</a></span></p>"#),
        (#"<p>I agree<span class="quote-inline"><br>QT: [<a href="https://o.example/1">x</a>]</span></p>"#),
        (#"<p>I agree<span class="reference-link-inline"> <a href="https://o.example/1">[Ref.]</a></span></p>"#),
        (#"<p>I agree<br><br>RE: <a href="https://o.example/notes/9x">https://o.example/notes/9x</a></p>"#),
        (#"<p>RE: <a href="https://o.example/@bob/1">https://o.example/@bob/1</a></p><p>I agree</p>"#),
    ])
    func aSharedPostMakesThePostAQuote(html: String) {
        expect(HTMLText(html)) { $0.quotesPost }
    }

    @Test func theWordsOfASharedPostAreLeftOut() {
        let shared =
            #"<p>before</p><div class="shared_container"><div class="shared_header">Bob</div><div class="reshared-content">"#
            + #"<div><p>Cities</p></div></div></div><p>after</p>"#
        #expect(HTMLText(shared).text == "before\n\nafter")
        #expect(!HTMLText(shared).hasMedia)
    }

    @Test(arguments: [
        "<p>♲ paper goes into the blue bin</p>", "<p>RE: your letter</p>",
        "<p>I say: RE: https://e.org/</p>",
        "<blockquote>Call me Ishmael.</blockquote><p>What a beginning</p>",
        #"<p class="my-quote">x</p>"#,
    ])
    func noOtherPostIsAQuote(html: String) {
        expect(HTMLText(html)) { !$0.quotesPost }
    }

    @Test(arguments: [
        ("<blockquote>a<br>b</blockquote>c", "> a\n> b\n\nc"),
        (
            "<p>He said</p><blockquote><p>a</p><p>b</p></blockquote><p>c</p>",
            "He said\n\n> a\n\n> b\n\nc"
        ),
        ("<blockquote>a<blockquote>b</blockquote></blockquote>", "> a\n\n> > b"),
        ("<blockquote><ul><li>a</li></ul></blockquote>", "> - a"),
        ("he said <q>no</q>!", "he said “no”!"),
    ])
    func quotedWordsAreMarked(html: String, expected: String) {
        #expect(PlainText.fromHTML(html) == expected)
    }

    @Test(arguments: [
        ("<ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>です", "漢字(かんじ)です"),
        ("<ruby>漢字<rt>かんじ</rt></ruby>です", "漢字(かんじ)です"), ("<ruby>漢<rt>かん<rt>じ</ruby>", "漢(かん)(じ)"),
        ("<details><summary>end</summary>he lives</details>", "end\nhe lives"),
        ("a<svg><text>b</text></svg>c<title>d</title>", "ac"),
    ])
    func otherElementsHaveTheirForm(html: String, expected: String) {
        #expect(PlainText.fromHTML(html) == expected)
    }

    @Test(arguments: [
        ("I am <del>sure</del> not sure", "I am ~~sure~~ not sure"), ("<s>no</s>", "~~no~~"),
        ("a <strike>b <del>c</del> d</strike> e", "a ~~b c d~~ e"),
        ("<p>a <s>b</p><p>c</p>", "a ~~b\n\nc\n\n~~"),
        ("</del>a", "a"),
    ])
    func wordsThatWereStruckOutSayThatTheyWere(html: String, expected: String) {
        #expect(PlainText.fromHTML(html) == expected)
    }

    // MARK: The table

    @Test func theDocumentHasTheRowsOfTheProgram() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "docs/html.md"), encoding: .utf8)
        let documented = text.split(separator: "\n").filter { $0.hasPrefix("| `") }.compactMap {
            line -> String? in
            let cells = line.split(separator: "|").map { PlainText.trimmed(String($0)) }
            return cells.count == 3 ? cells.joined(separator: " | ") : nil
        }
        #expect(
            documented
                == HTMLDecision.rows.map {
                    "`\($0.name)` | \($0.decision.rawValue) | \($0.senders)"
                })
    }
}
