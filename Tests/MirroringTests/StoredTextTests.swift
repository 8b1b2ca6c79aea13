import Localization
import Testing

@testable import Mirroring

/// Sentences that were stored in English are shown in Japanese.
@Suite struct StoredTextTests {
    @Test(arguments: [
        "plain, one of 14 texts within 30 minutes of 18:25 and 45 days of the text before",
        "all 41 old replies to this person are short, ask nothing and name nobody; this one shares '電車' with the mention",
        "of 43 old replies to this person, 22 are short, ask nothing and name nobody; the mention asks an open question, and a reply of no special kind is a usual answer to that",
        "the best of 3 old replies to this person hardly fits: the mention says thanks, and a yes is no usual answer to that",
        "the human favorites posts like this one", "the bot favorited 10 posts today already",
    ]) func nothingOfItStaysEnglish(text: String) {
        #expect(StoredText.inWords(text) == text)
        Language.$current.withValue(.japanese) {
            let shown = StoredText.inWords(text)
            let english = shown.matches(of: #/[A-Za-z]{2,}/#).map { String($0.output) }
            #expect(english == [], "\(shown)")
        }
    }

    @Test(arguments: ["", "Hello there; how are you", "{0}", "plain, ", "何か"])
    func otherTextsStay(text: String) {
        Language.$current.withValue(.japanese) {
            #expect(StoredText.inWords(text).contains(text.prefix(5)))
        }
    }

    /// A value is as short as possible, and what does not fit is not taken apart.
    @Test func valuesAreFound() throws {
        let pattern = try #require(StoredText.Pattern("{0} within {1} minutes of {2}"))
        #expect(pattern.values(of: "a within 3 minutes of 4") == ["a", "3", "4"])
        #expect(pattern.values(of: "a within 3 minutes of ") == nil)
        #expect(pattern.values(of: "a without 3 minutes") == nil)
        #expect(StoredText.Pattern("no value") == nil)
    }
}
