import Embedded
import Foundation
import Posts

/// A grammar of requests to stop, and of profiles that keep bots away, in many languages.
///
/// Its words are in `Resources/stop.txt`, whose head describes the format:
///
///     language de Deutsch
///     stop: hör … auf, schluss
///     not: nicht, keine
///     write: antworte, antworten
///
/// The time to parse a text is proportional to its length, which is limited.
struct StopGrammar: Sendable {
    /// The program's own grammar.
    static let standard = StopGrammar(EmbeddedFiles.text(of: "Conduct/stop.txt"))

    /// The meaning of a word or word group; the names are those in the file.
    enum Role: String, CaseIterable, Sendable {
        case stop, ask, not, write, mirror, me, also, unlike, profile, human
        case writeToMe = "write-me"
    }

    /// One word or word group in one language.
    private struct Entry: Sendable {
        /// The index of the language; 0 for all.
        let language: Int
        let role: Role
        /// Nonzero for one half of a word group with "…"; both halves have the same number.
        var group: UInt16 = 0
        /// Whether the entry is the first half of a word group.
        var opensGroup = false
    }

    /// The words of a part of a text that were read so far, in one language.
    private struct Reading: Hashable {
        static let stop: UInt8 = 1
        static let ask: UInt8 = 2
        static let not: UInt8 = 4
        static let write: UInt8 = 8
        static let me: UInt8 = 16
        static let mirror: UInt8 = 32

        var roles: UInt8 = 0
        /// The word group whose second half is expected; 0 for none.
        var group: UInt16 = 0

        func has(_ role: UInt8) -> Bool { roles & role != 0 }

        /// Whether the words are a request.
        var isRequest: Bool { has(Self.stop) || has(Self.ask) || has(Self.not) && has(Self.write) }
        /// Whether the words are a request that names what the bot is to stop, or a request in any
        /// context.
        var isExplicit: Bool { has(Self.ask) || isRequest && has(Self.write) }
        /// Whether the words are explicit and say whom the request concerns, or are a request in
        /// any context.
        var isClear: Bool { has(Self.ask) || isExplicit && has(Self.me) }

        /// Adds an entry; false if the entry does not fit here.
        mutating func add(_ entry: Entry) -> Bool {
            if entry.group != 0 {
                guard group == (entry.opensGroup ? 0 : entry.group) else { return false }
                group = entry.opensGroup ? entry.group : 0
                if entry.opensGroup { return true }
            }
            switch entry.role {
            case .stop:
                // "Don't stop" is not a request to stop.
                guard !has(Self.not) else { return false }
                roles |= Self.stop
            case .ask: roles |= Self.ask
            case .not: roles |= Self.not
            case .write: roles |= Self.write
            case .mirror: roles |= Self.write | Self.mirror
            case .me: roles |= Self.me
            case .writeToMe: roles |= Self.write | Self.me
            case .also: break
            case .unlike, .profile, .human: return false
            }
            return true
        }
    }

    /// The verdict on a part of a text.
    private enum Verdict: Int, Comparable {
        /// It has words that the grammar does not know.
        case unknown
        /// It has only known words of one language, but no request.
        case neutral
        /// It is a request; see `Reading.isRequest`.
        case request
        /// It is an explicit request; see `Reading.isExplicit`.
        case explicit
        /// It is a clear request; see `Reading.isClear`.
        case clear

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// The maximum number of unknown words beside a clear request.
    private static let maximumOtherWords = 12
    /// The maximum number of letters of a request.
    private static let requestLetters = 600
    /// The maximum number of letters of a profile that are read.
    private static let profileLetters = 20_000

    /// The next state of a trie, by state and scalar as ``transition(from:_:)`` joins them; state 0
    /// is the root.
    private var nextStates: [UInt64: Int] = [:]
    /// The entries whose words end at each state.
    private var entries: [[Entry]] = [[]]
    private(set) var languages: [String] = ["any"]

