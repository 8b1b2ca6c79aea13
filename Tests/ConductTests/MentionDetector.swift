import Foundation
import Testing

/// Finds mentions as servers do, written apart from the code under test.
enum MentionDetector {
    /// Mastodon's rule, X's rule, and a stricter one of our own.
    static func findsMention(in text: String) -> Bool {
        patterns.contains { pattern in
            guard
                let expression = try? NSRegularExpression(
                    pattern: pattern, options: .caseInsensitive)
            else {
                return true
            }
            return expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text))
                != nil
        } || findsMentionOutsideLinks(in: text)
    }

    private static let patterns = [
        #"(?<![=/\p{L}\p{M}\p{Nd}\p{Pc}])@[a-z0-9_]+([.-]+[a-z0-9_]+)*"#,
        #"(^|[^a-zA-Z0-9_!#$%&*@＠/=])[@＠][a-zA-Z0-9_]{1,20}"#,
        #"(^|[^a-zA-Z0-9_+~.-])rt:?[@＠][a-zA-Z0-9_]{1,20}"#,
        #"(^|\s|\()[@][a-zA-Z0-9]"#,
    ]

    /// Every sign before a letter or digit counts, unless an ASCII letter or
    /// digit precedes it, or a slash or equals sign in a word that begins as a link.
    private static func findsMentionOutsideLinks(in text: String) -> Bool {
        let scalars = Array(text.unicodeScalars).filter {
            $0.isASCII || !$0.properties.isDefaultIgnorableCodePoint
        }
        var wordStart = 0
        for (index, scalar) in scalars.enumerated() {
            if scalar.properties.isWhitespace || scalar == "(" { wordStart = index + 1 }
            guard ["@", "＠", "﹫"].contains(scalar), index + 1 < scalars.count,
                isWord(scalars[index + 1])
            else {
                continue
            }
            guard index > 0 else { return true }
            let previous = scalars[index - 1]
            if previous.isASCII, isWord(previous), previous != "_" { continue }
            let start = String(String.UnicodeScalarView(scalars[wordStart...].prefix(8)))
                .lowercased()
            let isLink = start.hasPrefix("http://") || start.hasPrefix("https://")
            if !(isLink && (previous == "/" || previous == "=")) { return true }
        }
        return false
    }

    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar.properties.isAlphabetic || scalar.properties.numericType != nil
    }
}

@Suite struct MentionDetectorTests {
    @Test(arguments: [
        "@a", "hi @a", "hi (@a)", "hi ＠a", "hi @\u{200B}a", "-@a", "é@a", "日@a", "x.org/@a",
        "日https://x.org/@a", "@@a",
        "_@a", "RT@a", "(rt@a)", "日RT@a",
    ])
    func findsMentions(text: String) { #expect(MentionDetector.findsMention(in: text)) }

    @Test(arguments: [
        "a@b", "a@b.c", "@", "@ a", "https://x.org/@a", "(https://x.org/@a)", "a @! b", "art@a",
        "-rt@a",
    ])
    func findsNothingElse(text: String) { #expect(!MentionDetector.findsMention(in: text)) }
}
