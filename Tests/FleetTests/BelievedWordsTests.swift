import Expectations
import Favorites
import Fixtures
import Foundation
import Outbox
import Posts
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring

/// The words that are shown are those by which is decided.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct BelievedWordsTests {
    private func taught(_ variables: [String: String] = [:]) async throws -> PaperMirror {
        let paper = try await PaperMirror(bot: .mastodon, variables: variables)
        let favorites = try paper.mirror.favorites()
        let events = (0..<60).flatMap { number -> [FavoriteEvent] in
            func example(_ name: String, _ text: String) -> Example {
                Example(
                    id: PostID(network: .mastodon, value: "\(name)-\(number)"), author: "a",
                    text: text)
            }
            let liked = example("liked", "green tea : in the garden, number \(number)")
            let other = example("other", "delayed train : less room at the platform \(number)")
            return [.seen(liked), .favorited(liked), .seen(other)]
        }
        _ = try await favorites.learn(events, at: paper.clock.now)
        return paper
    }

    private func words(_ paper: PaperMirror) async throws -> [StatsReport.Word] {
        let taste = try await StatsReporter(mirror: paper.mirror, zone: PaperMirror.zone).taste()
        return taste.wordsFor + taste.wordsAgainst
    }

    @Test func noSignLeadsTheList() async throws {
        let shown = try await words(try await taught())
        #expect(!shown.isEmpty)
        for word in shown {
            for part in word.word.split(separator: " ") {
                let isSign = !part.unicodeScalars.contains { $0.properties.isAlphabetic }
                #expect(!isSign, "\(word.word)")
            }
        }
    }

    /// Each word has a post of its side, in which it is.
    @Test func eachWordHasAnExample() async throws {
        let paper = try await taught()
        let taste = try await StatsReporter(mirror: paper.mirror, zone: PaperMirror.zone).taste()
        for (words, start) in [
            (taste.wordsFor, "green tea"), (taste.wordsAgainst, "delayed train"),
        ] {
            for word in words { #expect(word.example?.hasPrefix(start) == true, "\(word)") }
        }
    }

    /// A pair that the learned weights do not believe is no word of the list, whatever its counts
    /// say.
    @Test func whatTheModelDoesNotBelieveIsNotShown() async throws {
        let paper = try await taught()
        let favorites = try paper.mirror.favorites()
        let learned = try #require(try await favorites.fitWeights(at: paper.clock.now))
        try await paper.mirror.storage.transaction { try favorites.store(learned, on: $0) }
        try await paper.mirror.storage.execute(
            "UPDATE weights SET words_for = 2.0, words_against = 0.5 WHERE mirror = 'test'")
        let shown = try await words(paper)
        let weights = try await favorites.weightsInUse()
        let (categories, features) = try await favorites.tally()
        let plain = FavoriteModel(categories)
        for word in shown where !word.word.contains(" ") {
            let evidence = plain.evidence(try #require(features[word.word]))
            let factor = evidence > 0 ? weights.wordsFor : weights.wordsAgainst
            #expect(abs(word.logOdds - factor * evidence) < 1e-9, "\(word)")
        }
        if let pairs = weights.pairs {
            try await paper.mirror.storage.execute(
                "UPDATE weights SET pairs_for = 0.0, pairs_against = 0.0 WHERE mirror = 'test'")
            #expect(pairs.speakingFor >= 0)
            try await expect(words(paper)) { !$0.contains { $0.word.contains(" ") } }
        }
    }

    /// What is summed up is named by its kind.
    @Test func othersAreNamedByKind() async throws {
        let paper = try await taught()
        let session = try paper.mirror.favorites().session()
        let text = "green tea in the garden with seven other kinds of herbs and a delayed train"
        let example = Example(id: PostID(network: .mastodon, value: "new"), author: "a", text: text)
        let result = try #require(try await session.classify([example]).first)
        let names = Explanation.Feature.all(of: result.assessment, atMost: 2).map(\.name)
        #expect(names.contains { $0.hasPrefix("other words (") }, "\(names)")
        #expect(!names.contains { $0.hasPrefix("others (") }, "\(names)")
    }
}
