import Foundation
import NetworkNames
import Networks
import Posts
import Sandbox
import Testing

/// What goes wrong is told the same way everywhere: what, where, and whether it will be tried
/// again.
@Suite struct FailureTests {
    /// Something that a server, or a proxy before it, may answer.
    struct Trouble: Sendable, CustomTestStringConvertible {
        let name: String
        let fault: SandboxFault
        let code: NetworkError.Code

        var testDescription: String { name }
    }

    static let troubles = [
        Trouble(name: "HTML 503", fault: .html(status: 503), code: .unavailable),
        Trouble(name: "HTML 502", fault: .html(status: 502), code: .unavailable),
        Trouble(name: "empty 500", fault: answer(500, ""), code: .unavailable),
        Trouble(
            name: "429 with Retry-After", fault: answer(429, "", ["retry-after": "120"]),
            code: .rateLimited),
        Trouble(name: "429 alone", fault: answer(429, "slow down"), code: .rateLimited),
        Trouble(name: "HTML 200", fault: .html(status: 200), code: .malformedResponse),
        Trouble(
            name: "half an object", fault: answer(200, #"{"data": [{"id": "#),
            code: .malformedResponse),
        Trouble(
            name: "redirect", fault: answer(302, "", ["location": "https://other.example/"]),
            code: .redirected),
        Trouble(name: "lost", fault: .dropRequest, code: .transport),
    ]

    @Test(arguments: Terrain.documented, troubles)
    func readingTellsWhatWentWrong(terrain: Terrain, trouble: Trouble) async throws {
        let ground = try await Ground(terrain)
        _ = try await ground.bot.verifyAccount()
        ground.sandbox.faults.failNext(trouble.fault, count: 3)
        let error = try await failure { _ = try await ground.bot.page(.mentions, .newest) }
        #expect(error.code == trouble.code)
        #expect(error.operation == .readMentions)
        #expect(!error.isPermanent)
        check(error, on: ground)
        if trouble.code == .rateLimited {
            #expect(error.retryAfter.map { $0 > ground.clock.now } == true)
        }
    }

    @Test(arguments: Terrain.documented, troubles)
    func writingTellsWhetherItMayHaveHappened(terrain: Terrain, trouble: Trouble) async throws {
        let ground = try await Ground(terrain)
        _ = try await ground.bot.verifyAccount()
        ground.sandbox.faults.failNext(trouble.fault, count: 3, path: ground.publishPath)
        let error = try await failure {
            _ = try await ground.bot.publish(ground.draft("Will it be there?"))
        }
        #expect(error.code == trouble.code)
        #expect(error.operation == .publish)
        check(error, on: ground)
        // Being told to wait is a no; a broken or missing answer is none.
        let isUnknown = [.unavailable, .malformedResponse, .transport].contains(trouble.code)
        #expect(error.outcome == (isUnknown ? .unknown : .refused))
    }

    @Test(arguments: Terrain.all(changing: .accounts))
    func wrongCredentialsStopTheActor(terrain: Terrain) async throws {
        let ground = try await Ground(terrain)
        let stranger = try ground.stranger()
        let error = try await failure { _ = try await stranger.verifyAccount() }
        #expect(error.code == .unauthorized)
        #expect(error.stopsActor)
        #expect(error.description.contains("no more calls are made"))
        #expect(!error.description.contains(Ground.strangerSecret))
        check(error, on: ground)
    }

    @Test func waitingIsToldWithItsEnd() {
        // Every code says something about what comes next.
        for code in [NetworkError.Code.overBudget, .capReached, .creditsDepleted, .rateLimited] {
            let error = NetworkError(
                code: code, network: .x, host: "api.x.com", operation: .readHome,
                retryAfter: Date(timeIntervalSince1970: 1_795_100_400), outcome: .refused)
            #expect(error.description.contains("after 2026-11-19T15:00:00"))
        }
    }

    private func check(_ error: NetworkError, on ground: Ground) {
        let text = error.description
        #expect(error.network == ground.network)
        #expect(text.contains(ground.network.displayName))
        #expect(text.contains("127.0.0.1"))
        #expect(
            text.contains("tried again") || text.contains("looked up")
                || text.contains("no more calls"))
        #expect(!text.contains("<"))
        for secret in ground.secrets where !secret.isEmpty { #expect(!text.contains(secret)) }
        if let status = error.status { #expect(text.contains("\(status)")) }
    }

    private static func answer(_ status: Int, _ body: String, _ headers: [String: String] = [:])
        -> SandboxFault
    {
        .answer(status: status, contentType: "text/plain", body: body, headers: headers)
    }
}
