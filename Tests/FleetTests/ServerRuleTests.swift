import Expectations
import Fixtures
import Foundation
import Posts
import Schedule
import Settings
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring
@testable import Networks

/// What is kept of the rules of the bot's server, and when a person is told of a change.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct ServerRuleTests {
    private static let week: TimeInterval = 7 * 86_400
    private static let rules = [
        "Be kind.", "Bots post at most 12 times a day. They post unlisted.",
    ]

    private func news(_ paper: PaperMirror) async throws -> Int {
        try await HealthReader(paper.mirror.installation).reading(
            of: paper.mirror, now: paper.clock.now
        )
        .facts.changedRules
    }

    private func reads(_ paper: PaperMirror) -> Int {
        paper.bot.with { $0.calls.count { $0 == .readRules } }
    }

    @Test(arguments: Engine.allCases) func aWorkerReadsThemOnceAWeek(_ engine: Engine) async throws
    {
        let paper = try await PaperMirror(engine, bot: .mastodon)
        paper.bot.with { $0.statements = Self.rules }
        for day in 0..<15 {
            // Another process remembers by the table alone.
            let parts = try await paper.parts()
            let passes = Passes(parts: parts)
            for _ in 0..<3 { try await passes.clean() }
            expect(reads(paper), equals: day / 7 + 1)
            try await paper.wait(86_400)
        }
    }

    @Test func aServerThatDoesNotTellIsAskedTheNextDay() async throws {
        let paper = try await PaperMirror(bot: .mastodon)
        paper.bot.fail(.readRules)
        let passes = Passes(parts: try await paper.parts())
        for _ in 0..<3 { try await passes.clean() }
        expect(reads(paper), equals: 1)
        paper.bot.fail(nil)
        try await paper.wait(86_400 + 1)
        try await passes.clean()
        expect(reads(paper), equals: 2)
    }

    @Test func aPersonIsToldOfAChangeOnce() async throws {
        let paper = try await PaperMirror(bot: .mastodon)
        paper.bot.with { $0.statements = Self.rules }
        let passes = Passes(parts: try await paper.parts())
        try await passes.clean()
        try await expect(news(paper), equals: 2)
        let account = try #require(try await paper.mirror.table.record().bot)
        func shown() async throws -> ServerRuleReport {
            try await paper.mirror.showServerRules(
                of: paper.bot, account: account, now: paper.clock.now)
        }
        let first = try await shown()
        expect(first.rules.map(\.state), equals: [.new, .new])
        expect(
            first.rules.flatMap(\.proposals).compactMap(\.command),
            equals: ["mirror-bot set MAX_PER_DAY=12"])
        try await expect(news(paper), equals: 0)
        try await expect(shown().rules.map(\.state), equals: [.known, .known])
        // Nothing was decided for the person.
        #expect(paper.mirror.configuration.schedule.maximumPerDay == 50)

        paper.bot.with { $0.statements = ["Be kind.", "Bots post at most 6 times a day."] }
        try await paper.wait(Self.week)
        try await passes.clean()
        // One is new, and two are gone.
        try await expect(news(paper), equals: 3)
        let second = try await shown()
        expect(second.rules.map(\.state), equals: [.new, .gone, .gone])
        expect(second.findings.map(\.verdict), equals: [.warn, .warn, .warn])
        try await expect(shown().rules.map(\.state), equals: [.known])
        try await expect(news(paper), equals: 0)
    }

    /// A sentence that comes and goes between two looks of a person is no change.
    @Test func whatNobodyWasShownNeedNotBeTakenBack() async throws {
        let paper = try await PaperMirror(bot: .mastodon)
        let passes = Passes(parts: try await paper.parts())
        paper.bot.with { $0.statements = ["No bots."] }
        try await passes.clean()
        paper.bot.with { $0.statements = [] }
        try await paper.wait(Self.week)
        try await passes.clean()
        try await expect(news(paper), equals: 0)
    }

    @Test func anotherBotAccountHasOtherRules() async throws {
        let paper = try await PaperMirror(bot: .mastodon)
        let table = paper.mirror.serverRules
        let first = AccountID(network: .mastodon, value: "bot@a.example")
        let second = AccountID(network: .mastodon, value: "bot@b.example")
        _ = try await table.note(["No bots."], of: first, isShown: true, now: paper.clock.now)
        let look = try await table.note(
            ["Bots welcome."], of: second, isShown: false, now: paper.clock.now)
        expect(look.sentences.map(\.text), equals: ["Bots welcome."])
        try await expect(table.lastLook(of: first), equals: nil)
    }
}
