import CPostgres

/// A value in the form that both kinds of database store.
///
/// Instants are integers: milliseconds since 1970 in UTC.
package enum SQLValue: Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case boolean(Bool)
}

/// Values are compared as databases do: texts byte for byte, while Swift considers composed and
/// decomposed accents equal.
extension SQLValue: Hashable {
    package static func == (left: SQLValue, right: SQLValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left == right
        case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
        case (.boolean(let left), .boolean(let right)): left == right
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0 as UInt8)
        case .integer(let number): hasher.combine(number)
        case .real(let number): hasher.combine(number)
        case .text(var text): text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .boolean(let truth): hasher.combine(truth)
        }
    }
}

/// The type of a column, as the migrations declare it.
package enum ColumnType: Sendable {
    /// `BIGINT`.
    case integer
    /// `DOUBLE PRECISION`.
    case real
    /// `TEXT`.
    case text
    /// `BOOLEAN`.
    case boolean
}

/// Object ids of `pg_type`, which libpq's public headers do not name.
private enum ObjectID {
    static let bool: UInt32 = 16
    static let int8: UInt32 = 20
    static let int2: UInt32 = 21
    static let int4: UInt32 = 23
    static let text: UInt32 = 25
    static let float4: UInt32 = 700
    static let float8: UInt32 = 701
    static let numeric: UInt32 = 1700
}

extension SQLValue {
    /// The type's object id; 0 lets the server infer it.
    fileprivate var objectID: UInt32 {
        switch self {
        case .null: 0
        case .integer: ObjectID.int8
        case .real: ObjectID.float8
        case .text: ObjectID.text
        case .boolean: ObjectID.bool
        }
    }

    /// Converts the text form of a value of a type to the closest case.
    ///
    /// Integers of every width become 64 bits; a `numeric` becomes an integer if it is one, else a
    /// real; types without a case become text.
    init(_ text: String, ofType objectID: UInt32) {
        switch objectID {
        case ObjectID.int2, ObjectID.int4, ObjectID.int8:
            self = Int64(text).map(Self.integer) ?? .text(text)
        case ObjectID.float4, ObjectID.float8: self = Double(text).map(Self.real) ?? .text(text)
        case ObjectID.numeric:
            self = Int64(text).map(Self.integer) ?? Double(text).map(Self.real) ?? .text(text)
        case ObjectID.bool: self = .boolean(text == "t")
        default: self = .text(text)
        }
    }
}

extension ColumnType {
    fileprivate var objectID: UInt32 {
        switch self {
        case .integer: ObjectID.int8
        case .real: ObjectID.float8
        case .text: ObjectID.text
        case .boolean: ObjectID.bool
        }
    }

    /// The object id of the corresponding array type.
    fileprivate var arrayObjectID: UInt32 {
        switch self {
        case .integer: 1016
        case .real: 1022
        case .text: 1009
        case .boolean: 1000
        }
    }
}

/// The values for `$1`, `$2`, … in binary form with their types, in one buffer.
///
/// The formats are those of each type's `send` function in the server: integers and IEEE 754
/// numbers in network order, texts as UTF-8, arrays as dimensions, null flag, element type, size,
/// lower bound and elements with their lengths.
struct PostgresParameters {
    /// libpq's number for a value in binary form.
    private static let binaryFormat: Int32 = 1

    private(set) var types: [UInt32] = []
    private var bytes: [UInt8] = []
    private var ranges: [Range<Int>?] = []

    init(_ values: [SQLValue]) {
        for value in values {
            types.append(value.objectID)
            let start = bytes.count
            bytes.append(value)
            if case .null = value { ranges.append(nil) } else { ranges.append(start..<bytes.count) }
        }
        endTexts()
    }

    /// Makes one array for each column of some rows.
    ///
    /// - Parameters:
    ///   - columns: The element types of the arrays.
    ///   - rows: The numbers of the rows.
    ///   - row: Makes a row, each value null or of its column's type.
    /// - Throws: The error of `row`.
    init(columns: [ColumnType], rows: ArraySlice<Int>, _ row: (Int) throws -> [SQLValue]) throws {
        var arrays = [[UInt8]](repeating: [], count: columns.count)
        var hasNull = [Bool](repeating: false, count: columns.count)
        for number in rows {
            for (index, value) in try row(number).enumerated() {
                if case .null = value { hasNull[index] = true }
                arrays[index].append(field: value)
            }
        }
        for (index, type) in columns.enumerated() {
            let start = bytes.count
            // The number of dimensions, whether an element is null, and the type of the elements.
            bytes.append(Int32(rows.isEmpty ? 0 : 1))
            bytes.append(Int32(hasNull[index] ? 1 : 0))
            bytes.append(type.objectID)
            if !rows.isEmpty {
                // The length of the only dimension, and its first index.
                bytes.append(Int32(clamping: rows.count))
                bytes.append(Int32(1))
                bytes += arrays[index]
            }
            types.append(type.arrayObjectID)
            ranges.append(start..<bytes.count)
        }
        endTexts()
    }

