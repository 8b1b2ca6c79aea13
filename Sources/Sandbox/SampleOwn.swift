package import Posts

/// What the human of the sandbox writes, by the time of day.
package enum SampleOwn {
    /// A post such as the human writes at this minute.
    package static func post(
        at minute: MinuteOfDay, isWeekend: Bool, language: SampleLanguage, generator: inout SampleGenerator
    ) -> String {
        let theme = theme(at: minute, isWeekend: isWeekend, generator: &generator)
        return book(language).phrase(theme, generator: &generator)
    }

    /// An answer to a friend, without the leading mention.
    package static func reply(language: SampleLanguage, generator: inout SampleGenerator) -> String {
        SampleReplies.book(language).phrase("reply", generator: &generator)
    }

    /// An answer to an acquaintance: of three parts, so that there are enough of them for everybody.
    static func longReply(language: SampleLanguage, generator: inout SampleGenerator) -> String {
        SampleReplies.book(language).phrase("longReply", generator: &generator)
    }

    static func book(_ language: SampleLanguage) -> PhraseBook {
        switch language {
        case .japanese: japanese
        case .english: english
        }
    }

    private static func theme(
        at minute: MinuteOfDay, isWeekend: Bool, generator: inout SampleGenerator
    ) -> String {
        let themes: [String]
        switch minute.value {
        case 300..<630: themes = ["morning", "morning", "coffee", "trains", "bread", "cycling", "cats"]
        case 630..<690: themes = ["work", "coffee", "kyoto", "trains"]
        case 690..<840: themes = ["lunch", "lunch", "work", "trains", "kyoto"]
        case 840..<1_050: themes = ["work", "coffee", "cats", "kyoto", "trains"]
        case 1_050..<1_290: themes = ["evening", "evening", "cats", "bread", "trains", "cycling"]
        default: themes = ["night", "night", "cats", "trains", "work"]
        }
        let theme = generator.element(of: themes) ?? "kyoto"
        guard isWeekend, theme == "work" else { return theme }
        return generator.chance(0.5) ? "cycling" : "kyoto"
    }
}
