import Foundation
import NetworkNames
import Posts
import TestSupport
import Testing

@testable import Conduct

/// Random texts made to hide mentions; every seed is one text of the same kind on every machine.
@Suite struct HostileTextTests {
    private static let pieces = [
        "@", "＠", "﹫", "@", "alice", "@alice", "@alice@example.org", "@花子", "日本語", "RT ", "MT", ":",
        " ", " ", "\n",
        "\r\n", "\t", "\u{200B}", "\u{200D}", "\u{FE0F}", "\u{2060}", "\u{AD}", "\u{0}", "\u{202E}",
        "é", "e\u{301}",
        "https://", "http://", "https://example.org/", "/@bob", "=@bob", "?x=@", "&@bob", "%40",
        ".", "-", "_", "(",
        ")", "[", "\"", "“", "#tag", "…", "user@example.org", "👩‍👩‍👧", "🇯🇵", "stop", "words ", "もじ", "1",
        "<b>", "\\",
        "https://例え.jp/@x", "*", "@_", "@-", "@.", "@@", "/", "=", "\u{1F}", "\u{2028}", "ａｌｉｃｅ",
        "@ａ", "\u{301}",
    ]

    private static let piecesOfX = [
        "#", "＃", "##", "#tag", "＃タグ", "$", "$TICK", "$tick", " $A", "#️⃣", "#1", "&#", "example.com",
        ".com", "http",
        "://", "t.co/x", "://example.com", "hello.みんな", "@a.b.social", "https://t.co/abc ",
        "(https://t.co/abc)",
    ]

    @Test(arguments: 0..<12)
    func sentTextNotifiesNobodyElse(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let limits = PublishingLimits(maximumCharacters: 60, charactersPerURL: 23)
        let rules = TextRules(limits: limits)
        var sent = 0
        for _ in 0..<300 {
            let length = Int.random(in: 0...16, using: &generator)
            let text = (0..<length).map { _ in Self.pieces.randomElement(using: &generator) ?? "" }
                .joined()
            if let cleaned = rules.text(for: post(text)).value {
                #expect(!MentionDetector.findsMention(in: cleaned), "\(text.debugDescription)")
                #expect(TextLength.count(cleaned, limits: limits) <= 60)
                #expect(rules.text(for: post(cleaned)).value.map { $0 == cleaned } ?? true)
                sent += 1
            }
            if let answer = rules.replyText(for: reply(text), to: "ren@remote.example").value {
                #expect(answer.hasPrefix("@ren@remote.example "))
                let body = String(answer.dropFirst("@ren@remote.example ".count))
                #expect(!MentionDetector.findsMention(in: body), "\(text.debugDescription)")
                #expect(TextLength.count(answer, limits: limits) <= 60)
                sent += 1
            }
        }
        #expect(sent > 100)
    }

    /// A sign within a hashtag begins another one, and a link within a word is one piece.
    @Test(arguments: [
        "hello there #a#b", "hello there #http://a.example", "hello there #xhttp://a.example/b",
        "#a##b hello there #c#d#",
    ])
    func hashtagsThatOverlapAreRead(text: String) {
        for rules in [TextRules(network: .x, links: .leftOut), TextRules(network: .x)] {
            let sent = rules.text(for: post(text)).value ?? ""
            #expect(!TagDetector.findsHashtag(in: sent), "\(sent)")
        }
    }

