import Expectations
import Foundation
import Mirroring
import Posts
import Settings
import TestSupport
import Testing

@testable import MirrorBot

/// A demo in a real browser; `make pictures` keeps what is seen here as the pictures of README.md.
@Suite(.enabled(if: Browser.program != nil), .timeLimit(.minutes(30)), .serialized)
struct DemoInBrowserTests {
    /// What a visitor has seen.
    private struct Sight: Sendable {
        var desk = Data()
        var phone = Data()
        /// How wide the pages are on screens of 1,280 and 360 px.
        var widths: [Int?] = []
        var complaints: [String] = []
        var reasons = ""
    }

    @Test func theEveningOfItsFirstDayIsSeen() async throws {
        let time = GivenTime()
        let (addresses, told) = AsyncStream.makeStream(of: String.self)
        // Shown only if something is wrong: the log of three days is long.
        let log = try DemoLog()
        LogOutput.install()
        let console = log.console
        let demo = Task {
            defer { told.finish() }
            try await Console.$current.withValue(console) {
                try await Self.demo(time) { told.yield($0) }
            }
        }
        var isWell = false
        defer {
            demo.cancel()
            if !isWell { print(log.text) }
        }
        var opened: String?
        for await address in addresses {
            opened = address
            break
        }
        let address = try #require(opened)
        let sight = try await Browser.run { browser in
            var sight = Sight()
            try Self.frame(browser, width: 1_280, height: 950, scheme: "light")
            try Self.open(address + "m/demo", in: browser)
            // The page follows by itself until six in the evening.
            time.pass(to: 16)
            while try browser.evaluate(
                "document.getElementById('as-of').textContent.includes(' 18:00:00,')") as? Bool
                != true
            {}
            sight.desk = try Self.picture(browser)
            sight.widths.append(
                try browser.evaluate("document.documentElement.scrollWidth") as? Int)
            let found = try browser.evaluate(
                """
                [...document.querySelectorAll('#others li')].find(l => l.innerText.includes('Favorite for'))
                    .querySelector('.why a').href
                """)
            let why = try #require(found as? String)
            try Self.frame(browser, width: 360, height: 740, scheme: "dark")
            try Self.open(why, in: browser)
            _ = try browser.evaluate("document.getElementById('why').scrollIntoView()")
            sight.phone = try Self.picture(browser)
            sight.widths.append(
                try browser.evaluate("document.documentElement.scrollWidth") as? Int)
            sight.reasons =
                try browser.evaluate("document.getElementById('why').innerText") as? String ?? ""
            sight.complaints = browser.events.map(\.name).filter {
                ["Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"].contains(
                    $0)
            }
            return sight
        }
        isWell =
            sight.widths == [1_280, 360] && sight.complaints.isEmpty
            && sight.reasons.contains("The human would favorite it")
        #expect(isWell, "\(sight.widths), \(sight.complaints), \(sight.reasons)")
        #expect(!log.text.isEmpty)
        for (name, picture) in [("demo-desk", sight.desk), ("demo-phone", sight.phone)] {
            #expect(picture.count < 150_000, "\(name)")
            guard let folder = ProcessInfo.processInfo.environment["MIRROR_BOT_SCREENSHOTS"] else {
                continue
            }
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            try picture.write(to: URL(fileURLWithPath: "\(folder)/\(name).png"))
        }
    }

    /// The days of the sample, in a time that the test lets pass.
    private static func demo(_ time: GivenTime, opened: @escaping @Sendable (String) -> Void)
        async throws
    {
        let page = DemoPage(
            listening: try #require(WebSettings.Listening("127.0.0.1:0")), timer: { time.wait },
            opened: opened)
        try await Demo(
            network: .usual, from: nil, days: 3, seed: 2026, zone: nil, keep: nil, page: page,
            clock: SystemClock(),
            say: { _ in }, report: { _ in }, watch: nil
        ).run { _ in }
    }

    // MARK: The browser

    private static func frame(_ browser: Browser, width: Int, height: Int, scheme: String) throws {
        try browser.show(width: width, scheme: scheme)
        try browser.call(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": false])
    }

    private static func open(_ address: String, in browser: Browser) throws {
        try browser.call("Page.navigate", ["url": address])
        while try browser.evaluate("document.readyState + location.href") as? String
            != "complete\(address)"
        {}
    }

    /// A picture of what fits the screen.
    private static func picture(_ browser: Browser) throws -> Data {
        let answer = try browser.call("Page.captureScreenshot", ["format": "png"])
        return try #require((answer["data"] as? String).flatMap { Data(base64Encoded: $0) })
    }
}

/// The log of a demo, in a file.
private struct DemoLog: Sendable {
    private let folder: TemporaryDirectory
    let console: Console

    init() throws {
        folder = try TemporaryDirectory()
        let path = folder.path("demo.log")
        try Data().write(to: URL(fileURLWithPath: path))
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        let process = Console.process
        let output = Console.Output(
            terminal: process.error.terminal,
            write: { text in _ = try? file.write(contentsOf: Data(text.utf8)) })
        console = Console(
            environment: process.environment, folder: nil, input: process.input,
            output: process.output, error: output)
    }

    var text: String {
        (try? String(contentsOfFile: folder.path("demo.log"), encoding: .utf8)) ?? ""
    }
}
