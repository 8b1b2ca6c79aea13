import Expectations
import Favorites
import Fixtures
import Foundation
import Outbox
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Mirroring

/// Weights of the evidence in the life of a mirror: who fits them, when, and who may store them.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct WeightTests {
    private func train(_ mirror: HumanMirror) async throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write(Data(Sample.exampleLines.utf8), to: "examples.jsonl")
        let trainer = ClassifierTrainer(mirror: mirror, favorites: try mirror.favorites()) { _ in }
        _ = try await trainer.train(fromArchive: path, localHost: nil, limit: nil)
    }

    private func weights(_ mirror: HumanMirror) async throws -> LearnedWeights? {
        try await mirror.favorites().status().weights
    }

    private func rows(_ mirror: HumanMirror) async throws -> [SQLRow] {
        try await mirror.storage.lenient.query("SELECT * FROM weights")
    }

    @Test func aTrainingEndsWithThem() async throws {
        let mirror = try await BareMirror().open()
        try await train(mirror)
        let learned = try #require(try await weights(mirror))
        #expect(learned.examples == 2 * Sample.exampleCount)
        #expect(learned.favorites == Sample.exampleCount)
        #expect(learned.weights != .plain)
        #expect(learned.weightedLoss < learned.plainLoss)
        try await expect(mirror.isAtWork(now: mirror.clock.now), equals: false)
        // Nothing of them is left when all of it is cleared.
        try await mirror.forgetTraining()
        try await expect(rows(mirror)) { $0.isEmpty }
    }

    @Test func whereTheyAreToBePlainNoneAreLearned() async throws {
        let mirror = try await BareMirror(variables: ["OLD_BOT": "yes"]).open()
        try await train(mirror)
        try await expect(rows(mirror)) { $0.isEmpty }
        try await expect(
            LeaseTable(storage: mirror.storage, mirror: mirror.name).record(), equals: nil)
    }

    @Test func onlyTheHolderOfTheMirrorStoresThem() async throws {
        let mirror = try await BareMirror().open()
        try await train(mirror)
        let before = try await weights(mirror)
        let leases = LeaseTable(storage: mirror.storage, mirror: mirror.name)
        let stale = try #require(
            try await leases.take(owner: "one", after: try await leases.record(), now: 0))
        let lease = try #require(
            try await leases.take(owner: "two", after: try await leases.record(), now: 0))
        let favorites = try mirror.favorites()
        let later = mirror.clock.now + 60
        let error = await #expect(throws: OutboxError.self) {
            try await WeightKeeper(favorites, store: mirror.outbox(lease: stale)).fit(at: later)
        }
        #expect(error?.code == .leaseLost)
        try await expect(weights(mirror), equals: before)
        let fitted = try await WeightKeeper(favorites, store: mirror.outbox(lease: lease)).fit(
            at: later)
        #expect(fitted?.fitted != before?.fitted)
        #expect(fitted?.weights == before?.weights)
        try await expect(weights(mirror), equals: fitted)
        try await expect(
            WeightKeeper(favorites, store: mirror.outbox(lease: lease)).keepUp(at: later),
            equals: nil)
    }

    /// What a training beside a living worker does not store, the worker fits as soon as it has
    /// learned something.
    @Test func theWorkerFitsThemAsItLearns() async throws {
        let fixture = try await MirrorFixture.start(from: 8, variables: ["FAVORITE_MODE": "off"])
        try await fixture.mirror.storage.lenient.execute("DELETE FROM weights")
        try await fixture.live(until: 11)
        let first = try #require(try await weights(fixture.mirror))
        #expect(first.fitted >= Sample.hour(8))
        #expect(first.examples > 2 * Sample.exampleCount)
    }

    @Test(arguments: [FeatureWords.content, .pairs, .spelling]) func aDecisionNamesThem(
        _ words: FeatureWords
    )
        async throws
    {
        let fixture = try await MirrorFixture.start(
            from: 8, variables: ["FEATURES": words.rawValue])
        // Weights that were learned with pairs say nothing without: until the worker has fitted its
        // own, all count plainly.
        let learned = try await weights(fixture.mirror)
        #expect((learned == nil) == (words != .pairs))
        try await fixture.live(until: 13)
        let decided = try await fixture.actions(.favorite)
        let weighted = decided.filter { $0.explanation?.weights != nil }
        #expect(!weighted.isEmpty)
        #expect(words != .pairs || weighted.count == decided.count)
        for action in weighted {
            let noted = try #require(action.explanation?.weights)
            #expect(noted.sequence >= learned?.sequence ?? 0)
            let limits = words == .content ? WeightFit.limits : WeightFit.limitsWithPairs
            #expect(limits.contains(noted.wordsFor))
            #expect(limits.contains(noted.author))
            #expect((noted.pairsFor == nil) == (words != .pairs))
            #expect((noted.pairsAgainst == nil) == (words != .pairs))
            for weight in [
                noted.spellingFor, noted.spellingAgainst, noted.formFor, noted.formAgainst,
            ] {
                #expect((weight == nil) == (words != .spelling))
            }
        }
        let report = try await ExplainReporter(mirror: fixture.mirror).report(
            on: try #require(weighted.first).id, now: fixture.clock.now)
        expect(report.judgement?.weights?.text) { $0?.hasPrefix("words for count ") == true }
        expect(report.judgement?.weights?.text) { $0?.contains("pairs for") == (words == .pairs) }
        expect(report.judgement?.weights?.text) {
            $0?.contains("spelling for") == (words == .spelling)
        }
        let now = try #require(report.judgementNow)
        expect(now.weights?.sequence, equals: (try await weights(fixture.mirror))?.sequence)
        let sum = now.features.reduce(try #require(now.baseLogOdds)) { $0 + $1.logOdds }
        #expect(abs(sum - log(now.rate)) < 1e-9)
        // Pairs are shown as their words side by side.
        let names = now.features.filter { $0.sums == nil && $0.kind != .form }.map(\.name)
        expect(names) { names in names.contains { $0.contains(" ") } == (words == .pairs) }
        expect(names) { names in !names.contains { $0.contains("\u{1F}") } }
        let status = try await StatusReporter(mirror: fixture.mirror).report(now: fixture.clock.now)
        #expect(status.classifier?.weights == now.weights)
    }
}
