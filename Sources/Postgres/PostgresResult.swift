import CPostgres

/// A value of an answer.
package enum PostgresCell: Equatable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case boolean(Bool)
}

/// The answer to one statement; owns libpq's memory.
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

    /// How many rows the statement changed; 0 for a statement that counts none.
    package var affectedRows: Int {
        PQcmdTuples(handle).flatMap { Int(String(cString: $0)) } ?? 0
    }

    /// Whether the statement did more than to look.
    var isChange: Bool {
        switch commandTag.prefix(while: { $0 != " " }) {
        case "SELECT", "FETCH", "DECLARE", "CLOSE", "BEGIN", "SAVEPOINT", "RELEASE", "ROLLBACK": false
        case "INSERT", "UPDATE", "DELETE", "COPY": affectedRows > 0
        default: true
        }
    }

    /// The first value of the first row as text; nil if there is none or it is null.
    var firstText: String? {
        guard rowCount > 0, !columnNames.isEmpty, case .text(let text) = cell(0, 0) else { return nil }
        return text
    }

    /// What the server says it did, such as `COMMIT`.
    var commandTag: String {
        PQcmdStatus(handle).map { String(cString: $0) } ?? ""
    }

    /// One value in the nearest of our types.
    ///
    /// Integers of every width become 64 bits; a `numeric` that is
    /// one becomes an integer, another a real; types without a case are text.
    ///
    /// - Precondition: `row` is below ``rowCount``, `column` below the number
    ///   of ``columnNames``.
    package func cell(_ row: Int, _ column: Int) -> PostgresCell {
        let (row32, column32) = (Int32(row), Int32(column))
        guard PQgetisnull(handle, row32, column32) == 0, let start = PQgetvalue(handle, row32, column32) else {
            return .null
        }
        let raw = UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(handle, row32, column32)))
        let text = String(decoding: raw, as: UTF8.self)
        switch types[column] {
        case PostgresType.int2, PostgresType.int4, PostgresType.int8:
            return Int64(text).map(PostgresCell.integer) ?? .text(text)
        case PostgresType.float4, PostgresType.float8:
            return Double(text).map(PostgresCell.real) ?? .text(text)
        case PostgresType.numeric:
            return Int64(text).map(PostgresCell.integer) ?? Double(text).map(PostgresCell.real) ?? .text(text)
        case PostgresType.bool:
            return .boolean(text == "t")
        default:
            return .text(text)
        }
    }
}
