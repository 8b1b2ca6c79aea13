import Expectations
import Foundation
import Posts
import Testing

@testable import Sandbox

/// What friends ask, and what the human answers, meet in one word.
@Suite struct SampleTalkTests {
    /// The lower-cased words of an English text, or the text itself where words are not separated.
    private static func words(_ text: String, _ language: SampleLanguage) -> Set<String> {
        guard language == .english else {
            return Set(SampleTalk.allCases.map { $0.word(in: language) }.filter(text.contains))
        }
        return Set(text.lowercased().split { !$0.isLetter }.map(String.init))
    }

    @Test(arguments: SampleLanguage.allCases, SampleTalk.allCases)
    func eachSentenceHasTheWordOfItsThemeAndNoOther(language: SampleLanguage, talk: SampleTalk) {
        var generator = SampleGenerator(seed: 5)
        for _ in 0..<400 {
            let asked = SampleTexts.mention(about: talk, language: language, generator: &generator)
            let answer = SampleTexts.reply(about: talk, language: language, generator: &generator)
            for text in [asked, answer] {
                let words = Self.words(text, language)
                let found = SampleTalk.allCases.filter {
                    words.contains($0.word(in: language).lowercased())
                }
                #expect(found == [talk], "\(text)")
                #expect(SampleTalk(of: text, in: language) == talk, "\(text)")
            }
            // A question is no plain answer.
            #expect(!answer.contains { "?？".contains($0) }, "\(answer)")
        }
    }

    @Test func everybodyHasAnAnswerOnEverything() {
        let archive = SampleArchive(endingAt: Date(milliseconds: 1_795_130_130_000), people: 20)
        let answers = Dictionary(grouping: archive.posts.filter { $0.replyTo != nil }) {
            $0.replyTo?.handle ?? ""
        }
        #expect(answers.count == 20)
        for (handle, posts) in answers {
            let talks = posts.compactMap { SampleTalk(of: $0.text, in: $0.language) }
            for talk in SampleTalk.allCases {
                #expect(talks.count { $0 == talk } >= 2, "\(handle) \(talk)")
            }
        }
    }

    /// Who lives elsewhere posts at the same hours there.
    @Test func theSampleLivesByTheClockThatItIsGiven() {
        let end = Date(milliseconds: 1_795_130_130_000)
        let tokyo = SampleArchive(endingAt: end)
        let lagos = SampleArchive(endingAt: end, offset: 3_600)
        #expect(tokyo.posts.count == lagos.posts.count)
        #expect(tokyo.posts.map(\.text) == lagos.posts.map(\.text))
        let shifts = Set(
            zip(tokyo.posts, lagos.posts).map { $1.createdAt.timeIntervalSince($0.createdAt) })
        // A day of one is a day of the other, eight hours later.
        #expect(shifts.count == 1)
        let eightHours: [TimeInterval?] = [28_800, 28_800 - 86_400]
        expect(shifts.first) { eightHours.contains($0) }
    }
}
