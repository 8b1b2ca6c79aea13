import Foundation
import Localization
package import Redis
package import Storage

/// Counts in Redis, in three hashes per mirror and namespace; the program stores nothing else in
/// Redis.
///
/// Each hash contains the stamp of the counts, so that a lost, evicted or flushed one is noticed.
/// Several processes may share the same counts.
package struct RedisCountStore: CountStore {
    private let client: RedisClient
    private let mirror: String
    private let namespace: CountNamespace
    private let keys: CountKeys

    package init(client: RedisClient, mirror: String, _ namespace: CountNamespace = .favorites) {
        self.client = client
        self.mirror = mirror
        self.namespace = namespace
        self.keys = CountKeys(mirror: mirror, namespace)
    }

    /// The number of attempts of a reading or a rebuild while other processes change the counts.
    private static let attempts = 5
    /// Fields per command, and commands per round trip, while counts are built.
    private static let fieldsPerCommand = 500
    private static let commandsPerTrip = 20
    /// The time, in seconds, after which keys of an interrupted rebuild expire.
    private static let temporarySeconds = "600"

    package func record(_ batch: CountBatch, on connection: any StorageConnection) throws -> Bool {
        false
    }

    package func apply(_ batch: CountBatch) async throws -> Bool {
        let change = batch.change
        let categories = Self.categories(change)
        var arguments = [
            RedisArgument(CountKeys.stampField), RedisArgument(batch.stamp.sequence),
            RedisArgument(batch.stamp.extraction), RedisArgument(batch.previous),
        ]
        for growths in [categories, change.features(of: .favorite), change.features(of: .normal)] {
            let largerGrowths = growths.filter { $0.amount != 1 }
            arguments.reserveCapacity(arguments.count + growths.count + largerGrowths.count + 2)
            arguments.append(RedisArgument(growths.count - largerGrowths.count))
            for growth in growths where growth.amount == 1 {
                arguments.append(RedisArgument(growth.feature))
            }
            arguments.append(RedisArgument(largerGrowths.count))
            for (field, amount) in largerGrowths {
                arguments += [RedisArgument(field), RedisArgument(amount)]
            }
        }
        let answer = try await mappingErrors(of: .apply) {
            try await client.script(CountScripts.apply, keys: keys.all, arguments: arguments)
        }
        return answer.string == "applied" || answer.string == "known"
    }

    package func counts(of features: [String]) async throws -> CountSnapshot? {
        let commands = readCommands(for: features)
        for _ in 0..<Self.attempts {
            let replies = try await mappingErrors(of: .read) {
                try await client.pipeline(commands).map(Self.undamaged)
            }
            switch Self.parse(replies, of: features) {
            case .whole(let snapshot): return snapshot
            case .torn: continue
            case .damaged: return nil
            }
        }
        return nil
    }

    package func size() async throws -> Int {
        let replies = try await mappingErrors(of: .read) {
            try await client.pipeline([
                RedisCommand("HLEN", keys.favoriteFeatures),
                RedisCommand("HLEN", keys.normalFeatures),
            ]).map(Self.undamaged)
        }
        // One field of each hash is the stamp, which does not count.
        return replies.reduce(0) { $0 + max(0, Int(clamping: $1.integer ?? 0) - 1) }
    }

    package func wordless() async throws -> Int64? {
        let replies = try await mappingErrors(of: .read) {
            try await client.pipeline([
                RedisCommand("HGET", keys.categories, CountKeys.wordlessField)
            ])
            .map(Self.undamaged)
        }
        return replies.first.flatMap(Self.count)
    }

    package func rebuild(from examples: any CountSource) async throws {
        for _ in 0..<Self.attempts where try await rebuildOnce(from: examples) { return }
        throw FavoritesError(
            .countsUnstable,
            localized(
                "could not rebuild the counts in Redis: other processes keep changing them; try again"
            ))
    }

    package func clear() async throws {
        _ = try await mappingErrors(of: .clear) {
            try await client.command(
                RedisCommand((["UNLINK"] + keys.all).map { RedisArgument($0) }))
        }
    }

    /// Performs all operations that keeping counts needs, under temporary keys that it removes.
    ///
    /// - Throws: `RedisError` if the server refuses one of them: it is full, a replica, or denies
    ///   the user permission.
    package func tryOut() async throws {
        let temporary = CountKeys.temporary(mirror: mirror, namespace)
        let key = temporary.categories
        let commands = [
            Self.command("HSET", key, [CountKeys.favoriteField, "1"]),
            RedisCommand("EXPIRE", key, Self.temporarySeconds), RedisCommand("HLEN", key),
            RedisCommand("HMGET", key, CountKeys.favoriteField),
        ]
        do {
            for reply in try await client.pipeline(commands) { _ = try reply.orThrow() }
            _ = try await client.script(
                CountScripts.observe, keys: temporary.all,
                arguments: [RedisArgument(CountKeys.stampField)])
            _ = try await client.command(
                RedisCommand((["UNLINK"] + temporary.all).map { RedisArgument($0) }))
        } catch {
            await remove(temporary)
            throw error
        }
    }

    // MARK: - Reading

    /// The result of reading the three hashes one after the other.
    private enum Reading {
        case whole(CountSnapshot)
        /// The hashes are of different moments; reading them again may help.
        case torn
        /// A part is missing, or a value is no count.
        case damaged
    }

    /// The commands that read the stamp and some features of each hash.
    ///
    /// They need no transaction: all three hashes change atomically and get the same new stamp, so
    /// equal stamps are of one moment.
    private func readCommands(for features: [String]) -> [RedisCommand] {
        let names = [Self.stampField] + features.map { RedisArgument($0) }
        return [
            RedisCommand(Self.categoryFields(of: keys.categories)),
            RedisCommand(["HMGET", RedisArgument(keys.favoriteFeatures)] + names),
            RedisCommand(["HMGET", RedisArgument(keys.normalFeatures)] + names),
        ]
    }

    private static let stampField = RedisArgument(CountKeys.stampField)

    private static func categoryFields(of key: String) -> [RedisArgument] {
        [
            "HMGET", RedisArgument(key), stampField, RedisArgument(CountKeys.favoriteField),
            RedisArgument(CountKeys.normalField), RedisArgument(CountKeys.seenField),
            RedisArgument(CountKeys.seenFavoriteField),
        ]
    }

    /// A key that is no hash counts as damaged, which a rebuild repairs; other errors are thrown.
    private static func undamaged(_ reply: RedisReply) throws(RedisError) -> RedisReply {
        if case .error(let text) = reply, text.hasPrefix("WRONGTYPE") { return .null }
        return try reply.orThrow()
    }

    private static func parse(_ replies: [RedisReply], of features: [String]) -> Reading {
        guard replies.count == 3, let categories = replies[0].array,
            let favorites = replies[1].array,
            let normals = replies[2].array, categories.count == 5,
            favorites.count == features.count + 1,
            normals.count == favorites.count
        else { return .damaged }
        let stamps = [categories[0], favorites[0], normals[0]].compactMap {
            $0.string.flatMap(CountStamp.init(text:))
        }
        guard stamps.count == 3 else { return .damaged }
        guard stamps[0] == stamps[1], stamps[0] == stamps[2] else { return .torn }
        let sums = categories.dropFirst().compactMap(count)
        guard sums.count == 4 else { return .damaged }
        var counts: [FeatureCount] = []
        counts.reserveCapacity(features.count)
        for index in 1..<favorites.count {
            guard let favorite = count(favorites[index]), let normal = count(normals[index]) else {
                return .damaged
            }
            counts.append(FeatureCount(favorite: favorite, normal: normal))
        }
        let categoryCounts = CategoryCounts(
            favorites: sums[0], normals: sums[1], seen: sums[2], seenFavorites: sums[3])
        return .whole(
            CountSnapshot(
                stamp: stamps[0], categories: categoryCounts, requestedFeatures: features,
                counts: counts))
    }

    /// A field that is absent counts as zero; nil for an invalid value.
    private static func count(_ reply: RedisReply) -> Int64? {
        if case .null = reply { return 0 }
        guard let count = reply.integer, count >= 0 else { return nil }
        return count
    }

    // MARK: - Rebuilding

    /// Rebuilds the counts in one attempt; returns whether they now match the examples.
    private func rebuildOnce(from examples: any CountSource) async throws -> Bool {
        let observed = try await mappingErrors(of: .read) {
            try await client.script(
                CountScripts.observe, keys: keys.all,
                arguments: [RedisArgument(CountKeys.stampField)])
        }
        let tally = try await examples.storage.read { try examples.tally(on: $0) }
        let temporary = CountKeys.temporary(mirror: mirror, namespace)
        return try await mappingErrors(of: .rebuild) {
            do {
                let sizes = try await build(tally, under: temporary)
                let observations = (observed.array ?? []).compactMap(\.string).map {
                    RedisArgument($0)
                }
                let answer = try await client.script(
                    CountScripts.replace, keys: keys.all + temporary.all,
                    arguments: [RedisArgument(CountKeys.stampField)] + observations
                        + sizes.map { RedisArgument($0) })
                if answer.string == "replaced" { return true }
            } catch {
                await remove(temporary)
                throw error
            }
            await remove(temporary)
            return false
        }
    }

    /// Writes counts under temporary keys, and returns the number of fields of each.
    private func build(_ tally: CountBatch, under temporary: CountKeys) async throws -> [Int] {
        let change = tally.change
        if change.isEmpty { return [0, 0, 0] }
        let categories = Self.categories(change)
        let hashes = [categories, change.features(of: .favorite), change.features(of: .normal)]
        var pendingCommands: [RedisCommand] = []
        func send() async throws {
            for reply in try await client.pipeline(pendingCommands) { _ = try reply.orThrow() }
            pendingCommands.removeAll()
        }
        for (key, counts) in zip(temporary.all, hashes) {
            pendingCommands.append(
                Self.command("HSET", key, [CountKeys.stampField, tally.stamp.text]))
            pendingCommands.append(RedisCommand("EXPIRE", key, Self.temporarySeconds))
            for start in stride(from: 0, to: counts.count, by: Self.fieldsPerCommand) {
                let portion = counts[start..<min(start + Self.fieldsPerCommand, counts.count)]
                let fields = portion.flatMap {
                    [RedisArgument($0.feature), RedisArgument($0.amount)]
                }
                pendingCommands.append(RedisCommand(["HSET", RedisArgument(key)] + fields))
                // The commands are sent in portions, because all of them together take more memory
                // than the counts.
                if pendingCommands.count >= Self.commandsPerTrip { try await send() }
            }
        }
        try await send()
        return hashes.map { $0.count + 1 }
    }

    /// Removes temporary keys before they expire; ignores a failure.
    private func remove(_ temporary: CountKeys) async {
        // Temporary keys that stay expire by themselves.
        _ = try? await client.pipeline([
            RedisCommand((["UNLINK"] + temporary.all).map { RedisArgument($0) })
        ])
    }

    // MARK: -

    /// Returns the amounts to add to the fields of the categories, without zeros.
    private static func categories(_ change: CountChange) -> [(feature: String, amount: Int64)] {
        [
            (CountKeys.favoriteField, change.favorites), (CountKeys.normalField, change.normals),
            (CountKeys.seenField, change.seen), (CountKeys.seenFavoriteField, change.seenFavorites),
            (CountKeys.wordlessField, change.wordless),
        ].filter { $1 != 0 }
    }

    private static func command(_ name: String, _ key: String, _ arguments: [String])
        -> RedisCommand
    {
        RedisCommand(([name, key] + arguments).map { RedisArgument($0) })
    }

    private enum Operation {
        case apply, read, rebuild, clear

        /// The sentence about a failure.
        func failure(_ error: String) -> String {
            switch self {
            case .apply: localized("could not apply what was learned: \(error)")
            case .read: localized("could not read the counts: \(error)")
            case .rebuild: localized("could not rebuild the counts: \(error)")
            case .clear: localized("could not clear the counts: \(error)")
            }
        }
    }

    /// Turns every failure of the server or the connection into the error that pauses favorites.
    private func mappingErrors<Value>(of operation: Operation, _ body: () async throws -> Value)
        async throws
        -> Value
    {
        do {
            return try await body()
        } catch let error as RedisError {
            // A server that answered is reachable, and its message says what to do.
            let description =
                error.code == .server
                ? error.description
                : localized("\(error.description); check REDIS_URL and that the server runs")
            throw FavoritesError(.countsUnavailable, operation.failure(description))
        }
    }
}

