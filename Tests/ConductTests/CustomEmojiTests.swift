import Foundation
import NetworkNames
import Posts
import TestSupport
import Testing

@testable import Conduct

/// What is left of a text whose custom emoji the bot's server lacks.
@Suite struct CustomEmojiTests {
    @Test(arguments: [
        ("hello :blobcat: world", "hello world"), ("hello :blobcat:", "hello"),
        (":blobcat: hello", "hello"),
        ("so happy :blob_cat:!", "so happy!"), ("(:blobcat:) yes", "yes"),
        ("a\n:blobcat:\nb", "a\nb"),
        (":one::two: both go", "both go"), ("\u{200B}:one:\u{200B}:two:\u{200B} go", "go"),
        ("テスト:blobcat:です", "テストです"), ("plus :+1: and :c++:", "plus and"),
        ("100 :100percent: sure", "100 sure"),
        (":blobcat:", ""), (":two_hands::wave: :x_x:", ""),
    ])
    func leavesNoGap(text: String, left: String) {
        #expect(CustomEmoji.occur(in: text))
        #expect(CustomEmoji.removed(from: text) == left)
    }

    @Test(arguments: [
        "at 12:30:45 sharp", "a :30: b", "std::vector::size", "C:\\temp:x", "ratio 3:4:5",
        ": not one :", ":a:",
        "http://a.example/:blobcat:/x",
        "note: this: that", "a:blobcat:b", "@ann@social.example:8080: hi", ":blob cat:", "::",
        ":blobcat", "日:本:語",
    ])
    func leavesAllElse(text: String) {
        #expect(!CustomEmoji.occur(in: text))
        #expect(CustomEmoji.removed(from: text) == text)
    }

    @Test func whatTheServerHasStays() {
        let kept: Set = ["blobcat"]
        #expect(
            CustomEmoji.removed(from: "a :blobcat: b :other: c", except: kept) == "a :blobcat: b c")
        #expect(CustomEmoji.removed(from: ":Blobcat: b", except: kept) == "b")
        // Mastodon shows none that touches a letter, of whatever script, or another one.
        #expect(CustomEmoji.removed(from: "猫:blobcat:です", except: kept) == "猫です")
        #expect(
            CustomEmoji.removed(from: "two :blobcat::blobcat: cats", except: kept) == "two cats")
    }

    @Test(arguments: [
        ("@:blobcat::wave: ann said so", "@ ann said so"), ("a :blobcat:#tag it", "a #tag it"),
        ("@ann :blobcat: hi", "@ann hi"), ("see #tag :blobcat:", "see #tag"),
    ])
    func nothingBecomesAMentionOrATag(text: String, left: String) {
        #expect(CustomEmoji.removed(from: text) == left)
    }

    /// Random texts of what makes emoji, mentions, tags and links.
    @Test func randomTextsGainNoSigns() {
        var random = SeededGenerator(seed: 20_261_125)
        let parts = [
            ":", "blob", "cat", "_", " ", "@", "#", "ann", ".", "日本", "\n", "12",
            "http://a.example/", "(", ")", "+",
        ]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 1...14, using: &random))
                .map { _ in parts.randomElement(using: &random) ?? "" }.joined()
            let left = CustomEmoji.removed(from: text)
            #expect(
                PlainTokens(left).mentionCount <= PlainTokens(text).mentionCount,
                "\(text) became \(left)")
            #expect(
                PlainTokens(left).hashSigns.count <= PlainTokens(text).hashSigns.count,
                "\(text) became \(left)")
        }
    }

    @Test func aTextOfNothingButEmojiIsNoText() throws {
        let post = Post(
            id: PostID(network: .mastodon, value: "1"),
            author: AccountID(network: .mastodon, value: "a@b.example"),
            text: ":blobcat_happy: :blobcat_sad: ok", createdAt: Date(timeIntervalSince1970: 0))
        let refusal = #expect(throws: Refusal.self) { try TextRules().text(for: post).get() }
        #expect(refusal?.reason == .noWords)
    }
}

extension PlainTokens {
    fileprivate var mentionCount: Int {
        tokens.count { if case .mention = $0 { true } else { false } }
    }
}
