import Foundation
import TestSupport
import Transport

extension Work {
    /// GET requests to a web server on the loopback interface, so many at a time, over connections
    /// that are kept.
    ///
    /// The baseline is one process of the curl command that is given all addresses at once; its
    /// start counts, and is some milliseconds of a second. Both sides read every answer to its end.
    static let requests = Work(name: "http") { bench, report in
        let curl = try Tool.locate("curl", package: "curl")
        let server = try Nginx()
        defer { server.stop() }
        for (flight, count) in [(1, 5_000), (16, 20_000), (64, 20_000)] {
            await report.measure("http_\(flight)") {
                [try await line(bench, curl, server.url, flight, bench.amount(count, smoke: 200))]
            }
        }
    }

    private static func line(
        _ bench: Bench, _ curl: String, _ url: String, _ flight: Int, _ count: Int
    ) async throws -> Line {
        let client = HTTPClient(
            configuration: HTTPClientConfiguration(userAgent: "mirror-bot-benchmarks"))
        defer { client.shutdown() }
        let words = try CurlCommand(
            curl, url: url, count: count, flight: flight, folder: bench.folder
        ).words
        let outputPath = bench.folder.path("curl.log")
        let comparison = try await bench.compare {
            try await bench.elapsed { try await send(count, flight, url, client) }
        } baseline: {
            try await bench.blocking { try Program.run(words, outputPath: outputPath) }
        }
        return comparison.line(
            "http_\(flight)", "HTTP requests to nginx, \(flight) in flight", amount: count,
            unit: "requests",
            target: .atLeast(0.8))
    }

    private static func send(_ count: Int, _ flight: Int, _ url: String, _ client: HTTPClient)
        async throws
    {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for sender in 0..<flight {
                let share = count / flight + (sender < count % flight ? 1 : 0)
                group.addTask {
                    for _ in 0..<share {
                        let response = try await client.send(HTTPRequest(url: url))
                        guard response.status == 200, response.body.count == 300 else {
                            throw BaselineError(description: "nginx answered \(response)")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

/// The curl command with a list of addresses, each to be fetched once.
private struct CurlCommand {
    let words: [String]

    init(_ path: String, url: String, count: Int, flight: Int, folder: TemporaryDirectory) throws {
        // A body on the standard output would be mixed with the others'; every address needs an
        // output of its own.
        let list = String(repeating: "url = \"\(url)\"\noutput = \"/dev/null\"\n", count: count)
        let configuration = try folder.write(Data(list.utf8), to: "curl-\(flight).conf")
        words = [
            path, "--disable", "--silent", "--show-error", "--fail", "--no-progress-meter",
            "--parallel",
            "--parallel-max", "\(flight)",
            "--config", configuration,
        ]
    }
}