    private init(_ file: String) {
        var language = 0
        var groupCount: UInt16 = 0
        for line in file.split(separator: "\n") where !line.hasPrefix("#") {
            let fields = line.split(separator: " ", maxSplits: 2)
            if fields.first == "language" {
                let code = String(fields[1])
                language = languages.firstIndex(of: code) ?? languages.count
                if language == languages.count { languages.append(code) }
                continue
            }
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, let role = Role(rawValue: String(parts[0])) else {
                preconditionFailure("stop.txt has a line of no known role: \(line)")
            }
            for phrase in parts[1].split(separator: ",") {
                let halves = phrase.split(separator: "…")
                guard halves.count == 2 else {
                    add(String(phrase), Entry(language: language, role: role))
                    continue
                }
                groupCount += 1
                add(
                    String(halves[0]),
                    Entry(language: language, role: role, group: groupCount, opensGroup: true))
                add(String(halves[1]), Entry(language: language, role: role, group: groupCount))
            }
        }
    }

    private mutating func add(_ phrase: String, _ entry: Entry) {
        let isForProfiles = [.profile, .human].contains(entry.role)
        let forms = Set([phrase, phrase.filter { !FoldedText.apostrophes.contains($0) }])
        for form in forms {
            let letters = FoldedText(form, keepsUnderscores: isForProfiles).parts.flatMap(\.letters)
            guard !letters.isEmpty else { continue }
            var state = 0
            for letter in letters {
                let transition = Self.transition(from: state, letter)
                if let next = nextStates[transition] {
                    state = next
                } else {
                    nextStates[transition] = entries.count
                    state = entries.count
                    entries.append([])
                }
            }
            entries[state].append(entry)
        }
    }

    private static func transition(from state: Int, _ letter: Unicode.Scalar) -> UInt64 {
        UInt64(state) << 21 | UInt64(letter.value)
    }

    // MARK: Requests

    /// Whether a text asks the bot to stop, and says little else.
    ///
    /// - Parameter onlyMirroring: Whether the text must ask for the end of the mirroring.
    func asksToStop(_ text: FoldedText, onlyMirroring: Bool = false) -> Bool {
        let parts = text.parts
        guard !parts.isEmpty, parts.reduce(0, { $0 + $1.letters.count }) <= Self.requestLetters
        else { return false }
        let joined = FoldedText.Part(joining: parts)
        let excluded = excludedLanguages(in: joined)
        if excluded.contains(0) { return false }
        let threshold: Verdict = text.hasLink ? .explicit : .request
        if verdict(on: joined, excluding: excluded, onlyMirroring: onlyMirroring) >= threshold {
            return true
        }
        guard parts.count > 1 else { return false }
        let verdicts = parts.map { verdict(on: $0, excluding: excluded) }
        let candidates =
            onlyMirroring
            ? parts.map { verdict(on: $0, excluding: excluded, onlyMirroring: true) } : verdicts
        let strongest = candidates.max() ?? .unknown
        if strongest >= threshold, !verdicts.contains(.unknown) { return true }
        let otherWords = zip(parts, verdicts).reduce(0) { count, judged in
            let (part, verdict) = judged
            return verdict == .unknown ? count + part.wordCount : count
        }
        return strongest == .clear && otherWords <= Self.maximumOtherWords
    }

    /// Returns the languages in which a text has a phrase that only looks like a request; 0 means
    /// all.
    private func excludedLanguages(in part: FoldedText.Part) -> Set<Int> {
        var excluded: Set<Int> = []
        for start in part.letters.indices where part.isBoundary(start) {
            forEachEntry(in: part, from: start) { entry, _ in
                if entry.role == .unlike { excluded.insert(entry.language) }
            }
        }
        return excluded
    }

    /// Reads a part of a text as words of each language.
    ///
    /// - Parameter onlyMirroring: Whether only words about the mirroring make a request.
    private func verdict(
        on part: FoldedText.Part, excluding excluded: Set<Int>, onlyMirroring: Bool = false
    ) -> Verdict {
        // The readings that end before each letter, by language.
        var readings: [[Int: Set<Reading>]] = Array(repeating: [:], count: part.letters.count + 1)
        for language in languages.indices.dropFirst() where !excluded.contains(language) {
            readings[0][language] = [Reading()]
        }
        for start in part.letters.indices where !readings[start].isEmpty {
            let readingsHere = readings[start]
            readings[start] = [:]
            forEachEntry(in: part, from: start) { entry, end in
                let next = part.start(after: end)
                let entryLanguages =
                    entry.language == 0 ? Array(readingsHere.keys) : [entry.language]
                for language in entryLanguages {
                    for var reading in readingsHere[language] ?? [] {
                        if reading.add(entry) {
                            readings[next][language, default: []].insert(reading)
                        }
                    }
                }
            }
        }
        let completeReadings = readings[part.letters.count].values.joined().filter { $0.group == 0 }
        return completeReadings.map { reading in
            if onlyMirroring, !reading.has(Reading.mirror) { return Verdict.neutral }
            if reading.isClear { return .clear }
            if reading.isExplicit { return .explicit }
            return reading.isRequest ? .request : .neutral
        }.max() ?? .unknown
    }