/// The Redis keys of one mirror's counts.
///
/// The mirror's name is a hash tag, so that all keys are in one slot of a cluster and one script
/// may change them together.
struct CountKeys: Sendable {
    let categories: String
    let favoriteFeatures: String
    let normalFeatures: String

    /// The keys that readers use.
    init(mirror: String, _ namespace: CountNamespace) {
        self.init(prefix: Self.prefix(mirror, namespace))
    }

    private init(prefix: String) {
        categories = prefix + "categories"
        favoriteFeatures = prefix + "features:favorite"
        normalFeatures = prefix + "features:normal"
    }

    /// Creates keys, used by no other process, under which counts are built.
    static func temporary(mirror: String, _ namespace: CountNamespace) -> CountKeys {
        CountKeys(prefix: prefix(mirror, namespace) + "rebuild:\(UUID().uuidString.lowercased()):")
    }

    /// The three keys, in the order that the scripts expect.
    var all: [String] { [categories, favoriteFeatures, normalFeatures] }

    private static func prefix(_ mirror: String, _ namespace: CountNamespace) -> String {
        // The braces are escaped, because they would move the end of the hash tag.
        let tag = mirror.replacingOccurrences(of: "{", with: "%7B").replacingOccurrences(
            of: "}", with: "%7D")
        return "mirror-bot:{\(tag)}:" + namespace.prefix
    }

    /// The field of all three hashes that holds the stamp of the counts.
    ///
    /// No feature contains a space, so it differs from every feature.
    static let stampField = "applied batch"
    static let favoriteField = "favorite"
    static let normalField = "normal"
    static let seenField = "seen"
    static let seenFavoriteField = "seen:favorite"
    static let wordlessField = "wordless"
}

extension CountStamp {
    /// The stored form of the stamp: `sequence:extraction`.
    var text: String { "\(sequence):\(extraction)" }

    init?(text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Int64($0) }
        guard parts.count == 2, let sequence = parts[0], let extraction = parts[1] else {
            return nil
        }
        self.init(sequence: sequence, extraction: extraction)
    }
}
