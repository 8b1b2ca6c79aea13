import Embedded
import Foundation
import Posts

/// Classifies mentions and replies by their kind, in English and Japanese.
///
/// The words are in `Resources/replies.txt`, whose head describes the format:
///
///     language en English
///     both thanks: thanks, thank you
///     mention request: please, can you
///     answers thanks: welcome 43, yes 6
///
/// A text of any other language has no kind.
package struct ReplyKinds: Sendable {
    /// The lists of this program.
    package static let standard = ReplyKinds(EmbeddedFiles.text(of: "Conduct/replies.txt"))

    /// The kind of a mention; the names are those in the file.
    package enum Mention: String, CaseIterable, Codable, Sendable {
        case thanks, greeting, sorry
        case yesNoQuestion = "yes-no"
        case whQuestion = "wh"
        case acknowledgement, request, statement
    }

    /// The kind of a reply; the names are those in the file.
    package enum Reply: String, CaseIterable, Codable, Sendable {
        case welcome, thanks, greeting, yes, no, acknowledgement, sorry, other
    }

    /// A language with kinds.
    package enum Language: String, CaseIterable, Codable, Sendable {
        case english = "en"
        case japanese = "ja"

        /// Returns the language of a text; nil for a language without kinds.
        ///
        /// A text with kana is Japanese, whatever its `tag`. Without a tag an ASCII text counts as
        /// English.
        ///
        /// - Parameter tag: The language tag of the post, if it has one.
        package init?(of text: String, tag: String?) {
            if text.unicodeScalars.contains(where: \.isKana) {
                self = .japanese
                return
            }
            if let tag {
                let primary = tag.prefix { $0 != "-" && $0 != "_" }.lowercased()
                guard let language = Language(rawValue: primary) else { return nil }
                self = language
                return
            }
            let letters = text.unicodeScalars.lazy.filter(\.properties.isAlphabetic)
            guard !letters.isEmpty, letters.allSatisfy(\.isASCII) else { return nil }
            self = .english
        }
    }

    /// The only kind of word groups that form a plain list.
    fileprivate enum Listed { case listed }

    /// The words of one language.
    fileprivate struct Lists: Sendable {
        var mentions = Groups<Mention>()
        var replies = Groups<Reply>()
        var questionWords = Groups<Listed>()
        /// Exclamations that are skipped at the beginning of a text.
        var skipped = Groups<Listed>()
        var answers = KindTable()
    }

    /// Word groups by their kind.
    fileprivate struct Groups<Kind: Sendable>: Sendable {
        /// The groups that are searched at the beginning of a text.
        private(set) var atBeginning: [String: Kind] = [:]
        /// The groups that are searched at the end of a text.
        private(set) var atEnd: [String: Kind] = [:]
        /// The number of units of the longest group.
        private(set) var longestLength = 0

        mutating func add(_ groups: [Units], as kind: Kind, isAtEnd: Bool = false) {
            for group in groups {
                let text = group.key(from: 0, length: group.count)
                if isAtEnd { atEnd[text] = kind } else { atBeginning[text] = kind }
                longestLength = max(longestLength, group.count)
            }
        }
    }

    /// The number of characters that are read at the beginning and at the end of a longer text.
    private static let longestPart = 100

    private var lists: [Language: Lists] = [:]

    /// - Parameter file: The text of `replies.txt`.
    package init(_ file: String) {
        var language: Language?
        for line in file.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: ":", maxSplits: 1)
            let head = parts[0].split(separator: " ").map(String.init)
            if head.first == "language", head.count > 1 {
                language = Language(rawValue: head[1])
                continue
            }
            let items = parts.count == 2 ? parts[1].split(separator: ",").map(String.init) : []
            guard let language, head.count > 1,
                lists[language, default: Lists()].add(head, items, language)
            else {
                preconditionFailure("replies.txt has a line of no known form: \(line)")
            }
        }
    }

    /// Returns the kind of a mention.
    ///
    /// - Parameter text: The text; account names at its beginning are ignored.
    package func mention(_ text: String, in language: Language) -> Mention {
        guard let lists = lists[language] else { return .statement }
        let units = Units(text, language)
        let match = units.kind(in: lists.mentions, skipping: lists.skipped)
        if let match, match.kind == .request { return .request }
        let endsAsQuestion = match.map { $0.isAtEnd && $0.kind == .yesNoQuestion } ?? false
        guard units.endsWithQuestionMark || endsAsQuestion else {
            return match?.kind ?? .statement
        }
        if let match, match.kind == .greeting, match.isWhole { return .greeting }
        return units.hasQuestionWord(lists.questionWords) ? .whQuestion : .yesNoQuestion
    }

    /// Returns the kind of a reply.
    package func reply(_ text: String, in language: Language) -> Reply {
        guard let lists = lists[language] else { return .other }
        return Units(text, language).kind(in: lists.replies, skipping: lists.skipped)?.kind
            ?? .other
    }

    /// The shipped table of a language.
    package func answers(in language: Language) -> KindTable {
        lists[language]?.answers ?? KindTable()
    }

    /// A text divided into the units of word groups: words in English, characters in Japanese.
    fileprivate struct Units {
        let endsWithQuestionMark: Bool
        private let language: Language
        private let units: [String]

        /// A word group that was found in a text.
        struct Match<Kind> {
            let kind: Kind
            var isAtEnd = false
            /// Whether the text consists of nothing else.
            var isWhole = false
        }

        init(_ text: String, _ language: Language) {
            self.language = language
            let body = TextCleaning.withoutLeadingMentions(TextCleaning.normalized(text))
            let last = body.suffix(ReplyKinds.longestPart).unicodeScalars.last {
                $0.isWord || $0.isQuestionMark
            }
            endsWithQuestionMark = last?.isQuestionMark ?? false
            var searched = body
            if body.count > 2 * ReplyKinds.longestPart {
                searched =
                    body.prefix(ReplyKinds.longestPart) + " " + body.suffix(ReplyKinds.longestPart)
            }
            units = Self.units(of: searched, language)
        }

        /// A word group of the file.
        init(group: String, _ language: Language) {
            self.language = language
            endsWithQuestionMark = false
            units = Self.units(of: group, language)
        }

        var count: Int { units.count }

        private static func units(of text: String, _ language: Language) -> [String] {
            let folded = text.precomposedStringWithCompatibilityMapping.lowercased()
                .replacing("\u{2019}", with: "'")
            switch language {
            case .english:
                return folded.unicodeScalars.split { !$0.isWord && $0 != "'" }
                    .map { String(String.UnicodeScalarView($0)) }
            case .japanese:
                return folded.unicodeScalars.filter(\.isWord).map { String($0) }
            }
        }

        /// Whether the text has a question word, in English among its first two words.
        func hasQuestionWord(_ words: Groups<Listed>) -> Bool {
            let starts =
                switch language {
                case .english: units.indices.prefix(2)
                case .japanese: units.indices
                }
            return starts.contains { longestGroup(words, from: $0) != nil }
        }

        /// Returns the kind of the word group at the beginning of the text or after an exclamation
        /// there, or else of the one at its end; nil for none.
        func kind<Kind>(in groups: Groups<Kind>, skipping skipped: Groups<Listed>) -> Match<Kind>? {
            let first = longestGroup(groups, from: 0)
            if let exclamation = longestGroup(skipped, from: 0),
                exclamation.length >= first?.length ?? 0,
                let next = longestGroup(groups, from: exclamation.length)
            {
                return Match(kind: next.kind)
            }
            if let first { return Match(kind: first.kind, isWhole: first.length == units.count) }
            guard !groups.atEnd.isEmpty else { return nil }
            let kindAtEnd = lengths(groups, upTo: units.count).lazy
                .compactMap { length in
                    groups.atEnd[key(from: units.count - length, length: length)]
                }.first
            return kindAtEnd.map { Match(kind: $0, isAtEnd: true) }
        }

        /// Returns `length` units from `start` on as a key of ``Groups``.
        func key(from start: Int, length: Int) -> String {
            units[start..<start + length].joined(separator: " ")
        }

        /// Returns the longest word group that begins at a place; nil if there is none.
        private func longestGroup<Kind>(_ groups: Groups<Kind>, from start: Int) -> (
            kind: Kind, length: Int
        )? {
            lengths(groups, upTo: units.count - start).lazy
                .compactMap { length in
                    groups.atBeginning[key(from: start, length: length)].map { ($0, length) }
                }.first
        }

        /// Returns the lengths that a word group can have, the largest first.
        private func lengths<Kind>(_ groups: Groups<Kind>, upTo limit: Int) -> ReversedCollection<
            Range<Int>
        > {
            let longest = max(0, min(limit, groups.longestLength))
            return (1..<longest + 1).reversed()
        }
    }
}

