import Embedded
import Posts

/// The themes of the conversations between the human and friends.
///
/// Each sentence about a theme contains its word, and no other theme's: this is how the bot finds a
/// fitting answer.
package enum SampleTalk: String, CaseIterable, Sendable {
    case weekend, bread, cat, kyoto, coffee, visit, bicycle, train, rain, work

    /// The word that all sentences about the theme contain.
    package func word(in language: SampleLanguage) -> String {
        switch (self, language) {
        case (.cat, .english): "Mugi"
        case (.kyoto, .english): "Kyoto"
        case (_, .english): rawValue
        case (.weekend, .japanese): "週末"
        case (.bread, .japanese): "パン"
        case (.cat, .japanese): "むぎ"
        case (.kyoto, .japanese): "京都"
        case (.coffee, .japanese): "珈琲"
        case (.visit, .japanese): "遊び"
        case (.bicycle, .japanese): "自転車"
        case (.train, .japanese): "電車"
        case (.rain, .japanese): "雨"
        case (.work, .japanese): "仕事"
        }
    }

    /// The theme of the answer with this number, from 0; the themes take turns.
    static func inTurn(_ number: Int) -> SampleTalk { allCases[number % allCases.count] }

    /// Returns the theme of a text; `nil` if it contains none of the words.
    package init?(of text: String, in language: SampleLanguage) {
        let text = text.lowercased()
        guard
            let talk = Self.allCases.first(where: {
                text.contains($0.word(in: language).lowercased())
            })
        else {
            return nil
        }
        self = talk
    }
}

/// The texts of the human and the people of the sandbox.
///
/// The sentences are in the files of `Resources`; `PhraseBook` describes their form. Every function
/// draws from the given generator, so that one seed makes one history.
package enum SampleTexts {
    // MARK: The people

    /// A post about the topic, as by one of the human's friends or a stranger.
    package static func post(
        topic: SampleTopic, language: SampleLanguage, generator: inout SampleGenerator
    ) -> String {
        books(language).topics.phrase(topic.rawValue, generator: &generator)
    }

    /// A few words to a person, to follow the handle in a mention; without a name.
    ///
    /// - Parameter talk: The theme; `nil` for any.
    package static func mention(
        about talk: SampleTalk? = nil, language: SampleLanguage, generator: inout SampleGenerator
    ) -> String {
        let talk = talk ?? generator.element(of: SampleTalk.allCases) ?? .bread
        return books(language).mentions.phrase(talk.rawValue, generator: &generator)
    }

    /// A plain request to stop, to follow the handle in a mention.
    package static func stop(language: SampleLanguage) -> String {
        switch language {
        case .japanese: "もう返信しないでください。"
        case .english: "Please stop replying to me."
        }
    }

    // MARK: The human

    /// A post such as the human writes at this minute.
    static func ownPost(
        at minute: MinuteOfDay, isWeekend: Bool, language: SampleLanguage,
        generator: inout SampleGenerator
    ) -> String {
        let theme = theme(at: minute, isWeekend: isWeekend, generator: &generator)
        return books(language).own.phrase(theme, generator: &generator)
    }

    /// An answer to a person, without the leading mention.
    static func reply(
        about talk: SampleTalk, language: SampleLanguage, generator: inout SampleGenerator
    ) -> String {
        books(language).replies.phrase(talk.rawValue, generator: &generator)
    }

    private static func theme(
        at minute: MinuteOfDay, isWeekend: Bool, generator: inout SampleGenerator
    ) -> String {
        let themes: [String]
        switch minute.value {
        case 300..<630:
            themes = ["morning", "morning", "coffee", "trains", "bread", "cycling", "cats"]
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

    // MARK: Books

    /// All sentences of one language.
    struct Books: Sendable {
        let topics: PhraseBook
        let own: PhraseBook
        let replies: PhraseBook
        let mentions: PhraseBook

        /// - Throws: ``PhraseBook/Flaw`` for a file that is no phrase book.
        init(_ language: SampleLanguage) throws(PhraseBook.Flaw) {
            func book(_ name: String, besides other: PhraseBook? = nil) throws(PhraseBook.Flaw)
                -> PhraseBook
            {
                let file = "\(name).\(language.rawValue).txt"
                return try PhraseBook(
                    EmbeddedFiles.text(of: "Sandbox/\(file)"), named: file, besides: other)
            }
            topics = try book("topics")
            own = try book("own", besides: topics)
            replies = try book("replies")
            mentions = try book("mentions")
        }

        /// The files are part of the program and a test reads them all, so this never fails in use.
        fileprivate static func builtIn(_ language: SampleLanguage) -> Books {
            do throws(PhraseBook.Flaw) {
                return try Books(language)
            } catch {
                preconditionFailure(error.description)
            }
        }
    }

    private static let japanese = Books.builtIn(.japanese)
    private static let english = Books.builtIn(.english)

    private static func books(_ language: SampleLanguage) -> Books {
        language == .japanese ? japanese : english
    }
}
