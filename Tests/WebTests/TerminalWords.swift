import Foundation
import Settings

@testable import Web

/// The words of a terminal that a person reads outside of code: commands, options and settings.
struct TerminalWords {
    let found: [String]

    /// - Parameter html: A page.
    init(html: String) {
        let signs = [
            ("&quot;", "\""), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"),
        ]
        let spoken = Self.removed(Self.code, from: html)
        self.init(
            signs.reduce(Self.removed(Self.tag, from: spoken)) {
                $0.replacingOccurrences(of: $1.0, with: $1.1)
            })
    }

    /// - Parameter sentence: A sentence without markup.
    init(_ sentence: String) {
        let text = sentence as NSString
        let whole = NSRange(location: 0, length: text.length)
        let words = (Self.word?.matches(in: sentence, range: whole) ?? []).map {
            text.substring(with: $0.range)
        }
        found = words.filter { word in
            if let command = word.split(separator: " ").dropFirst().first {
                return CommandMarks.commands.contains(String(command))
            }
            return word.hasPrefix("--") || AnySetting.named(word) != nil
        }
    }

    /// Elements whose content is code, or nothing that a person reads.
    private static let code = try? NSRegularExpression(
        pattern: #"<(code|script|style)\b[^>]*>.*?</\1>"#, options: .dotMatchesLineSeparators)
    private static let tag = try? NSRegularExpression(pattern: #"<[^>]*>"#)
    private static let word = try? NSRegularExpression(
        pattern: #"mirror-bot [a-z]+|(?<![\w-])--[a-z]+|(?<![\w-])[A-Z][A-Z0-9_]{2,}(?![\w-])"#)

    private static func removed(_ pattern: NSRegularExpression?, from text: String) -> String {
        let whole = NSRange(location: 0, length: (text as NSString).length)
        return pattern?.stringByReplacingMatches(in: text, range: whole, withTemplate: "\n")
            ?? text
    }
}
