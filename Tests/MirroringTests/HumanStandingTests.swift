import Expectations
import Fixtures
import Foundation
import Networks
import Outbox
import Posts
import Settings
import Storage
import TestSupport
import Testing

@testable import Mirroring

/// How the state of the human's account is kept, who changes it, and what ends it.
@Suite(.mirrors) struct HumanStandingTests {
    private static let now = PaperMirror.now
    private static let day: TimeInterval = 86_400

    private func look(_ paper: PaperMirror, _ found: AccountStanding?) async throws
        -> HumanStanding?
    {
        let known = try await paper.mirror.table.record().standing
        return try await paper.mirror.table.noteStanding(
            found, seen: HumanStanding.seen(known), now: paper.clock.now)
    }

    private func version(_ paper: PaperMirror) async throws -> Int64 {
        try await paper.mirror.outbox(lease: nil).wishVersion()
    }

    // MARK: What follows from a look

    /// A suspended account that is active again goes on by itself, and so does one that has moved
    /// back.
    @Test(arguments: [AccountStanding.suspended, .moved(to: "ann@new.example")])
    func whatTheNetworkTakesBackEnds(_ state: AccountStanding) {
        let known = HumanStanding(state, since: Self.now)
        #expect(HumanStanding.after(.active, following: known, at: Self.now + 60) == nil)
    }

    @Test(arguments: [AccountStanding.memorial, .deactivated])
    func whatAPersonHasToEndStays(_ state: AccountStanding) {
        var known = HumanStanding(state, since: Self.now)
        #expect(HumanStanding.after(.active, following: known, at: Self.now + 60) == known)
        #expect(
            HumanStanding.after(.moved(to: "ann@new.example"), following: known, at: Self.now + 60)
                == known)
        known.goesOn = Self.now
        #expect(HumanStanding.after(.active, following: known, at: Self.now + 60) == nil)
    }

    /// One answer deletes nothing: the next one confirms it a day later, or takes it back.
    @Test func aDeletionCountsOnceItIsSaidTwice() throws {
        let first = try #require(HumanStanding.after(.deleted, following: nil, at: Self.now))
        #expect(first.isHold && !first.isToBeFollowed)
        #expect(
            HumanStanding.after(.deleted, following: first, at: Self.now + Self.day - 1) == first)
        #expect(HumanStanding.after(.active, following: first, at: Self.now + Self.day - 1) == nil)
        var second = try #require(
            HumanStanding.after(.deleted, following: first, at: Self.now + Self.day))
        #expect(second.isToBeFollowed)
        #expect(second.since == first.since)
        #expect(
            HumanStanding.after(.active, following: second, at: Self.now + 2 * Self.day) == second)
        second.goesOn = Self.now
        #expect(!second.isHold && !second.isToBeFollowed)
    }

    @Test func anotherStateTakesThePlaceOfTheLastOne() throws {
        var known = HumanStanding(.suspended, since: Self.now)
        known.goesOn = Self.now + 1
        let next = try #require(HumanStanding.after(.deleted, following: known, at: Self.now + 2))
        #expect(next == HumanStanding(.deleted, since: Self.now + 2))
        #expect(next.isHold)
    }

    // MARK: What is stored

    @Test(arguments: Engine.allCases) func itIsKept(_ engine: Engine) async throws {
        let paper = try await PaperMirror(engine, bot: .mastodon)
        for state in [
            AccountStanding.memorial, .suspended, .moved(to: "ann@new.example"), .deactivated,
            .deleted,
        ] {
            try await paper.mirror.storage.transaction {
                try MirrorTable.forgetStanding("test", on: $0)
            }
            let before = try await version(paper)
            try await expect(look(paper, state), equals: HumanStanding(state, since: Self.now))
            let record = try await paper.mirror.table.record()
            #expect(record.standing == HumanStanding(state, since: Self.now))
            #expect(record.standingLook == Self.now)
            let after = try await version(paper)
            #expect(after > before)
            // Nothing new is no change, and no answer neither.
            _ = try await look(paper, state)
            try await expect(look(paper, nil)?.state, equals: state)
            try await expect(version(paper), equals: after)
        }
    }

    /// Who looked at another state than the stored one changes nothing.
    @Test func aLookChangesOnlyWhatItSaw() async throws {
        let paper = try await PaperMirror(bot: .mastodon)
        let table = paper.mirror.table
        let nothing = HumanStanding.seen(nil)
        _ = try await table.noteStanding(.memorial, seen: nothing, now: Self.now)
        await #expect(throws: SeenChanged.self) {
            _ = try await table.noteStanding(.suspended, seen: nothing, now: Self.now)
        }
        try await expect(table.record().standing?.state, equals: .memorial)
        let seen = HumanStanding.seen(try await table.record().standing)
        _ = try await table.resume(despiteStanding: true, now: Self.now)
        await #expect(throws: SeenChanged.self) {
            _ = try await table.noteStanding(.suspended, seen: seen, now: Self.now)
        }
    }

    // MARK: Beside a pause

    /// A person's pause keeps its end, and its end alone does not lift the hold.
    @Test(arguments: Engine.allCases) func aPauseAndAHoldAreTwoThings(_ engine: Engine) async throws
    {
        let paper = try await PaperMirror(engine, bot: .mastodon)
        let table = paper.mirror.table
        let pause = try await table.pause(until: Self.now + 3_600, reason: "a walk", now: Self.now)
        _ = try await look(paper, .memorial)
        var record = try await table.record()
        #expect(record.pause == pause)
        #expect(record.standing?.isHold == true)
        let resumed = try await table.resume(now: Self.now)
        #expect(resumed?.pause == pause)
        #expect(resumed?.standing?.state == .memorial)
        record = try await table.record()
        #expect(record.pause == nil)
        #expect(record.standing?.isHold == true)
        let known = try await table.resume(despiteStanding: true, now: Self.now)
        #expect(known?.pause == nil)
        try await expect(table.record().standing?.isHold, equals: false)
        try await expect(table.resume(despiteStanding: true, now: Self.now), equals: nil)
    }

    /// Who saw no memorial does not end its hold.
    @Test func aResumptionNamesWhatItSaw() async throws {
        let paper = try await PaperMirror(bot: .mastodon)
        let table = paper.mirror.table
        _ = try await table.pause(until: nil, reason: nil, now: Self.now)
        let seen = try await table.record().pauseSeen(at: Self.now)
        _ = try await look(paper, .memorial)
        await #expect(throws: SeenChanged.self) {
            _ = try await table.resume(despiteStanding: true, seen: seen, now: Self.now)
        }
        let both = try await table.record().pauseSeen(at: Self.now)
        _ = try await table.resume(despiteStanding: true, seen: both, now: Self.now)
        try await expect(table.record().standing?.goesOn, equals: Self.now)
    }

    /// Another account has another state.
    @Test func anotherHumanBeginsAnew() async throws {
        let paper = try await PaperMirror(bot: .mastodon)
        _ = try await look(paper, .moved(to: "ann@new.example"))
        let other = Account(
            id: AccountID(network: .mastodon, value: "ann@new.example"), handle: "ann@new.example")
        try await paper.mirror.table.rebind(
            [.human: other], settings: [:], credentials: [:], login: .fresh, now: Self.now)
        let record = try await paper.mirror.table.record()
        #expect(record.standing == nil)
        #expect(record.standingLook == nil)
    }
}
