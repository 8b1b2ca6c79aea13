import Expectations
import Foundation
import Networks
import Posts
import Testing

@testable import Fleet
@testable import Mirroring
@testable import Outbox
@testable import Settings

/// What a mirror's life does next, without a server, a clock or a database.
@Suite struct LifeStateTests {
    private static let now = Date(timeIntervalSince1970: 1_780_239_600)
    private static let stamp = MirrorStamp(
        credentials: [.bot: "login 1", .human: "login 2"], accounts: "a b", zone: "Asia/Tokyo",
        isPaused: false, settings: ["set LINKS": "off"], findings: [:])
    private static let lost = NetworkError(
        code: .transport, network: .bluesky, host: "sky.example", operation: .readMentions,
        outcome: .notSent)

    private struct NeedsPerson: Error {}

    /// A stamp after one change.
    private static func changed(
        credentials: [AccountRole: String] = stamp.credentials, accounts: String = stamp.accounts,
        isPaused: Bool = false
    ) -> MirrorStamp {
        MirrorStamp(
            credentials: credentials, accounts: accounts, zone: stamp.zone, isPaused: isPaused,
            settings: stamp.settings, findings: stamp.findings)
    }

    private func state(waitsForPerson: Bool = true) -> LifeState {
        LifeState(waitsForPerson: waitsForPerson, version: 7)
    }

    /// A state of a mirror that works with the stamp.
    private func working(waitsForPerson: Bool = true) -> LifeState {
        var state = state(waitsForPerson: waitsForPerson)
        state.opened()
        _ = state.began(with: Self.stamp)
        let works = state.works(with: Self.stamp)
        #expect(works)
        #expect(state.phase == .working)
        return state
    }

    /// The sequel by its name.
    private func name(_ sequel: LifeState.Sequel) -> String {
        switch sequel {
        case .startAfterPause: "start after pause"
        case .startAnew: "start anew"
        case .waitForPerson: "wait"
        case .end(let error): error == nil ? "end" : "end with error"
        }
    }

    // MARK: The end of passes

    @Test func aChangeStartsAnewWithWhatIsStored() {
        var state = working()
        #expect(!state.isOutdated)
        let sequel = state.passesEnded(with: MirrorChanged(), verified: [])
        #expect(name(sequel) == "start anew")
        #expect(state.isOutdated)
        #expect(state.knownStamp == nil)
        #expect(state.phase == .starting)
    }

    @Test func aPauseBeforeADepartureStartsWithTheSameSettings() {
        var state = working()
        let sequel = state.passesEnded(with: OutboxError.paused, verified: [])
        #expect(name(sequel) == "start after pause")
        #expect(!state.isOutdated)
        #expect(state.knownStamp == nil)
    }

    @Test func anErrorThatNeedsAPersonIsWaitedForInAProcessOfSeveralMirrors() {
        var several = working()
        let first = several.passesEnded(with: NeedsPerson(), verified: [])
        #expect(name(first) == "wait")
        several.waits(with: Self.stamp)
        #expect(several.phase == .waiting)
        // Nothing was changed yet, and another account is a change.
        #expect(!several.isChanged(by: Self.stamp))
        #expect(several.isChanged(by: Self.changed(accounts: "a c")))
        let second = several.passesEnded(with: MirrorChanged(), verified: [])
        #expect(name(second) == "start anew")

        var one = working(waitsForPerson: false)
        let third = one.passesEnded(with: NeedsPerson(), verified: [])
        #expect(name(third) == "end with error")
    }

    /// Settings that cannot be read when the mirror begins to wait are tried again.
    @Test func aWaitWithoutAStampEndsWithTheNextCheck() {
        var state = working()
        _ = state.passesEnded(with: NeedsPerson(), verified: [])
        state.waits(with: nil)
        #expect(state.isChanged(by: Self.stamp))
    }

    @Test func aLostLeaseAndAnEndStartNothing() {
        var state = working()
        let sequel = state.passesEnded(with: OutboxError.leaseLost, verified: [])
        #expect(name(sequel) == "end with error")
        let errors: [(any Error)?] = [nil, MirrorChanged(), OutboxError.paused, NeedsPerson()]
        for error in errors {
            var ended = working()
            ended.end()
            let sequel = ended.passesEnded(with: error, verified: [])
            #expect(name(sequel) == (error == nil ? "end" : "end with error"))
        }
    }

    // MARK: The start

    @Test func accountsAreNotVerifiedAgainWithTheSameCredentials() {
        var state = working()
        _ = state.passesEnded(with: MirrorChanged(), verified: [.bot])
        let first = state.began(with: Self.stamp)
        #expect(first == [.bot])
        // Only the first start after the change goes by that.
        let second = state.began(with: Self.stamp)
        #expect(second == [])

        var other = working()
        _ = other.passesEnded(with: MirrorChanged(), verified: [.bot])
        let third = other.began(with: Self.changed(credentials: [.bot: "login 3"]))
        #expect(third == [])

        var failed = working()
        _ = failed.passesEnded(with: NeedsPerson(), verified: [.bot])
        let fourth = failed.began(with: Self.stamp)
        #expect(fourth == [])
    }

