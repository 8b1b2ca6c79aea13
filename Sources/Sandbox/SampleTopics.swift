/// What the people of the sandbox say, and whether the human would favorite it.
///
/// Every function draws from the generator it is given, so that one seed makes
/// one history.
package enum SampleTopics {
    /// A post about the topic, as one of the human's friends or a stranger would write it.
    package static func post(
        topic: SampleTopic, language: SampleLanguage, generator: inout SampleGenerator
    ) -> String {
        book(language).phrase(topic.rawValue, generator: &generator)
    }

    /// A few words to somebody, as a mention holds after the handle; names nobody.
    package static func mention(language: SampleLanguage, generator: inout SampleGenerator) -> String {
        SampleMentions.book(language).phrase("mention", generator: &generator)
    }

    /// A plain request to be left alone, as a mention holds after the handle.
    package static func stop(language: SampleLanguage) -> String {
        switch language {
        case .japanese: "もう返信しないでください。"
        case .english: "Please stop replying to me."
        }
    }

    /// How likely the human is to favorite a post about `topic` by `author`.
    ///
    /// The topic decides most, and a friend counts for more than a stranger.
    package static func favoriteProbability(topic: SampleTopic, author: SamplePerson) -> Double {
        switch (topic.isLoved, author.isFriend) {
        case (true, true): 0.95
        case (true, false): 0.8
        case (false, true): 0.06
        case (false, false): 0.01
        }
    }

    /// Whether the human favorites this one post; a draw from `favoriteProbability`.
    package static func wouldFavorite(
        topic: SampleTopic, by author: SamplePerson, generator: inout SampleGenerator
    ) -> Bool {
        generator.chance(favoriteProbability(topic: topic, author: author))
    }

    /// The sentences about every topic in one language.
    static func book(_ language: SampleLanguage) -> PhraseBook {
        switch language {
        case .japanese: japaneseBook
        case .english: englishBook
        }
    }

    private static let japaneseBook = PhraseBook(
        sentences: lovedJapanese.merging(otherJapanese) { first, _ in first },
        words: SampleWords.japanese)

    private static let englishBook = PhraseBook(
        sentences: lovedEnglish.merging(otherEnglish) { first, _ in first },
        words: SampleWords.english)
}
