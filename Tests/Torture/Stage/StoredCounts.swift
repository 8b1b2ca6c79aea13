import Redis
import TestSupport

/// The counts of a mirror as they lie in Redis.
struct StoredCounts: Sendable {
    let mirror: String

    private static let hashes = ["categories", "features:favorite", "features:normal"]

    /// The slot of a cluster that all of them are in.
    var slot: Int { RedisArgument(key(Self.hashes[0])).slot }

    private func key(_ name: String) -> String { "mirror-bot:{\(mirror)}:\(name)" }

    /// Reads everything, one `hash field value` each.
    ///
    /// - Throws: ``TestSupportError`` if the server does not answer.
    func read(from server: RedisServer) async throws -> [String] {
        var counts: [String] = []
        for name in Self.hashes {
            let lines = try await server.run("HGETALL", key(name)).split(separator: "\n")
            counts += stride(from: 0, to: lines.count - 1, by: 2).map {
                "\(name) \(lines[$0]) \(lines[$0 + 1])"
            }
        }
        return counts.sorted()
    }

    /// Deletes everything.
    func delete(on server: RedisServer) async throws {
        for name in Self.hashes { _ = try await server.run("DEL", key(name)) }
    }
}
