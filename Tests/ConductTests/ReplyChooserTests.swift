import Expectations
import Foundation
import Posts
import Testing

@testable import Conduct

@Suite struct ReplyChooserTests {
    private let mention = PostID(network: .mastodon, value: "https://example.org/m/1")

    @Test func nothingSaidBeforeMeansSilence() {
        #expect(choose([]) == nil)
    }

    @Test func sameMentionGetsTheSameAnswerInAnyOrder() {
        let candidates = (0..<20).map { candidate($0) }
        #expect(choose(candidates) == choose(candidates.reversed()))
        #expect(choose(candidates)?.poolSize == 20)
    }

    @Test func everyReplyComesUp() {
        let candidates = (0..<8).map { candidate($0) }
        var counts: [String: Int] = [:]
        for number in 0..<4_000 {
            let mention = PostID(network: .mastodon, value: "https://example.org/m/\(number)")
            let choice = ReplyChooser().choose(
                from: candidates, mirror: "m", mention: mention, now: noon)
            counts[choice?.id.value ?? "", default: 0] += 1
        }
        #expect(counts.count == 8)
        // Seven standard deviations about 500.
        expect(counts.values) { $0.allSatisfy { (350...650).contains($0) } }
    }

    @Test func otherMirrorsAnswerOtherwise() {
        let candidates = (0..<20).map { candidate($0) }
        let answers = (0..<10).compactMap {
            ReplyChooser().choose(
                from: candidates, mirror: "mirror \($0)", mention: mention, now: noon)?.id.value
        }
        #expect(Set(answers).count > 3)
    }

    @Test func unusedRepliesComeFirst() {
        let candidates = (0..<9).map { candidate($0, daysSinceUse: 300) } + [candidate(9)]
        #expect(choose(candidates)?.id.value == "9")
    }

    @Test func sameWordsUnderAnotherIDAreUsedToo() {
        let candidates = [
            candidate(0, key: "thanks", daysSinceUse: 1), candidate(1, key: "thanks"), candidate(2),
        ]
        #expect(choose(candidates)?.id.value == "2")
        #expect(choose(candidates)?.poolSize == 1)
    }

    @Test func longestUnusedReplyComesBackAfterAWeek() {
        let candidates = [
            candidate(0, daysSinceUse: 8), candidate(1, daysSinceUse: 20),
            candidate(2, daysSinceUse: 9),
        ]
        let choice = choose(candidates)
        #expect(choice?.id.value == "1")
        #expect(choose([candidate(0, daysSinceUse: 6.9)]) == nil)
    }

    @Test func textOnItsWayIsNeverChosen() {
        let candidates = [
            candidate(0, key: "thanks", isInFlight: true), candidate(1, key: "thanks"),
        ]
        #expect(choose(candidates) == nil)
        #expect(choose(candidates + [candidate(2)])?.id.value == "2")
    }

    @Test func theNearestPlainReplyIsChosen() {
        let candidates = [
            candidate(0, isPlain: false, likeness: 0.9), candidate(1, likeness: 0.2),
            candidate(2, likeness: 0.4),
            candidate(3),
        ]
        #expect(
            choose(candidates)
                == ReplyChoice(id: candidates[2].id, poolSize: 4, plainCount: 3, nearestCount: 1))
    }

    @Test func whereNoneIsPlainAllAreCompared() {
        let candidates = [
            candidate(0, isPlain: false, likeness: 0.9),
            candidate(1, isPlain: false, likeness: 0.2),
        ]
        #expect(
            choose(candidates)
                == ReplyChoice(id: candidates[0].id, poolSize: 2, plainCount: 0, nearestCount: 1))
    }

    /// One of a kind is chosen by its seed, whatever its place and the last bit of its likeness.
    @Test func theSeedChoosesAmongEquals() {
        let near = (0..<8).map { candidate($0, likeness: 0.1 + 0.2 + ($0 % 2 == 0 ? 1e-16 : 0)) }
        let candidates = near + (8..<20).map { candidate($0, likeness: 0.1) }
        var chosen: Set<String> = []
        for number in 0..<200 {
            let mention = PostID(network: .mastodon, value: "https://example.org/m/\(number)")
            let choice = ReplyChooser().choose(
                from: candidates.shuffled(), mirror: "m", mention: mention, now: noon)
            #expect(
                choice
                    == ReplyChooser().choose(
                        from: candidates, mirror: "m", mention: mention, now: noon))
            #expect(choice?.nearestCount == 8)
            chosen.insert(choice?.id.value ?? "")
        }
        #expect(chosen == Set((0..<8).map(String.init)))
    }

    @Test func repeatsAndWhatIsOnItsWayComeNoSoonerForBeingNear() {
        let candidates = [
            candidate(0, daysSinceUse: 1, likeness: 1), candidate(1, isInFlight: true, likeness: 1),
            candidate(2, isPlain: false),
        ]
        #expect(choose(candidates)?.id.value == "2")
    }

    private func choose(_ candidates: [ReplyCandidate]) -> ReplyChoice? {
        ReplyChooser().choose(from: candidates, mirror: "m", mention: mention, now: noon)
    }

    private func candidate(
        _ id: Int, key: String? = nil, daysSinceUse: Double? = nil, isInFlight: Bool = false,
        isPlain: Bool = true,
        likeness: Double = 0
    ) -> ReplyCandidate {
        ReplyCandidate(
            id: PostID(network: .x, value: String(id)), textKey: key ?? "text \(id)",
            lastUsed: daysSinceUse.map { noon.addingTimeInterval(-$0 * 86_400) },
            isInFlight: isInFlight,
            isPlain: isPlain, score: ReplyScore(words: likeness))
    }

    @Test func aRefusalThatAllShareIsNamed() {
        let closed = Refusal(.badHandle)
        let all = ReplyChooser.refusal(ofAll: 154, refused: Array(repeating: closed, count: 154))
        #expect(all.code == "no-past-reply")
        #expect(
            all.message
                == "none of 154 earlier replies to this person may be sent now: each because \(closed.message)"
        )
        let mixed = ReplyChooser.refusal(
            ofAll: 9,
            refused: [
                Refusal(.tooLong, "it has 600 of 500 characters"), Refusal(.tooLong, "it has 700"),
                Refusal(.hasMedia),
            ])
        #expect(
            mixed.message.contains("2 of them because the text is longer than the server allows"))
        #expect(
            mixed.message.contains("1 for other reasons, 6 because this person got the text lately")
        )
        #expect(ReplyChooser.refusal(ofAll: 0, refused: []) == Refusal(.noPastReply))
    }
}
