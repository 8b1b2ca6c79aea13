import CPostgres
import Foundation

/// Rows on their way into a table with `COPY … (FORMAT BINARY)`.
package struct PostgresRows: Sendable {
    fileprivate private(set) var fields = PostgresFields()

    package init() {}

    /// Adds a row, each value of exactly the type of its column, or null.
    package mutating func append(_ values: [PostgresParameter]) {
        fields.beginRow(of: values.count)
        for value in values { fields.append(value) }
    }
}

extension PostgresConnection {
    /// What stands before the rows: eleven bytes to know the format by, no flags, nothing more.
    private static let head: [UInt8] =
        Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00] + [UInt8](repeating: 0, count: 8)
    /// A row of minus one values.
    private static let tail: [UInt8] = [0xFF, 0xFF]

    /// Copies rows into a table, which costs half as much as any `INSERT`, unless a key is known.
    ///
    /// - Parameters:
    ///   - text: `COPY … FROM STDIN (FORMAT BINARY)`.
    ///   - next: Makes the next rows, while the server works on those before; nil after the last ones.
    /// - Returns: How many rows were copied; nil if one of the keys was there already, and then none.
    /// - Throws: ``PostgresError``, `CancellationError`, or what `next` throws. After any the transaction can only roll
    ///   back.
    package func copy(_ text: String, _ next: () throws -> PostgresRows?) throws -> Int? {
        try failing { try control("SAVEPOINT mirror_bot_copy") }
        let result: PostgresResult
        do {
            result = try copied(text, next)
        } catch let error as PostgresError where error.sqlState == "23505" {
            try failing { try control("ROLLBACK TO SAVEPOINT mirror_bot_copy") }
            return nil
        } catch {
            return try failing { throw error }.affectedRows
        }
        try failing { try control("RELEASE SAVEPOINT mirror_bot_copy") }
        // Noted as a change of the transaction.
        return try failing { result }.affectedRows
    }

    private func copied(_ text: String, _ next: () throws -> PostgresRows?) throws -> PostgresResult {
        try settled {
            try beginCopying(text)
            let sending = Result {
                try put(Self.head)
                while let rows = try next() { try put(rows.fields.bytes) }
                try put(Self.tail)
            }
            guard case .failure(let error) = sending else {
                try endCopying(nil)
                return try lastResult()
            }
            // The server gives up what it has, unless the connection is gone.
            if !isOutOfStep {
                try endCopying("no more rows")
                _ = try? lastResult()
            }
            throw error
        }
    }

    private func beginCopying(_ text: String) throws {
        guard PQsendQuery(handle, text) == 1 else { throw lost() }
        try flush()
        guard let answer = try nextResult() else { throw lost() }
        guard PQresultStatus(answer) == PGRES_COPY_IN else {
            let refusal = Result { try checked(answer) }
            while let more = try nextResult() { PQclear(more) }
            _ = try refusal.get()
            throw outOfStep("the statement copies nothing")
        }
        PQclear(answer)
    }

    private func put(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { buffer in
            try untilTaken {
                PQputCopyData(
                    handle, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(clamping: buffer.count))
            }
        }
        try flush()
    }

    private func endCopying(_ reason: String?) throws {
        try untilTaken { PQputCopyEnd(handle, reason) }
        try flush()
    }

    /// Offers something until libpq has room for it.
    private func untilTaken(_ offer: () -> Int32) throws {
        while true {
            switch offer() {
            case 1: return
            case 0: try flush()
            default: throw lost()
            }
        }
    }
}
