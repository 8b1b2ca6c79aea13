import Embedded
import Foundation
package import Posts

/// Judges whether a text can be understood years later by people who see nothing else of its
/// context.
///
/// The rules are rows of `Resources/fitness.tsv`, applied in their order. A text that matches a row
/// is unfit, always or outside a window; the first row that makes it always unfit names the
/// reason. The effect of a row is one of
///
/// - `never`, or a window as ``FitnessWindow`` writes it, whose words are removed before the rows
///   below are applied;
/// - `never-beside-few-words`, which is `never` for a text with few words;
///   `never-without-season`, if no row of a season matched; `never-without-thing`, if no row
///   `thing` matched;
/// - `later`, with which the text stays fit, but is not plain;
/// - `few-letters` and `link-alone`, which count letters or words instead of matching a pattern;
/// - `cut`, which only removes the match before the rows below are applied;
/// - `year`, a year near the time of writing; `month` and `weekday`, a window by the number of the
///   group that matched, from 1 for January or Monday;
/// - `words`, which lists words that a tokenizer must find as whole words;
/// - `language` and its code, with the commonest words of the language. Rows whose flags name
///   languages apply only to texts that may be in one of these: the languages whose common words
///   occur most. Japanese and Korean are recognized by their letters.
package struct Fitness: Sendable {
    /// Raised when the rules change.
    package static let version = 5

    /// The grade of a text, from the most to the least suitable.
    package enum Grade: Int, Comparable, Sendable {
        /// Fit, and without link, hashtag, public affairs, or any other sign of its time or
        /// context.
        case plain = -1
        /// It can be understood by itself.
        case fit
        /// It names a day, or says something that was true only on its day.
        case ofItsTime
        /// It addresses a person, or was news when it was written.
        case addressed
        /// It cannot be understood alone, or is hurtful.
        case broken

        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// The rules' verdict on a text.
    package struct Verdict: Equatable, Sendable {
        /// The first rule that makes the text unfit, or else the first that restricts it to a
        /// window; nil for a text that is always fit.
        package internal(set) var reason: Refusal.Reason?
        /// The worst grade that a rule gives the text.
        package internal(set) var grade = Grade.plain
        /// The time at which the text is fit; nil for any time, if the grade is accepted.
        package internal(set) var window: FitnessWindow?
        /// The first rule that makes a fit text less than plain; a rule about its words has
        /// precedence over one about its link or hashtag.
        package private(set) var demotion: Refusal.Reason?
        /// All findings of the rules, in their order.
        package private(set) var findings: [Finding] = []

        package init() {}

        /// Whether the text is plain, so that it is among the first to be used, at any time.
        package var isPlain: Bool { grade == .plain && window == nil }

        /// The ``demotion``, unless that is a link or a hashtag.
        package var demotionByWords: Refusal.Reason? {
            demotion.flatMap { Fitness.reasonsOfForm.contains($0) ? nil : $0 }
        }

        /// Adds a finding that makes the text unfit; the line is nil for a rule outside the rules'
        /// file.
        mutating func refuse(_ reason: Refusal.Reason, line: Int? = nil) {
            findings.append(Finding(line: line, reason: reason, effect: .refuses))
            if grade <= .fit { self.reason = reason }
            grade = max(grade, Fitness.grade(of: reason))
        }

        fileprivate mutating func restrict(
            to condition: FitnessWindow.Condition, _ reason: Refusal.Reason, line: Int
        ) {
            findings.append(Finding(line: line, reason: reason, effect: .restricts))
            if self.reason == nil { self.reason = reason }
            window = FitnessWindow([condition]).intersection(window)
        }

        /// Adds a finding that makes the text less than plain.
        ///
        /// - Parameter line: The line of the rule in the rules' file; nil for a rule of the
        ///   program.
        package mutating func demote(_ reason: Refusal.Reason, line: Int? = nil) {
            findings.append(Finding(line: line, reason: reason, effect: .demotes))
            grade = max(grade, .fit)
            let hasPrecedence = demotionByWords == nil && !Fitness.reasonsOfForm.contains(reason)
            if demotion == nil || hasPrecedence { demotion = reason }
        }
    }

    /// A rule that makes a text unfit, fit only in a window, or less than plain.
    package struct Finding: Hashable, Sendable {
        /// The effect of a rule on a text: never used, used in its window, or used after plain
        /// texts.
        package enum Effect: String, Sendable {
            case refuses, restricts, demotes
        }

        /// The rule's line in `fitness.tsv`; nil for a rule outside that file.
        package let line: Int?
        package let reason: Refusal.Reason
        package let effect: Effect
    }

    /// Reasons against a plain text that are about its links and hashtags, not about its words.
    fileprivate static let reasonsOfForm: Set<Refusal.Reason> = [.withLink, .withTag]

    /// A word as a tokenizer delimits it.
    package struct Word: Sendable {
        let text: String
        let mayTellTime: Bool

        /// - Parameters:
        ///   - mayTellTime: Whether the word is a noun, adverb, conjunction or interjection.
        package init(_ text: String, mayTellTime: Bool) {
            self.text = text
            self.mayTellTime = mayTellTime
        }
    }

    /// Splits a text into words; nil if there is no tokenizer, in which case the words of a rule
    /// match anywhere in the text.
    package typealias Tokenizing = (String) -> [Word]?

    private let rows: [FitnessRow]
    /// The rows that recognize a language.
    private let languages: [FitnessRow]

    /// The rules of this program.
    package static let standard = Fitness(table)
    /// The text of the rules' file.
    static let table = EmbeddedFiles.text(of: "Conduct/fitness.tsv")

    /// - Parameter triesAll: Whether to try every pattern, without regard to its
    ///   ``PatternLiterals``.
    init(_ table: String, triesAll: Bool = false) {
        let lines = table.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
        let allRows = lines.filter { _, line in !line.isEmpty && !line.hasPrefix("#") }
            .map { index, line in FitnessRow(line, line: index + 1, isAlwaysTried: triesAll) }
        rows = allRows.filter { $0.language == nil }
        languages = allRows.filter { $0.language != nil }
    }

    /// Judges a post that is not a reply.
    ///
    /// - Parameters:
    ///   - year: The year of writing, by the human's calendar.
    ///   - isThread: Whether the text consists of the parts of a thread.
    ///   - words: Splits a text into words; called only if the text contains certain Japanese
    ///     words.
    /// - Returns: The verdict, which ignores whether a program wrote the post; see
    ///   `MachineClients`.
    package func verdict(on post: Post, year: Int, isThread: Bool = false, words: Tokenizing)
        -> Verdict
    {
        var judged = JudgedText(post.text, year: year)
        if post.isQuote { judged.verdict.refuse(.quotesAPost) }
        judged.guessLanguages(by: languages, named: post.language)
        let ignored: [Refusal.Reason] = isThread ? [.threadPart, .goesOn] : []
        for row in rows where row.applies(to: judged.languages) {
            if let reason = row.reason, ignored.contains(reason) { continue }
            row.apply(to: &judged, words)
        }
        if !post.mentions.isEmpty { judged.verdict.refuse(.namesSomebody) }
        return judged.verdict
    }

    /// The grade of a text that a rule with this reason matched.
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
    /// Longer texts are judged by their beginning and end, because the time of a pattern may grow
    /// with the square of the length.
    private static let longest = 4_000

    /// A text, its range as patterns count it, and its grams.
    struct Searched {
        let text: String
        let range: NSRange
        let grams: TextGrams

        init(_ text: String) {
            self.text = text
            range = NSRange(text.startIndex..., in: text)
            grams = TextGrams(text)
        }
    }

    /// The text with links and names.
    let whole: Searched
    /// The text without links, names and the removed matches.
    var remainder: Searched
    let hasLink: Bool
    let year: Int
    /// The languages that the text may be in.
    private(set) var languages: Set<String> = []
    var verdict = Fitness.Verdict()
    /// Whether a rule for greetings of a season matched.
    var isOfSeason = false
    /// Whether a row `thing` matched, so that the text thanks for a thing.
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
        whole = Searched(Self.folded(composed))
        let plainText = Self.folded(String(plain))
        remainder = plainText == whole.text ? whole : Searched(plainText)
        hasLink = tokens.hasLink
        self.year = year
    }

    private static func shortened(_ text: String) -> String {
        guard text.utf16.count > longest else { return text }
        return "\(text.prefix(longest * 3 / 4)) \(text.suffix(longest / 4))"
    }

    private static func folded(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Finds the languages whose common words occur most in the text, or all if none occur;
    /// recognizes Japanese and Korean by their letters.
    ///
    /// The post's own language tag counts as two words of that language.
    mutating func guessLanguages(by rows: [FitnessRow], named: String?) {
        let namedCode = named?.prefix { $0 != "-" }.lowercased()
        languages = []
        for scalar in remainder.text.unicodeScalars {
            switch scalar.value {
            case 0x1100...0x11FF, 0x3130...0x318F, 0xAC00...0xD7A3: languages.insert("ko")
            case 0x3005, 0x3041...0x30FF, 0x3400...0x9FFF: languages.insert("ja")
            default: continue
            }
        }
        guard remainder.text.unicodeScalars.contains(where: { $0.isLetter && $0.value < 0x250 })
        else {
            return
        }
        let scores = rows.map { row in
            let bonus = row.language == namedCode ? 2 : 0
            return (language: row.language ?? "", score: count(row.pattern) + bonus)
        }
        let highest = scores.map(\.score).max() ?? 0
        languages.formUnion(scores.filter { $0.score == highest }.map(\.language))
    }

    /// The number of matches of a pattern in the text without links and names.
    func count(_ pattern: NSRegularExpression) -> Int {
        pattern.numberOfMatches(in: remainder.text, range: remainder.range)
    }
}

/// One line of the rules.
private final class FitnessRow: Sendable {
    enum Effect {
        /// A match refuses the text.
        case never
        /// A match refuses a text of few words.
        case besideFewWords
        /// A match refuses a text that does not belong to certain days of the year.
        case withoutSeason
        /// A match refuses a text that does not thank for a thing.
        case withoutThing
        /// A match demotes the text.
        case later
        /// A text of few letters and without a link is refused.
        case fewLetters
        /// A text of few words and a link is refused.
        case linkAlone
        /// Matches are removed before the rows that follow.
        case cut
        /// A match is the thing for which the text thanks.
        case thing
        /// A year near the present one refuses the text.
        case year
        /// A match restricts the text to a month.
        case month
        /// A match restricts the text to a weekday.
        case weekday
        case within(FitnessWindow.Condition)
        case words(Set<String>)
        case language(String)
    }

    let line: Int
    let reason: Refusal.Reason?
    let effect: Effect
    let pattern: NSRegularExpression
    /// Literals, one of which each match of the pattern contains; nil if none is known.
    private let literals: PatternLiterals?
    /// Whether the pattern is searched in the text with links and names.
    let seesLinks: Bool
    /// The languages to which the row applies; empty for all.
    let languages: Set<String>

    init(_ text: Substring, line: Int, isAlwaysTried: Bool) {
        let fields = text.split(separator: "\t").map(String.init)
        let flags = fields[2].split(separator: " ").map(String.init)
        self.line = line
        reason = Refusal.Reason(rawValue: fields[0])
        effect = Self.effect(fields[1], fields[3])
        seesLinks = flags[0].contains("l")
        languages = Set(flags.dropFirst())
        pattern = Self.pattern(fields[3], flags[0].contains("i") ? .caseInsensitive : [])
        literals = isAlwaysTried ? nil : PatternLiterals(of: fields[3])
    }

    /// The language that the row recognizes; nil for other rows.
    var language: String? { if case .language(let code) = effect { code } else { nil } }

    func applies(to textLanguages: Set<String>) -> Bool {
        languages.isEmpty || !languages.isDisjoint(with: textLanguages)
    }

    private static func effect(_ name: String, _ pattern: String) -> Effect {
        switch name {
        case _ where name.hasPrefix("language "):
            .language(String(name.dropFirst("language ".count)))
        case "never": .never
        case "later": .later
        case "never-beside-few-words": .besideFewWords
        case "never-without-season": .withoutSeason
        case "never-without-thing": .withoutThing
        case "few-letters": .fewLetters
        case "link-alone": .linkAlone
        case "cut": .cut
        case "thing": .thing
        case "year": .year
        case "month": .month
        case "weekday": .weekday
        case "words": .words(Set(pattern.split(separator: " ").map(String.init)))
        default: FitnessWindow(name).flatMap(\.conditions.first).map { .within($0) } ?? .never
        }
    }

    private static func pattern(_ text: String, _ options: NSRegularExpression.Options = [])
        -> NSRegularExpression
    {
        do { return try NSRegularExpression(pattern: text, options: options) } catch {
            // The rules are part of the program, so an invalid pattern is an error of the program.
            preconditionFailure("\(text): \(error)")
        }
    }

    private static let letter = pattern(#"[^\W\d_]"#)
    private static let word = pattern(#"[^\W\d_]{2,}"#)
    private static let japanese = pattern("[ぁ-んァ-ヶ一-龠々ー]")

    func apply(to judged: inout JudgedText, _ words: Fitness.Tokenizing) {
        switch effect {
        case .fewLetters: if judged.count(Self.letter) < 3, !judged.hasLink { refuse(&judged) }
        case .linkAlone:
            if judged.hasLink, isShort(judged, words: 3, japanese: 6) { refuse(&judged) }
        case .words(let list): if tellsTime(judged.remainder.text, list, words) { refuse(&judged) }
        case .year: refuseNearYear(&judged)
        case .month: restrict(&judged) { .months([$0]) }
        case .weekday: restrict(&judged) { .weekdays([$0]) }
        case .within(let condition):
            guard let reason, matches(judged) else { return }
            judged.verdict.restrict(to: condition, reason, line: line)
            if reason == .greetingSeason { judged.isOfSeason = true }
            cut(&judged)
        case .later: if let reason, matches(judged) { judged.verdict.demote(reason, line: line) }
        case .language: break
        case .cut: cut(&judged)
        case .thing: if matches(judged) { judged.thanksThing = true }
        case .never, .besideFewWords, .withoutSeason, .withoutThing:
            if meetsCondition(judged), matches(judged) { refuse(&judged) }
        }
    }

    /// Whether a text meets the condition that the row's effect names.
    private func meetsCondition(_ judged: JudgedText) -> Bool {
        switch effect {
        case .besideFewWords: isShort(judged, words: 5, japanese: 10)
        case .withoutSeason: !judged.isOfSeason
        case .withoutThing: !judged.thanksThing
        default: true
        }
    }

    /// Whether a text has fewer words, and fewer Japanese letters, than these limits.
    private func isShort(_ judged: JudgedText, words: Int, japanese: Int) -> Bool {
        judged.count(Self.word) < words && judged.count(Self.japanese) < japanese
    }

    private func refuse(_ judged: inout JudgedText) {
        if let reason { judged.verdict.refuse(reason, line: line) }
    }

    /// Whether the pattern must be tried on a text.
    private func mayMatch(_ searched: JudgedText.Searched) -> Bool {
        literals?.mayMatch(searched.grams) ?? true
    }

    private func matches(_ judged: JudgedText) -> Bool {
        let searched = seesLinks ? judged.whole : judged.remainder
        guard mayMatch(searched) else { return false }
        return pattern.firstMatch(in: searched.text, range: searched.range) != nil
    }

    /// All matches of the pattern in the text without links and names.
    private func findings(in judged: JudgedText) -> [NSTextCheckingResult] {
        guard mayMatch(judged.remainder) else { return [] }
        return pattern.matches(in: judged.remainder.text, range: judged.remainder.range)
    }

    private func cut(_ judged: inout JudgedText) {
        guard mayMatch(judged.remainder) else { return }
        let text = judged.remainder.text
        let remaining = pattern.stringByReplacingMatches(
            in: text, range: judged.remainder.range, withTemplate: " ")
        if remaining != text { judged.remainder = JudgedText.Searched(remaining) }
    }

    // MARK: Years, months and weekdays

    /// Refuses a text that names a year within two years of its writing.
    private func refuseNearYear(_ judged: inout JudgedText) {
        let text = judged.remainder.text
        let years = findings(in: judged).compactMap { match in
            Range(match.range(at: 1), in: text).flatMap { Int(text[$0]) }
        }
        if years.contains(where: { abs($0 - judged.year) <= 2 }) { refuse(&judged) }
    }

    /// Adds a window for each match; the number of the first group that matched is the month or
    /// weekday.
    private func restrict(
        _ judged: inout JudgedText, to condition: (_ number: Int) -> FitnessWindow.Condition
    ) {
        guard let reason else { return }
        for match in findings(in: judged) {
            let number = (1..<match.numberOfRanges).first {
                match.range(at: $0).location != NSNotFound
            }
            if let number { judged.verdict.restrict(to: condition(number), reason, line: line) }
        }
    }

    // MARK: Words

    /// For each word, the continuations with which it does not refer to a time.
    private static let harmlessContinuations: [String: [String]] = {
        let general = ["でも", "も", "の", "まで", "どき", "風", "更"]
        return ["昨日": ["のこと"], "今": general, "いま": general, "現在": general]
    }()
    /// Words that refer to a time only at the beginning of a text.
    private static let timesAtStart: Set<String> = ["最近", "現在", "今回"]

    private func tellsTime(_ text: String, _ list: Set<String>, _ tokenize: Fitness.Tokenizing)
        -> Bool
    {
        guard list.contains(where: text.contains) else { return false }
        guard let words = tokenize(text) else { return true }
        for (index, word) in words.enumerated() where word.mayTellTime && list.contains(word.text) {
            let following = words[(index + 1)...].prefix(4).map(\.text).joined()
            let harmless = Self.harmlessContinuations[word.text] ?? []
            if harmless.contains(where: following.hasPrefix) { continue }
            if Self.timesAtStart.contains(word.text), index > 0 { continue }
            return true
        }
        return false
    }
}
