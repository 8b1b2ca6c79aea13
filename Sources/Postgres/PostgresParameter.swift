/// A value for `$1`, `$2`, …, sent in binary form with its type.
package enum PostgresParameter: Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case boolean(Bool)
    case array(PostgresArray)

    /// The type's object id in `pg_type`; 0 lets the server infer it.
    var type: UInt32 {
        switch self {
        case .null: 0
        case .integer: PostgresType.int8
        case .real: PostgresType.float8
        case .text: PostgresType.text
        case .boolean: PostgresType.bool
        case .array(let array): array.type.arrayType
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

/// The values of one column of many rows, as one parameter, in binary form from the first one on.
package struct PostgresArray: Sendable {
    /// What the elements are.
    package enum ElementType: Sendable {
        case integer
        case real
        case text
        case boolean

        fileprivate var elementType: UInt32 {
            switch self {
            case .integer: PostgresType.int8
            case .real: PostgresType.float8
            case .text: PostgresType.text
            case .boolean: PostgresType.bool
            }
        }

        /// The object id of the array's own type.
        fileprivate var arrayType: UInt32 {
            switch self {
            case .integer: 1016
            case .real: 1022
            case .text: 1009
            case .boolean: 1000
            }
        }
    }

    fileprivate let type: ElementType
    fileprivate private(set) var count = 0
    fileprivate private(set) var hasNull = false
    fileprivate private(set) var elements = PostgresFields()

    package init(of type: ElementType) { self.type = type }

    /// Adds a value that is null or of the array's type.
    package mutating func append(_ value: PostgresParameter) {
        count += 1
        if case .null = value { hasNull = true }
        elements.append(value)
    }
}

/// Values one after the other, each with its length before it, as arrays and copied rows have them.
struct PostgresFields: Sendable {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ value: PostgresParameter) {
        switch value {
        case .null: bytes.append(Int32(-1))
        case .integer(let number):
            bytes.append(Int32(8))
            bytes.append(number)
        case .real(let number):
            bytes.append(Int32(8))
            bytes.append(number.bitPattern)
        case .boolean(let truth):
            bytes.append(Int32(1))
            bytes.append(truth ? 1 as UInt8 : 0)
        case .text(let text):
            bytes.append(Int32(clamping: text.utf8.count))
            bytes.append(contentsOf: text.utf8)
        case .array(let array):
            let value = PostgresParameters.form(of: array)
            bytes.append(Int32(clamping: value.count))
            bytes.append(contentsOf: value)
        }
    }

    /// Begins a row of so many values.
    mutating func beginRow(of count: Int) { bytes.append(Int16(clamping: count)) }
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
        bytes.append(0 as UInt8)
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
        case .integer(let number): bytes.append(number)
        case .real(let number): bytes.append(number.bitPattern)
        case .text(let text): bytes.append(contentsOf: text.utf8)
        case .boolean(let truth): bytes.append(truth ? 1 as UInt8 : 0)
        case .array(let array): bytes += Self.form(of: array)
        }
    }

    fileprivate static func form(of array: PostgresArray) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(Int32(array.count == 0 ? 0 : 1))
        bytes.append(Int32(array.hasNull ? 1 : 0))
        bytes.append(array.type.elementType)
        guard array.count > 0 else { return bytes }
        bytes.append(Int32(clamping: array.count))
        bytes.append(Int32(1))
        return bytes + array.elements.bytes
    }
}

extension [UInt8] {
    /// Adds a number in network order.
    mutating func append(_ number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}
