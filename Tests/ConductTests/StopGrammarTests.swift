import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Conduct

/// Requests to stop in each language of `Resources/stop-requests.txt`, look-alikes, and texts made
/// to take long.
@Suite struct StopGrammarTests {
    /// The sentences of one language.
    struct Sample: CustomTestStringConvertible, Sendable {
        let language: String
        var requests: [String] = []
        var others: [String] = []

        var testDescription: String { language }
    }

    private static let samples: [Sample] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "Resources/stop-requests.txt")
        var samples: [Sample] = []
        // An absent file leaves no samples, which `thereAreEnoughSamples` finds.
        for line in ((try? String(contentsOf: file, encoding: .utf8)) ?? "").split(separator: "\n")
        {
            let text = String(line.dropFirst(2))
            switch line.prefix(2) {
            case "la": samples.append(Sample(language: String(line.split(separator: " ")[1])))
            case "+ ": samples[samples.count - 1].requests.append(text)
            case "- ": samples[samples.count - 1].others.append(text)
            default: continue
            }
        }
        return samples
    }()

    @Test func thereAreEnoughSamples() {
        #expect(Self.samples.count >= 20)
        #expect(Self.samples.map(\.language) == Array(StopGrammar.standard.languages.dropFirst()))
        for sample in Self.samples {
            #expect(Set(sample.requests).count >= 20, "\(sample.language)")
            #expect(Set(sample.others).count >= 10, "\(sample.language)")
        }
    }

    @Test(arguments: samples) func requestsAreObeyed(_ sample: Sample) {
        for text in sample.requests {
            #expect(OptOut.asksToStop(text: "@bot@example.org \(text)"), "\(text)")
            #expect(OptOut.asksToStop(text: "\(text.uppercased()) 🙏 @bot"), "\(text)")
            #expect(OptOut.asksToStop(text: text.decomposedStringWithCanonicalMapping), "\(text)")
        }
    }

    @Test(arguments: samples) func lookAlikesAreNot(_ sample: Sample) {
        for text in sample.others {
            #expect(!OptOut.asksToStop(text: "@bot@example.org \(text)"), "\(text)")
            #expect(!OptOut.asksToStop(text: "\(text)!"), "\(text)")
        }
    }

    /// A clear request may have company, one word that often means something else may not.
    @Test(arguments: [
        ("You are a creepy robot, stop replying to me.", true),
        ("Please don't reply to me, I am at a funeral", true),
        ("Leave me alone, my cat is ill", true), ("stop, I want to get off", false),
        ("Don't stop replying to me, I love it", false), ("My ex won't stop messaging me", false),
        ("stop replying to emails from my boss", false),
        ("“Stop replying to me”, she said to him", true),
        (
            "Leave me alone, \(Array(repeating: "and so on", count: 5).joined(separator: " "))",
            false
        ),
        ("Stop? Never!", true), ("if it rains, stop", false),
        ("stop https://example.org/petition", false),
        ("stop replying to me https://example.org/@bot/1", true), ("🛑", true), ("🛑🛑", true),
        ("s t o p", true),
        ("don’t reply to me", true), ("dont reply to me", true), ("STOOOOOP pleeeease", true),
        ("stop!!!1", false),
        (":blobsad: stop :blobsad:", true), ("stop. やめて", true), ("👍", false), ("…", false),
        ("やめて\u{3099}", false),
        ("leave it to me", false), ("もうやめます", false),
        ("thanks bot", false), ("this is enough for me today, thanks", false),
        ("ignore me, I am just tired", false),
    ])
    func littleElseIsAllowed(text: String, isRequest: Bool) {
        #expect(OptOut.asksToStop(text: text) == isRequest, "\(text)")
    }

    /// Letters that look like others, and signs that show nothing.
    @Test(arguments: [
        "ｓｔｏｐ　ｒｅｐｌｙｉｎｇ", "s\u{200B}t\u{200D}o\u{2060}p", "st\u{301}\u{302}\u{303}o\u{335}p", "ﾔﾒﾃ",
        "sto\u{AD}p 👩‍👩‍👧 replying 🇯🇵 to 🛑 me", "ПЕРЕСТАНЬ", "Yazma!", "DURDUR", "dừng lại", "ﺗﻮﻗﻒ",
    ])
    func spellingsMakeNoDifference(text: String) {
        #expect(OptOut.asksToStop(text: text), "\(text.debugDescription)")
    }

    /// What the human's own account makes of a request to stop: each is one, and only some end the
    /// mirror.
    @Test(arguments: [
        ("stop mirroring me", true), ("Stop mirroring me!", true),
        ("please stop mirroring me, thanks", true),
        ("STOP MIRRORING", true), ("don't mirror me anymore", true),
        ("no more mirroring please", true),
        ("stop copying my posts", true), ("Stop. Do not mirror me.", true),
        ("hör auf, mich zu spiegeln", true),
        ("bitte nicht mehr spiegeln", true), ("ミラーをやめて", true), ("真似しないで", true),
        ("stop", false), ("leave me alone", false), ("stop replying to me", false),
        ("don't stop mirroring me", false), ("I love the mirroring", false),
        ("mirror, mirror on the wall", false),
        ("should I stop mirroring you", false),
    ])
    func mirroringIsMoreThanReplying(text: String, endsMirror: Bool) {
        #expect(OptOut.asksToStopMirror(text: "@bot@example.org \(text)") == endsMirror, "\(text)")
        if endsMirror { #expect(OptOut.asksToStop(text: "@bot@example.org \(text)"), "\(text)") }
    }

    /// None of these may take long; megabytes are not read.
    @Test(arguments: [
        String(repeating: "stop ", count: 300_000),
        String(repeating: "\u{301}", count: 9_000) + "stop",
        "s" + String(repeating: "\u{301}", count: 9_000) + "top",
        String(repeating: "\u{200B}", count: 6_000) + "stop",
        String(repeating: "@a", count: 9_000) + " stop",
        String(repeating: "@a@b.example ", count: 1_500) + "stop",
        String(repeating: "https://a.example/ ", count: 1_000) + "stop replying to me",
        String(repeating: "hör ", count: 140) + "auf", String(repeating: "やめ", count: 290) + "て",
        String(repeating: "も", count: 600), String(repeating: "please ", count: 80) + "stop",
        String(repeating: "🛑", count: 4_900), String(repeating: "ー", count: 6_000),
        String(repeating: ".", count: 20_000),
        String(repeating: "no ", count: 190) + "reply", String(repeating: "#", count: 20_000),
    ])
    func hostileTextsAreBounded(text: String) {
        _ = OptOut.asksToStop(text: text)
        _ = OptOut.asksToStopMirror(text: text)
        _ = OptOut.isOptedOut(bio: text)
        #expect(OptOut.isOptedOut(bio: text + " #nobot"))
    }

    /// Whoever names many others may still ask the bot to stop.
    @Test func manyMentionsAreNoObstacle() {
        let many = (0..<200).map { "@person\($0)@some.example" }.joined(separator: " ")
        #expect(OptOut.asksToStop(text: "\(many) please stop replying to me \(many)"))
    }

    @Test(arguments: 0..<8) func piecesOfTheGrammarNeverTrap(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let pieces =
            Self.samples.flatMap {
                ($0.requests + $0.others).flatMap { $0.split(separator: " ").map(String.init) }
            }
            + [
                "\u{301}", "\u{200D}", "@", "#", "_", "'", "🛑", "\u{3099}", "\u{0}", "：",
                "\u{FE0F}", " ", "ー",
            ]
        for _ in 0..<400 {
            let count = Int.random(in: 0...12, using: &generator)
            let text = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }
                .joined(separator: Bool.random(using: &generator) ? " " : "")
            _ = OptOut.asksToStop(text: text)
            #expect(OptOut.isOptedOut(bio: text + "\nno bots"))
        }
    }
}
