import Foundation
import Logging
import Posts
import TestSupport
import Testing

@testable import Networks
@testable import X

/// How long X wants to be left alone, and that it is.
@Suite struct XLimitTests {
    private static let date = ("Date", "Fri, 20 Nov 2026 21:00:00 GMT")

    @Test(
        arguments: [
            // The short window, by the server's clock.
            (
                [("x-rate-limit-remaining", "0"), ("x-rate-limit-reset", "1795208700")], 300,
                "rate-limited"
            ),
            // Only the exhausted windows count, and of them the last.
            (
                [
                    ("x-rate-limit-remaining", "12"), ("x-rate-limit-reset", "1795208700"),
                    ("x-user-limit-24hour-remaining", "0"),
                    ("x-user-limit-24hour-reset", "1795230000"),
                ], 21_600, "cap-reached"
            ),
            (
                [
                    ("x-rate-limit-remaining", "0"), ("x-rate-limit-reset", "1795208700"),
                    ("x-app-limit-24hour-remaining", "0"),
                    ("x-app-limit-24hour-reset", "1795212000"),
                    ("x-user-limit-24hour-remaining", "0"),
                    ("x-user-limit-24hour-reset", "1795215600"),
                ], 7_200, "cap-reached"
            ),
            (
                [
                    ("x-rate-limit-remaining", "0"), ("x-rate-limit-reset", "1795209000"),
                    ("x-app-limit-24hour-remaining", "7"),
                    ("x-app-limit-24hour-reset", "1795212000"),
                ], 600, "rate-limited"
            ),
            // Servers that say little, nothing or nonsense.
            ([("Retry-After", "30")], 30, "rate-limited"), ([], 900, "rate-limited"),
            ([("x-rate-limit-reset", "1795208700")], 300, "rate-limited"),
            ([("x-rate-limit-remaining", "-3"), ("x-rate-limit-reset", "1")], 5, "rate-limited"),
            (
                [("x-rate-limit-remaining", "0"), ("x-rate-limit-reset", "999999999999999")],
                86_400, "rate-limited"
            ),
            (
                [("x-rate-limit-remaining", "none"), ("x-rate-limit-reset", "soon")], 900,
                "rate-limited"
            ),
        ] as [([(String, String)], TimeInterval, String)])
    func aLimitSaysWhenToComeBack(headers: [(String, String)], seconds: TimeInterval, code: String)
        async throws
    {
        let answer = Answer.json(
            #"{"errors":[{"code":88,"message":"Rate limit exceeded"}]}"#, status: 429,
            headers: headers + [Self.date])
        let error = try await XLoopback.failure(answer, .readMentions)
        #expect(error.code.rawValue == code)
        #expect(error.retryAfter == XLoopback.start.addingTimeInterval(seconds))
        // The same on a machine whose clock is an hour ahead.
        let ahead = try await XLoopback.failure(
            answer, .readMentions, now: { XLoopback.start + 3_600 })
        let expected = headers.isEmpty || seconds < 86_400 ? seconds : 86_400
        #expect(ahead.retryAfter == XLoopback.start.addingTimeInterval(3_600 + expected))
    }

    @Test func aCapIsTriedOnceADay() async throws {
        let body =
            #"{"account_id":1,"product_name":"standard","title":"UsageCapExceeded","period":"Monthly","scope":"Product","detail":"Usage cap exceeded: Monthly product cap","type":"https://api.twitter.com/2/problems/usage-capped"}"#
        let headers = [
            ("x-rate-limit-remaining", "899"), ("x-rate-limit-reset", "1795208700"), Self.date,
        ]
        let error = try await XLoopback.failure(
            .json(body, status: 429, headers: headers), .readMentions)
        #expect(error.code == .capReached)
        // Five minutes after midnight in UTC.
        #expect(error.retryAfter == Date(timeIntervalSince1970: 1_795_219_500))
        #expect(error.serverCode == "usage-capped: Usage cap exceeded: Monthly product cap")
        #expect(!error.stopsActor)
        #expect(!error.isPermanent)
    }

    @Test(
        arguments: [
            ([], 3_600), ([("Retry-After", "60")], 3_600), ([("Retry-After", "7200")], 7_200),
        ]
            as [([(String, String)], TimeInterval)])
    func withoutCreditsItWaitsAnHourAtLeast(headers: [(String, String)], seconds: TimeInterval)
        async throws
    {
        let error = try await XLoopback.failure(.json("{}", status: 402, headers: headers))
        #expect(error.code == .creditsDepleted)
        #expect(error.retryAfter == XLoopback.start.addingTimeInterval(seconds))
        #expect(error.description.contains("add credits in the developer console"))
    }

    // MARK: Pauses

    /// What X refuses for good or for long is not asked for again before it may succeed.
    @Test(
        arguments: [
            (Answer.json("{}", status: 402), 3_600), (XWire.refusal(429, "usage-capped"), 11_100),
        ] as [(Answer, TimeInterval)])
    func someRefusalsStopEveryCall(answer: Answer, seconds: TimeInterval) async throws {
        let clock = AdjustableTime(XLoopback.start)
        let loopback = try XLoopback(now: { clock.now }) { $0.path == "/2/users/me" ? nil : answer }
        let first = try await XLoopback.failure(of: loopback.network, .readMentions)
        #expect(first.outcome == .refused)
        let asked = loopback.server.requests.count
        for operation in [
            NetworkError.Operation.publish, .readMentions, .readHome, .readPost, .verifyAccount,
            .delete,
        ] {
            let error = try await XLoopback.failure(of: loopback.network, operation)
            #expect(error.code == first.code)
            #expect(error.operation == operation)
            #expect(error.outcome == .notSent)
            #expect(error.retryAfter == first.retryAfter)
        }
        clock.now += seconds - 1
        _ = try await XLoopback.failure(of: loopback.network, .readPost)
        #expect(loopback.server.requests.count == asked)
        #expect(loopback.book.spent == XPrices.current.userRead)
        clock.now += 2
        _ = try await XLoopback.failure(of: loopback.network, .readPost)
        #expect(loopback.server.requests.count == asked + 1)
    }

