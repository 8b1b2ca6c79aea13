package import Foundation
import Localization
import Logging
package import Mirroring
package import Outbox
import Posts
import Settings
package import Storage

/// Moves all data of one mirror from one database to another.
///
/// The rows of every table are compared key by key, in both directions, and missing, different or
/// superfluous rows at the new place are corrected, until a whole comparison finds no difference.
/// So an interrupted move is continued by starting it again. Then the old copy is marked as left,
/// in one transaction that compares it with the new copy once more; only after that the new copy's
/// mark is removed. No worker accepts a marked copy, so at most one of the two is in use at any
/// time.
package struct MirrorMove: Sendable {
    /// The outcome of a move.
    package enum Outcome: Equatable, Sendable {
        case moved(Receipt)
        /// A worker acts for the mirror.
        case held
        /// Another process kept changing the old copy.
        case keepsChanging
    }

    /// The receipt of a move, which counts the rows at the new place.
    package struct Receipt: Codable, Equatable, Sendable {
        package var mirror: String
        package var to: String
        /// The number of rows in each table; tables without any are left out.
        package var rows: [String: Int] = [:]
        /// The number of rows that this call wrote; those of an interrupted move before it are not
        /// included.
        package var written = 0
    }

    /// The most rows that are compared at once.
    static let pageSize = 500
    /// The most comparisons of all rows; then the move is given up, because the old copy keeps
    /// changing.
    private static let attempts = 5

    private let source: Place
    private let target: Place
    private let mirror: String
    private let replaces: Bool
    private let clock: any WallClock
    private let keeper: LeaseKeeper
    private let report: @Sendable (String, Int) async -> Void

    /// One of the two databases.
    package struct Place: Sendable {
        package let storage: any StorageEngine
        /// The database's display name; holds no password.
        package let name: String

        package init(_ storage: any StorageEngine, name: String) {
            self.storage = storage
            self.name = name
        }
    }

    /// - Parameters:
    ///   - mirror: The mirror's name, in both databases.
    ///   - source: The database that the mirror is in.
    ///   - target: The new database, with the tables of this program.
    ///   - replaces: Whether a copy in the new database that is not in use may be overwritten, see
    ///     ``leftover()``.
    ///   - clock: Provides the time of the move.
    ///   - timing: Determines how long a silent worker is waited for.
    ///   - report: Called with a table and the number of its rows that were compared.
    package init(
        of mirror: String, from source: Place, to target: Place, replaces: Bool = false,
        clock: any WallClock = SystemClock(), timing: LeaseTiming = LeaseTiming(),
        report: @escaping @Sendable (_ table: String, _ rows: Int) async -> Void = { _, _ in }
    ) {
        self.source = source
        self.target = target
        self.mirror = mirror
        self.replaces = replaces
        self.clock = clock
        self.report = report
        keeper = LeaseKeeper(
            table: LeaseTable(storage: source.storage, mirror: mirror), clock: clock,
            timing: timing,
            logger: Logger(label: "mirror-bot") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Returns the mark of an earlier move's copy at the new place that would be overwritten; `nil`
    /// if there is none.
    package func leftover() async throws -> MoveMark? {
        let (sourceMark, targetMark) = try await marks()
        guard let targetMark,
            targetMark.state == .left
                || (targetMark.state == .arriving && targetMark.id != sourceMark?.id)
        else { return nil }
        return targetMark
    }

    /// Moves the mirror, or continues an interrupted move.
    ///
    /// - Returns: The outcome; with `.held` nothing was moved.
    /// - Throws: `ConfigurationError` for a mirror that is not in this database, or a place where
    ///   it cannot go; the error of either store. No data are lost then, and the same call
    ///   continues.
    package func run() async throws -> Outcome {
        try await keeper.holdingNow { _ in try await move() } ?? .held
    }

    private func move() async throws -> Outcome {
        let shapes = try await shapes()
        let isSettled = try await begin()
        var receipt = Receipt(mirror: mirror, to: target.name)
        for _ in 0..<Self.attempts {
            var written = 0
            if !isSettled {
                for shape in shapes { written += try await copy(shape) }
                receipt.written += written
            }
            // Written rows are compared again: a move ends with a comparison that finds no
            // difference.
            guard written == 0 else { continue }
            let targetCensus = try await target.storage.read {
                try Census(of: mirror, shapes, on: $0)
            }
            if !isSettled {
                guard try await leave(ifEqualTo: targetCensus, shapes) else { continue }
            }
            try await removeArrivingMark()
            receipt.rows = targetCensus.rows
            return .moved(receipt)
        }
        return .keepsChanging
    }

    // MARK: The marks

    /// Creates the tables at the new place, and in the same transaction marks the mirrors that are
    /// missing there as arriving, so that no worker can create mirrors of the same names in
    /// between.
    ///
    /// - Parameters:
    ///   - mirrors: The names of all mirrors to move.
    ///   - source: The database that they are in.
    ///   - target: The new database; empty, or one of this program or an older version.
    ///   - now: Noted with the marks.
    /// - Throws: `ConfigurationError` for a place where a mirror cannot go, which is left
    ///   unchanged; the error of either store.
    package static func announce(
        _ mirrors: [String], from source: Place, to target: Place, now: Date
    ) async throws {
        for mirror in mirrors {
            try MirrorSettings.requireName(mirror, of: localized("the database"))
        }
        let isEmpty = try await Migrations.isEmpty(target.storage)
        var marks: [(mirror: String, id: String, bot: String?)] = []
        for mirror in mirrors {
            if !isEmpty, try await MirrorTable.isKnown(mirror, in: target.storage) { continue }
            if let problem = try await MirrorTable(storage: source.storage, mirror: mirror).record()
                .move?.problem
            {
                throw ConfigurationError(localized("mirror \(mirror)"), problem)
            }
            let id = UUID().uuidString.lowercased()
            marks.append(
                (mirror, id, try await storeMoveID(id, for: mirror, in: source.storage, now: now)))
        }
        try await TablesUpdate.migrate(target.storage) { [marks] connection in
            for (mirror, id, bot) in marks {
                // A mirror of this name may have been created in the meantime.
                guard
                    try connection.query("SELECT 1 AS found FROM mirrors WHERE mirror = \(mirror)")
                        .isEmpty
                else {
                    continue
                }
                try mark(mirror, moveID: id, bot: bot, from: source.name, on: connection, now: now)
            }
        }
    }

    /// Marks the copy of a mirror in the database of `connection` as arriving.
    ///
    /// - Throws: `ConfigurationError` if another mirror there has the same bot; the store's error.
    private static func mark(
        _ mirror: String, moveID: String, bot: String?, from place: String,
        on connection: any StorageConnection,
        now: Date
    ) throws {
        let now = now.milliseconds
        try MirrorTable.requireOwnBot(bot, of: mirror, setting: "--to", connection)
        try connection.execute(
            """
            INSERT INTO mirrors (mirror, created_ms, move_id, move_state, move_place, move_ms)
            VALUES (\(mirror), \(now), \(moveID), 'arriving', \(place), \(now))
            ON CONFLICT (mirror) DO UPDATE SET move_id = excluded.move_id, move_state = excluded.move_state,
                move_place = excluded.move_place, move_ms = excluded.move_ms
            """)
    }

    /// Stores a new id with the copy of a mirror, so that an earlier copy elsewhere can never be
    /// mistaken for this one.
    ///
    /// - Returns: The mirror's bot.
    private static func storeMoveID(
        _ id: String, for mirror: String, in storage: any StorageEngine, now: Date
    ) async throws -> String? {
        try await storage.transaction { connection in
            try connection.execute(
                """
                INSERT INTO mirrors (mirror, created_ms) VALUES (\(mirror), \(now.milliseconds))
                ON CONFLICT (mirror) DO NOTHING
                """)
            try connection.execute("UPDATE mirrors SET move_id = \(id) WHERE mirror = \(mirror)")
            return try connection.query("SELECT bot_account FROM mirrors WHERE mirror = \(mirror)")
                .first?.optionalText("bot_account")
        }
    }

    /// Marks the new copy as arriving.
    ///
    /// - Returns: Whether an earlier call has already completed the move except for removing the
    ///   mark.
    private func begin() async throws -> Bool {
        let (sourceMark, targetMark) = try await marks()
        if let sourceMark, let targetMark, sourceMark.id == targetMark.id {
            if sourceMark.state == .left { return true }
            if targetMark.state == .arriving { return false }
        }
        if let problem = sourceMark?.problem {
            throw ConfigurationError(localized("mirror \(mirror)"), problem)
        }
        try await linkCopies(over: targetMark)
        return false
    }

    /// Stores a new id with both copies, so that an earlier copy elsewhere can never be mistaken
    /// for this one.
    ///
    /// - Parameter earlierMark: The mark of the mirror at the new place.
    /// - Throws: `ConfigurationError` for a place where the mirror cannot go; the error of either
    ///   store.
    private func linkCopies(over earlierMark: MoveMark?) async throws {
        let mirror = mirror
        let id = UUID().uuidString.lowercased()
        let now = clock.now
        let bot = try await Self.storeMoveID(id, for: mirror, in: source.storage, now: now)
        // Two addresses may lead to one database; then the id that was just stored is found there.
        guard try await marks().target?.id != id else {
            throw ConfigurationError(
                "--to",
                localized("is the database where mirror \(mirror) lives already, \(target.name)"))
        }
        let isKnown = try await MirrorTable.isKnown(mirror, in: target.storage)
        guard !isKnown || (replaces && earlierMark?.state != nil) else {
            throw ConfigurationError(
                "--to",
                localized(
                    "has a mirror \(mirror) of its own at \(target.name); name another database"))
        }
        let from = source.name
        try await target.storage.transaction { connection in
            try Self.mark(mirror, moveID: id, bot: bot, from: from, on: connection, now: now)
        }
    }

    /// Marks the old copy as left if it still equals the new copy in the same transaction.
    private func leave(ifEqualTo targetCensus: Census, _ shapes: [TableShape]) async throws -> Bool
    {
        let mirror = mirror
        let place = target.name
        let now = clock.now.milliseconds
        // Waits for all current writers, and makes new writers wait until the mark is visible.
        // SQLite has only one writer anyway.
        let tables = shapes.map(\.name).sorted().joined(separator: ", ")
        let locks = source.storage.kind == .postgres
        return try await source.storage.run(.exclusive) { connection in
            if locks {
                try connection.execute("LOCK TABLE \(unsafe: tables) IN SHARE ROW EXCLUSIVE MODE")
            }
            guard try Census(of: mirror, shapes, on: connection) == targetCensus else {
                return false
            }
            try connection.execute(
                """
                UPDATE mirrors SET move_state = 'left', move_place = \(place), move_ms = \(now)
                WHERE mirror = \(mirror)
                """)
            return true
        }
    }

    private func removeArrivingMark() async throws {
        try await target.storage.execute(
            "UPDATE mirrors SET move_state = NULL WHERE mirror = \(mirror) AND move_state = 'arriving'"
        )
    }

    private func marks() async throws -> (source: MoveMark?, target: MoveMark?) {
        (
            try await MirrorTable(storage: source.storage, mirror: mirror).record().move,
            try await MirrorTable(storage: target.storage, mirror: mirror).record().move
        )
    }

    // MARK: The rows

    /// The tables with the columns to copy, which are the same in both databases.
    private func shapes() async throws -> [TableShape] {
        let sourceShapes = try await TableShape.ofMirrors(in: source.storage)
        let targetShapes = try await TableShape.ofMirrors(in: target.storage)
        guard Set(sourceShapes.map(\.contents)) == Set(targetShapes.map(\.contents)) else {
            throw ConfigurationError(
                "--to",
                localized(
                    "has other tables at \(target.name); something else than mirror-bot made them"))
        }
        // The worker of a mirror and the marks of its copies belong to a copy, and are not moved.
        return sourceShapes.filter { $0.duty.removal != .ofCopy }.map {
            $0.without(MoveMark.columns)
        }
    }

    /// Makes one table at the new place equal to the old one.
    ///
    /// - Returns: The number of rows that differed.
    private func copy(_ shape: TableShape) async throws -> Int {
        let sourceRows = MirrorRows(of: mirror, shape, in: source.storage)
        let targetRows = MirrorRows(of: mirror, shape, in: target.storage)
        var changed = 0
        // Rows are removed first, because they might conflict with new rows.
        var lastKey: MirrorRows.Key?
        while let page = try await targetRows.page(after: lastKey) {
            lastKey = page.keys.last
            let existing = try await sourceRows.rows(with: page.keys)
            let superfluous = page.keys.filter { existing[$0] == nil }
            try await targetRows.remove(superfluous)
            changed += superfluous.count
        }
        lastKey = nil
        var comparedCount = 0
        while let page = try await sourceRows.page(after: lastKey) {
            lastKey = page.keys.last
            let existing = try await targetRows.rows(with: page.keys)
            let differing = zip(page.keys, page.rows).filter { existing[$0] != $1 }.map(\.1)
            try await targetRows.write(differing)
            changed += differing.count
            comparedCount += page.rows.count
            await report(shape.name, comparedCount)
        }
        return changed
    }
}

/// The rows of one mirror in one table of any shape.
private struct MirrorRows: Sendable {
    typealias Key = [SQLValue]
    typealias Row = [SQLValue]

    struct Page {
        let keys: [Key]
        let rows: [Row]
    }

    private let mirror: String
    private let shape: TableShape
    private let storage: any StorageEngine

    init(of mirror: String, _ shape: TableShape, in storage: any StorageEngine) {
        self.mirror = mirror
        self.shape = shape
        self.storage = storage
    }

    /// The next rows, in the key order of this database; nil after the last one.
    func page(after last: Key?) async throws -> Page? {
        let key: SQL = "\(unsafe: shape.key.map(\.name).joined(separator: ", "))"
        let afterLast: SQL = last.map { "AND (\(key)) > \(tuple($0))" } ?? ""
        let rows = try await storage.query(
            "\(selection) \(afterLast) ORDER BY \(key) LIMIT \(MirrorMove.pageSize)"
        ).map(row)
        return rows.isEmpty ? nil : Page(keys: rows.map(key(of:)), rows: rows)
    }

    /// The existing rows with these keys.
    func rows(with keys: [Key]) async throws -> [Key: Row] {
        let rows = try await storage.query("\(selection) AND \(condition(keys))").map(row)
        return Dictionary(uniqueKeysWithValues: rows.map { (key(of: $0), $0) })
    }

    func remove(_ keys: [Key]) async throws {
        guard !keys.isEmpty else { return }
        try await storage.execute(
            "DELETE FROM \(unsafe: shape.name) WHERE mirror = \(mirror) AND \(condition(keys))")
    }

    /// Writes rows, and overwrites those with the same keys.
    func write(_ rows: [Row]) async throws {
        guard !rows.isEmpty else { return }
        let key = shape.key.map(\.name)
        let batch = BulkInsert(
            into: shape.name, columns: shape.columns.map { ($0.name, $0.type) }, rows: rows,
            onConflict: .update(
                key: key, set: shape.columns.map(\.name).filter { !key.contains($0) }))
        try await storage.transaction { try $0.insert(batch) }
    }

    private var selection: SQL { Self.selection(of: mirror, shape) }

    static func selection(of mirror: String, _ shape: TableShape) -> SQL {
        let columns = shape.columns.map(\.name).joined(separator: ", ")
        return "SELECT \(unsafe: columns) FROM \(unsafe: shape.name) WHERE mirror = \(mirror)"
    }

    private func row(_ row: SQLRow) throws -> Row { try shape.columns.map(row.value) }

    private func key(of row: Row) -> Key {
        // Every column of the key is one of the columns, so the 0 is never used.
        shape.key.map { column in row[shape.columns.firstIndex(of: column) ?? 0] }
    }

    private func condition(_ keys: [Key]) -> SQL {
        var list = tuple(keys[0])
        for key in keys.dropFirst() { list += ", " + tuple(key) }
        return "(\(unsafe: shape.key.map(\.name).joined(separator: ", "))) IN (VALUES \(list))"
    }

    /// The values of a key in parentheses.
    private func tuple(_ key: Key) -> SQL {
        var tuple: SQL = "(\(key[0])"
        for value in key.dropFirst() { tuple += ", \(value)" }
        return tuple + ")"
    }
}

/// The number of a mirror's rows in each table and a checksum of them, which does not depend on
/// their order.
private struct Census: Equatable, Sendable {
    /// Tables without a row are left out.
    private(set) var rows: [String: Int] = [:]
    /// For each table the sum of the first 128 bits of its rows' SHA-256, in two halves.
    private var sums: [String: [UInt64]] = [:]

    init(of mirror: String, _ shapes: [TableShape], on connection: any StorageConnection) throws {
        for shape in shapes {
            var count = 0
            var low = UInt64(0)
            var high = UInt64(0)
            try connection.forEach(MirrorRows.selection(of: mirror, shape)) { row in
                let digest = Self.digest(try shape.columns.map(row.value))
                count = count + 1
                low = low &+ digest.low
                high = high &+ digest.high
            }
            guard count > 0 else { continue }
            rows[shape.name] = count
            sums[shape.name] = [low, high]
        }
    }

    /// Returns a digest of a row.
    ///
    /// Different rows have different texts to digest: each value states its type, and none contains
    /// the NUL that separates them.
    private static func digest(_ row: [SQLValue]) -> (low: UInt64, high: UInt64) {
        let digest = StableHash.digest(
            of: row.map { value in
                switch value {
                case .null: "-"
                case .integer(let number): "i\(number)"
                case .real(let number): "r\(number.bitPattern)"
                case .text(let text): "t\(text)"
                case .boolean(let truth): truth ? "1" : "0"
                }
            })
        // The first byte is the most significant.
        func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
            bytes.reduce(0) { $0 << 8 | UInt64($1) }
        }
        return (low: number(digest[0..<8]), high: number(digest[8..<16]))
    }
}
