import Foundation
import TestSupport
import Testing

@testable import Web

@Suite(.timeLimit(.minutes(30))) struct CompressionTests {
    /// What gzip makes of the bytes.
    private static func unpacked(_ bytes: [UInt8], in directory: TemporaryDirectory) async throws
        -> [UInt8]
    {
        let file = directory.path("answer.gz")
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        try await ChildProcess.run([try ServerProcess.locate("gzip"), "-df", file])
        return Array(try Data(contentsOf: URL(fileURLWithPath: directory.path("answer"))))
    }

    @Test func whoAcceptsGzipGetsTheSamePageSmaller() async throws {
        let directory = try TemporaryDirectory()
        try await WebStand.with { stand in
            for path in ["/style.css", "/m/mika/texts", "/metrics"] {
                let plain = try await stand.client.send(path)
                let answer = try await stand.client.send(
                    path, headers: ["Accept-Encoding": "br, gzip;q=0.8"])
                #expect(answer.status == 200)
                #expect(answer["Content-Encoding"] == "gzip")
                #expect(answer["Content-Type"] == plain["Content-Type"])
                #expect(answer["Content-Length"] == "\(answer.bytes.count)")
                #expect(answer.bytes.count * 2 < plain.bytes.count)
                #expect(try await Self.unpacked(answer.bytes, in: directory) == plain.bytes)
                // Or a proxy would keep the packed page for who cannot read it.
                #expect([plain, answer].allSatisfy { $0["Vary"] == "Accept-Encoding" })
                #expect(plain["Content-Encoding"] == nil)
            }
        }
    }

    @Test func whatIsShortOrAStreamGoesAsItIs() async throws {
        try await WebStand.with { stand in
            let answer = try await stand.client.send(
                "/healthz", headers: ["Accept-Encoding": "gzip"])
            #expect(answer.body == "ok\n")
            #expect(answer["Content-Encoding"] == nil)
            let head = try await stand.client.send(
                "/style.css", headers: ["Accept-Encoding": "gzip"], method: "HEAD")
            #expect(head.status == 200)
            #expect(head.bytes.isEmpty)
            #expect(head["Vary"] == "Accept-Encoding")
        }
    }

    @Test(arguments: [
        ([], false), (["gzip"], true), (["deflate, GZIP;q=0.5"], true), (["gzip;q=0"], false),
        (["gzip ; q=0.000"], false), (["*"], true), (["*;q=0"], false), (["gzip;q=0, *"], false),
        (["br", "x-gzip"], true), (["gzipped"], false), (["gzip;q=much"], false), ([";,=,"], false),
    ])
    func gzipIsSentOnlyToWhoTakesIt(_ fields: [String], _ isAccepted: Bool) {
        #expect(Compression.acceptsGzip(fields) == isAccepted)
    }
}
