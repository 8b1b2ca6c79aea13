import Control
import Expectations
import Foundation
import Mirroring
import Outbox
import Posts
import Settings
import Synchronization
import TestSupport
import Testing
import Transport

@testable import MirrorBot

/// `mirror-bot demo --web`: the page of a demo over loopback, in a time that the test lets pass.
@Suite(.timeLimit(.minutes(30))) struct DemoPageTests {
    private static let pages = [
        "", "/waiting", "/actions", "/hours", "/favorites", "/texts", "/people", "/health",
        "/settings",
    ]
    /// What every page of a demo shows.
    private static let band = "A demo. Nothing leaves this machine."

    // MARK: From start to end

    @Test func thePageShowsADayAndGoesOnAfterIt() async throws {
        let stage = try Stage()
        let time = GivenTime()
        let address = Promise<String>()
        let ended = Promise<DemoResult>()
        let demo = Task {
            defer { address.fulfill("") }
            try await Self.demo(
                on: stage,
                page: DemoPage(listening: try Self.anyPort, timer: { time.wait }) {
                    address.fulfill($0)
                }
            ) { ended.fulfill($0) }
        }
        let browser = Browsing(address: await address.value)
        defer { browser.close() }
        if browser.address.isEmpty { try await demo.value }

        // The clock waits for the real one, and the worker begins meanwhile.
        try await browser.wait(for: "A worker runs", at: "/m/demo")
        try await expect(browser.get("/").status, equals: 303)
        let morning = try await browser.get("/m/demo")
        #expect(
            morning.text.contains(
                "As of <time datetime=\"2026-05-31T15:00:00.000Z\">00:00:00</time>"))
        #expect(morning.text.contains("Day 1 of 1, a day in 20 s."))

        // At noon.
        time.pass(to: 11)
        try await browser.wait(for: ">12:00:00</time>", at: "/m/demo")
        let noon = try await browser.get("/m/demo")
        #expect(noon.text.contains("<b>Healthy.</b> Next post at 12:"))
        #expect(noon.text.contains("Earlier today"))
        #expect(noon.text.contains("A worker runs"))
        for path in Self.pages {
            let page = try await browser.get("/m/demo" + path)
            #expect(page.status == 200)
            #expect(page.text.contains(Self.band), "\(path)")
            #expect(page.text.contains("Day 1 of 1"), "\(path)")
            #expect(page.text.contains(">12:00:00</time>"), "\(path) has another time")
            #expect(page.text.contains("Healthy"), "\(path)")
            #expect(page.text.contains("Ctrl-C") == path.isEmpty, "\(path)")
        }
        let missing = try await browser.get("/m/demo/nothing")
        #expect(missing.status == 404)
        #expect(missing.text.contains(Self.band))

        // The evening: the same as without a page until then, and a day to look at.
        time.pass(to: 21)
        let result = await ended.value
        let alone = Promise<DemoResult>()
        try await Self.demo(on: try Stage(), page: nil) { alone.fulfill($0) }
        let evening = DemoPage.arrival(from: result.past.origin, until: result.past.origin + 86_400)
        await expect(Self.told(result), equals: Self.told(alone.value, before: evening))
        #expect(result.complaints.isEmpty)
        try await browser.wait(for: ">18:00:0", at: "/m/demo")
        let after = try await browser.get("/m/demo")
        #expect(
            after.text.contains("It is the evening of its day; its clock goes as yours does now."))
        #expect(after.text.contains("Monday, 1 June"))
        #expect(after.text.contains("Earlier today"))
        #expect(after.text.contains("<b>Healthy.</b> Next post at "))
        #expect(after.text.contains("A worker runs"))

        // What a person does there is done.
        let paused = try await browser.post("/m/demo/pause", from: after, [("until", "3h")])
        #expect(paused.status == 303)
        try await expect(browser.get("/m/demo").text) { $0.contains("Paused until 21:00") }
        let slot = try #require(
            after.text.firstMatch(
                of: #/<form method="post" action="(\/m\/demo\/slots\/[^"]+\/skip)">/#))
        let skipped = try await browser.post(
            String(slot.output.1), from: after, seenAfter: String(slot.output.0))
        #expect(skipped.status == 303)
        try await expect(browser.get("/m/demo").text) { $0.contains("is left out.") }

        demo.cancel()
        _ = await demo.result
        await #expect(throws: (any Error).self) { try await browser.get("/m/demo") }
    }

    private static var anyPort: WebSettings.Listening {
        get throws { try #require(WebSettings.Listening("127.0.0.1:0")) }
    }

    private static func told(_ result: DemoResult, before end: Date = .distantFuture) -> [String] {
        result.actions.filter { $0.due < end }.map {
            "\($0.due) \($0.kind) \($0.state) \($0.text ?? "")"
        }
    }

    /// A day of the sample, in this process.
    private static func demo(
        on stage: Stage, page: DemoPage?,
        _ show: @escaping @Sendable (DemoResult) async throws -> Void
    ) async throws {
        let recorded = try RecordedConsole(
            environment: stage.environment, folder: stage.workingFolder, input: "")
        recorded.console.log.silence()
        try await Console.$current.withValue(recorded.console) {
            try await Demo(
                network: .usual, from: nil, days: 1, seed: 2026, zone: nil, keep: nil, page: page,
                clock: SystemClock(), say: { _ in }, report: { _ in }, watch: nil
            ).run(show)
        }
    }

    // MARK: As a program

    @Test func theProgramTellsTheAddressAndKeepsNothing() async throws {
        let folder = try TemporaryDirectory()
        let stage = try Stage(["TMPDIR": folder.path])
        let program = try stage.start(["demo", "--web", "--listen", "127.0.0.1:0", "--days", "2"])
        try await program.waitForError("living through 2 days …")
        let line = try #require(
            program.errorSoFar.firstMatch(
                of:
                    #/Open (http:\/\/127\.0\.0\.1:[0-9]+)\/ in a browser: 2 days, each in 20 s\. Ctrl-C ends it\.\n/#
            ))
        let browser = Browsing(address: String(line.output.1))
        defer { browser.close() }
        try await expect(browser.get("/m/demo").text) { $0.contains("of 2, a day in 20 s.") }
        program.send(SIGINT)
        let ending = await program.ending()
        #expect(ending.status == 128 + SIGINT)
        #expect(ending.output.isEmpty)
        try expect(FileManager.default.contentsOfDirectory(atPath: folder.path)) { $0.isEmpty }
    }

    @Test func aPortThatIsTakenIsTold() async throws {
        let other = try LoopbackServer(steps: [])
        defer { other.stop() }
        let ending = try await Stage().run("demo", "--web", "--listen", "127.0.0.1:\(other.port)")
        #expect(ending.status == 69)
        #expect(ending.output.isEmpty)
        #expect(
            ending.error.hasSuffix(
                "error: could not listen on 127.0.0.1:\(other.port): another program listens there; name another port "
                    + "with --listen, or any free one with --listen 127.0.0.1:0\n"),
            "\(ending.error)")
        #expect(!ending.error.contains("living through"))
    }

    @Test(arguments: [
        (["--listen", "127.0.0.1:0"], "--listen needs --web"),
        (["--web", "--keep", "tour"], "--web and --keep exclude each other"),
        (["--web", "--listen", "0.0.0.0:8080"], "expected an address of this machine"),
        (["--web", "--listen", "8080"], "--listen is \"8080\""),
    ])
    func wrongUsesAreTold(_ words: [String], _ reason: String) async throws {
        let ending = try await Stage().run(words: ["demo"] + words)
        #expect(ending.status == 64)
        #expect(ending.error.contains(reason), "\(ending.error)")
    }
}

