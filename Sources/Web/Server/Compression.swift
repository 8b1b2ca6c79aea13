import CArchive
import HTTPTypes
import Hummingbird
import NIOCore

/// Compresses texts for clients that accept gzip (RFC 9110, sections 8.4 and 12.5.3).
///
/// The forms of a page contain the session's token. By making a browser request a page repeatedly
/// and comparing the lengths, an attacker could find such a secret (the BREACH attack), but
/// browsers do not send our cookies with requests of other sites.
struct Compression: RouterMiddleware {
    typealias Context = WebContext

    /// The smallest text that is compressed, in bytes: smaller ones fit into one packet anyway.
    private static let leastCompressed = 1_024

    func handle(
        _ request: Request, context: WebContext,
        next: (Request, WebContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        guard let length = response.body.contentLength, length >= Self.leastCompressed,
            response.headers[.contentType].map(Self.isText) == true
        else { return response }
        response.headers[values: .vary].append("Accept-Encoding")
        guard request.method != .head, Self.acceptsGzip(request.headers[values: .acceptEncoding])
        else { return response }
        let collectedBody = CollectedBody()
        try await response.body.write(collectedBody)
        let plain = collectedBody.buffer
        // If there is no memory for the compressor, the text is sent uncompressed.
        if let packed = Self.packed(plain) {
            response.headers[.contentEncoding] = "gzip"
            response.headers[.contentLength] = nil
            response.body = ResponseBody(byteBuffer: packed)
        } else {
            response.body = ResponseBody(byteBuffer: plain)
        }
        return response
    }

    private static func isText(_ type: String) -> Bool {
        type.hasPrefix("text/") || type.hasPrefix("image/svg")
    }

    /// Whether the fields of Accept-Encoding allow gzip: by its name, or else by `*`, with a weight
    /// above 0.
    static func acceptsGzip(_ fields: [String]) -> Bool {
        let values = WeightedValues(fields)
        return ["gzip", "x-gzip", "*"].lazy.compactMap(values.weight).first.map { $0 > 0 } ?? false
    }

    /// The bytes as one gzip member; nil without memory.
    private static func packed(_ plain: ByteBuffer) -> ByteBuffer? {
        guard let archive = archive_write_new(), let entry = archive_entry_new() else { return nil }
        defer {
            archive_entry_free(entry)
            archive_write_free(archive)
        }
        archive_entry_set_filetype(entry, UInt32(S_IFREG))
        // Incompressible data grows by five bytes for each block of 16 kB, and by a header.
        let capacity = plain.readableBytes + plain.readableBytes / 1_000 + 512
        var packedBytes = 0
        var packed = ByteBufferAllocator().buffer(capacity: capacity)
        let isPacked = packed.withUnsafeMutableWritableBytes { space in
            archive_write_add_filter_gzip(archive) == ARCHIVE_OK
                && archive_write_set_format_raw(archive) == ARCHIVE_OK
                && archive_write_set_bytes_in_last_block(archive, 1) == ARCHIVE_OK
                && archive_write_open_memory(archive, space.baseAddress, space.count, &packedBytes)
                    == ARCHIVE_OK
                && archive_write_header(archive, entry) == ARCHIVE_OK
                && plain.withUnsafeReadableBytes {
                    archive_write_data(archive, $0.baseAddress, $0.count) == $0.count
                }
                && archive_write_close(archive) == ARCHIVE_OK
        }
        guard isPacked else { return nil }
        packed.moveWriterIndex(forwardBy: packedBytes)
        return packed
    }

    /// Collects the bytes of a response body.
    private final class CollectedBody: ResponseBodyWriter {
        private(set) var buffer = ByteBuffer()

        func write(_ buffer: ByteBuffer) { self.buffer.writeImmutableBuffer(buffer) }
        func finish(_ trailingHeaders: HTTPFields?) {}
    }
}
