import NIOCore
import Testing

@testable import Web

/// Forms with a file, cut into chunks at every place.
struct FormPartsTests {
    /// Chunks that arrive one after the other.
    private struct Chunks: AsyncSequence {
        typealias Element = ByteBuffer
        let chunks: [ByteBuffer]

        struct AsyncIterator: AsyncIteratorProtocol {
            var rest: ArraySlice<ByteBuffer>

            mutating func next() async throws -> ByteBuffer? { rest.popFirst() }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: chunks[...]) }
    }

    private static let type = "multipart/form-data; boundary=----Form7"
    /// A content in which delimiters begin and do not end.
    private static let content: [UInt8] =
        Array("\r\n\r--\r\n------Form\r\n------Form6".utf8) + [0, 255, 13, 10] + Array("\r\n".utf8)

    private static func body() -> [UInt8] {
        Array(
            ("------Form7\r\nContent-Disposition: form-data; name=\"what\"\r\n\r\nposts\r\n"
                + "------Form7\r\nContent-Disposition: form-data; name=\"empty\"\r\n\r\n\r\n"
                + "------Form7\r\nContent-Type: application/zip\r\n"
                + "content-disposition: form-data; name=\"file\"; filename=\"a; name=%22é%22.zip\"\r\n\r\n")
                .utf8) + content + Array("\r\n------Form7--\r\n".utf8)
    }

    private static func parts(_ chunks: [[UInt8]]) throws -> FormParts<Chunks> {
        try FormParts(Chunks(chunks: chunks.map { ByteBuffer(bytes: $0) }), contentType: type)
    }

    /// The headings and contents.
    private static func read(_ chunks: [[UInt8]]) async throws -> [(String, String?, [UInt8])] {
        var parts = try parts(chunks)
        var all: [(String, String?, [UInt8])] = []
        while let heading = try await parts.next() {
            var content: [UInt8] = []
            while let more = try await parts.content() { content += more }
            all.append((heading.name, heading.file, content))
        }
        return all
    }

    @Test func aFormIsTheSameHoweverItIsCut() async throws {
        let body = Self.body()
        var cuts = (0...body.count).map { [Array(body[..<$0]), Array(body[$0...])] }
        cuts.append(body.map { [$0] })
        for chunks in cuts {
            let all = try await Self.read(chunks)
            #expect(all.map(\.0) == ["what", "empty", "file"])
            #expect(all.map(\.1) == [nil, nil, "a; name=\"é\".zip"])
            #expect(all.map(\.2) == [Array("posts".utf8), [], Self.content])
        }
    }

    @Test func aPartThatNobodyReadsIsSkipped() async throws {
        var parts = try Self.parts([Self.body()])
        for name in ["what", "empty", "file"] {
            try await #expect(parts.next()?.name == name)
        }
        try await #expect(parts.next() == nil)
    }

    @Test func aFormThatEndsEarlyIsMalformed() async throws {
        let body = Self.body()
        // The last two bytes, the line break after the form, may be missing.
        for length in 0..<(body.count - 2) {
            await #expect(throws: FormParts<Chunks>.Malformed.self) {
                _ = try await Self.read([Array(body[..<length])])
            }
        }
    }

    @Test(arguments: [
        "x------Form7\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n------Form7--",
        "------Form7 \r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n------Form7--",
        "------Form7\r\nContent-Type: text/plain\r\n\r\n\r\n------Form7--",
        "------Form7\r\nContent-Disposition: form-data\r\n\r\n\r\n------Form7--",
    ])
    func whatIsNoFormIsMalformed(_ body: String) async {
        await #expect(throws: FormParts<Chunks>.Malformed.self) {
            _ = try await Self.read([Array(body.utf8)])
        }
    }

    @Test func aHeadingHasALimit() async throws {
        let heading = "------Form7\r\nContent-Disposition: form-data; name=\"a\"\r\nX: "
        for count in [20_000, 9_000] {
            let body = heading + String(repeating: "x", count: count) + "\r\n\r\n\r\n------Form7--"
            await #expect(throws: FormParts<Chunks>.Malformed.self) {
                _ = try await Self.read([Array(body.utf8)])
            }
        }
    }

    @Test func aTextHasALimit() async throws {
        var parts = try Self.parts([Self.body()])
        _ = try await parts.next()
        await #expect(throws: FormParts<Chunks>.Malformed.self) {
            var again = try Self.parts([Self.body()])
            _ = try await again.next()
            _ = try await again.text(upTo: 4)
        }
        try await #expect(parts.text(upTo: 5) == "posts")
        _ = try await parts.next()
        try await #expect(parts.text(upTo: 5) == "")
        _ = try await parts.next()
        // Not UTF-8, and with a NUL.
        try await #expect(parts.text(upTo: 1_000) == nil)
    }

    @Test(arguments: [
        ("multipart/form-data; boundary=a", "a"), ("Multipart/Form-Data;Boundary=\"a-b\"", "a-b"),
        ("multipart/form-data", nil), ("multipart/mixed; boundary=a", nil),
        ("multipart/form-data; boundary=", nil), ("multipart/form-data; boundary=a\u{e9}", nil),
        ("multipart/form-data; boundary=" + String(repeating: "a", count: 71), nil),
    ])
    func theBoundaryIsThatOfRFC2046(_ type: String, _ boundary: String?) {
        #expect(FormParts<Chunks>.boundary(of: type) == boundary)
    }
}
