import Conduct
import Formats
import Foundation

@testable import Bluesky
@testable import Networks
@testable import Posts

/// Texts of posts, in the forms of the networks.
extension FuzzTarget {
    static let texts = [html, xText, blueskyText, blueskyFacets, xWeight, textRules, optOut]

    private static let html = FuzzTarget(
        "html",
        texts: [
            "<p>Hello <a href=\"https://social.example/@ann\" class=\"u-url mention\">@<span>ann</span></a></p>",
            "<p>a &lt;b&gt; &amp;amp; &#x1F600; &#65; &nbsp;c<br/>d</p><p>e</p><ul><li>f<li>g</ul>",
            "<p><a href='https://example.org/long?a=1&amp;b=2' rel=\"nofollow\"><span class=invisible>https://</span>x</a>",
            "<pre>  keep\n  this</pre><blockquote>q</blockquote><p class=\"quote-inline\">RE: <a href=https://a.example>x</a></p>",
            "<!-- c --><script>if (a < b) {}</script><style>p{}</style>text<!DOCTYPE html><?xml ?>",
            "<a href=\"https://t.example/tags/x\" class=\"mention hashtag\" rel=\"tag\">#<span>x</span></a>",
            "<ol start=4 reversed><li value=9>a<ol type=i><li>b</ol></ol><table><tr><td>c<td>d<br>e</table><q>f</q>",
            "<math><semantics><mi>x</mi><annotation encoding=\"application/x-tex\">x^2</annotation></semantics></math>",
            "<blockquote>a<br><ruby>漢<rt>かん</ruby></blockquote>1<sup>2</sup><img alt=\"😀\"><video>v</video>",
            "<div class=\"shared_container\">s</div><b><a href=\"https://a.example\">♲ b@c.example</a>:</b><br>d",
        ],
        words: [
            "<p>", "</p>", "<br>", "<a href=\"https://", "</a>", "class=\"mention\"",
            "class=\"hashtag\"",
            "rel=\"tag\"",
            "class=\"quote-inline\"", "<pre>", "<ul>", "<li>", "<script>", "</script>", "<!--",
            "-->", "&lt;", "&#x",
            "&amp;", "<blockquote>", "\u{2028}", "\u{85}", "<ol start=1000000 reversed>", "value=",
            "</ol>", "<td>",
            "</table>",
            "<math alttext=", "<annotation encoding=text/plain>", "</math>", "<rt>", "<sup>", "<q>",
            "<img alt=😀>",
            "<img src=x>", "class=\"shared_content\"", "</blockquote>", "♲ ", "RE: ",
        ]
    ) { html in
        let read = HTMLText(html)
        let text = PlainText.fromHTML(html)
        try hold(read.text == text, "there is one text")
        try holdPlain(text, "the text")
        // Marks of quotations and numbers of items are longer than the elements that they stand
        // for.
        try hold(
            text.utf8.count <= 8 * html.utf8.count, "the text is not much longer than its HTML")
        try hold(text.utf8.count <= PlainText.maximumOutput, "the text keeps to its limit")
        let names = ["https://social.example/@ann": "ann@social.example"]
        try holdPlain(PlainText.fromHTML(html, mentions: names), "the text with names")
        // What servers do to a text, and undoing it.
        let words = PlainText.cleaned(html).split(whereSeparator: \.isWhitespace).joined(
            separator: " ")
        guard words.utf8.count <= 10_000,
            words.unicodeScalars.allSatisfy({ !$0.properties.isWhitespace || $0 == " " })
        else { return }
        let escaped = words.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(
            ">", with: "&gt;")
        try hold(
            PlainText.fromHTML("<p>\(escaped)</p>") == words,
            "a text survives being written as HTML")
    }