    /// Calls `body` with each entry that begins at a place, and with its end.
    private func forEachEntry(
        in part: FoldedText.Part, from start: Int, _ body: (Entry, Int) -> Void
    ) {
        var state = 0
        for place in start..<part.letters.count {
            let transition = Self.transition(from: state, part.letters[place])
            guard let next = nextStates[transition] else { return }
            state = next
            guard !entries[state].isEmpty, part.isBoundary(place + 1) else { continue }
            for entry in entries[state] { body(entry, place + 1) }
        }
    }

    // MARK: Profiles

    /// Whether a profile keeps bots away in words.
    func keepsBotsAway(_ profile: FoldedText) -> Bool {
        var lettersLeft = Self.profileLetters
        for part in profile.parts where lettersLeft > 0 {
            lettersLeft -= part.letters.count
            if keepsBotsAway(part) { return true }
        }
        return false
    }

    private func keepsBotsAway(_ part: FoldedText.Part) -> Bool {
        var start = 0
        while start < part.letters.count {
            guard part.isBoundary(start) else {
                start += 1
                continue
            }
            var keepsAway = false
            var endOfHuman = start
            forEachEntry(in: part, from: start) { entry, end in
                if entry.role == .profile { keepsAway = true }
                if entry.role == .human { endOfHuman = end }
            }
            if endOfHuman > start {
                start = endOfHuman
            } else if keepsAway {
                return true
            } else {
                start += 1
            }
        }
        return false
    }
}

/// A text without links, mentions and signs, folded so that spellings of the same words are equal.
///
/// Case, width, accents, vowel points, kinds of kana and lengthened letters make no difference.
struct FoldedText {
    /// The words between two full stops, commas, line breaks and the like.
    struct Part {
        /// The letters, with one blank between words in scripts that use blanks.
        fileprivate(set) var letters: [Unicode.Scalar] = []

        fileprivate init() {}

        init(joining parts: [Part]) {
            for part in parts {
                appendBlank()
                for letter in part.letters { append(letter) }
            }
        }

        /// Whether a word boundary may be before this place.
        func isBoundary(_ place: Int) -> Bool {
            guard place > 0, place < letters.count else { return true }
            let before = letters[place - 1]
            let after = letters[place]
            return before == " " || after == " " || before.isOfUnspacedScript
                || after.isOfUnspacedScript
        }

        /// Returns the start of the word after the one that ends at `end`.
        func start(after end: Int) -> Int {
            end < letters.count && letters[end] == " " ? end + 1 : end
        }

        /// The number of words; in scripts without spaces, two letters count as one.
        var wordCount: Int {
            guard !letters.isEmpty else { return 0 }
            return letters.count { $0 == " " } + 1 + letters.count(where: \.isOfUnspacedScript) / 2
        }

        fileprivate mutating func appendBlank() {
            guard let last = letters.last, last != " ", !last.isOfUnspacedScript else { return }
            letters.append(" ")
        }

        fileprivate mutating func append(_ letter: Unicode.Scalar) {
            if letter == " " { return appendBlank() }
            if letter.isOfUnspacedScript, letters.last == " " { letters.removeLast() }
            letters.append(letter)
        }

        fileprivate mutating func trim() {
            if letters.last == " " { letters.removeLast() }
        }

        /// Shortens runs of three or more equal letters to one.
        fileprivate mutating func shortenRuns() {
            var shortened: [Unicode.Scalar] = []
            var place = 0
            while place < letters.count {
                let letter = letters[place]
                var end = place
                while end < letters.count, letters[end] == letter { end += 1 }
                let isRepeated = end - place > 2
                shortened.append(
                    contentsOf: repeatElement(letter, count: isRepeated ? 1 : end - place))
                place = end
            }
            letters = shortened
        }
    }

