import Foundation
import Logging
import Networks
import Posts
import Testing

@testable import Daemon

/// What refused credentials lead to.
@Suite struct AccountStandingTests {
    private let now = PaperMirror.now
    private let log = Recorder<String>()
    private let network = PaperNetwork(.mastodon)

    private func standing(_ patience: AccountStanding.Patience = .minutes) -> AccountStanding {
        AccountStanding(
            account: "bot", patience: patience, logger: Logger(label: "test") { [log] _ in LogRecorder(lines: log) })
    }

    private func refusal(_ operation: NetworkError.Operation = .readHome) -> NetworkError {
        network.error(.unauthorized, operation, outcome: .refused)
    }

    private func isGivenUp(_ standing: AccountStanding) -> Bool {
        do throws(UnusableAccount) {
            try standing.check()
            return false
        } catch {
            return true
        }
    }

    private func kind(_ admission: AccountStanding.Admission) -> String {
        switch admission {
        case .granted: "granted"
        case .afterVerification: "verify"
        case .refused(let error): "refused \(Int(error.retryAfter?.timeIntervalSince(now) ?? -1))"
        }
    }

    @Test func oneRefusalMakesAPauseAndThenAVerification() {
        let standing = standing()
        #expect(kind(standing.admission(at: now)) == "granted")
        let (error, isFirst) = standing.refuse(refusal(), .readHome, at: now)
        #expect(isFirst && error.retryAfter == now + 30 && error.outcome == .notSent)
        #expect(kind(standing.admission(at: now + 1)) == "refused 30")
        #expect(standing.pause(at: now + 29) == now + 30)
        #expect(standing.pause(at: now + 30) == nil)
        // One verifies, and the others wait for it.
        #expect(kind(standing.admission(at: now + 30)) == "verify")
        #expect(kind(standing.admission(at: now + 31)) == "refused 36")
        #expect(!standing.accept(.verifyAccount))
        #expect(kind(standing.admission(at: now + 32)) == "granted")
        // Until what was refused is accepted the doubt stays.
        #expect(!standing.accept(.readMentions))
        #expect(standing.refusal != nil)
        #expect(standing.accept(.readHome))
        #expect(standing.refusal == nil)
        #expect(log.values.count { $0.contains("Credentials accepted again") } == 1)
    }

    @Test func whatIsRefusedTogetherCountsOnce() {
        let standing = standing()
        for (operation, isFirst) in [
            (NetworkError.Operation.readHome, true), (.readMentions, false), (.publish, false),
        ] {
            #expect(standing.refuse(refusal(operation), operation, at: now + 1).isFirst == isFirst)
        }
        #expect(log.values.count == 1)
        #expect(kind(standing.admission(at: now + 31)) == "verify")
        _ = standing.accept(.verifyAccount)
        // All of it has to succeed.
        #expect(!standing.accept(.readHome) && !standing.accept(.readMentions) && standing.accept(.publish))
    }

    @Test func givesUpAfterSixRefusalsInTwelveMinutes() {
        let standing = standing()
        var time = now
        _ = standing.refuse(refusal(), .readHome, at: time)
        var waits: [TimeInterval] = []
        while !isGivenUp(standing), waits.count < 20 {
            let next = standing.pause(at: time) ?? .distantFuture
            waits.append(next.timeIntervalSince(time))
            time = next
            #expect(kind(standing.admission(at: time)) == "verify")
            _ = standing.refuse(refusal(.verifyAccount), .verifyAccount, at: time)
        }
        #expect(waits == [30, 60, 120, 240, 300])
    }

    /// A token that may do everything but publish is verified without an objection each time.
    @Test func aSuccessOfSomethingElseDoesNotCount() {
        let standing = standing()
        var time = now
        for number in 1...6 {
            #expect(!isGivenUp(standing))
            _ = standing.refuse(refusal(.publish), .publish, at: time)
            time = standing.pause(at: time) ?? time
            guard number < 6 else { break }
            #expect(kind(standing.admission(at: time)) == "verify")
            _ = standing.accept(.verifyAccount)
            _ = standing.accept(.readHome)
        }
        #expect(isGivenUp(standing))
    }

    @Test func somePatienceEndsAtOnceAndSomeNever() {
        let (hasty, endless) = (standing(.none), standing(.endless))
        _ = hasty.refuse(refusal(), .readHome, at: now)
        #expect(isGivenUp(hasty))
        var (time, waits) = (now, [TimeInterval]())
        for _ in 0..<30 {
            _ = endless.refuse(refusal(.verifyAccount), .verifyAccount, at: time)
            let next = endless.pause(at: time) ?? time
            waits.append(next.timeIntervalSince(time))
            time = next
        }
        #expect(!isGivenUp(endless))
        #expect(waits.prefix(9) == [30, 60, 120, 240, 300, 900, 1_800, 3_600, 3_600])
        #expect(waits.last == 3_600)
    }

    /// The server is not there at all when it is to be asked.
    @Test func aVerificationWithoutAnAnswerSaysNothing() {
        let standing = standing()
        _ = standing.refuse(refusal(), .readHome, at: now)
        for number in 1...20 {
            let time = now + 30 * Double(number)
            #expect(kind(standing.admission(at: time)) == "verify")
            standing.verificationFailed(at: time)
            #expect(standing.pause(at: time) == time + 30)
        }
        #expect(!isGivenUp(standing))
        #expect(log.values.count == 1)
    }

    @Test func aClockThatIsSetBackKeepsNobodyWaiting() {
        let standing = standing(.endless)
        _ = standing.refuse(refusal(), .readHome, at: now + 86_400)
        #expect(standing.pause(at: now) == nil)
        #expect(kind(standing.admission(at: now)) == "verify")
    }
}
