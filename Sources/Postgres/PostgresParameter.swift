/// A value for `$1`, `$2`, …, sent in binary form with its type.
package enum PostgresParameter: Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case boolean(Bool)
    case integers([Int64?])
    case reals([Double?])
    case texts([String?])
    case booleans([Bool?])

    /// The type's object id in `pg_type`; 0 lets the server infer it.
    var type: UInt32 {
        switch self {
        case .null: 0
        case .integer: PostgresType.int8
        case .real: PostgresType.float8
        case .text: PostgresType.text
        case .boolean: PostgresType.bool
        case .integers: 1016
        case .reals: 1022
        case .texts: 1009
        case .booleans: 1000
        }
    }
}

/// Object ids of `pg_type`, which libpq's public headers do not name.
enum PostgresType {
    static let bool: UInt32 = 16
    static let int8: UInt32 = 20
    static let int2: UInt32 = 21
    static let int4: UInt32 = 23
    static let text: UInt32 = 25
    static let float4: UInt32 = 700
    static let float8: UInt32 = 701
    static let numeric: UInt32 = 1700
}

/// The binary form of a statement's parameters, in one buffer.
///
/// The forms are those of each type's `send` function in the server: integers
/// and IEEE 754 numbers in network order, texts as UTF-8, arrays as dimensions,
/// null flag, element type, size, lower bound and elements with their lengths.
struct PostgresParameters {
    private(set) var types: [UInt32] = []
    private var bytes: [UInt8] = []
    private var ranges: [Range<Int>?] = []

    init(_ parameters: [PostgresParameter]) {
        for parameter in parameters {
            types.append(parameter.type)
            let start = bytes.count
            append(parameter)
            if case .null = parameter { ranges.append(nil) } else { ranges.append(start..<bytes.count) }
        }
        // An empty text at the end still needs an address: no address means null.
        bytes.append(0)
    }

    /// Lends what libpq's functions take: values, their lengths, their formats.
    func withPointers<Result>(
        _ body: (_ values: [UnsafePointer<CChar>?], _ lengths: [Int32], _ formats: [Int32]) -> Result
    ) -> Result {
        bytes.withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { characters in
                let start = characters.baseAddress
                return body(
                    ranges.map { range in range.flatMap { start?.advanced(by: $0.lowerBound) } },
                    ranges.map { Int32(clamping: $0?.count ?? 0) },
                    ranges.map { _ in 1 })
            }
        }
    }

    private mutating func append(_ parameter: PostgresParameter) {
        switch parameter {
        case .null: break
        case .integer(let number): append(number)
        case .real(let number): append(number.bitPattern)
        case .text(let text): bytes.append(contentsOf: text.utf8)
        case .boolean(let truth): bytes.append(truth ? 1 : 0)
        case .integers(let numbers): append(numbers, PostgresType.int8) { $0.append($1) }
        case .reals(let numbers): append(numbers, PostgresType.float8) { $0.append($1.bitPattern) }
        case .texts(let texts): append(texts, PostgresType.text) { $0.bytes.append(contentsOf: $1.utf8) }
        case .booleans(let truths): append(truths, PostgresType.bool) { $0.bytes.append($1 ? 1 : 0) }
        }
    }

    private mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    private mutating func append<Element>(
        _ elements: [Element?], _ type: UInt32, _ appendElement: (inout Self, Element) -> Void
    ) {
        append(Int32(elements.isEmpty ? 0 : 1))
        append(Int32(elements.contains { $0 == nil } ? 1 : 0))
        append(type)
        guard !elements.isEmpty else { return }
        append(Int32(clamping: elements.count))
        append(Int32(1))
        for element in elements {
            guard let element else {
                append(Int32(-1))
                continue
            }
            let start = bytes.count
            append(Int32(0))
            appendElement(&self, element)
            let length = Int32(clamping: bytes.count - start - 4)
            withUnsafeBytes(of: length.bigEndian) { bytes.replaceSubrange(start..<start + 4, with: $0) }
        }
    }
}
