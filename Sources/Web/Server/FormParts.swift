import Foundation
import NIOCore

/// Reads the parts of a form that a browser sends as `multipart/form-data` (RFC 7578), in order and
/// as they arrive, so that a file needs no memory.
struct FormParts<Body: AsyncSequence> where Body.Element == ByteBuffer {
    /// The heading of a part.
    struct Heading: Equatable {
        /// The name of the field.
        let name: String
        /// The name of the file; nil for a field that is no file.
        let file: String?
    }

    /// The error for a body that is no such form, or that ends too early.
    struct Malformed: Error {}

    /// The most bytes of a heading.
    private static var longestHeading: Int { 8 * 1_024 }

    private var chunks: Body.AsyncIterator
    private let delimiter: [UInt8]
    /// Bytes that were received and not returned yet.
    private var buffer: [UInt8]
    /// Whether the first delimiter was found, so that the form has begun.
    private var isInContent = false

    /// - Parameters:
    ///   - body: The body of the request.
    ///   - contentType: Its `Content-Type`; nil if it has none.
    /// - Throws: ``Malformed`` if the type is another one, or names no boundary.
    init(_ body: Body, contentType: String?) throws {
        guard let boundary = Self.boundary(of: contentType ?? "") else { throw Malformed() }
        chunks = body.makeAsyncIterator()
        delimiter = Array("\r\n--\(boundary)".utf8)
        // The first delimiter has no line break before it.
        buffer = Array("\r\n".utf8)
    }

    /// The boundary that `multipart/form-data` names; nil for other types, and for a boundary that
    /// RFC 2046, section 5.1.1, does not allow.
    static func boundary(of contentType: String) -> String? {
        let parts = contentType.split(separator: ";").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        guard parts.first?.lowercased() == "multipart/form-data",
            let parameter = parts.dropFirst().first(where: {
                $0.lowercased().hasPrefix("boundary=")
            })
        else { return nil }
        let boundary = parameter.dropFirst("boundary=".count).trimmingCharacters(in: ["\""])
        // Clearing the bit 0x20 turns a small letter into a capital one.
        let isAllowed = boundary.utf8.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & ~0x20)
                || "'()+_,-./:=?".utf8.contains(byte)
        }
        return (1...70).contains(boundary.utf8.count) && isAllowed ? boundary : nil
    }

    /// Skips what is left of a part, and reads the heading of the next one; nil at the end of the
    /// form.
    ///
    /// - Throws: ``Malformed``, or the error of the body.
    mutating func next() async throws -> Heading? {
        if !isInContent {
            // Nothing may precede the first delimiter.
            guard try await fill(to: delimiter.count), buffer.starts(with: delimiter) else {
                throw Malformed()
            }
            isInContent = true
        }
        while try await content() != nil {}
        buffer.removeFirst(delimiter.count)
        guard try await fill(to: 2) else { throw Malformed() }
        if buffer.starts(with: "--".utf8) { return nil }
        let heading = try await heading()
        isInContent = true
        return heading
    }

    /// The next bytes of the part's content; nil at its end.
    ///
    /// - Throws: ``Malformed``, or the error of the body.
    mutating func content() async throws -> [UInt8]? {
        while true {
            if let end = Self.position(of: delimiter, in: buffer) {
                guard end > 0 else { return nil }
                return take(end)
            }
            // A delimiter may have begun in the last bytes.
            let complete = buffer.count - delimiter.count + 1
            if complete > 0 { return take(complete) }
            guard try await receive() else { throw Malformed() }
        }
    }

    /// The whole content of a part as text; nil if it is invalid UTF-8 or contains NUL.
    ///
    /// - Parameter limit: The most bytes of the content.
    /// - Throws: ``Malformed`` also for a longer content, or the error of the body.
    mutating func text(upTo limit: Int) async throws -> String? {
        var bytes: [UInt8] = []
        while let more = try await content() {
            bytes += more
            guard bytes.count <= limit else { throw Malformed() }
        }
        guard !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    // MARK: Bytes

    private mutating func take(_ count: Int) -> [UInt8] {
        let taken = Array(buffer.prefix(count))
        buffer.removeFirst(count)
        return taken
    }

    /// Waits until the buffer has this many bytes; false if the body ends before.
    private mutating func fill(to count: Int) async throws -> Bool {
        while buffer.count < count {
            guard try await receive() else { return false }
        }
        return true
    }

    /// Appends the next chunk to the buffer; false at the end of the body.
    private mutating func receive() async throws -> Bool {
        guard let chunk = try await chunks.next() else { return false }
        buffer.append(contentsOf: chunk.readableBytesView)
        return true
    }

    /// The first position of `pattern`, which begins with a carriage return, in `bytes`; nil for
    /// none.
    private static func position(of pattern: [UInt8], in bytes: [UInt8]) -> Int? {
        bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return nil }
            var position = 0
            while position + pattern.count <= bytes.count,
                let found = memchr(
                    start + position, Int32(UInt8(ascii: "\r")), bytes.count - position)
            {
                position = UnsafeRawPointer(found) - start
                guard position + pattern.count <= bytes.count else { return nil }
                if memcmp(found, pattern, pattern.count) == 0 { return position }
                position += 1
            }
            return nil
        }
    }

    // MARK: Headings

    /// Reads the fields after a delimiter, and the empty line.
    private mutating func heading() async throws -> Heading {
        guard buffer.starts(with: "\r\n".utf8) else { throw Malformed() }
        let end = Array("\r\n\r\n".utf8)
        var position = Self.position(of: end, in: buffer)
        while position == nil {
            guard buffer.count <= Self.longestHeading, try await receive() else {
                throw Malformed()
            }
            position = Self.position(of: end, in: buffer)
        }
        guard let position, position <= Self.longestHeading,
            let text = String(validating: take(position), as: UTF8.self)
        else { throw Malformed() }
        buffer.removeFirst(end.count)
        let prefix = "content-disposition:"
        guard
            let line = text.components(separatedBy: "\r\n").first(where: {
                $0.lowercased().hasPrefix(prefix)
            })
        else { throw Malformed() }
        let parameters = Self.parameters(of: line.dropFirst(prefix.count))
        guard let name = parameters["name"] else { throw Malformed() }
        return Heading(name: name, file: parameters["filename"])
    }

    /// The parameters of `form-data; name="what"; filename="posts.zip"`.
    ///
    /// Browsers write a quotation mark in a name as `%22`, and line breaks as `%0D%0A` (HTML,
    /// section "Multipart form data").
    private static func parameters(of disposition: Substring) -> [String: String] {
        var parameters: [String: String] = [:]
        var rest = disposition
        while let equals = rest.range(of: "=\"") {
            let name = rest[..<equals.lowerBound].split(separator: ";").last.map {
                $0.trimmingCharacters(in: .whitespaces).lowercased()
            }
            let afterQuote = rest[equals.upperBound...]
            guard let quote = afterQuote.firstIndex(of: "\"") else { break }
            if let name, parameters[name] == nil {
                parameters[name] = afterQuote[..<quote].replacingOccurrences(
                    of: "%22", with: "\"")
            }
            rest = afterQuote[afterQuote.index(after: quote)...]
        }
        return parameters
    }
}
