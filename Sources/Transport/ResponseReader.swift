/// Collects the header lines and the body of a response within its limits.
struct ResponseReader {
    /// Header lines of all blocks together; servers send a few kilobytes.
    static let maximumHeaderBytes = 256 << 10
    /// So much is handed over of a body that is too large.
    static let maximumBeginning = 64 << 10

    private let maximumBodyBytes: Int
    private var headers = HTTPHeaders()
    private var headerBytes = 0
    private var isBlockComplete = true
    private var body: [UInt8] = []
    /// Why a line or bytes were refused; nil while all is well.
    private(set) var refusal: String?
    private var isCut = false

    init(maximumBodyBytes: Int) {
        self.maximumBodyBytes = maximumBodyBytes
    }

    func response(status: Int) -> HTTPResponse {
        HTTPResponse(status: status, headers: headers, body: body)
    }

    /// What came of a response whose body is too large; nil for every other.
    func beginning(status: Int) -> HTTPResponse? {
        guard isCut else { return nil }
        return HTTPResponse(
            status: status, headers: headers, body: Array(body.prefix(Self.maximumBeginning)), isCut: true)
    }

    /// False when the response is to be given up.
    mutating func receive(headerLine line: UnsafeRawBufferPointer) -> Bool {
        headerBytes += line.count
        guard headerBytes <= Self.maximumHeaderBytes else {
            refusal = "the header is larger than \(Self.maximumHeaderBytes) bytes"
            return false
        }
        let text = line.prefix { $0 != 0x0d && $0 != 0x0a }
        if text.starts(with: "HTTP/".utf8), isBlockComplete {
            // A block begins anew: an interim response came before the final one.
            headers = HTTPHeaders()
            isBlockComplete = false
        } else if text.isEmpty {
            isBlockComplete = true
        } else if !isBlockComplete {
            // After the block come trailers, which nothing here relies on.
            appendField(text)
        }
        return true
    }

    private mutating func appendField(_ line: Slice<UnsafeRawBufferPointer>) {
        if let first = line.first, first == 0x20 || first == 0x09 {
            headers.extendLast(Self.trimmed(line))
        } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
            headers.append(Self.trimmed(line[..<colon]), Self.trimmed(line[(colon + 1)...]))
        }
    }

    private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        guard let first = bytes.firstIndex(where: { !isBlank($0) }), let last = bytes.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(decoding: bytes[first...last], as: UTF8.self)
    }

    /// False when the response is to be given up.
    mutating func receive(body bytes: UnsafeRawBufferPointer) -> Bool {
        let room = maximumBodyBytes - body.count
        guard bytes.count <= room else {
            refusal = "the body is larger than \(maximumBodyBytes) bytes"
            isCut = true
            body.append(contentsOf: bytes.prefix(room))
            return false
        }
        body.append(contentsOf: bytes)
        return true
    }
}
