/// The parts of speech that matter to the classifier; everything else is `other`.
@usableFromInline package enum WordClass: Sendable {
    case noun
    case verb
    case adjective
    case adverb
    case interjection
    /// A word that stands only before a noun, such as この.
    case adnominal
    /// Particles, auxiliaries, conjunctions, prefixes, punctuation known to the dictionary.
    case other

    /// Whether the word changes its form, so that its base form tells more than its surface.
    package var isInflected: Bool { self == .verb || self == .adjective }
}