/// A browser without scripts on the pages of one address.
private final class Browsing: Sendable {
    struct Answer: Sendable {
        let status: Int
        let text: String
    }

    let address: String
    private let client = HTTPClient(configuration: HTTPClientConfiguration(userAgent: "a browser"))
    private let cookie = Mutex("")

    init(address: String) {
        self.address = address.hasSuffix("/") ? String(address.dropLast()) : address
    }

    func close() { client.shutdown() }

    func get(_ path: String) async throws -> Answer {
        try await send(HTTPRequest(url: address + path, headers: HTTPHeaders(kept)))
    }

    /// Sends a form of a page.
    ///
    /// - Parameter mark: The text of the page behind which the form's digest stands; nil for the
    ///   first one.
    func post(
        _ path: String, from page: Answer, seenAfter mark: String? = nil,
        _ fields: [(String, String)] = []
    ) async throws -> Answer {
        func field(_ name: String, after mark: String?) throws -> (String, String) {
            let rest =
                try mark.map { try #require(page.text.range(of: $0)).upperBound }
                ?? page.text.startIndex
            let pattern = try Regex(
                "name=\"\(name)\" value=\"([^\"]*)\"", as: (Substring, Substring).self)
            return (name, String(try #require(page.text[rest...].firstMatch(of: pattern)).output.1))
        }
        let all = [try field("csrf", after: mark), try field("seen", after: mark)] + fields
        let body = all.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
        let headers =
            kept + [("Origin", address), ("Content-Type", "application/x-www-form-urlencoded")]
        return try await send(
            HTTPRequest(
                method: .post, url: address + path, headers: HTTPHeaders(headers),
                body: Array(body.utf8),
                followsRedirects: false))
    }

    /// Asks for a page until it has a text.
    ///
    /// - Throws: The page's error; `CancellationError` at the end of the test's time.
    func wait(for text: String, at path: String) async throws {
        while try await !get(path).text.contains(text) { try Task.checkCancellation() }
    }

    private var kept: [(String, String)] {
        let cookie = cookie.withLock { $0 }
        return cookie.isEmpty ? [] : [("Cookie", cookie)]
    }

    private func send(_ request: HTTPRequest) async throws -> Answer {
        let response = try await client.send(request)
        if let given = response.headers["Set-Cookie"]?.split(separator: ";").first {
            cookie.withLock { $0 = String(given) }
        }
        return Answer(status: response.status, text: String(decoding: response.body, as: UTF8.self))
    }
}