extension ReplyKinds.Lists {
    /// Adds a line of the file; false if it has an unknown kind.
    ///
    /// - Parameters:
    ///   - head: The words before the colon.
    ///   - items: The word groups or numbers after the colon.
    fileprivate mutating func add(
        _ head: [String], _ items: [String], _ language: ReplyKinds.Language
    ) -> Bool {
        let mention = ReplyKinds.Mention(rawValue: head[1])
        let reply = ReplyKinds.Reply(rawValue: head[1])
        if head[0] == "answers" { return answers.addCells(of: mention, items) }
        let groups = items.map { ReplyKinds.Units(group: $0, language) }
        let isAtEnd = head.count > 2
        switch (head[0], head[1]) {
        case ("word", "wh"): questionWords.add(groups, as: .listed)
        case ("word", "skip"): skipped.add(groups, as: .listed)
        case ("mention", _):
            guard let mention else { return false }
            mentions.add(groups, as: mention, isAtEnd: isAtEnd)
        case ("reply", _):
            guard let reply else { return false }
            replies.add(groups, as: reply, isAtEnd: isAtEnd)
        case ("both", _):
            guard let mention, let reply else { return false }
            mentions.add(groups, as: mention, isAtEnd: isAtEnd)
            replies.add(groups, as: reply, isAtEnd: isAtEnd)
        default: return false
        }
        return true
    }
}

