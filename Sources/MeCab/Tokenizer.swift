/// Splits text into words, with their classes and base forms.
@usableFromInline package struct Tokenizer: Sendable {
    /// The properties of the opened dictionary.
    @usableFromInline package let profile: DictionaryProfile
    @usableFromInline let model: MeCabModel

    /// Opens a dictionary and checks with a known sentence that it is of the expected kind.
    ///
    /// - Parameter dictionary: A value of `MECAB_DICTIONARY`: the name of a profile or the path of
    ///   a folder.
    /// - Throws: ``MeCabError`` with code `.dictionaryNotFound`, `.dictionaryUnreadable` or
    ///   `.wrongDictionary`.
    package init(dictionary: String = DictionaryProfile.ipadic.name) throws(MeCabError) {
        let (profile, folders) = try DictionaryProfile.locate(dictionary)
        var firstError: MeCabError?
        for folder in folders {
            do throws(MeCabError) {
                self.model = try Self.open(folder, as: profile)
                self.profile = profile
                return
            } catch {
                firstError = firstError ?? error
            }
        }
        throw firstError
            ?? MeCabError(
                .dictionaryNotFound, "could not open the MeCab dictionary: \(profile.advice)")
    }

    /// Distinguishes this dictionary from others that may split the same text differently.
    package var dictionaryIdentity: String { "\(profile.name)/\(model.wordCount)" }

    /// Passes each word of a text with its class to `body`.
    ///
    /// - Parameters:
    ///   - text: The text to analyse.
    ///   - body: Called for each word in order; it must not keep the word.
    /// - Throws: ``MeCabError`` with code `.textTooLong` or `.parsing`.
    @inlinable package func forEachWord(in text: String, _ body: (Morpheme, WordClass) -> Void)
        throws(MeCabError)
    {
        try model.forEachMorpheme(in: text) { body($0, profile.wordClass($0.partOfSpeech)) }
    }

    /// Passes each word of a text in UTF-8 with its class to `body`.
    @inlinable package func forEachWord(
        in text: UnsafeBufferPointer<UInt8>, _ body: (Morpheme, WordClass) -> Void
    ) throws(MeCabError) {
        try model.forEachMorpheme(in: text) { body($0, profile.wordClass($0.partOfSpeech)) }
    }

    /// The form of a word under which a dictionary lists it; the word itself if it is not listed.
    package func baseForm(of word: Morpheme) -> String {
        String(decoding: baseFormBytes(of: word), as: UTF8.self)
    }

    /// Returns the base form of a word as bytes, which are valid as long as the word.
    package func baseFormBytes(of word: Morpheme) -> UnsafeBufferPointer<UInt8> {
        word.bytes(ofField: profile.baseFormField) ?? word.surface
    }

    private static func open(_ folder: String, as profile: DictionaryProfile) throws(MeCabError)
        -> MeCabModel
    {
        let model = try MeCabModel(dictionaryPath: folder)
        var foundWords: [DictionaryProfile.ProbeWord] = []
        try model.forEachMorpheme(in: profile.probe.map(\.surface).joined()) { word in
            let wordClass = profile.wordClass(word.partOfSpeech)
            foundWords.append(
                .init(
                    surface: word.text, wordClass: wordClass,
                    baseForm: wordClass.isInflected ? word.field(profile.baseFormField) : nil))
        }
        guard foundWords == profile.probe else {
            throw MeCabError(
                .wrongDictionary,
                "could not use the MeCab dictionary \(folder): its words are not classified as in \(profile.name); "
                    + profile.advice)
        }
        return model
    }
}