    /// It may be a mistake of X, or an enrolment that is not known everywhere yet: it is asked like
    /// about other credentials.
    @Test func anAppThatIsNotEnrolledIsVerifiedAgain() async throws {
        let clock = AdjustableTime(XLoopback.start)
        let enrolled = XLoopback.start + 200
        let loopback = try XLoopback(now: { clock.now }) { request in
            if clock.now > XLoopback.start,
                clock.now < enrolled || request.path == "/2/users/42/mentions"
            {
                return clock.now < enrolled
                    ? XWire.refusal(403, "client-forbidden", ["reason": #""client-not-enrolled""#])
                    : .json(XWire.list([]))
            }
            return nil
        }
        let gate = AccountGate(
            loopback.network, account: "bot", now: { clock.now }, logger: Logger(label: "test"))
        _ = try await gate.verifyAccount()
        clock.now += 1
        var asked = loopback.server.requests.count
        var error = try await #require(throws: NetworkError.self) {
            _ = try await gate.page(.mentions, .newest)
        }
        #expect(error.code == .configuration)
        #expect(error.stopsActor)
        #expect(error.description.contains("enrol it in the developer console"))
        #expect(!error.description.contains("correct the setting"))
        // After half a minute, and after a minute and two more, each a little longer, it is
        // verified.
        for _ in 0..<2 {
            clock.now = try #require(gate.pause(at: clock.now))
            #expect(loopback.server.requests.count == asked + 1)
            asked += 1
            error = try await #require(throws: NetworkError.self) {
                _ = try await gate.page(.mentions, .newest)
            }
        }
        #expect(loopback.server.requests.count == asked + 1)
        try gate.check()
        clock.now = max(enrolled, try #require(gate.pause(at: clock.now)))
        _ = try await gate.page(.mentions, .newest)
        #expect(gate.refusal == nil)
    }

    @Test(arguments: [
        Answer.json("{}", status: 429), XWire.refusal(403, "client-forbidden"),
        .json("{}", status: 429, headers: [("x-user-limit-24hour-remaining", "0")]),
    ])
    func someRefusalsStopOneKindOfCall(answer: Answer) async throws {
        let loopback = try XLoopback { request in
            switch request.path {
            case "/2/users/42/mentions": answer
            case "/2/users/42/tweets": .json(XWire.list([]))
            default: nil
            }
        }
        let first = try await XLoopback.failure(of: loopback.network, .readMentions)
        let second = try await XLoopback.failure(of: loopback.network, .readMentions)
        #expect(second.code == first.code)
        #expect(second.outcome == .notSent)
        _ = try await loopback.network.page(.ownPosts, .newest)
        #expect(loopback.requests.map(\.path) == ["/2/users/42/mentions", "/2/users/42/tweets"])
    }

    @Test(arguments: [400, 401, 404, 500])
    func otherRefusalsStopNothing(status: Int) async throws {
        let loopback = try XLoopback { $0.path == "/2/users/me" ? nil : Answer(status: status) }
        _ = try await XLoopback.failure(of: loopback.network, .readMentions)
        _ = try await XLoopback.failure(of: loopback.network, .readMentions)
        // A read that was not let in is signed anew and asked once more.
        #expect(loopback.requests.count == (status == 401 ? 4 : 2))
    }

    /// The transport repeats a read whose connection died with the same nonce, which X may refuse.
    @Test func aReadThatWasNotLetInIsAskedOnceMoreWithANewSignature() async throws {
        let loopback = try XLoopback { $0.path == "/2/users/me" ? nil : Answer(status: 401) }
        let error = try await XLoopback.failure(of: loopback.network, .readMentions)
        #expect(error.code == .unauthorized)
        let signatures = loopback.requests.compactMap { $0.header("authorization") }
        #expect(signatures.count == 2)
        #expect(Set(signatures).count == 2)
    }

    /// Keys whose verification died on its way are not refused, and what the first of the two
    /// answers cost is paid.
    @Test func aVerificationThatWasNotLetInIsAskedOnceMore() async throws {
        let asked = AdjustableText("")
        let loopback = try XLoopback { _ in
            asked.text += "x"
            return asked.text == "x" ? Answer(status: 401) : nil
        }
        _ = try await loopback.network.verifyAccount()
        #expect(asked.text == "xx")
        #expect(loopback.book.spent == XPrices.current.userRead)
    }

    /// A write could act twice.
    @Test func aWriteThatWasNotLetInIsNotSentAgain() async throws {
        let loopback = try XLoopback { $0.path == "/2/users/me" ? nil : Answer(status: 401) }
        let error = try await XLoopback.failure(of: loopback.network, .publish)
        #expect(error.code == .unauthorized)
        #expect(loopback.requests.count == 1)
    }
}
