import Foundation
import Posts
package import Storage

/// The learned posts of one mirror, from which counts can always be rebuilt.
package struct ExampleTable: CountSource {
    package let storage: any StorageEngine
    package let mirror: String
    package let extractor: FeatureExtractor

    package init(storage: any StorageEngine, mirror: String, extractor: FeatureExtractor) {
        self.storage = storage
        self.mirror = mirror
        self.extractor = extractor
    }

    /// A learned post.
    struct Row: Sendable {
        let example: Example
        let state: ExampleState
    }

    private static let sequenceName = "examples.sequence"
    /// The most ids in one statement.
    private static let chunk = 400

    // MARK: - Reading

    /// Everything that the counts must contain.
    ///
    /// Streams all examples and extracts their features again; takes about a second for the largest
    /// number of examples.
    package func tally(on connection: any StorageConnection) throws -> CountBatch {
        var change = CountChange()
        try connection.forEach(
            "SELECT network, post_id, author, author_id, text, state FROM examples WHERE mirror = \(mirror)"
        ) { columns in
            guard let row = try Self.row(columns) else { return }
            change.move(extractor.features(of: row.example), from: nil, to: row.state)
        }
        return CountBatch(stamp: try stamp(on: connection), previous: 0, change: change)
    }

    /// For each feature, the text of the newest favorite that has it, or of the newest other post;
    /// see ``Favorites/texts(with:)``.
    func texts(with isFavoriteByFeature: [String: Bool], on connection: any StorageConnection)
        throws -> [String:
        String]
    {
        var featuresWithoutText = isFavoriteByFeature
        var texts: [String: String] = [:]
        try connection.forEach(
            """
            SELECT network, post_id, author, author_id, text, state FROM examples WHERE mirror = \(mirror)
            ORDER BY decided_ms DESC, network, post_id
            """
        ) { columns in
            guard !featuresWithoutText.isEmpty, let row = try Self.row(columns) else { return }
            let isFavorite = row.state.category == .favorite
            guard isFavorite || row.state.category == .normal else { return }
            for feature in extractor.features(of: row.example).all
            where featuresWithoutText[feature] == isFavorite {
                texts[feature] = row.example.text
                featuresWithoutText[feature] = nil
            }
        }
        return texts
    }

    /// Reads the stamp of the last batch that the counts must contain.
    func stamp(on connection: any StorageConnection) throws -> CountStamp {
        try stamp(from: try connection.query(stampQuery))
    }

    /// Reads the stamp in the shortest way, outside a transaction.
    func stamp() async throws -> CountStamp { try stamp(from: try await storage.query(stampQuery)) }

    private var stampQuery: SQL {
        "SELECT value FROM counters WHERE mirror = \(mirror) AND name = \(Self.sequenceName)"
    }

    /// Reads the stamp, and the weights in `table` if there is one, in one round trip.
    func stamp(with table: WeightTable?) async throws -> (CountStamp, LearnedWeights?) {
        guard let table else { return (try await stamp(), nil) }
        let rows = try await storage.query(
            "SELECT counter.value, weights.* FROM (SELECT (\(stampQuery)) AS value) AS counter LEFT JOIN (\(table.query)) "
                + "AS weights ON TRUE")
        return (try stamp(from: rows), try rows.first.flatMap { try table.weights($0) })
    }

    private func stamp(from rows: [SQLRow]) throws -> CountStamp {
        CountStamp(
            sequence: try rows.first?.optionalInteger("value") ?? 0,
            extraction: extractor.fingerprint)
    }

    func isEmpty() async throws -> Bool {
        try await storage.query("SELECT 1 AS one FROM examples WHERE mirror = \(mirror) LIMIT 1")
            .isEmpty
    }

    func rows(of ids: [PostID], on connection: any StorageConnection) throws -> [PostID: Row] {
        // Nearly all posts are new, so only the rows that exist are read completely.
        let existingIDs = Array(try states(of: ids, on: connection).keys)
        var rows: [PostID: Row] = [:]
        for (network, values) in Self.chunks(existingIDs) {
            let foundRows = try connection.query(
                lookup(["author", "author_id", "text", "state"], of: values, on: network))
            for case let row? in try foundRows.map(Self.row) { rows[row.example.id] = row }
        }
        return rows
    }

    func states(of ids: [PostID], on connection: any StorageConnection) throws -> [PostID:
        ExampleState]
    {
        var states: [PostID: ExampleState] = [:]
        for (network, values) in Self.chunks(ids) {
            for row in try connection.query(lookup(["state"], of: values, on: network)) {
                states[PostID(network: network, value: try row.text("post_id"))] =
                    try row.optionalText("state").flatMap(ExampleState.init)
            }
        }
        return states
    }

    /// Reads columns of posts, one by one by their key; null for a post that is not stored.
    ///
    /// With `post_id IN (…)`, Postgres sometimes reads the whole table, which grows with each
    /// batch.
    func lookup(_ columns: [String], of ids: [String], on network: NetworkName) -> SQL {
        Self.lookup(columns, of: ids, on: network, in: mirror)
    }

    private static func lookup(
        _ columns: [String], of ids: [String], on network: NetworkName, in mirror: String
    ) -> SQL {
        var sql: SQL = "SELECT CAST(\(network.rawValue) AS TEXT) AS network, column1 AS post_id"
        for column in columns {
            sql +=
                """
                , (SELECT \(unsafe: column) FROM examples
                WHERE mirror = \(mirror) AND network = \(network.rawValue) AND post_id = column1) AS \(unsafe: column)
                """
        }
        sql += " FROM (VALUES "
        for (index, id) in ids.enumerated() { sql += "\(unsafe: index == 0 ? "" : ", ")(\(id))" }
        return sql + ") AS asked"
    }

    static func texts(
        of ids: [PostID], learnedBy mirror: String, on connection: any StorageConnection
    ) throws -> [PostID: String] {
        var texts: [PostID: String] = [:]
        for (network, values) in chunks(ids) {
            for row in try connection.query(lookup(["text"], of: values, on: network, in: mirror)) {
                texts[PostID(network: network, value: try row.text("post_id"))] =
                    try row.optionalText("text")
            }
        }
        return texts
    }

    /// The numbers of learned posts.
    func categories(on connection: any StorageConnection) throws -> CategoryCounts {
        Self.categories(try numbers(on: connection))
    }

    /// Returns how many posts mirrors have learned, by their names; those without a row have
    /// learned none.
    package static func categories(of mirrors: [String], in storage: any StorageEngine) async throws
        -> [String: CategoryCounts]
    {
        guard !mirrors.isEmpty else { return [:] }
        let rows = try await storage.query(
            """
            SELECT mirror, name, value FROM counters
            WHERE mirror IN \(list: mirrors) AND name IN \(list: ExampleState.allCases.map(counter))
            """)
        let states = Dictionary(
            uniqueKeysWithValues: ExampleState.allCases.map { (counter($0), $0) })
        var numbers: [String: [ExampleState: Int64]] = [:]
        for row in rows {
            guard let state = states[try row.text("name")] else { continue }
            numbers[try row.text("mirror"), default: [:]][state] = try row.integer("value")
        }
        return numbers.mapValues(categories)
    }

    private static func categories(_ numbers: [ExampleState: Int64]) -> CategoryCounts {
        func sum(_ isIncluded: (ExampleState) -> Bool) -> Int64 {
            numbers.filter { isIncluded($0.key) }.values.reduce(0, +)
        }
        return CategoryCounts(
            favorites: sum { $0.category == .favorite }, normals: sum { $0.category == .normal },
            seen: sum(\.isSeen), seenFavorites: sum { $0 == .seenFavorite })
    }

    /// The oldest examples that exceed `limit` or were decided before `cutoff`.
    func outdated(
        limit: Int, cutoff: Date, atMost number: Int, on connection: any StorageConnection
    ) throws -> [PostID] {
        let surplus = try Int(numbers(on: connection).values.reduce(0, +)) - limit
        let oldest = try connection.query(
            """
            SELECT network, post_id, decided_ms FROM examples WHERE mirror = \(mirror)
            ORDER BY decided_ms, network, post_id LIMIT \(number)
            """)
        return try oldest.enumerated().compactMap { index, row in
            guard try index < surplus || row.integer("decided_ms") < cutoff.milliseconds else {
                return nil
            }
            return try NetworkName(rawValue: row.text("network")).map {
                PostID(network: $0, value: try row.text("post_id"))
            }
        }
    }

    /// Selects columns of an author's examples: of those with the author's identity, and of those
    /// that have only one of the names.
    static func selection(
        _ columns: String, by author: AccountID, called names: Set<String>, of mirror: String
    ) -> SQL {
        let names = Set(names.compactMap(FeatureExtractor.normalizedHandle)).sorted()
        let selectionOnNetwork: SQL = """
            SELECT \(unsafe: columns) FROM examples WHERE mirror = \(mirror) AND network = \(author.network.rawValue)
            """
        // COALESCE instead of IS NULL keeps the second half from using the index of the first.
        return """
            \(selectionOnNetwork) AND author_id = \(author.value)
            UNION ALL \(selectionOnNetwork) AND author IN \(list: names) AND COALESCE(author_id, '') = ''
            """
    }

    /// The number of examples of each state, from the counters that change with them.
    private func numbers(on connection: any StorageConnection) throws -> [ExampleState: Int64] {
        let rows = try connection.query(
            """
            SELECT name, value FROM counters
            WHERE mirror = \(mirror) AND name IN \(list: ExampleState.allCases.map(Self.counter))
            """)
        let values = Dictionary(try rows.map { (try $0.text("name"), try $0.integer("value")) }) {
            first, _ in first
        }
        return Dictionary(
            uniqueKeysWithValues: ExampleState.allCases.map { ($0, values[Self.counter($0)] ?? 0) })
    }

    private static func counter(_ state: ExampleState) -> String { "examples.\(state.rawValue)" }

    /// The newest examples, by the batch in which they were last changed, the oldest of them first.
    ///
    /// Within a batch they are sorted by the bytes of their ids, independently of the database's
    /// collation.
    func newest(_ number: Int, on connection: any StorageConnection) throws -> [PostID] {
        let oldestOfNewest = try connection.query(
            """
            SELECT sequence FROM examples WHERE mirror = \(mirror)
            ORDER BY sequence DESC LIMIT 1 OFFSET \(number - 1)
            """)
        let rows = try connection.query(
            """
            SELECT network, post_id, sequence FROM examples
            WHERE mirror = \(mirror) AND sequence >= \(try oldestOfNewest.first?.integer("sequence") ?? .min)
            """)
        let examples = try rows.compactMap { row -> (sequence: Int64, id: PostID)? in
            guard let network = NetworkName(rawValue: try row.text("network")) else { return nil }
            return (
                try row.integer("sequence"),
                PostID(network: network, value: try row.text("post_id"))
            )
        }
        return examples.sorted { left, right in
            guard left.sequence == right.sequence else { return left.sequence < right.sequence }
            guard left.id.network == right.id.network else {
                return left.id.network.rawValue < right.id.network.rawValue
            }
            return left.id.value.utf8.lexicographicallyPrecedes(right.id.value.utf8)
        }.suffix(number).map(\.id)
    }

    /// Whether at least `number` examples were changed after a batch; stops counting there.
    func hasNewer(_ number: Int, than sequence: Int64, on connection: any StorageConnection) throws
        -> Bool
    {
        let rows = try connection.query(
            """
            SELECT COUNT(*) AS number FROM (
                SELECT 1 FROM examples WHERE mirror = \(mirror) AND sequence > \(sequence) LIMIT \(number)
            ) AS newer
            """)
        return try rows.first?.int("number") ?? 0 >= number
    }

    // MARK: - Writing

    /// Returns the number of the last batch; no other process can get one until the transaction
    /// ends.
    func lockSequence(on connection: any StorageConnection) throws -> Int64 {
        try connection.execute(
            """
            INSERT INTO counters (mirror, name, value) VALUES (\(mirror), \(Self.sequenceName), 0)
            ON CONFLICT (mirror, name) DO UPDATE SET value = counters.value
            """)
        return try stamp(on: connection).sequence
    }

    func setSequence(_ sequence: Int64, on connection: any StorageConnection) throws {
        try connection.execute(
            "UPDATE counters SET value = \(sequence) WHERE mirror = \(mirror) AND name = \(Self.sequenceName)"
        )
    }

    func write(
        _ rows: [Row], decidedAt now: Date, sequence: Int64, on connection: any StorageConnection
    ) throws {
        guard !rows.isEmpty else { return }
        let values = rows.map { row in
            [
                mirror.sqlValue, row.example.id.network.rawValue.sqlValue,
                row.example.id.value.sqlValue,
                row.example.author.sqlValue, row.example.authorID?.value.sqlValue ?? .null,
                row.example.text.sqlValue, row.state.rawValue.sqlValue,
                now.milliseconds.sqlValue, sequence.sqlValue,
            ]
        }
        try connection.insert(
            BulkInsert(
                into: "examples",
                columns: [
                    ("mirror", .text), ("network", .text), ("post_id", .text), ("author", .text),
                    ("author_id", .text),
                    ("text", .text),
                    ("state", .text), ("decided_ms", .integer), ("sequence", .integer),
                ],
                rows: values,
                onConflict: .update(
                    key: ["mirror", "network", "post_id"],
                    set: ["author", "author_id", "text", "state", "decided_ms", "sequence"])))
    }

    func delete(_ ids: [PostID], on connection: any StorageConnection) throws {
        for (network, values) in Self.chunks(ids) {
            try connection.execute(
                """
                DELETE FROM examples
                WHERE mirror = \(mirror) AND network = \(network.rawValue) AND post_id IN \(list: values)
                """)
        }
    }

    /// Updates the numbers of examples of each state.
    ///
    /// - Parameters:
    ///   - stored: The previous rows of those posts that were stored before.
    func updateCounters(
        adding written: [Row], deleted: [PostID], replacing stored: [PostID: Row],
        on connection: any StorageConnection
    ) throws {
        var changes: [ExampleState: Int] = [:]
        for row in written { changes[row.state, default: 0] += 1 }
        for id in written.map(\.example.id) + deleted {
            if let formerState = stored[id]?.state { changes[formerState, default: 0] -= 1 }
        }
        for (state, change) in changes where change != 0 {
            try connection.execute(
                """
                INSERT INTO counters (mirror, name, value) VALUES (\(mirror), \(Self.counter(state)), \(change))
                ON CONFLICT (mirror, name) DO UPDATE SET value = counters.value + excluded.value
                """)
        }
    }

    func deleteAll(on connection: any StorageConnection) throws {
        try connection.execute("DELETE FROM examples WHERE mirror = \(mirror)")
        try connection.execute(
            """
            DELETE FROM counters
            WHERE mirror = \(mirror) AND name IN \(list: ExampleState.allCases.map(Self.counter))
            """)
    }

    // MARK: -

    /// Parses a row; nil for one that this version does not understand.
    private static func row(_ columns: SQLRow) throws -> Row? {
        guard let network = NetworkName(rawValue: try columns.text("network")),
            let state = ExampleState(rawValue: try columns.text("state"))
        else { return nil }
        let id = PostID(network: network, value: try columns.text("post_id"))
        let example = Example(
            id: id, author: try columns.optionalText("author"),
            authorID: try columns.optionalText("author_id").map {
                AccountID(network: network, value: $0)
            },
            text: try columns.text("text"))
        return Row(example: example, state: state)
    }

    /// Ids by network, few enough for one statement.
    private static func chunks(_ ids: [PostID]) -> [(NetworkName, [String])] {
        Dictionary(grouping: Set(ids), by: \.network).flatMap { network, ids in
            stride(from: 0, to: ids.count, by: chunk).map { start in
                (network, ids[start..<min(start + chunk, ids.count)].map(\.value))
            }
        }
    }
}
