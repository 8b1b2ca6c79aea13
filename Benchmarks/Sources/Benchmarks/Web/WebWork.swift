import Foundation
import Storage
import TestSupport
import Transport

extension Work {
    /// The pages of a mirror with a long past, served by the process of a worker, beside a static
    /// file of that server.
    ///
    /// The file is the style sheet, the largest that there is. Pages and file take turns over one
    /// connection.
    static let web = Work(name: "web") { bench, report in
        for place in WebStage.Place.allCases {
            let stage = try await WebStage(bench, in: place)
            for page in WebStage.pages {
                await report.measure("\(place.prefix)_\(page.name)") {
                    try await PageTimes(bench).lines(
                        "\(place.prefix)_\(page.name)", "\(place.title): \(page.title)",
                        stage.address + page.path,
                        beside: stage.address + "/style.css", limit: 5, change: stage.change)
                }
            }
            await report.measure("\(place.prefix)_deliveries") {
                [try await deliveries(bench, stage)]
            }
            await report.measure("\(place.prefix)_streams") { try await streams(bench, stage) }
            try await bench.blocking { stage.stop() }
            await stage.close()
        }
        await report.measure("web_index") { try await index(bench) }
    }

    /// The time from a favorite's planned row to its row in the state `done`, while a client loads
    /// pages without a break.
    private static func deliveries(_ bench: Bench, _ stage: WebStage) async throws -> Line {
        let count = bench.amount(20, smoke: 2)
        var ours = [Double]()
        var baseline = [Double]()
        for _ in 0..<max(bench.heavyPairs, bench.amount(3, smoke: 1)) {
            baseline.append(try await stage.millisecondsOfDeliveries(count))
            let loading = Task {
                while !Task.isCancelled {
                    for page in WebStage.pages {
                        _ = try await PageTimes.time(stage.address + page.path, stage.client)
                    }
                }
            }
            defer { loading.cancel() }
            ours.append(try await stage.millisecondsOfDeliveries(count))
        }
        return Line(
            "\(stage.place.prefix)_deliveries",
            "\(stage.place.title): deliver a favorite while pages are loaded",
            ours: Figure.text(Spread(ours).median, "ms"),
            baseline: Figure.text(Spread(baseline).median, "ms"),
            ratio: Spread(zip(ours, baseline).map { $0 / $1 }), target: .atMost(1.25))
    }

    /// The memory that 200 open event streams need, and the transactions a second that they cause.
    private static func streams(_ bench: Bench, _ stage: WebStage) async throws -> [Line] {
        let count = bench.amount(200, smoke: 5)
        // A count waits 11 s more, which makes 30 s: three polls of the worker.
        let span = Duration.seconds(bench.effort == .smoke ? 1 : 19)
        let settles = bench.effort != .smoke
        let before = try stage.privateMemory()
        let quiet = try await stage.commits(within: span, settles: settles)
        let streams = try await bench.blocking {
            try (0..<count).map { _ in try OpenStream(port: stage.port, path: "/m/default/events") }
        }
        // Each has looked for its mirror when it was opened, which is counted by then.
        let busy = try await stage.commits(within: span, settles: settles)
        let memory = try stage.privateMemory() - before
        try await bench.blocking { for stream in streams { stream.close() } }
        let title = "\(stage.place.title): \(count) open event streams"
        var lines = [
            Line.limited(
                "\(stage.place.prefix)_streams", "\(title): memory", [max(memory, 0)], limit: 20,
                unit: "MiB")
        ]
        if let quiet, let busy {
            lines.append(
                .limited(
                    "\(stage.place.prefix)_streams_commits",
                    "\(title): transactions for all of them",
                    [max(busy - quiet, 0) / span.seconds], limit: 1, unit: "/s"))
        }
        return lines
    }