    /// Appends one byte, because an empty text at the end needs an address too: no address would
    /// mean null.
    private mutating func endTexts() { bytes.append(0 as UInt8) }

    /// Passes the arguments for libpq's functions to `body`: values, their lengths, their formats.
    func withPointers<Value>(_ body: ([UnsafePointer<CChar>?], [Int32], [Int32]) -> Value) -> Value
    {
        bytes.withUnsafeBytes { buffer in
            buffer.withMemoryRebound(to: CChar.self) { characters in
                let start = characters.baseAddress
                return body(
                    ranges.map { range in range.flatMap { start?.advanced(by: $0.lowerBound) } },
                    ranges.map { Int32(clamping: $0?.count ?? 0) },
                    ranges.map { _ in Self.binaryFormat })
            }
        }
    }
}

/// The result of one statement, the owner of libpq's memory.
package final class PostgresResult {
    private let handle: OpaquePointer
    private let types: [UInt32]
    package let columnNames: [String]
    package let rowCount: Int

    /// Takes ownership of `handle`.
    init(_ handle: OpaquePointer) {
        self.handle = handle
        let columns = 0..<PQnfields(handle)
        types = columns.map { PQftype(handle, $0) }
        columnNames = columns.map { PQfname(handle, $0).map { String(cString: $0) } ?? "" }
        rowCount = Int(PQntuples(handle))
    }

    deinit { PQclear(handle) }

    /// The number of changed rows; 0 for a statement without a count.
    package var affectedRows: Int {
        PQcmdTuples(handle).flatMap { Int(String(cString: $0)) } ?? 0
    }

    /// Whether the statement changed something.
    var isChange: Bool {
        switch commandTag.prefix(while: { $0 != " " }) {
        case "SELECT", "FETCH", "DECLARE", "CLOSE", "BEGIN", "SAVEPOINT", "RELEASE", "ROLLBACK":
            false
        case "INSERT", "UPDATE", "DELETE", "COPY": affectedRows > 0
        default: true
        }
    }

    /// The first value of the first row as text; nil if there is none or it is null.
    var firstText: String? {
        guard rowCount > 0, !columnNames.isEmpty, case .text(let text) = value(0, 0) else {
            return nil
        }
        return text
    }

    /// The command tag from the server, such as `COMMIT`.
    var commandTag: String {
        PQcmdStatus(handle).map { String(cString: $0) } ?? ""
    }

    /// A value, converted to the closest of the types here.
    ///
    /// - Precondition: `row` is below ``rowCount``, `column` below the number
    ///   of ``columnNames``.
    package func value(_ row: Int, _ column: Int) -> SQLValue {
        let row32 = Int32(row)
        let column32 = Int32(column)
        guard PQgetisnull(handle, row32, column32) == 0,
            let start = PQgetvalue(handle, row32, column32)
        else {
            return .null
        }
        let raw = UnsafeRawBufferPointer(
            start: start, count: Int(PQgetlength(handle, row32, column32)))
        return SQLValue(String(decoding: raw, as: UTF8.self), ofType: types[column])
    }
}

extension [UInt8] {
    /// Adds a number in network order.
    fileprivate mutating func append(_ number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }

    /// Adds the binary form of a value; adds nothing for null.
    fileprivate mutating func append(_ value: SQLValue) {
        switch value {
        case .null: break
        case .integer(let number): append(number)
        case .real(let number): append(number.bitPattern)
        case .text(let text): append(contentsOf: text.utf8)
        case .boolean(let truth): append(truth ? 1 as UInt8 : 0)
        }
    }

    /// Adds a row in the format of `COPY … (FORMAT BINARY)`.
    mutating func append(copied values: [SQLValue]) {
        append(Int16(clamping: values.count))
        for value in values { append(field: value) }
    }

    /// Adds a value preceded by its length, as in arrays and copied rows.
    fileprivate mutating func append(field value: SQLValue) {
        switch value {
        case .null: append(Int32(-1))
        case .integer, .real: append(Int32(8))
        case .boolean: append(Int32(1))
        case .text(let text): append(Int32(clamping: text.utf8.count))
        }
        append(value)
    }
}

extension [Int] {
    /// Divides the numbers into portions of at most `size`.
    ///
    /// An array of slices instead of a sequence: Swift 6.3.1 miscompiles a closure that reads from
    /// an opaque sequence's iterator, so that it gets the first element forever.
    func portions(of size: Int) -> [ArraySlice<Int>] {
        stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
    }
}
