import Control
import Expectations
import Foundation
import Sandbox
import TestSupport
import Testing
import Transport

/// `mirror-bot web` and `mirror-bot run --web`, as processes.
@Suite(.timeLimit(.minutes(30))) struct WebCommandTests {
    private func get(_ path: String, of program: RunningProgram) async throws -> HTTPResponse {
        try await program.waitForError("Web page opened")
        let opened = try #require(
            program.errorSoFar.firstMatch(of: #/address=http:\/\/127\.0\.0\.1:([0-9]+)\//#))
        let client = HTTPClient(configuration: HTTPClientConfiguration(userAgent: "a browser"))
        defer { client.shutdown() }
        return try await client.send(HTTPRequest(url: "http://127.0.0.1:\(opened.output.1)\(path)"))
    }

    @Test(arguments: [SIGTERM, SIGINT]) func theWebCommandServesUntilItIsStopped(_ signal: Int32)
        async throws
    {
        let stage = try Stage()
        try await stage.train(Fixture.lines(days: 30, perDay: 8))
        let program = try stage.start(["web", "--listen", "127.0.0.1:0"])
        try await #expect(get("/healthz", of: program).status == 200)
        try await #expect(get("/m/default", of: program).status == 200)
        program.send(signal)
        let ending = await program.ending()
        #expect(ending.status == 0, "\(ending.error)")
    }

    @Test func theWorkerServesThePageBesideItsWork() async throws {
        let sandbox = try await Sandbox.live()
        let stage = try Stage(
            sandbox.botSettings.merging(["TIME_ZONE": "UTC", "MIN_AGE_DAYS": "0"]) { $1 })
        try await stage.train(Fixture.lines(days: 30, perDay: 8))
        let program = try stage.start(["run", "--web", "--listen", "127.0.0.1:0"])
        try await program.waitForError("Worker started")
        let page = try await get("/m/default", of: program)
        #expect(page.status == 200)
        #expect(String(decoding: page.body, as: UTF8.self).contains("A worker runs"))
        try await #expect(get("/metrics", of: program).status == 200)
        program.send(SIGTERM)
        let ending = await program.ending()
        #expect(ending.status == 0, "\(ending.error)")
        // The worker gave the mirror back, as it does without a page.
        try await expect(stage.status()) { $0.worker?.state == .absent }
        await sandbox.stop()
    }

    @Test func withoutTheFlagNothingListens() async throws {
        let sandbox = try await Sandbox.live()
        let stage = try Stage(
            sandbox.botSettings.merging(["TIME_ZONE": "UTC", "MIN_AGE_DAYS": "0"]) { $1 })
        try await stage.train(Fixture.lines(days: 30, perDay: 8))
        let program = try stage.start(["run"], environment: ["WEB_LISTEN": "127.0.0.1:0"])
        try await program.waitForError("Worker started")
        program.send(SIGTERM)
        let ending = await program.ending()
        #expect(ending.status == 0)
        #expect(!ending.error.contains("Web page"))
        await sandbox.stop()
    }

    @Test(arguments: [["web"], ["run", "--web"], ["run", "--all", "--web"]])
    func anAddressThatOthersReachNeedsAPassword(_ words: [String]) async throws {
        let stage = try Stage()
        try await stage.train(Fixture.lines(days: 30, perDay: 8))
        let ending = try await stage.run(words: words + ["--listen", "0.0.0.0:0"])
        #expect(ending.status == 78)
        #expect(
            ending.error.contains(
                "WEB_PASSWORD is not set, and 0.0.0.0:0 can be reached from other machines"))
        let short = try await stage.run(
            words: words + ["--listen", "0.0.0.0:0"], environment: ["WEB_PASSWORD": "short"])
        #expect(short.status == 78)
        #expect(!short.error.contains("\"short\""))
    }

    @Test func anAddressThatIsTakenIsTold() async throws {
        let stage = try Stage()
        try await stage.train(Fixture.lines(days: 30, perDay: 8))
        let first = try stage.start(["web", "--listen", "127.0.0.1:0"])
        try await first.waitForError("Web page opened")
        let port = try #require(
            first.errorSoFar.firstMatch(of: #/127\.0\.0\.1:([0-9]+)/#)?.output.1)
        let second = try await stage.spawn(["web", "--listen", "127.0.0.1:\(port)"])
        #expect(second.status == 69)
        #expect(second.error.contains("could not listen on 127.0.0.1:\(port)"), "\(second.error)")
        first.send(SIGTERM)
        _ = await first.ending()
    }

    @Test(arguments: [
        (["web", "--listen", "8080"], "expected an address and a port"),
        (["run", "--once", "--web"], "goes with neither --once nor --dry-run"),
        (["run", "--listen", "127.0.0.1:0"], "need --web"), (["run", "--read-only"], "need --web"),
    ])
    func wrongUsesAreTold(_ words: [String], _ reason: String) async throws {
        let ending = try await Stage().run(words: words)
        #expect(ending.status == 64)
        #expect(ending.error.contains(reason), "\(ending.error)")
    }
}