    /// The list of ten thousand mirrors.
    private static func index(_ bench: Bench) async throws -> [Line] {
        let stage = try await IndexStage(bench, mirrors: bench.amount(10_000, smoke: 20))
        let lines = try await PageTimes(bench).lines(
            "web_index", "embedded: the list of \(stage.mirrors) mirrors", stage.address + "/",
            beside: stage.address + "/style.css", limit: 10, change: stage.change)
        try await bench.blocking { stage.stop() }
        await stage.close()
        return lines
    }
}

/// How long answers take.
struct PageTimes {
    /// Changes a row that no page reads.
    static let change: SQL = """
        INSERT INTO counters (mirror, name, value) VALUES ('default', 'benchmark', 1)
        ON CONFLICT (mirror, name) DO UPDATE SET value = counters.value + 1
        """

    private let rounds: Int
    /// Of each round.
    private let requests: Int
    /// Views of which each follows a change.
    private let views: Int

    init(_ bench: Bench) {
        rounds = bench.heavyPairs
        requests = bench.amount(1_000, smoke: 3)
        views = bench.amount(bench.effort == .quick ? 9 : 21, smoke: 2)
    }

    /// The slowest hundredth of a page's answers in terms of that of a file's, and how long the
    /// page takes of which the server has no copy.
    ///
    /// - Parameter change: Commits something, after which the page is made anew.
    func lines(
        _ name: String, _ title: String, _ page: String, beside file: String, limit: Double,
        change: () async throws -> Void
    ) async throws -> [Line] {
        let client = HTTPClient(
            configuration: HTTPClientConfiguration(userAgent: "mirror-bot-benchmarks"))
        defer { client.shutdown() }
        // What is made on the first view is kept by some pages.
        _ = try await Self.time(page, client)
        var ours = [Double]()
        var baseline = [Double]()
        for _ in 0..<rounds {
            var pages = [Double]()
            var files = [Double]()
            for _ in 0..<requests {
                pages.append(try await Self.time(page, client))
                files.append(try await Self.time(file, client))
            }
            ours.append(Spread.quantile(0.99, of: pages.sorted()))
            baseline.append(Spread.quantile(0.99, of: files.sorted()))
        }
        var anew: [Double] = []
        for _ in 0..<views {
            try await change()
            anew.append(try await Self.time(page, client))
        }
        return [
            Line(
                name, "\(title), slowest hundredth", ours: Figure.text(Spread(ours).median, "ms"),
                baseline: Figure.text(Spread(baseline).median, "ms"),
                ratio: Spread(zip(ours, baseline).map { $0 / $1 }), target: .atMost(limit)),
            Line(
                "\(name)_anew", "\(title), first view after a change",
                ours: Figure.text(Spread(anew).median, "ms")),
        ]
    }

    /// The milliseconds until an answer was read whole.
    static func time(_ url: String, _ client: HTTPClient) async throws -> Double {
        let start = ContinuousClock.now
        let response = try await client.send(HTTPRequest(url: url))
        let taken = start.duration(to: .now).seconds * 1_000
        guard response.status == 200, response.body.count > 2_000 else {
            throw BaselineError(description: "\(url) was answered with \(response)")
        }
        return taken
    }
}

/// A connection on which the server sends events for as long as it is open.
final class OpenStream: Sendable {
    private let descriptor: Int32

    /// Opens it and waits for the first bytes.
    init(port: Int, path: String) throws {
        let opened = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard opened >= 0 else { throw TestSupportError("could not open a socket") }
        descriptor = opened
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(opened, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        let request = Array("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n".utf8)
        var answer = [UInt8](repeating: 0, count: 1_024)
        guard isConnected, write(opened, request, request.count) == request.count,
            case let length = read(opened, &answer, answer.count), length > 0,
            String(decoding: answer[..<length], as: UTF8.self).hasPrefix("HTTP/1.1 200")
        else { throw TestSupportError("could not open \(path)") }
    }

    func close() { Foundation.close(descriptor) }
}
