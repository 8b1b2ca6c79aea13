import Foundation
package import Posts

/// Whether a text stands for itself when it is read years later, by people who see nothing but it.
///
/// The rules are rows of `Resources/fitness.tsv`, applied in their order. What a row finds makes a text unfit, always or
/// outside a window; the first that says always names the reason. What follows is one of
///
/// - `never`, or a window as ``FitnessWindow`` writes it, whose words are cut before the rows below look;
/// - `never-beside-few-words`, `never-without-season` where no row of a season was found, `never-without-thing` where no
///   row `thing` was;
/// - `few-letters` and `link-alone`, which count instead of matching;
/// - `cut`, which says nothing but that what it matches is no concern of the rows below;
/// - `year`, a year that was near when the post was written; `month` and `weekday`, a window by the name they find;
/// - `words`, which lists words that a tokenizer must find whole.
package struct Fitness: Sendable {
    /// Raised when the rules change.
    package static let version = 1

    /// How much must be given up for a text to be used.
    package enum Grade: Int, Comparable, Sendable {
        case fit
        /// It names a day, or what was true on one.
        case ofItsTime
        /// It speaks to somebody, or was news.
        case addressed
        /// It cannot be understood alone, or hurts.
        case broken

        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// What the rules make of a text.
    package struct Verdict: Equatable, Sendable {
        /// The first rule by which it is not fit, or else not always; nil for a text that is always fit.
        package internal(set) var reason: Refusal.Reason?
        /// The worst of the rules by which it never is.
        package internal(set) var grade = Grade.fit
        /// When it is fit; nil for always, as far as the grade allows.
        package internal(set) var window: FitnessWindow?

        init() {}

        /// A text that a rule outside of this one's words refuses.
        package init(_ reason: Refusal.Reason) { (self.reason, grade) = (reason, Fitness.grade(of: reason)) }
    }

    /// A word as a tokenizer cuts it.
    package struct Word: Sendable {
        let text: String
        let mayTellTime: Bool

        /// - Parameters:
        ///   - text: As it stands in the text.
        ///   - mayTellTime: Whether it is a noun, an adverb, a conjunction or an interjection.
        package init(_ text: String, mayTellTime: Bool) { (self.text, self.mayTellTime) = (text, mayTellTime) }
    }

    /// Cuts a text into words; nil where none can, and then words are looked for wherever they stand.
    package typealias Tokenizing = (String) -> [Word]?

    private let rows: [FitnessRow]

    /// The rules of this program.
    package static let standard = Fitness(
        rows: String(decoding: PackageResources.fitness_tsv, as: UTF8.self).split(separator: "\n")
            .filter { !$0.hasPrefix("#") }.map { FitnessRow($0) })

    /// What is to be said of a post that answers nobody.
    ///
    /// - Parameters:
    ///   - post: One of the human's.
    ///   - year: When it was written, on the human's calendar.
    ///   - isThread: Whether the text is all of a thread, whose parts go on from each other.
    ///   - words: Cuts a text into words; asked only where one of some Japanese words stands in it.
    /// - Returns: The verdict; whether a program wrote the post is for ``MachineClients`` to say.
    package func verdict(on post: Post, year: Int, isThread: Bool = false, words: Tokenizing) -> Verdict {
        var judged = JudgedText(post.text, year: year)
        if post.isQuote { judged.refuse(.quotesAPost) }
        for row in rows where !isThread || row.reason != .threadPart { row.apply(to: &judged, words) }
        if !post.mentions.isEmpty { judged.refuse(.namesSomebody) }
        return judged.verdict
    }

    /// How much must be given up to use a text against a rule.
    fileprivate static func grade(of reason: Refusal.Reason) -> Grade {
        switch reason {
        case .dated, .timeBound: .ofItsTime
        case .thanksSomebody, .asksSomebody, .event: .addressed
        default: .broken
        }
    }
}

/// A text while it is judged.
private struct JudgedText {
    /// Longer texts are judged by their beginning and end: what a pattern costs may grow with the square of the length.
    private static let longest = 4_000

    /// With links and names.
    let whole: String
    /// With neither, and without what rows cut.
    var rest: String
    let hasLink: Bool
    let year: Int
    var verdict = Fitness.Verdict()
    var isOfSeason = false
    var thanksThing = false

    init(_ original: String, year: Int) {
        let composed = Self.shortened(original).precomposedStringWithCompatibilityMapping
            .replacingOccurrences(of: "’", with: "'")
        let tokens = PlainTokens(composed)
        var plain = String.UnicodeScalarView()
        for token in tokens.tokens {
            switch token {
            case .scalar(let scalar): plain.append(scalar)
            case .link: plain.append(contentsOf: "⟨u⟩".unicodeScalars)
            case .mention: plain.append(contentsOf: "⟨m⟩".unicodeScalars)
            }
        }
        (whole, rest) = (Self.folded(composed), Self.folded(String(plain)))
        (hasLink, self.year) = (tokens.hasLink, year)
    }

    private static func shortened(_ text: String) -> String {
        guard text.utf16.count > longest else { return text }
        return "\(text.prefix(longest * 3 / 4)) \(text.suffix(longest / 4))"
    }

    private static func folded(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    mutating func refuse(_ reason: Refusal.Reason) {
        if verdict.grade == .fit { verdict.reason = reason }
        verdict.grade = max(verdict.grade, Fitness.grade(of: reason))
    }

    mutating func restrict(to condition: FitnessWindow.Condition, _ reason: Refusal.Reason) {
        if verdict.reason == nil { verdict.reason = reason }
        verdict.window = FitnessWindow([condition]).intersection(verdict.window)
        if reason == .greetingSeason { isOfSeason = true }
    }

    /// Letters, or words of so many of them at least.
    func count(_ pattern: NSRegularExpression) -> Int {
        pattern.numberOfMatches(in: rest, range: NSRange(rest.startIndex..., in: rest))
    }
}

/// One line of the rules.
private struct FitnessRow: Sendable {
    enum Effect {
        case never, beside, withoutSeason, withoutThing, letters, link, cut, thing, year, month, weekday
        case within(FitnessWindow.Condition)
        case words(Set<String>)
    }

    let reason: Refusal.Reason?
    let effect: Effect
    let pattern: NSRegularExpression
    let seesLinks: Bool

    init(_ line: Substring) {
        let fields = line.split(separator: "\t").map(String.init)
        reason = Refusal.Reason(rawValue: fields[0])
        effect = Self.effect(fields[1], fields[3])
        seesLinks = fields[2].contains("l")
        pattern = Self.pattern(fields[3], fields[2].contains("i") ? .caseInsensitive : [])
    }

    private static func effect(_ name: String, _ pattern: String) -> Effect {
        switch name {
        case "never": .never
        case "never-beside-few-words": .beside
        case "never-without-season": .withoutSeason
        case "never-without-thing": .withoutThing
        case "few-letters": .letters
        case "link-alone": .link
        case "cut": .cut
        case "thing": .thing
        case "year": .year
        case "month": .month
        case "weekday": .weekday
        case "words": .words(Set(pattern.split(separator: " ").map(String.init)))
        default: FitnessWindow(name).flatMap(\.conditions.first).map { .within($0) } ?? .never
        }
    }

    private static func pattern(_ text: String, _ options: NSRegularExpression.Options = []) -> NSRegularExpression {
        do { return try NSRegularExpression(pattern: text, options: options) } catch {
            // The rules are part of the program.
            preconditionFailure("\(text): \(error)")
        }
    }

    private static let letter = pattern(#"[^\W\d_]"#)
    private static let word = pattern(#"[^\W\d_]{2,}"#)
    private static let japanese = pattern("[ぁ-んァ-ヶ一-龠々ー]")

    func apply(to judged: inout JudgedText, _ words: Fitness.Tokenizing) {
        switch effect {
        case .letters: if judged.count(Self.letter) < 3, !judged.hasLink { refuse(&judged) }
        case .link: if judged.hasLink, isShort(judged, words: 3, japanese: 6) { refuse(&judged) }
        case .words(let list): if tellsTime(judged.rest, list, words) { refuse(&judged) }
        case .year: nameYear(&judged)
        case .month: nameMonth(&judged)
        case .weekday: nameWeekday(&judged)
        case .within(let condition):
            guard let reason, matches(judged) else { return }
            judged.restrict(to: condition, reason)
            cut(&judged)
        case .cut: cut(&judged)
        case .thing: if matches(judged) { judged.thanksThing = true }
        case .never, .beside, .withoutSeason, .withoutThing: if isAllowed(judged), matches(judged) { refuse(&judged) }
        }
    }

    private func isAllowed(_ judged: JudgedText) -> Bool {
        switch effect {
        case .beside: isShort(judged, words: 5, japanese: 10)
        case .withoutSeason: !judged.isOfSeason
        case .withoutThing: !judged.thanksThing
        default: true
        }
    }

    private func isShort(_ judged: JudgedText, words: Int, japanese: Int) -> Bool {
        judged.count(Self.word) < words && judged.count(Self.japanese) < japanese
    }

    private func refuse(_ judged: inout JudgedText) { if let reason { judged.refuse(reason) } }

    private func matches(_ judged: JudgedText) -> Bool {
        let text = seesLinks ? judged.whole : judged.rest
        return pattern.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
    }

    private func cut(_ judged: inout JudgedText) {
        let text = judged.rest
        judged.rest = pattern.stringByReplacingMatches(
            in: text, range: NSRange(text.startIndex..., in: text), withTemplate: " ")
    }

    // MARK: Rows of several words

    /// What the pattern's first group found, wherever it did.
    private func names(_ text: String) -> [String] {
        pattern.matches(in: text, range: NSRange(text.startIndex..., in: text)).compactMap { match in
            Range(match.range(at: 1), in: text).map { String(text[$0]) }
        }
    }

    private func nameYear(_ judged: inout JudgedText) {
        let years = names(judged.rest).compactMap { Int($0) }
        if years.contains(where: { abs($0 - judged.year) <= 2 }) { refuse(&judged) }
    }

    private static let months = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
        "december",
    ]

    private func nameMonth(_ judged: inout JudgedText) {
        for name in names(judged.rest) {
            guard let reason, let index = Self.months.firstIndex(of: name.lowercased()) else { continue }
            judged.restrict(to: .months([index + 1]), reason)
        }
    }

    private static let weekdays = [
        "mon", "tues", "wednes", "thurs", "fri", "satur", "sun", "月", "火", "水", "木", "金", "土", "日",
    ]

    private func nameWeekday(_ judged: inout JudgedText) {
        guard !judged.rest.contains("毎週") else { return }
        for name in names(judged.rest) {
            let found = Self.weekdays.firstIndex { name.lowercased() == $0 || name.lowercased() == $0 + "day" }
            guard let reason, let found else { continue }
            judged.restrict(to: .weekdays([found % 7 + 1]), reason)
        }
    }

    // MARK: Words

    /// What follows a word that then tells no time.
    private static let harmless: [String: [String]] = {
        let general = ["でも", "も", "の", "まで", "どき", "風", "更"]
        return ["昨日": ["のこと"], "今": general, "いま": general, "現在": general]
    }()
    /// These tell a time only at the beginning.
    private static let leading: Set<String> = ["最近", "現在", "今回"]

    private func tellsTime(_ text: String, _ list: Set<String>, _ tokenize: Fitness.Tokenizing) -> Bool {
        guard list.contains(where: text.contains) else { return false }
        guard let words = tokenize(text) else { return true }
        for (index, word) in words.enumerated() where word.mayTellTime && list.contains(word.text) {
            let rest = words[(index + 1)...].prefix(4).map(\.text).joined()
            if Self.harmless[word.text]?.contains(where: rest.hasPrefix) == true { continue }
            if Self.leading.contains(word.text), index > 0 { continue }
            return true
        }
        return false
    }
}