/// How often each kind of mention was answered with each kind of reply.
package struct KindTable: Equatable, Sendable {
    /// Added to each count, so that a pair that was never seen is unlikely but not impossible.
    private static let pseudocount = 0.5
    private static let mentionKindCount = ReplyKinds.Mention.allCases.count
    private static let replyKindCount = ReplyKinds.Reply.allCases.count

    private var counts: [ReplyKinds.Mention: [ReplyKinds.Reply: Int]] = [:]
    /// The number of counted pairs.
    package private(set) var total = 0

    package init() {}

    package mutating func add(
        _ mention: ReplyKinds.Mention, _ reply: ReplyKinds.Reply, times: Int = 1
    ) {
        counts[mention, default: [:]][reply, default: 0] += times
        total += times
    }

    package subscript(mention: ReplyKinds.Mention, reply: ReplyKinds.Reply) -> Int {
        counts[mention]?[reply] ?? 0
    }

    /// Returns ln(P(reply | mention) / P(reply)).
    package func logOdds(of reply: ReplyKinds.Reply, after mention: ReplyKinds.Mention) -> Double {
        let mentionCount = Double(counts[mention]?.values.reduce(0, +) ?? 0)
        let replyCount = Double(ReplyKinds.Mention.allCases.reduce(0) { $0 + self[$1, reply] })
        let conditional =
            (Double(self[mention, reply]) + Self.pseudocount)
            / (mentionCount + Self.pseudocount * Double(Self.replyKindCount))
        let cells = Double(Self.mentionKindCount * Self.replyKindCount)
        let unconditional =
            (replyCount + Self.pseudocount * Double(Self.mentionKindCount))
            / (Double(total) + Self.pseudocount * cells)
        return log(conditional / unconditional)
    }

    /// Adds the items of a line such as `answers thanks: welcome 43, yes 6`; false if one has
    /// another form.
    fileprivate mutating func addCells(of mention: ReplyKinds.Mention?, _ items: [String]) -> Bool {
        guard let mention else { return false }
        for item in items {
            let parts = item.split(separator: " ").map(String.init)
            guard parts.count == 2, let reply = ReplyKinds.Reply(rawValue: parts[0]),
                let times = Int(parts[1])
            else {
                return false
            }
            add(mention, reply, times: times)
        }
        return true
    }
}

extension Unicode.Scalar {
    /// Whether it is hiragana or katakana.
    fileprivate var isKana: Bool {
        (0x3041...0x30FF).contains(value) || (0xFF66...0xFF9F).contains(value)
    }
}
