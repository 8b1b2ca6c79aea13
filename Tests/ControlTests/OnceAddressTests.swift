import Expectations
import Fixtures
import Foundation
import Outbox
import Posts
import Settings
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Mirroring

/// An address does one thing to one mirror, once; every other use of it does nothing.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct OnceAddressTests {
    private static let key = "planted-key-planted-key-planted-key"
    private let clock = VirtualClock(startingAt: BareMirror.now)

    private func open(
        _ engine: Engine = .sqlite, key: String? = Self.key
    ) async throws -> HumanMirror {
        var variables = BareMirror.accounts
        variables["SECRET_KEY"] = key
        let mirror = try await BareMirror(engine, variables: variables).open(clock: clock)
        try await mirror.beginWorking()
        return mirror
    }

    private func addresses(_ mirror: HumanMirror) async throws -> OnceAddresses {
        try #require(try await OnceAddresses(of: mirror.name, in: mirror.installation))
    }

    private func desk(_ mirror: HumanMirror) -> Desk {
        Desk(mirror, zone: TimeZone(identifier: "Asia/Tokyo"))
    }

    /// A post of the day, which waits for a person or for its time.
    private func post(
        in mirror: HumanMirror, number: Int = 1, _ state: ActionState = .suggested
    ) async throws -> Action {
        let source = PostID(network: .mastodon, value: "\(number)")
        let slot = Slot.Name(day: LocalTime(clock.now, in: .gmt).day, number: number)
        let wording = Action.Wording(
            source: source, text: "Bread, loaf \(number)", visibility: .unlisted)
        let intent = Intent(
            .post(slot, wording), state: state, due: clock.now + 7_200, expires: clock.now + 10_800)
        return try await mirror.outbox(lease: nil).propose(intent, now: clock.now).action
    }

    private func state(of action: Action, in mirror: HumanMirror) async throws -> ActionState? {
        let store = mirror.outbox(lease: nil)
        return try await store.actions(withIDs: [action.id])[action.id]?.state
    }

    /// What follows the name of the mirror in a path.
    private func text(_ path: String, of mirror: HumanMirror) throws -> String {
        let beginning = "/once/\(mirror.name)/"
        try #require(path.hasPrefix(beginning))
        return String(path.dropFirst(beginning.count))
    }

    private func refusal(
        of text: String, by addresses: OnceAddresses, at mirror: HumanMirror
    ) async -> OnceAddress.Refusal? {
        await #expect(throws: OnceAddress.Refusal.self) {
            try await addresses.use(text, at: desk(mirror))
        }
    }

    // MARK: What it does

    @Test(arguments: Engine.allCases) func aPostIsApprovedOnce(_ engine: Engine) async throws {
        let mirror = try await open(engine)
        let action = try await post(in: mirror)
        let addresses = try await addresses(mirror)
        let text = try text(addresses.path(.approve, action, now: clock.now), of: mirror)
        try await expect(addresses.address(in: text, now: clock.now).action, equals: action.id)
        try await expect(state(of: action, in: mirror), equals: .suggested)
        let used = try await addresses.use(text, at: desk(mirror))
        #expect(used.address.deed == .approve)
        #expect(used.isNew)
        try await expect(state(of: action, in: mirror), equals: .planned)
        await expect(refusal(of: text, by: addresses, at: mirror), equals: .used)
        await #expect(throws: OnceAddress.Refusal.used) {
            try await addresses.address(in: text, now: clock.now)
        }
    }

    @Test(arguments: Engine.allCases) func aWaitingPostIsSkippedOnce(_ engine: Engine) async throws
    {
        let mirror = try await open(engine)
        let action = try await post(in: mirror)
        let addresses = try await addresses(mirror)
        let text = try text(addresses.path(.skip, action, now: clock.now), of: mirror)
        _ = try await addresses.use(text, at: desk(mirror))
        try await expect(state(of: action, in: mirror), equals: .skipped)
        // Waiting again it is as it was seen, and the address was used all the same.
        _ = try await desk(mirror).perform(ReopenSuggestion(id: action.id))
        let again = try await mirror.outbox(lease: nil).actions(withIDs: [action.id])[action.id]
        #expect(again?.seen == action.seen)
        await expect(refusal(of: text, by: addresses, at: mirror), equals: .used)
        try await expect(state(of: action, in: mirror), equals: .suggested)
    }

    @Test func aPlannedPostIsLeftOutOnce() async throws {
        let mirror = try await open()
        let action = try await post(in: mirror, .planned)
        let addresses = try await addresses(mirror)
        let text = try text(addresses.path(.skip, action, now: clock.now), of: mirror)
        _ = try await addresses.use(text, at: desk(mirror))
        try await expect(state(of: action, in: mirror), equals: .skipped)
        _ = try await desk(mirror).perform(RestoreSlot(slot: action.id))
        await expect(refusal(of: text, by: addresses, at: mirror), equals: .used)
        try await expect(state(of: action, in: mirror), equals: .planned)
    }

    @Test(arguments: Engine.allCases) func aMirrorIsPausedOnce(_ engine: Engine) async throws {
        let mirror = try await open(engine)
        let addresses = try await addresses(mirror)
        let record = try await mirror.table.record()
        let text = try text(addresses.path(pausing: record, now: clock.now), of: mirror)
        let used = try await addresses.use(text, at: desk(mirror))
        #expect(used.isNew)
        try await expect(mirror.table.pause(at: clock.now)) { $0 != nil }
        _ = try await desk(mirror).perform(ResumeMirror())
        await expect(refusal(of: text, by: addresses, at: mirror), equals: .used)
        try await expect(mirror.table.pause(at: clock.now)) { $0 == nil }
    }

    /// Two presses at the same time.
    @Test(arguments: Engine.allCases) func ofManyPressesOneActs(_ engine: Engine) async throws {
        let mirror = try await open(engine)
        let action = try await post(in: mirror)
        let addresses = try await addresses(mirror)
        let text = try text(addresses.path(.approve, action, now: clock.now), of: mirror)
        let desk = desk(mirror)
        let uses = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    do {
                        _ = try await addresses.use(text, at: desk)
                        return true
                    } catch {
                        return false
                    }
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(uses == 1)
        try await expect(state(of: action, in: mirror), equals: .planned)
    }

    // MARK: What it does not

    @Test func aChangedAddressDoesNothing() async throws {
        let mirror = try await open()
        let action = try await post(in: mirror)
        let other = try await post(in: mirror, number: 2)
        let addresses = try await addresses(mirror)
        let text = try text(addresses.path(.approve, action, now: clock.now), of: mirror)
        var hostile = text.indices.map { index in
            let sign = text[index] == "a" ? "b" : "a"
            return text.replacingCharacters(in: index...index, with: sign)
        }
        let parts = text.split(separator: ".").map(String.init)
        let code = try #require(parts.last)
        hostile += [
            "", ".", "....", code, "." + code, text + ".", text + "A", text + "=",
            text.uppercased(), String(text.dropLast()),
            "skip." + parts.dropFirst().joined(separator: "."),
            "pause.." + parts.dropFirst(2).joined(separator: "."),
            text.replacing(action.id, with: other.id),
            text.replacing("\(action.seen)", with: "\(other.seen)"),
            text.replacing(parts[3], with: "99999999999"),
            String(repeating: "a", count: 100_000) + "." + code,
        ]
        for text in hostile {
            await expect(
                refusal(of: text, by: addresses, at: mirror), equals: .unknown, "\(text)")
        }
        try await expect(state(of: action, in: mirror), equals: .suggested)
        try await expect(state(of: other, in: mirror), equals: .suggested)
        try await expect(mirror.table.pause(at: clock.now)) { $0 == nil }
    }

    @Test func anAddressEnds() async throws {
        let mirror = try await open()
        let record = try await mirror.table.record()
        let addresses = try await addresses(mirror)
        let text = try text(addresses.path(pausing: record, now: clock.now), of: mirror)
        try await clock.sleep(until: clock.now + OnceAddresses.validity)
        await expect(refusal(of: text, by: addresses, at: mirror), equals: .expired)
        try await expect(mirror.table.pause(at: clock.now)) { $0 == nil }
    }

    @Test func anotherMirrorOrKeyHasOtherAddresses() async throws {
        let mirror = try await open()
        let record = try await mirror.table.record()
        let own = try await addresses(mirror)
        let text = try text(own.path(pausing: record, now: clock.now), of: mirror)

        let other = try await mirror.installation.mirror(named: "other", mayBeNew: true)
        try await other.table.add(now: clock.now)
        let others = try await addresses(other)
        await expect(refusal(of: text, by: others, at: other), equals: .unknown)

        let foreign = try await open(key: "another-key-another-key-another-key")
        let foreigns = try await addresses(foreign)
        await expect(refusal(of: text, by: foreigns, at: foreign), equals: .unknown)

        // A mirror of the same name that was made after the removal of the first.
        try await mirror.storage.execute("DELETE FROM mirrors WHERE mirror = \(mirror.name)")
        try await clock.sleep(until: clock.now + 60)
        try await mirror.table.add(now: clock.now)
        let next = try await addresses(mirror)
        await expect(refusal(of: text, by: next, at: mirror), equals: .unknown)
        for one in [mirror, other, foreign] {
            try await expect(one.table.pause(at: clock.now)) { $0 == nil }
        }
    }

    @Test func whatHasChangedIsLeftAlone() async throws {
        let mirror = try await open()
        let action = try await post(in: mirror)
        let addresses = try await addresses(mirror)
        let record = try await mirror.table.record()
        let approval = try text(addresses.path(.approve, action, now: clock.now), of: mirror)
        let pause = try text(addresses.path(pausing: record, now: clock.now), of: mirror)
        _ = try await desk(mirror).perform(DismissSuggestion(id: action.id))
        _ = try await desk(mirror).perform(PauseMirror(until: "3h"))
        for text in [approval, pause] {
            let refusal = await #expect(throws: ChangeRefusal.self) {
                try await addresses.use(text, at: desk(mirror))
            }
            #expect(refusal?.code == .changed)
        }
        try await expect(state(of: action, in: mirror), equals: .skipped)
        try await expect(mirror.table.pause(at: clock.now)?.until) { $0 != nil }
    }

    @Test func whatWasForgottenIsNotSent() async throws {
        let mirror = try await open()
        let action = try await post(in: mirror)
        let addresses = try await addresses(mirror)
        let text = try text(addresses.path(.approve, action, now: clock.now), of: mirror)
        _ = try await desk(mirror).perform(ForgetText(.post("1")))
        await #expect(throws: ChangeRefusal.self) {
            try await addresses.use(text, at: desk(mirror))
        }
        // The slot may wait with another text.
        try await expect(state(of: action, in: mirror)) { $0 != .planned }
    }

    // MARK: The key

    @Test func whoOnlyReadsMakesNoKey() async throws {
        let bare = try await BareMirror(variables: BareMirror.accounts)
        let mirror = try await bare.open(clock: clock)
        try await mirror.beginWorking()
        try await expect(OnceAddresses(of: mirror.name, in: mirror.installation)) { $0 == nil }
        #expect(!FileManager.default.fileExists(atPath: bare.keyPath))
        let made = try await OnceAddresses(
            of: mirror.name, in: mirror.installation, mayMake: true)
        #expect(FileManager.default.fileExists(atPath: bare.keyPath))
        let record = try await mirror.table.record()
        let text = try text(
            try #require(made).path(pausing: record, now: clock.now), of: mirror)
        // As the page of another process does.
        try await expect(
            addresses(mirror).address(in: text, now: clock.now).deed, equals: .pause)
    }

    @Test func withoutAKeyOrAMirrorThereAreNone() async throws {
        let mirror = try await open(.postgres, key: nil)
        try await expect(
            OnceAddresses(of: mirror.name, in: mirror.installation, mayMake: true)
        ) { $0 == nil }
        let keyed = try await open()
        try await expect(
            OnceAddresses(of: "nobody", in: keyed.installation, mayMake: true)
        ) { $0 == nil }
    }
}