    @Test func aStartWhoseSettingsChangedMeanwhileIsNotTaken() {
        var state = state()
        _ = state.began(with: Self.stamp)
        // It binds the accounts itself.
        #expect(!state.isChanged(by: Self.changed(accounts: "a c")))
        for stamp in [
            Self.changed(credentials: [.bot: "login 3"]), Self.changed(isPaused: true),
        ] {
            #expect(state.isChanged(by: stamp))
            let works = state.works(with: stamp)
            #expect(!works)
            #expect(state.phase == .starting)
        }
        let works = state.works(with: Self.changed(accounts: "a c"))
        #expect(works)
        // From now on another account is a change.
        #expect(state.isChanged(by: Self.stamp))
    }

    @Test func aFailedStartWaitsLongerEachTimeAndLooksForChangesMeanwhile() {
        var state = state()
        _ = state.began(with: Self.stamp)
        let none = state.retry(at: Self.now)
        #expect(none == nil)
        var waits: [TimeInterval] = []
        for number in 1...8 {
            let next = state.failed(Self.lost, at: Self.now)
            #expect(state.failures == number)
            #expect(next > Self.now)
            waits.append(next.timeIntervalSince(Self.now))
            let waiting = state.retry(at: Self.now)
            #expect(waiting == next)
            let look = state.nextCheck(before: next, at: Self.now)
            #expect(look == min(next, Self.now + LifeState.changeCheckInterval))
            let over = state.retry(at: next)
            #expect(over == nil)
        }
        #expect((waits.last ?? 0) > (waits.first ?? 0))
        #expect((waits.last ?? 0) > LifeState.changeCheckInterval)
        // A change begins the count anew.
        _ = state.passesEnded(with: MirrorChanged(), verified: [])
        #expect(state.failures == 0)
        // Without a stamp, the retry itself reads the settings.
        let next = Self.now + 600
        #expect(state.nextCheck(before: next, at: Self.now) == next)
    }

    // MARK: Changes

    @Test func aVersionIsNewsOnce() {
        var state = working()
        var news = [state.notes(version: 7), state.takeNews()]
        #expect(news == [false, false])
        news = [state.notes(version: 8), state.notes(version: 8)]
        #expect(news == [true, false])
        news = [state.takeNews(), state.takeNews()]
        #expect(news == [true, false])
        state.end()
        let afterwards = state.notes(version: 9)
        #expect(!afterwards)
    }

    // MARK: What holds a start up

    @Test func aPauseAndItsEndAreAnnouncedOnce() {
        func words(_ step: LifeState.PauseStep) -> String {
            switch step {
            case .none(let isOver): isOver ? "resumed" : "none"
            case .holds(_, let isNew): isNew ? "paused" : "still paused"
            }
        }
        var state = state()
        let pause = Pause(since: Self.now - 10)
        let steps = [nil, pause, pause, nil, nil, pause].map { words(state.step(in: $0)) }
        #expect(steps == ["none", "paused", "still paused", "resumed", "none", "paused"])
    }

    @Test func aPauseIsLookedAtWhenItEndsAndWhenSomethingIsToBeUndone() {
        let state = state()
        func wait(until end: Date?, undo: Date) -> TimeInterval {
            state.nextCheck(
                in: Pause(since: Self.now, until: end), undo: undo, at: Self.now
            ).timeIntervalSince(Self.now)
        }
        #expect(wait(until: nil, undo: .distantFuture) == LifeState.changeCheckInterval)
        #expect(wait(until: nil, undo: Self.now + 20) == 20)
        #expect(wait(until: nil, undo: Self.now - 20) == 1)
        #expect(wait(until: Self.now + 5, undo: .distantFuture) == 5)
    }

    @Test func aRetirementIsCarriedOutOnceItIsDue() {
        func words(_ step: LifeState.RetirementStep) -> String {
            switch step {
            case .none: "none"
            case .carryOut: "carry out"
            case .rest(let end): "rest \(Int(end.timeIntervalSince(Self.now)))"
            case .end: "end"
            }
        }
        let several = state()
        let one = state(waitsForPerson: false)
        #expect(words(several.step(in: nil, at: Self.now)) == "none")
        let later = Retirement(date: Self.now + 1, asked: Self.now - 9)
        #expect(words(several.step(in: later, at: Self.now)) == "none")
        var due = Retirement(date: Self.now, asked: Self.now - 9)
        #expect(words(several.step(in: due, at: Self.now)) == "carry out")
        due.ended = Self.now
        #expect(words(several.step(in: due, at: Self.now)) == "rest 50")
        #expect(words(one.step(in: due, at: Self.now)) == "end")
        #expect(words(one.afterRetirement(at: Self.now)) == "end")
        #expect(several.nextCheck(inRetirement: Self.now + 600, at: Self.now) == Self.now + 50)
    }
}
