import Archive
import Expectations
import Favorites
import Fixtures
import Foundation
import Posts
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring

/// What was learned from people who do not want that.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct UnlearningTests {
    enum Counts: String, CaseIterable, Sendable {
        case sqlite, postgres, redis
    }

    private static let now = BareMirror.now

    private func open(_ counts: Counts) async throws -> HumanMirror {
        let variables = counts == .redis ? ["REDIS_URL": try await RedisServer.shared().url] : [:]
        let name = "t" + String(UUID().uuidString.lowercased().prefix(30))
        let mirror = try await BareMirror(
            counts == .postgres ? .postgres : .sqlite, variables: variables)
        return try await mirror.open(["MIRROR": name])
    }

    private func example(_ number: Int, by author: String?, on network: NetworkName = .mastodon)
        -> Example
    {
        Example(
            id: PostID(network: network, value: "\(number)"), author: author,
            text: "fresh bread \(number)")
    }

    private func learn(_ examples: [Example], _ mirror: HumanMirror) async throws {
        _ = try await mirror.favorites().learn(examples.map(FavoriteEvent.seen), at: Self.now)
    }

    @Test(arguments: Counts.allCases) func unlearnsOnePersonAndNobodyElse(_ counts: Counts)
        async throws
    {
        let mirror = try await open(counts)
        let examples = (0..<40).map {
            example($0, by: $0 % 4 == 0 ? "pal@home.example" : "ann@home.example")
        }
        try await learn(
            examples + [example(90, by: "pal@home.example", on: .bluesky), example(91, by: nil)],
            mirror)
        let pal = AccountID.mastodon("Pal@Home.Example", localHost: "")
        try await expect(mirror.forgetLearning(of: pal, now: Self.now), equals: 10)
        let status = try await mirror.favorites().status()
        #expect(status.seen == 32)
        #expect(status.counts == .current)
        try await expect(mirror.forgetLearning(of: pal, now: Self.now), equals: 0)
        // What comes later is another matter.
        try await learn([example(100, by: "pal@home.example")], mirror)
        try await expect(mirror.favorites().status().seen, equals: 33)
    }

    /// Who was allowed again and then says stop once more is unlearned once more.
    @Test func aSecondRequestCountsToo() async throws {
        let paper = try await PaperMirror(bot: .mastodon)
        let parts = try await paper.parts()
        let pal = AccountID.mastodon("pal@home.example", localHost: "")
        for round in 0..<2 {
            try await learn(
                (0..<5).map { example(round * 10 + $0, by: "pal@home.example") }, paper.mirror)
            try await parts.mentionDecider.onOptOut(pal, "pal@home.example")
            try await expect(paper.mirror.favorites().status().seen, equals: 0)
            try await paper.wait(3_601)
        }
    }

    /// What is kept for so many days goes then, also while nothing new is learned.
    @Test func whatIsTooOldGoesByItself() async throws {
        let paper = try await PaperMirror(bot: .mastodon)
        let parts = try await paper.parts()
        try await learn((0..<5).map { example($0, by: "pal@home.example") }, paper.mirror)
        try await Passes(parts: parts).clean()
        try await expect(paper.mirror.favorites().status().seen, equals: 5)
        try await paper.wait(400 * 86_400)
        try await Passes(parts: parts).clean()
        try await expect(paper.mirror.favorites().status().seen, equals: 0)
    }

    /// On networks whose names change, posts hold the name and not the number.
    @Test func findsPeopleByTheNameTheyWereSeenUnder() async throws {
        let mirror = try await open(.sqlite)
        try await learn(
            [
                example(1, by: "pal.example", on: .bluesky),
                example(2, by: "old.example", on: .bluesky),
                example(3, by: "ann.example", on: .bluesky),
            ], mirror)
        let pal = AccountID(network: .bluesky, value: "did:plc:pal")
        try await expect(mirror.forgetLearning(of: pal, now: Self.now), equals: 0)
        try await mirror.people.recordContact(pal, handle: "old.example", at: Self.now)
        try await expect(
            mirror.forgetLearning(of: pal, handle: "Pal.Example", now: Self.now), equals: 2)
        try await expect(mirror.favorites().status().seen, equals: 1)
    }

    /// Where nothing was learned from them, nobody needs the dictionary.
    @Test func needsNoDictionaryForNothing() async throws {
        let mirror = try await BareMirror(variables: ["MECAB_DICTIONARY": "/nowhere"]).open()
        let pal = AccountID.mastodon("pal@home.example", localHost: "")
        try await expect(mirror.forgetLearning(of: pal, now: Self.now), equals: 0)
    }
}
