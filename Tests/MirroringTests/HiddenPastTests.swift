import Expectations
import Fixtures
import Foundation
import Networks
import Posts
import Testing

@testable import Control
@testable import Mirroring

/// The past of a human whose server lists only the newest posts.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct HiddenPastTests {
    private static func posts(_ count: Int) -> [ObservedPost] {
        (0..<count).map { number in
            paperPost(
                "\(number)", by: "human", on: .mastodon, "thought number \(number) of many",
                at: PaperMirror.now - 86_400 * Double(400 - number))
        }
    }

    private func trained(_ count: Int, depth: Int?) async throws -> (PaperMirror, TrainingSummary) {
        let paper = try await PaperMirror(bot: .mastodon, human: .mastodon)
        let human = try #require(paper.human)
        human.with { $0.capabilities.depths[.ownPosts] = depth }
        human.add(Self.posts(count), to: .ownPosts)
        return (paper, try await trainer(paper).train(from: human))
    }

    private func trainer(_ paper: PaperMirror) -> SchedulerTrainer {
        SchedulerTrainer(mirror: paper.mirror, zone: PaperMirror.zone) { _ in }
    }

    private func gaps(_ paper: PaperMirror) async throws -> [FeedHealth.Unreached] {
        try await paper.mirror.feeds.health(now: paper.clock.now).flatMap(\.unreached)
    }

    @Test func whatTheServerDoesNotListIsSaidUntilAnArchiveHasIt() async throws {
        let (paper, summary) = try await trained(80, depth: 50)
        #expect(summary.read == 50)
        #expect(summary.missing.count == 1)
        expect(summary.missing) {
            $0.allSatisfy { $0.contains("a downloaded archive has the rest: mirror-bot train") }
        }
        let oldest = PaperMirror.now - 86_400 * 370
        try await expect(
            gaps(paper), equals: [.init(from: FeedHealth.Unreached.beginning, to: oldest)])
        var facts = HealthFacts(now: paper.clock.now)
        facts.feeds = try await paper.mirror.feeds.health(now: paper.clock.now)
        let note = facts.obstacles.first { $0.code == .itemsUnreached }
        expect(note?.cause) {
            $0?.contains("the network lists only the newest of human-posts") == true
        }
        #expect(note?.remedy?.command == "mirror-bot train scheduler --from ARCHIVE")
        // A later training, and tidying up, leave it.
        let human = try #require(paper.human)
        let second = try await trainer(paper).train(from: human)
        #expect(second.missing.count == 1)
        try await paper.mirror.feeds.clean(before: paper.clock.now)
        try await expect(gaps(paper).count, equals: 1)
        // The archive brings the rest.
        let lines = Self.posts(80).map { post in
            #"{"id":"\#(post.post.id.value)","author":"human@far.example","text":"\#(post.post.text)","#
                + #""created_at":"\#(post.post.createdAt.rfc3339)"}"#
        }
        let file = FileManager.default.temporaryDirectory.appending(
            path: "hidden-\(UUID().uuidString).jsonl")
        try lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        _ = try await trainer(paper).train(fromArchive: file.path, localHost: nil)
        try await expect(gaps(paper)) { $0.isEmpty }
    }

    @Test(arguments: [(40, 50), (80, nil)] as [(Int, Int?)])
    func aPastThatIsListedAsAWholeIsNotSaidToBeHidden(count: Int, depth: Int?) async throws {
        let (paper, summary) = try await trained(count, depth: depth)
        #expect(summary.read == count)
        #expect(summary.missing.isEmpty)
        try await expect(gaps(paper)) { $0.isEmpty }
    }
}
