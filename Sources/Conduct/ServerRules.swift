import Embedded
import Foundation

/// A sentence of a server's rules that concerns a bot.
package struct RuleSentence: Equatable, Sendable {
    /// The subject of a sentence.
    package enum Kind: String, CaseIterable, Sendable {
        /// Programs that post.
        case bot
        /// Posts that a program makes, copies or repeats.
        case automation
        /// How often, and into which timelines, a bot may post.
        case frequency
        /// How automated accounts and posts must be marked.
        case label
        /// Copying, imitating or addressing people.
        case consent
    }

    /// A limit that a sentence states.
    package enum Limit: Equatable, Sendable {
        /// The maximum number of posts a day; a limit for an hour or a week is converted.
        case postsPerDay(Int)
        /// Posts must not appear in public timelines.
        case unlisted
        /// Posts must have this hashtag, which is written with its sign.
        case hashtag(String)
    }

    package let text: String
    /// The kinds of the sentence, in the order of their declaration; never empty.
    package let kinds: [Kind]
    package let limits: [Limit]
}

/// Finds the sentences that concern a bot in the rules of a server.
///
/// The words are rows of `Resources/server-rules.tsv`, in eight languages. A list of words is
/// inexact: it only selects the sentences that a person should read, and decides nothing.
package struct ServerRules: Sendable {
    /// The program's own word lists.
    package static let standard = ServerRules(
        EmbeddedFiles.rows(of: "Conduct/server-rules.tsv", columns: 3))

    /// The maximum number of characters of a rule that are read.
    private static let longestText = 20_000
    /// The maximum number of characters of a sentence that are kept.
    private static let longestSentence = 500
    private static let hoursPerDay = 24
    private static let daysPerWeek = 7

    private var words: [(kind: RuleSentence.Kind, pattern: NSRegularExpression)] = []
    /// Phrases about the server itself, which are removed before the words are searched.
    private var phrasesAboutServer: [NSRegularExpression] = []
    private var units: [(unit: Unit, pattern: NSRegularExpression)] = []
    private var numbers: [(number: Int, pattern: NSRegularExpression)] = []
    private var unlisted: [NSRegularExpression] = []

    private enum Unit: String { case day, hour, week }

    private init(_ rows: [[String]]) {
        for cells in rows {
            let pattern = Self.pattern(cells[2])
            if let kind = RuleSentence.Kind(rawValue: cells[1]) {
                words.append((kind, pattern))
            } else if let unit = Unit(rawValue: cells[1]) {
                units.append((unit, pattern))
            } else if let number = Int(cells[1]) {
                numbers.append((number, pattern))
            } else if cells[1] == "unlisted" {
                unlisted.append(pattern)
            } else {
                precondition(cells[1] == "other", "server-rules.tsv has no kind \(cells[1])")
                phrasesAboutServer.append(pattern)
            }
        }
    }

    private static func pattern(_ text: String) -> NSRegularExpression {
        do {
            return try NSRegularExpression(pattern: text, options: .caseInsensitive)
        } catch {
            preconditionFailure("server-rules.tsv has no pattern \(text): \(error)")
        }
    }

    /// Returns the sentences of a text that concern a bot, in their order.
    ///
    /// - Parameter text: One rule, or an about page, as plain text.
    package func sentences(in text: String) -> [RuleSentence] {
        Self.split(text).compactMap(sentence)
    }

    /// Returns what a sentence says about bots; nil if it is about another subject.
    private func sentence(_ text: String) -> RuleSentence? {
        let searched = phrasesAboutServer.reduce(text.precomposedStringWithCompatibilityMapping) {
            text, pattern in
            pattern.stringByReplacingMatches(in: text, range: text.whole, withTemplate: " ")
        }
        let foundKinds = Set(words.lazy.filter { $0.pattern.occurs(in: searched) }.map(\.kind))
        guard !foundKinds.isEmpty else { return nil }
        return RuleSentence(
            text: text, kinds: RuleSentence.Kind.allCases.filter(foundKinds.contains),
            limits: limits(in: searched, foundKinds))
    }

    private static func split(_ text: String) -> [String] {
        let withLineBreaks = String(text.prefix(longestText))
            .replacing(/([。！？])/) { "\($0.output.1)\n" }
            .replacing(/([.!?…]["”»)]?)\s+/) { "\($0.output.1)\n" }
        return withLineBreaks.split(whereSeparator: \.isNewline).compactMap { line in
            let sentence = line.trimmingCharacters(in: .whitespacesAndNewlines)
            return sentence.isEmpty ? nil : String(sentence.prefix(longestSentence))
        }
    }

    // MARK: Limits

    private func limits(in sentence: String, _ kinds: Set<RuleSentence.Kind>) -> [RuleSentence
        .Limit]
    {
        var limits: [RuleSentence.Limit] = []
        if kinds.contains(.frequency), let count = postsPerDay(in: sentence) {
            limits.append(.postsPerDay(count))
        }
        if unlisted.contains(where: { $0.occurs(in: sentence) }) { limits.append(.unlisted) }
        if let tag = sentence.firstMatch(of: /#[\p{L}\p{N}_]+/) {
            limits.append(.hashtag(String(tag.output)))
        }
        return limits
    }

    /// The number of posts a day that a sentence allows; nil if it states none, or more than one
    /// number.
    private func postsPerDay(in sentence: String) -> Int? {
        guard let unit = units.first(where: { $0.pattern.occurs(in: sentence) }) else { return nil }
        let remaining = unit.pattern.stringByReplacingMatches(
            in: sentence, range: sentence.whole, withTemplate: " ")
        var counts = remaining.matches(of: /\d{1,4}/).compactMap { Int($0.output) }
        if counts.isEmpty {
            counts = numbers.filter { $0.pattern.occurs(in: remaining) }.map(\.number)
        }
        guard counts.count == 1, let count = counts.first, count > 0 else { return nil }
        return switch unit.unit {
        case .day: count
        case .hour: count * Self.hoursPerDay
        case .week: max(1, count / Self.daysPerWeek)
        }
    }
}

extension NSRegularExpression {
    fileprivate func occurs(in text: String) -> Bool {
        firstMatch(in: text, range: text.whole) != nil
    }
}

extension String {
    fileprivate var whole: NSRange { NSRange(startIndex..., in: self) }
}
