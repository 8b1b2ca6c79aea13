@testable import Transport

/// An answer of a server, written as it comes over the line: a status line, fields, an empty line,
/// a body.
struct Answer {
    let response: HTTPResponse

    init(_ input: [UInt8]) {
        var rest = input[...]
        var reader = ResponseReader(maximumBodyBytes: 1 << 20)
        var status = 500
        var isFirst = true
        while !rest.isEmpty {
            let end = rest.firstIndex(of: 0x0A).map { $0 + 1 } ?? rest.endIndex
            let line = Array(rest[..<end])
            rest = rest[end...]
            if isFirst { status = Self.status(line) ?? status }
            isFirst = false
            guard line.withUnsafeBytes({ reader.receive(headerLine: $0) }) else { break }
            if line.allSatisfy({ $0 == 0x0D || $0 == 0x0A }) { break }
        }
        let body = Array(rest)
        _ = body.withUnsafeBytes { reader.receive(body: $0) }
        response = reader.response(status: status)
    }

    /// The number behind `HTTP/1.1`.
    private static func status(_ line: [UInt8]) -> Int? {
        let words = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        return words.dropFirst().first.flatMap { Int($0) }.flatMap {
            (100...999).contains($0) ? $0 : nil
        }
    }
}
