import Expectations
import Foundation
import Posts
import Testing

@testable import Sandbox
@testable import Torture

@Suite struct OutcryTests {
    private static let population = SandboxWorld(
        configuration: .busy(
            seed: 1, origin: Stage.origin, days: 1, timeZone: .gmt, network: .mastodon)
    ).population

    private func plans(
        _ count: Int, network: NetworkName = .mastodon, filter: EpisodeFilter = EpisodeFilter()
    ) -> [EpisodePlan] {
        var schedule = EpisodeSchedule(network: network, store: .sqlite, seed: 1, filter: filter)
        return (0..<count).map { _ in schedule.next() }
    }

    /// In as many episodes as 200 kills need at least.
    @Test(arguments: NetworkName.allCases) func everyOutcryHasItsTurn(_ network: NetworkName) {
        let kinds = plans(170, network: network).flatMap(\.outcries).map(\.kind)
        #expect(Set(kinds) == Set(Outcry.Kind.all(on: network)))
        let bursts = kinds.count {
            [.burst, .burstAndLostPlace, .burstWhileUnavailable].contains($0)
        }
        #expect((4...20).contains(bursts))
    }

    @Test func aRunBeginsWithABurstThatCannotBeReadYet() {
        #expect(
            plans(2).map { $0.outcries.map(\.kind) } == [
                [.burstWhileUnavailable], [.burstWhileUnavailable],
            ])
    }

    @Test func duringAnOutageOfAnHourManySpeak() {
        let endured = plans(300).filter { if case .endured = $0.shape { true } else { false } }
        #expect(
            !endured.isEmpty
                && endured.allSatisfy {
                    $0.outcries.map(\.kind) == [.burst] && $0.outcries[0].after > 2
                })
    }

    @Test func aRunThatIsConfinedHearsWhatItIsToldTo() {
        let silent = plans(20, filter: EpisodeFilter(kinds: [.killed]))
        #expect(silent.flatMap(\.outcries) == [])
        let crowds = plans(20, filter: EpisodeFilter(kinds: [.killed], outcries: [.crowds]))
        expect(crowds) { $0.allSatisfy { $0.outcries.map(\.kind) == [.crowds] } }
    }

    @Test(arguments: Outcry.Kind.allCases) func theSameSeedGivesTheSameWords(_ kind: Outcry.Kind) {
        let first = Outcry(kind: kind, after: 0, seed: 9).utterances(in: Self.population)
        #expect(first == Outcry(kind: kind, after: 1, seed: 9).utterances(in: Self.population))
        #expect(
            kind == .stop
                || first != Outcry(kind: kind, after: 0, seed: 10).utterances(in: Self.population))
        let speakers = first.map { Self.population.index(of: $0.speaker) }
        #expect(!speakers.isEmpty)
        #expect(!speakers.contains(nil))
    }

    @Test func whatIsSaidIsHardToHear() {
        func said(_ kind: Outcry.Kind) -> [SandboxUtterance] {
            Outcry(kind: kind, after: 0, seed: 9).utterances(in: Self.population)
        }
        #expect(said(.burst).count == 300)
        let megabytes = said(.megabytes).reduce(0) { sum, utterance in
            if case .padding(let bytes) = utterance.burden { sum + bytes } else { sum }
        }
        #expect(megabytes > UnheardMentions.readable)
        #expect(said(.broken).count { $0.burden != nil } == SandboxFlaw.allCases.count)
        #expect(said(.broken).count { $0.burden == nil } == SandboxFlaw.allCases.count)
        let crowds = said(.crowds).map { utterance in
            if case .crowd(let posts) = utterance.burden { posts } else { 0 }
        }
        expect(crowds) { $0.allSatisfy { $0 >= 4_096 } }
    }
}