    @Test(arguments: 0..<12)
    func sentTextIsNothingButWordsOnX(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed &+ 500)
        let rules = TextRules(network: .x, links: .leftOut, repliesNameThePerson: false)
        var sent = 0
        var kept = 0
        for _ in 0..<300 {
            let length = Int.random(in: 0...16, using: &generator)
            let text = (0..<length).map { _ in
                (Self.pieces + Self.piecesOfX).randomElement(using: &generator) ?? ""
            }
            .joined()
            let results = [
                rules.text(for: post(text)), rules.replyText(for: reply(text), to: "ren"),
            ]
            for cleaned in results.compactMap(\.value) {
                #expect(!MentionDetector.findsMention(in: cleaned), "\(text.debugDescription)")
                #expect(!TagDetector.findsHashtag(in: cleaned), "\(text.debugDescription)")
                #expect(TagDetector.cashtags(in: cleaned) <= 1, "\(text.debugDescription)")
                #expect(!TagDetector.findsLink(in: cleaned), "\(text.debugDescription)")
                #expect(XWeightedText.weight(of: cleaned) <= 280)
                sent += 1
            }
            // Links may stay where the operator pays for them; signs may not.
            if let cleaned = TextRules(network: .x).text(for: post(text)).value {
                #expect(!MentionDetector.findsMention(in: cleaned), "\(text.debugDescription)")
                #expect(TagDetector.cashtags(in: cleaned) <= 1, "\(text.debugDescription)")
                kept += 1
            }
        }
        #expect(sent > 100)
        #expect(kept > 50)
    }

    @Test(arguments: 0..<4)
    func anyUnicodeIsSurvived(seed: UInt64) {
        var generator = SeededGenerator(seed: seed &+ 1_000)
        for _ in 0..<300 {
            var scalars = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...40, using: &generator) {
                let isSign = Bool.random(using: &generator)
                let value = UInt32.random(in: 0...0x10FFFF, using: &generator)
                if let scalar = isSign ? "@" : Unicode.Scalar(value) { scalars.append(scalar) }
            }
            let text = String(scalars)
            let cleaned = TextRules().text(for: post(text)).value
            #expect(
                cleaned.map { !MentionDetector.findsMention(in: $0) } ?? true,
                "\(text.debugDescription)")
            _ = TextRules.textKey(text)
            _ = OptOut.isOptedOut(bio: text)
            _ = OptOut.asksToStop(text: text)
            _ = Handle(text)
        }
    }

    @Test(arguments: [
        "@", "@a", "@\u{200B}", "https://a.b/@", "RT @a", "a@", "<", "#nobo", "…", "\u{301}", "x.",
    ])
    func timeGrowsWithTheLengthOnly(piece: String) {
        let text = String(repeating: piece, count: 8_000)
        let seconds = ProcessorTime.secondsOnce {
            _ = TextRules(network: .x, links: .leftOut).text(for: post(text))
            _ = TextRules().replyText(for: reply(text), to: "ren")
            _ = TextRules.textKey(text)
            _ = OptOut.isOptedOut(bio: text)
        }
        // Quadratic time would be minutes.
        #expect(seconds < 20)
    }

    /// Whether such a bracket belongs to the link is asked once, not for each of them.
    @Test(arguments: [")", "]", ")]", "])."])
    func bracketsBehindALinkCostTimeInProportion(closing: String) {
        func seconds(_ count: Int) -> Double {
            let text =
                "see https://a.example/"
                + String(repeating: closing, count: count / closing.utf8.count)
            return ProcessorTime.seconds { _ = TextShape.wordCharacters(in: text) }
        }
        // Eight times the input takes 64 times as long if the time is quadratic.
        #expect(seconds(1 << 15) < seconds(1 << 12) * 30 + 0.1)
    }

    @Test(arguments: [
        ("https://a.example/b)", "https://a.example/b"),
        ("https://a.example/(b)", "https://a.example/(b)"),
        ("https://a.example/(b))", "https://a.example/(b))"),
        ("https://a.example/b])].", "https://a.example/b"),
        ("https://a.example/[b])", "https://a.example/[b]"),
    ])
    func aLinkEndsBeforeBracketsThatItDoesNotOpen(text: String, expected: String) {
        let links = PlainTokens(text).tokens.compactMap { token in
            if case .link(let link, _) = token {
                String(String.UnicodeScalarView(link))
            } else {
                nil
            }
        }
        #expect(links == [expected])
    }
}
