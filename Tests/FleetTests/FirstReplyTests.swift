import Archive
import Conduct
import Expectations
import Fixtures
import Foundation
import Outbox
import Posts
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring
@testable import Networks

/// Whether the first reply to a person says once that a bot repeats old words, and nothing else
/// does.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct FirstReplyTests {
    private func run(_ parts: WorkerParts) async throws {
        for pass in Passes(parts: parts).inOrder { _ = try await pass.run() }
    }

    private static let usual = ["REPLIES": "all", "FIRST_REPLY_NOTE": "on"]
    private static let words = "my warm thanks to you, dear"

    /// A mirror whose human once answered a friend.
    private func known(
        _ network: NetworkName, _ variables: [String: String] = [:],
        answers: [String] = [words, "and all the best to you too"]
    ) async throws -> PaperMirror {
        let paper = try await PaperMirror(
            bot: network, variables: Self.usual.merging(variables) { $1 })
        let friend = AccountID(network: network, value: "friend")
        try await paper.archive(
            answers.enumerated().map { pastReply("r\($0)", to: friend, $1, daysAgo: 100 + $0) })
        return paper
    }

    private func mention(_ paper: PaperMirror, _ id: String, language: String? = nil) {
        var post = paperPost(
            id, on: paper.bot.name, "hello bot, how is your garden", at: paper.clock.now,
            mentions: ["bot"])
        post.post.language = language
        paper.bot.add([post], to: .mentions)
    }

    private func published(_ paper: PaperMirror) -> [String] {
        paper.bot.with { $0.published.map(\.text) }
    }

    private func isNote(_ text: String) -> Bool { text.contains("\n\n(Bot") }

    @Test(arguments: NetworkName.allCases, ["on", "auto", "off"])
    func theFirstReplyAloneHasTheNote(_ network: NetworkName, _ setting: String) async throws {
        let paper = try await known(network, ["FIRST_REPLY_NOTE": setting])
        let parts = try await paper.parts()
        for id in ["m1", "m2", "m3"] {
            mention(paper, id, language: "de")
            try await run(parts)
            try await paper.wait(3_600)
        }
        let texts = published(paper)
        #expect(texts.count > 1)
        let says = setting == "on" || setting == "auto" && network != .mastodon
        expect(texts.map(isNote), equals: texts.indices.map { $0 == 0 && says })
        if says { expect(texts.first) { $0?.hasSuffix("\"stop\" beendet es.)") == true } }
        // What is kept as the human's words has no note.
        for reply in try await paper.actions(.reply) where reply.state == .done {
            #expect(reply.text?.contains("Bot") == false)
        }
    }

    /// Two mentions of one look are decided before either is answered.
    @Test func ofTwoRepliesThatWaitOneHasTheNote() async throws {
        let paper = try await known(.x, ["X_ACKNOWLEDGE_POLICY": "yes", "FIRST_REPLY_NOTE": "on"])
        let parts = try await paper.parts()
        mention(paper, "m1")
        mention(paper, "m2")
        try await run(parts)
        let texts = published(paper)
        #expect(texts.count == 2)
        expect(texts.filter(isNote).count, equals: 1)
        expect(try await paper.actions(.reply).count { $0.wording?.note != nil }, equals: 1)
    }

    @Test func whoWasAnsweredBeforeGetsNone() async throws {
        let paper = try await known(.bluesky)
        let friend = AccountID(network: .bluesky, value: "friend")
        try await paper.mirror.people.recordContact(friend, at: paper.clock.now - 86_400 * 200)
        let parts = try await paper.parts()
        mention(paper, "m1")
        try await run(parts)
        expect(published(paper).map(isNote), equals: [false])
    }

    /// The account that was answered may be another one of theirs.
    @Test func whoWasAnsweredUnderAnotherNameGetsNone() async throws {
        let paper = try await known(.bluesky)
        let friend = AccountID(network: .bluesky, value: "friend")
        let other = AccountID(network: .bluesky, value: "other")
        try await paper.mirror.people.link(friend, other)
        try await paper.mirror.people.recordContact(other, at: paper.clock.now - 86_400)
        let parts = try await paper.parts()
        mention(paper, "m1")
        try await run(parts)
        expect(published(paper).map(isNote), equals: [false])
    }

    @Test func whereThereIsNoRoomNothingIsSaidBesides() async throws {
        let long = String(repeating: "many words ", count: 26) + "end"
        let paper = try await known(.bluesky, answers: [long])
        let parts = try await paper.parts()
        mention(paper, "m1")
        try await run(parts)
        expect(published(paper), equals: [long])
    }

    /// A reply whose answer was lost is found by all that was sent, and not sent again.
    @Test(arguments: [NetworkName.x, .bluesky]) func aLostReplyIsFoundWithItsNote(
        _ network: NetworkName
    ) async throws {
        let paper = try await known(
            network, ["FIRST_REPLY_NOTE": "on", "X_ACKNOWLEDGE_POLICY": "yes"])
        let parts = try await paper.parts()
        mention(paper, "m1")
        paper.bot.fail(.publish, .transport, outcome: .unknown)
        try await run(parts)
        let sent = published(paper)
        expect(sent.map(isNote), equals: [true])
        let post = paperPost(
            "p1", by: "bot", on: network, sent.first ?? "", at: paper.clock.now, replyTo: "m1")
        paper.bot.fail(nil)
        paper.bot.add([post], to: .ownPosts)
        try await paper.wait(600)
        try await run(parts)
        let reply = try #require(try await paper.actions(.reply).first)
        #expect(reply.state == .done)
        #expect(published(paper).count == 1)
    }
}
