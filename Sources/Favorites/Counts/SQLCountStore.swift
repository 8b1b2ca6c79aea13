package import Storage

/// Counts in the same database as the examples, changed in the same transaction.
package struct SQLCountStore: CountStore {
    private let storage: any StorageEngine
    private let mirror: String
    private let namespace: CountNamespace

    package init(
        storage: any StorageEngine, mirror: String, _ namespace: CountNamespace = .favorites
    ) {
        self.storage = storage
        self.mirror = mirror
        self.namespace = namespace
    }

    /// The numbers of a store besides the counts of features; the raw value is the name in
    /// `counters`, without ``CountNamespace/prefix``.
    private enum Number: String, CaseIterable {
        case sequence = "counts.sequence"
        case extraction = "counts.extraction"
        case favorite = "counts.favorite"
        case normal = "counts.normal"
        case seen = "counts.seen"
        case seenFavorite = "counts.seen-favorite"
        case wordless = "counts.wordless"

        /// The amount that a change adds to this number; nil for a number that is not a sum.
        func amount(in change: CountChange) -> Int64? {
            switch self {
            case .sequence, .extraction: nil
            case .favorite: change.favorites
            case .normal: change.normals
            case .seen: change.seen
            case .seenFavorite: change.seenFavorites
            case .wordless: change.wordless
            }
        }

        /// The amounts that a change adds to the numbers that are sums.
        static func amounts(in change: CountChange) -> [(number: Number, amount: Int64)] {
            allCases.compactMap { number in number.amount(in: change).map { (number, $0) } }
        }
    }

    /// The most features in one statement.
    private static let chunk = 400

    package func record(_ batch: CountBatch, on connection: any StorageConnection) throws -> Bool {
        let storedNumbers = try numbers(on: connection)
        guard let stamp = Self.stamp(storedNumbers), stamp.extraction == batch.stamp.extraction,
            stamp.sequence == batch.previous
        else { return false }
        let change = batch.change
        let newNumbers = Number.amounts(in: change).map { number, amount in
            (number, (storedNumbers[number] ?? 0) + amount)
        }
        // A negative count means that the counts differ from the examples.
        guard newNumbers.allSatisfy({ $1 >= 0 }) else { return false }
        var newCounts: [Category: [String: Int64]] = [:]
        for (category, amounts) in change.features {
            let counts = try counts(of: Array(amounts.keys), in: category, on: connection)
            newCounts[category] = amounts.merging(counts, uniquingKeysWith: +)
        }
        guard newCounts.values.allSatisfy({ $0.values.allSatisfy { $0 >= 0 } }) else {
            return false
        }
        try write(newCounts, on: connection)
        try write(batch.stamp, newNumbers, on: connection)
        return true
    }

    /// Returns false without applying the batch, because a batch that ``record(_:on:)`` refused
    /// requires a rebuild.
    package func apply(_ batch: CountBatch) async throws -> Bool { false }

    package func counts(of features: [String]) async throws -> CountSnapshot? {
        try await storage.read { connection in
            let numbers = try numbers(on: connection)
            guard let stamp = Self.stamp(numbers) else { return nil }
            var countsByFeature: [String: FeatureCount] = [:]
            for (feature, count) in try counts(of: features, in: .favorite, on: connection) {
                countsByFeature[feature, default: FeatureCount()].favorite = max(0, count)
            }
            for (feature, count) in try counts(of: features, in: .normal, on: connection) {
                countsByFeature[feature, default: FeatureCount()].normal = max(0, count)
            }
            return CountSnapshot(
                stamp: stamp,
                categories: CategoryCounts(
                    favorites: numbers[.favorite] ?? 0, normals: numbers[.normal] ?? 0,
                    seen: numbers[.seen] ?? 0,
                    seenFavorites: numbers[.seenFavorite] ?? 0),
                requestedFeatures: features,
                counts: features.map { countsByFeature[$0] ?? FeatureCount() })
        }
    }

    package func size() async throws -> Int {
        try await storage.read { connection in
            let rows = try connection.query(
                "SELECT COUNT(*) AS number FROM feature_counts WHERE \(ownRows)")
            return try rows.first?.int("number") ?? 0
        }
    }

    package func wordless() async throws -> Int64? {
        try await storage.read { try numbers(on: $0)[.wordless] ?? 0 }
    }

    package func rebuild(from examples: any CountSource) async throws {
        try await storage.transaction { connection in
            let tally = try examples.tally(on: connection)
            try deleteAll(on: connection)
            try write(tally.change.features, on: connection)
            try write(tally.stamp, Number.amounts(in: tally.change), on: connection)
        }
    }

    package func clear() async throws {
        try await storage.transaction { try deleteAll(on: $0) }
    }

    func deleteAll(on connection: any StorageConnection) throws {
        try connection.execute("DELETE FROM feature_counts WHERE \(ownRows)")
        try connection.execute(
            "DELETE FROM counters WHERE mirror = \(mirror) AND name IN \(list: names)")
    }

    /// The SQL condition that selects this store's rows of `feature_counts`.
    private var ownRows: SQL {
        "mirror = \(mirror) AND category IN \(list: Category.allCases.map(name))"
    }

    /// The names of all numbers in `counters`.
    private var names: [String] { Number.allCases.map(name) }

    private func name(_ category: Category) -> String { namespace.prefix + category.rawValue }

    private func name(_ number: Number) -> String { namespace.prefix + number.rawValue }

    private func numbers(on connection: any StorageConnection) throws -> [Number: Int64] {
        let rows = try connection.query(
            "SELECT name, value FROM counters WHERE mirror = \(mirror) AND name IN \(list: names)")
        var numbers: [Number: Int64] = [:]
        for row in rows {
            let name = try row.text("name").dropFirst(namespace.prefix.count)
            guard let number = Number(rawValue: String(name)) else { continue }
            numbers[number] = try row.integer("value")
        }
        return numbers
    }

    private static func stamp(_ numbers: [Number: Int64]) -> CountStamp? {
        guard let sequence = numbers[.sequence], let extraction = numbers[.extraction] else {
            return nil
        }
        return CountStamp(sequence: sequence, extraction: extraction)
    }

    private func counts(
        of features: [String], in category: Category, on connection: any StorageConnection
    ) throws -> [String: Int64] {
        var counts: [String: Int64] = [:]
        for start in stride(from: 0, to: features.count, by: Self.chunk) {
            let portion = Array(features[start..<min(start + Self.chunk, features.count)])
            let rows = try connection.query(
                """
                SELECT feature, count FROM feature_counts
                WHERE mirror = \(mirror) AND category = \(name(category)) AND feature IN \(list: portion)
                """)
            for row in rows { counts[try row.text("feature")] = try row.integer("count") }
        }
        return counts
    }

    /// Stores counts, and removes those that are zero.
    private func write(_ counts: [Category: [String: Int64]], on connection: any StorageConnection)
        throws
    {
        for (category, counts) in counts {
            let zeroFeatures = counts.filter { $1 == 0 }.map(\.key)
            for start in stride(from: 0, to: zeroFeatures.count, by: Self.chunk) {
                let portion = Array(
                    zeroFeatures[start..<min(start + Self.chunk, zeroFeatures.count)])
                try connection.execute(
                    """
                    DELETE FROM feature_counts
                    WHERE mirror = \(mirror) AND category = \(name(category)) AND feature IN \(list: portion)
                    """)
            }
            let rows = counts.filter { $1 != 0 }.map { feature, count in
                [mirror.sqlValue, feature.sqlValue, name(category).sqlValue, count.sqlValue]
            }
            guard !rows.isEmpty else { continue }
            try connection.insert(
                BulkInsert(
                    into: "feature_counts",
                    columns: [
                        ("mirror", .text), ("feature", .text), ("category", .text),
                        ("count", .integer),
                    ],
                    rows: rows,
                    onConflict: .update(key: ["mirror", "feature", "category"], set: ["count"])))
        }
    }

    /// Stores the numbers that are not features, without zeros.
    private func write(
        _ stamp: CountStamp, _ sums: [(Number, Int64)], on connection: any StorageConnection
    ) throws {
        guard sums.contains(where: { $1 != 0 }) else { return try deleteAll(on: connection) }
        let numbers = sums + [(.sequence, stamp.sequence), (.extraction, stamp.extraction)]
        try connection.insert(
            BulkInsert(
                into: "counters",
                columns: [("mirror", .text), ("name", .text), ("value", .integer)],
                rows: numbers.map { [mirror.sqlValue, name($0).sqlValue, $1.sqlValue] },
                onConflict: .update(key: ["mirror", "name"], set: ["value"])))
    }
}