    private static let xText = FuzzTarget(
        "x-text",
        texts: [
            "Look https://t.co/abc &amp; say &lt;hi&gt; &amp;lt;", "@a @b hello",
            "http://t.co/xyz123 https://t.co/",
            "RT @someone: text… https://t.co/0123456789",
        ],
        words: ["https://t.co/", "&amp;", "&lt;", "&gt;", "RT @"]
    ) { raw in
        let text = PlainText.fromX(
            raw, links: ["https://t.co/abc": "https://example.org/a", "https://t.co/xyz": ""])
        try holdPlain(text, "the text")
        try hold(text.utf8.count <= PlainText.maximumOutput, "the text keeps to its limit")
        let rest = XText.withoutLeadingMentions(text)
        try hold(text.hasSuffix(rest), "what is left without names is the end of the text")
        let plain = PlainText.cleaned(raw)
        // Behind a short address a space may be put.
        guard plain.utf8.count <= 10_000, !plain.contains("t.co/") else { return }
        let escaped = plain.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(
            ">", with: "&gt;")
        try hold(PlainText.fromX(escaped) == plain, "a text survives being written as X writes it")
    }

    private static let blueskyText = FuzzTarget(
        "bluesky-text",
        seeds: [
            [0, 5, 0, 2, 9, 1] + Array("hello example.org and more".utf8),
            [0, 0, 9, 9, 3, 3] + Array("日本語のテキスト".utf8),
        ]
    ) { input in
        var facets: [TextFacet] = []
        let bytes = input.prefix(24)
        for index in stride(from: 0, to: bytes.count - 2, by: 3) {
            let start = Int(Int8(bitPattern: bytes[index]))
            let link: String? =
                switch bytes[index + 2] % 3 {
                case 0: nil
                case 1: "https://example.org/long"
                default: "javascript:x"
                }
            facets.append(
                TextFacet(
                    byteStart: start, byteEnd: start + Int(Int8(bitPattern: bytes[index + 1])),
                    link: link))
        }
        facets.append(TextFacet(byteStart: .min, byteEnd: .max))
        facets.append(TextFacet(byteStart: .max, byteEnd: .min))
        let raw = String(decoding: input.dropFirst(bytes.count), as: UTF8.self)
        let text = PlainText.read(raw, facets: facets).text
        try holdPlain(text, "the text")
        try hold(
            text.utf8.count <= raw.utf8.count + 28 * facets.count,
            "the text grows only by the links")
        try hold(
            PlainText.read(raw, facets: []).text == PlainText.cleaned(raw)
                || raw.utf8.count > 100_000,
            "a text without parts stays as it is")
    }

    private static let blueskyFacets = FuzzTarget(
        "bluesky-facets",
        texts: [
            "see https://example.org/a_(b) and #tag, (http://x.example) #1 ＃日本 https://a.example/)))",
            "#a#b ##c #\u{200B}x 「https://example.org/」",
        ],
        words: ["https://", "http://", "#", "＃", "「", "」", "(", ")", "\u{200B}", "\u{FE0F}"]
    ) { text in
        let bytes = Array(text.utf8)
        let facets = BlueskyFacets.facets(in: text)
        var end = 0
        for facet in facets {
            let start = facet.bytes.lowerBound
            let stop = facet.bytes.upperBound
            try hold(
                start >= end && start < stop && stop <= bytes.count,
                "parts stand in order and within the text")
            guard let part = String(validating: bytes[start..<stop], as: UTF8.self) else {
                throw FuzzFinding("not true: a part is made of whole characters")
            }
            let isNamed = facet.link == part || facet.tag == String(part.unicodeScalars.dropFirst())
            try hold(isNamed, "a part names what stands there")
            end = stop
        }
        let read = facets.map { facet in
            TextFacet(
                byteStart: facet.bytes.lowerBound, byteEnd: facet.bytes.upperBound, link: facet.link
            )
        }
        guard bytes.count <= 50_000 else { return }
        // But for the spaces behind links.
        let again = PlainText.read(text, facets: read).text
        let plain = PlainText.cleaned(text)
        try hold(
            again.filter { !$0.isWhitespace } == plain.filter { !$0.isWhitespace },
            "reading undoes writing")
    }