    static let apostrophes: Set<Character> = ["'", "’", "ʼ", "‘", "`", "´", "＇"]
    /// The sign that is a request to stop without any word.
    private static let stopSign: Unicode.Scalar = "🛑"
    /// The maximum number of combining marks that are kept on one letter.
    private static let maximumMarks = 3
    /// The signs that end a part.
    private static let partEnds: Set<Unicode.Scalar> = [
        ".", "!", "?", ",", ";", "\n", "\r", "。", "、", "，", "…", "·", "•", "|", "/", "(", ")", "[",
        "]", "—", "–", "؟",
        "،", "؛", "۔", "।", "~", "～", "〜", "「", "」", "『", "』", "【", "】",
    ]

    private(set) var parts: [Part] = []
    /// Whether a link was left out.
    private(set) var hasLink = false

    /// - Parameter keepsUnderscores: Whether an underscore is a letter instead of a blank.
    init(_ text: String, keepsUnderscores: Bool = false) {
        let folded = Self.bounded(text).precomposedStringWithCompatibilityMapping.lowercased()
        // Custom emoji are pictures; their names are not words.
        let tokens = PlainTokens(CustomEmoji.removed(from: folded)).tokens
        var plain = String.UnicodeScalarView()
        for token in tokens {
            switch token {
            case .link:
                hasLink = true
                plain.append(" ")
            case .mention: plain.append(" ")
            case .scalar(let scalar): plain.append(scalar)
            }
        }
        read(Self.withoutMarks(String(plain)), keepsUnderscores)
    }

    private mutating func read(_ text: String, _ keepsUnderscores: Bool) {
        var part = Part()
        func endPart() {
            part.trim()
            part.shortenRuns()
            if !part.letters.isEmpty { parts.append(part) }
            part = Part()
        }
        for scalar in text.unicodeScalars {
            if Self.partEnds.contains(scalar) {
                endPart()
            } else if scalar == Self.stopSign {
                part.append(" ")
                part.append(scalar)
                part.append(" ")
            } else if scalar == "_" ? keepsUnderscores : scalar.isWord {
                part.append(Self.folded(scalar))
            } else {
                part.append(" ")
            }
        }
        endPart()
    }

    /// The text without invisible characters, and with few marks on each letter, so that sorting
    /// the marks takes little time.
    private static func bounded(_ text: String) -> String {
        var bounded = String.UnicodeScalarView()
        var marks = 0
        for scalar in text.unicodeScalars where !scalar.isInvisible {
            marks = scalar.isMark ? marks + 1 : 0
            if marks <= maximumMarks { bounded.append(scalar) }
        }
        return String(bounded)
    }

    /// The text without accents and vowel points that people often omit; kana keep their marks.
    private static func withoutMarks(_ text: String) -> String {
        let letters = text.decomposedStringWithCompatibilityMapping.unicodeScalars.filter {
            scalar in
            switch scalar.value {
            // Accents of Latin, Greek and Cyrillic; points of Hebrew; vowel signs of Arabic, and
            // its tatweel; the dot below of Devanagari.
            case 0x300...0x36F, 0x591...0x5BD, 0x5BF, 0x5C1...0x5C2, 0x5C4...0x5C5, 0x5C7, 0x640,
                0x64B...0x65F, 0x670,
                0x93C:
                false
            default: true
            }
        }
        return String(String.UnicodeScalarView(letters)).precomposedStringWithCanonicalMapping
    }

    /// Replaces letters that are used for one another.
    private static func folded(_ letter: Unicode.Scalar) -> Unicode.Scalar {
        switch letter.value {
        // Katakana are written as hiragana.
        case 0x30A1...0x30F6: Unicode.Scalar(letter.value - 0x60) ?? letter
        default: interchangeable[letter] ?? letter
        }
    }

    private static let interchangeable: [Unicode.Scalar: Unicode.Scalar] = [
        "ı": "i", "ł": "l", "ø": "o", "đ": "d", "ς": "σ", "ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه",
        "ـ": " ", "ँ": "ं",
    ]
}

extension Unicode.Scalar {
    /// Whether the letter's script can be written without spaces between words: Thai, Japanese,
    /// Chinese, Korean.
    fileprivate var isOfUnspacedScript: Bool {
        switch value {
        case 0xE00...0xEFF, 0x1100...0x11FF, 0x3005...0x3007, 0x3041...0x318F, 0x31F0...0x31FF,
            0x3400...0x4DBF,
            0x4E00...0x9FFF, 0xA960...0xA97F, 0xAC00...0xD7FF, 0xF900...0xFAFF, 0x20000...0x323AF:
            true
        default: false
        }
    }
}
