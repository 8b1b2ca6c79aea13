import Localization

/// The form of a text as features: its length, its signs besides words, and its end.
package enum TextForm {
    /// The first byte of each such feature: cleaned texts have no control character, so no word
    /// begins with it.
    package static let marker = UInt8(0x1D)
    private static let markerText = "\u{1D}"
    private static let hostName = "host:"

    /// The marks of a post, each once.
    ///
    /// - Parameters:
    ///   - original: The text as written, for its length and its capitals.
    ///   - cleaned: The cleaned text.
    static func features(of original: String, _ cleaned: TextCleaner) -> [String] {
        let measure = Measure(original)
        var marks = [
            measure.lengthClass, measure.capitals, hashtagMark(for: cleaned.hashtags.count),
        ]
        if !cleaned.hosts.isEmpty {
            marks.append("link")
            var hosts = DistinctWords()
            for host in cleaned.hosts { hosts.insert(hostName + host) }
            marks += hosts.words
        }
        if cleaned.hasMention { marks.append("mention") }
        let signs = Signs(cleaned.withoutLinks)
        if let end = signs.end { marks.append("ends:" + end) }
        if signs.hasDigits { marks.append("digits") }
        if signs.hasQuotes { marks.append("quotes") }
        if signs.hasEmoji { marks.append("emoji") }
        return marks.map { markerText + $0 }
    }

    private static func hashtagMark(for number: Int) -> String {
        number > 1 ? "tags:2+" : "tags:\(number)"
    }

    /// A mark in English words, as `a link`; stored with a decision.
    static func displayName(of feature: String) -> String {
        let mark = String(feature.drop { $0 == "\u{1D}" })
        if mark.hasPrefix(hostName) { return linkTo + mark.dropFirst(hostName.count) }
        return names[mark]?.key ?? mark
    }

    /// A mark's ``displayName(of:)`` in the language of the present task.
    static func localizedName(_ displayName: String) -> String {
        if displayName.hasPrefix(linkTo) {
            return localized("a link to \(displayName.dropFirst(linkTo.count))")
        }
        return LocalizedText(key: displayName).description
    }

    private static let linkTo = "a link to "

    private static let names = [
        "length<20": LocalizedText("fewer than 20 characters"),
        "length<60": LocalizedText("20 to 59 characters"),
        "length<120": LocalizedText("60 to 119 characters"),
        "length<200": LocalizedText("120 to 199 characters"),
        "length>=200": LocalizedText("200 characters or more"),
        "capitals:none": LocalizedText("no capitals"),
        "capitals:some": LocalizedText("some capitals"),
        "capitals:most": LocalizedText("mostly capitals"),
        "tags:0": LocalizedText("no hashtag"), "tags:1": LocalizedText("one hashtag"),
        "tags:2+": LocalizedText("several hashtags"), "link": LocalizedText("a link"),
        "mention": LocalizedText("a mention"), "ends:?": LocalizedText("ends with ?"),
        "ends:!": LocalizedText("ends with !"), "ends:...": LocalizedText("ends with …"),
        "digits": LocalizedText("digits"), "quotes": LocalizedText("quotation marks"),
        "emoji": LocalizedText("an emoji"),
    ]

    /// The length of a text and its share of capitals.
    private struct Measure {
        private var length = 0
        private var upper = 0
        private var lower = 0

        init(_ text: String) {
            // Reads only the part that is stored, so that the stored text has the same features.
            for scalar in text.unicodeScalars.prefix(TextCleaner.maximumInput) {
                length += 1
                switch scalar.value {
                case 0x41...0x5A: upper += 1
                case 0x61...0x7A: lower += 1
                // Kana, kanji and Korean syllables have no case.
                case 0..<0xAA, 0x2E80...0xD7FF: break
                default:
                    let properties = scalar.properties
                    if properties.isUppercase {
                        upper += 1
                    } else if properties.isLowercase {
                        lower += 1
                    }
                }
            }
        }

        var lengthClass: String {
            switch length {
            case ..<20: "length<20"
            case ..<60: "length<60"
            case ..<120: "length<120"
            case ..<200: "length<200"
            default: "length>=200"
            }
        }

        var capitals: String {
            if upper == 0 { return "capitals:none" }
            return upper > lower ? "capitals:most" : "capitals:some"
        }
    }

    /// The signs of a text in lower case and compatibility composition, without its links.
    private struct Signs {
        private(set) var hasDigits = false
        private(set) var hasQuotes = false
        private(set) var hasEmoji = false
        /// `?`, `!` or `...`; nil for any other end.
        let end: String?

        init(_ text: [UInt8]) {
            let trimmed = text.lastIndex { $0 != UInt8(ascii: " ") }.map { text[...$0] } ?? []
            end = ["?", "!", "..."].first { trimmed.reversed().starts(with: $0.utf8.reversed()) }
            text.withUnsafeBufferPointer { text in
                var index = 0
                while index < text.count {
                    add(PlainScalars.scalar(in: text, at: &index))
                }
            }
        }

        private mutating func add(_ scalar: UInt32) {
            switch scalar {
            case 0x30...0x39: hasDigits = true
            case 0x22, 0xAB, 0xBB, 0x201C...0x201F, 0x300C...0x300F: hasQuotes = true
            // The variation selector for emoji turns a sign into one.
            case 0xFE0F: hasEmoji = true
            case 0x2000..<0x3000, 0x1_F000...0x1_FAFF:
                hasEmoji =
                    hasEmoji || Unicode.Scalar(scalar)?.properties.isEmojiPresentation == true
            default: break
            }
        }
    }
}