    private static let xWeight = FuzzTarget(
        "x-weight",
        texts: [
            "hello https://example.org/a?b=c 👨‍👩‍👧‍👦 🇯🇵 #️⃣ 日本語 example.com xn--p1ai.рф é",
            "a.co.jp http://http://x.y",
            "🏴󠁧󠁢󠁥󠁮󠁧󠁿 1\u{20E3} ❤\u{FE0F}\u{200D}🔥 e\u{301}.com",
        ],
        words: [
            "https://", "http://", ".com", ".org", "xn--", "\u{200D}", "\u{FE0F}", "\u{20E3}", "🇯",
            "🏽", "\u{301}",
        ]
    ) { text in
        let weight = XWeightedText.weight(of: text)
        let scalars = text.precomposedStringWithCanonicalMapping.unicodeScalars
        try hold(
            weight >= 0 && weight <= 23 * max(scalars.count, 1), "a weight is that of links at most"
        )
        try hold(scalars.isEmpty || weight > 0, "a text that is not empty weighs something")
        let half = text.index(text.startIndex, offsetBy: text.count / 2)
        let first = String(text[..<half])
        let second = String(text[half...])
        let sum = XWeightedText.weight(of: first) + 1 + XWeightedText.weight(of: second)
        try hold(
            XWeightedText.weight(of: first + "\n" + second) == sum, "the weights of lines add up")
        if !XLink.occurs(in: text) {
            let most = scalars.reduce(0) { $0 + XWeightedText.weight(of: $1) }
            try hold(weight <= most, "a text without links weighs no more than its characters")
        }
    }

    private static let textRules = FuzzTarget(
        "text-rules",
        texts: [
            "Good morning @ann@social.example, see https://example.org/@ann (nice) #tag $AAPL",
            "RT @a: copied text",
            "＠full @\u{200B}hidden a@b.example https://a.example/)))", "cut off… https://t.co/abc",
            "one two three http://x.example:80/a@b 「https://y.example」:",
        ],
        words: [
            "@", "＠", "https://", "http://", "#", "$A", "RT @", "…", "\u{200B}", "\u{202E}", ".com",
            "%40", "(",
        ]
    ) { text in
        for network in NetworkName.allCases {
            for links in [LinkRule.kept, .leftOut] {
                let rules = TextRules(network: network, links: links)
                let post = Post(
                    id: PostID(network: network, value: "1"),
                    author: AccountID(network: network, value: "a"),
                    text: text, createdAt: Date(timeIntervalSince1970: 0))
                guard case .success(let sent) = rules.text(for: post) else { continue }
                let length = TextLength.count(sent, limits: rules.limits)
                try hold(
                    length <= rules.limits.maximumCharacters,
                    "what may be sent is within the limits")
                let isPlain = sent.unicodeScalars.allSatisfy {
                    $0 == "\n" || $0.properties.generalCategory != .control
                }
                try hold(!sent.isEmpty && isPlain, "what may be sent is plain text")
                var again = post
                again.text = sent
                guard case .success(let resent) = rules.text(for: again) else { continue }
                try hold(resent == sent, "what was cleaned once is clean")
            }
        }
    }

    private static let optOut = FuzzTarget(
        "opt-out",
        texts: [
            "I like cats. #nobot", "@bot please stop", "#NoBots<br>", "@a やめてください", "don't stop",
        ],
        words: ["#nobot", "#nobots", "stop", "@bot", "please", "もう", "やめて", "ください", "unsubscribe"]
    ) { text in
        let isOptedOut = OptOut.isOptedOut(bio: text)
        try hold(!isOptedOut || !text.isEmpty, "an empty profile says nothing")
        try hold(OptOut.isOptedOut(bio: text + " #nobot"), "a wish is heard wherever it stands")
        _ = OptOut.asksToStop(text: text)
        for network in NetworkName.allCases {
            guard let handle = Handle(text, on: network) else { continue }
            try holdOneWord(handle.text, "a handle")
            try hold(handle.text.filter { $0 == "@" }.count <= 1, "a handle has one host at most")
        }
    }
}
