import Foundation
package import Posts

/// Finds the old replies that suit almost any remark of the person they were written to: short ones
/// without a link, a digit, a question or somebody else's name.
///
/// Names are found three ways: by mentions, by the handles of people whom the mirror knows, and by
/// forms of address such as `Hey Mira,`, `Dr. Mira`, `…, Mira!` and `みらさん`. The answered person's
/// own name is allowed. A sentence such as "Mira said so" is not recognised unless `mira` is a
/// known handle.
package struct ReplyFilter: Sendable {
    /// The most characters of a short reply, without the mentions at its beginning.
    ///
    /// Characters are grapheme clusters: a letter with its accents, or an emoji of several parts,
    /// is one. Custom emoji such as `:cat_2:` are removed before.
    package static let longestReply = 60
    /// The minimum length of a handle that is searched; shorter ones are too often ordinary words.
    private static let shortestHandle = 3

    /// The handles of people whom the mirror knows, which may include the answered person.
    package struct KnownNames: Sendable {
        fileprivate let names: Set<String>

        /// - Parameter handles: Handles in any case, with or without hosts.
        package init(_ handles: some Sequence<String> = []) {
            names = Set(handles.lazy.map(ReplyFilter.shortName).filter(ReplyFilter.isSearchable))
        }
    }

    /// The accounts and the names, in lower case, of the answered person.
    private let accounts: Set<AccountID>
    private let names: Set<String>
    private let knownNames: KnownNames

    /// - Parameters:
    ///   - accounts: All accounts of the answered person.
    ///   - names: The person's handles and display names, in any case.
    ///   - known: Handles that a plain reply must not contain, unless they are the person's own.
    package init(
        answering accounts: [AccountID], called names: [String], known: KnownNames = KnownNames()
    ) {
        self.accounts = Set(accounts)
        self.names = Set(names.flatMap(Self.spellings))
        self.knownNames = known
    }

    /// Whether an archived reply to the person is short and has no link, digit, question or other
    /// person's name.
    package func passes(_ reply: Post) -> Bool {
        guard reply.mentions.allSatisfy({ accounts.contains($0) || $0 == reply.author }) else {
            return false
        }
        let text = CustomEmoji.removed(from: TextCleaning.normalized(reply.text))
        guard reply.mentions.contains(where: accounts.contains) || addressesOnePerson(text) else {
            return false
        }
        let body = TextCleaning.withoutLeadingMentions(text)
        guard body.count <= Self.longestReply, let ownWords = withoutMentions(body) else {
            return false
        }
        return !ownWords.unicodeScalars.contains(where: \.isDigitOrQuestion)
            && !TextShape.hasLink(ownWords)
            && !namesSomebody(ownWords.precomposedStringWithCompatibilityMapping)
    }

    // MARK: Mentions

    /// Whether every mention at the beginning names the answered person.
    ///
    /// A single unknown name counts too, unless it belongs to another known person: it may be a
    /// former name of the answered person.
    private func addressesOnePerson(_ text: String) -> Bool {
        var leadingNames: Set<String> = []
        scan: for token in PlainTokens(text).tokens {
            switch token {
            case .mention(let name):
                leadingNames.insert(String(String.UnicodeScalarView(name)).lowercased())
            case .scalar(let scalar) where scalar.properties.isWhitespace || scalar.isInvisible:
                continue
            case .scalar, .link: break scan
            }
        }
        if leadingNames.isSubset(of: names) { return true }
        return leadingNames.count == 1
            && !leadingNames.contains { knownNames.names.contains(Self.shortName($0)) }
    }

    /// The text with each mention of the answered person replaced by a space; nil if it has a link
    /// or mentions somebody else.
    private func withoutMentions(_ text: String) -> String? {
        var result = String.UnicodeScalarView()
        for token in PlainTokens(text).tokens {
            switch token {
            case .scalar(let scalar): result.append(scalar)
            case .mention(let name)
            where names.contains(String(String.UnicodeScalarView(name)).lowercased()):
                result.append(" ")
            case .mention, .link: return nil
            }
        }
        return String(result)
    }

    // MARK: Names

    /// Returns the spellings of a handle or display name that may occur in a text.
    private static func spellings(of name: String) -> [String] {
        let whole = String(name.drop { $0 == "@" }).lowercased()
        if name.contains("@") || name.contains(".") { return [whole, shortName(name)] }
        return [whole] + whole.split(whereSeparator: \.isWhitespace).map(String.init)
            + words(of: name)
    }

    /// Returns `tom` for `tom@social.example` and for `Tom.social.example`.
    fileprivate static func shortName(_ handle: String) -> String {
        String(handle.drop { $0 == "@" }.prefix { $0 != "@" && $0 != "." }).lowercased()
    }

    /// Whether a handle is long enough to be searched in texts, and has a letter.
    fileprivate static func isSearchable(_ name: String) -> Bool {
        name.unicodeScalars.count >= shortestHandle
            && name.unicodeScalars.contains(where: \.isLetter)
    }

    /// The words of a text in lower case; empty for scripts without spaces.
    private static func words(of text: String) -> [String] {
        text.unicodeScalars.split { !$0.isWord || $0.isWrittenWithoutSpaces }
            .map { String(String.UnicodeScalarView($0)).lowercased() }
    }

    private func namesSomebody(_ text: String) -> Bool {
        let namesOtherPerson =
            !knownNames.names.isEmpty
            && Self.words(of: text).contains { word in
                knownNames.names.contains(word) && !names.contains(word)
            }
        if namesOtherPerson { return true }
        return Self.forms.contains { form in
            form.names(in: text).contains { name in !names.contains(name.lowercased()) }
        }
    }

    /// A pattern whose first group is a name, and a test that rejects matches that are not names.
    private struct Form: Sendable {
        let pattern: NSRegularExpression
        /// Strings of which every matching text contains at least one; `nil` if none is certain.
        let neededStrings: [String]?
        let isNoName: @Sendable (String) -> Bool

        init(
            _ pattern: String, neededStrings: [String]? = nil,
            unless isNoName: @escaping @Sendable (String) -> Bool
        ) {
            do { self.pattern = try NSRegularExpression(pattern: pattern) } catch {
                // The patterns are part of the program, so an invalid one is an error of it.
                preconditionFailure("\(pattern): \(error)")
            }
            self.neededStrings = neededStrings
            self.isNoName = isNoName
        }

        func names(in text: String) -> [String] {
            if let neededStrings, !neededStrings.contains(where: text.contains) { return [] }
            return pattern.matches(in: text, range: NSRange(text.startIndex..., in: text))
                .compactMap { match in
                    Range(match.range(at: 1), in: text).map { String(text[$0]) }
                }.filter { !isNoName($0) }
        }
    }

    private static let forms: [Form] = {
        let isCommonWord: @Sendable (String) -> Bool = { commonWords.contains($0.lowercased()) }
        return [
            Form(
                #"\b(?:Mr|Mrs|Ms|Mx|Dr|Prof|Professor|Herr|Frau|Monsieur|Madame|Señora?)\b\.?\s+(\p{Lu}[\p{L}'’-]+)"#,
                unless: isCommonWord),
            Form(
                #"^\W*(?:(?i)\#(greetings))\s*,?\s+(\p{Lu}\p{Ll}+)(?=\s*(?:[,!.…]|$))"#,
                unless: isCommonWord),
            Form(
                #"\p{L}\W*,\s*(\p{Lu}\p{Ll}+)\s*[.!…]*\s*$"#, neededStrings: [","],
                unless: isCommonWord),
            Form(
                #"([\p{Han}々\p{Katakana}ー\p{Latin}]{1,12})(?:さん|ちゃん|先輩|先生)"#,
                neededStrings: honorifics,
                unless: { name in notNames.contains(where: name.hasSuffix) }),
            Form(
                #"([\p{Katakana}ー\p{Latin}]{1,12}|\p{Han}{2,6})(?:くん|様)"#,
                neededStrings: honorifics,
                unless: { name in notNames.contains(where: name.hasSuffix) }),
            Form(
                "^([ぁ-ん]{1,8}?)(?:さん|くん|ちゃん|先生|様)[、,!]", neededStrings: honorifics,
                unless: { name in notNamesInKana.contains(name) }),
        ]
    }()

    private static let greetings = """
        hey|hi|hello|hiya|dear|yo|oi|thanks|thank you|thx|ty|cheers|congrats|congratulations|welcome|welcome back|sorry|bye|\
        good morning|good evening|good night|good luck|happy birthday|yes|no|ok|okay|sure|well done|hola|gracias|salut|\
        bonjour|merci|hallo|danke|ciao|grazie|olá|obrigado|obrigada|dank je
        """

    /// Words that may follow a greeting or a comma and are not names.
    private static let commonWords: Set<String> = [
        "all", "again", "amen", "anyway", "back", "dear", "everybody", "everyone", "folks",
        "friend", "friends", "god",
        "guys", "haha", "indeed", "lol", "man", "mate", "nice", "no", "please", "right", "so",
        "sorry", "thanks",
        "that",
        "then", "there", "though", "too", "well", "wow", "yeah", "yes", "you",
    ]

    private static let honorifics = ["さん", "ちゃん", "くん", "様", "先輩", "先生"]

    /// Stems of words for relatives, customers and shops, and of thanks: `お母さん`, `皆さん`, `本屋さん`,
    /// `ご馳走様`.
    private static let notNames = [
        "母", "父", "兄", "姉", "弟", "妹", "婆", "爺", "嫁", "奥", "皆", "客", "子", "娘", "那", "赤", "坊", "嬢",
        "屋", "走", "労",
        "話", "々", "疲", "店員", "医者", "運転手", "大家",
    ]

    private static let notNamesInKana: Set<String> = [
        "たく", "みな", "おつかれ", "ごくろう", "ごちそう", "おかあ", "おとう", "おばあ", "おじい", "おねえ", "おにい", "おく", "おきゃく",
        "あか",
        "ぼっ",
    ]
}

extension Unicode.Scalar {
    /// Whether it is a question mark of any script.
    var isQuestionMark: Bool { self == "?" || !isASCII && Self.questionMarks.contains(self) }

    /// Whether it is a digit or numeral of any script, except Chinese numerals, which occur in many
    /// words; or a question mark.
    fileprivate var isDigitOrQuestion: Bool {
        if isASCII { return self == "?" || ("0"..."9").contains(self) }
        return switch properties.generalCategory {
        case .decimalNumber, .letterNumber, .otherNumber: true
        case .otherPunctuation, .otherSymbol: Self.questionMarks.contains(self)
        default: false
        }
    }

    /// All characters of Unicode 16 with "question mark" in their name, except the ASCII one;
    /// interrobangs and the emoji.
    private static let questionMarks: Set<Unicode.Scalar> = [
        "¿", "\u{37E}", "\u{55E}", "\u{61F}", "\u{1367}", "\u{1945}", "\u{203D}", "\u{2047}",
        "\u{2048}", "\u{2049}",
        "\u{2753}", "\u{2754}", "\u{2CFA}", "\u{2CFB}", "\u{2E18}", "\u{2E2E}", "\u{2E54}",
        "\u{A60F}", "\u{A6F7}",
        "\u{FE16}", "\u{FE56}", "\u{FF1F}", "\u{11143}", "\u{1E95F}",
    ]
}
