import Foundation
import Logging
package import Mirroring
import NetworkNames
package import Outbox
import Posts
import Settings
import TestSupport
import Testing

/// A mirror that lacks nothing but a network and a worker.
extension BareMirror {
    /// Settings that name both accounts, and the human's zone.
    package static let accounts = [
        "HUMAN_SERVER": "https://home.example", "HUMAN_ACCESS_TOKEN": "planted-h",
        "BOT_SERVER": "https://bots.example",
        "BOT_ACCESS_TOKEN": "planted-b", "TIME_ZONE": "Asia/Tokyo",
    ]

    /// The same with the bot on X, where the operator has agreed to its rules.
    package static let accountsOnX = [
        "HUMAN_SERVER": "https://home.example", "HUMAN_ACCESS_TOKEN": "planted-h",
        "TIME_ZONE": "Asia/Tokyo",
        "BOT_NETWORK": "x", "BOT_CONSUMER_KEY": "planted-ck", "BOT_CONSUMER_SECRET": "planted-cs",
        "BOT_ACCESS_TOKEN": "planted-at", "BOT_ACCESS_TOKEN_SECRET": "planted-ats",
        "X_ACKNOWLEDGE_POLICY": "yes",
    ]
}

extension HumanMirror {
    /// Makes the mirror one that has worked before: its past is known, the archive has posts, and
    /// it has begun.
    package func beginWorking() async throws {
        let now = clock.now
        let author = AccountID(network: .mastodon, value: "haruka@home.example")
        // Four a day, at different hours, for sixty days.
        let posts = (1...240).map { number in
            Post(
                id: PostID(network: .mastodon, value: "\(number)"), author: author,
                text: "Bread, loaf \(number)",
                createdAt: now - Double(number / 4) * 86_400 - Double(number % 4) * 9_000 - 600)
        }
        _ = try await archive.keep(posts, timeZone: configuration.timeZone ?? .gmt, limit: 1_000)
        try await table.notePast(.whole, now: now)
        if let zone = configuration.timeZone {
            try await table.setTimeZone(zone.identifier, now: now)
        }
        try await table.noteStatement(.agreed, now: now)
        _ = try await table.activate(now: now)
    }

    /// Lets a worker hold the mirror that has just beaten.
    @discardableResult
    package func holdByAWorker() async throws -> Lease {
        let leases = LeaseTable(storage: storage, mirror: name)
        let taken = try await leases.take(
            owner: "worker", after: try await leases.record(), now: clock.now.milliseconds)
        return try #require(taken)
    }
}

extension LeaseTable {
    /// Gives back the lease of a holder that is gone, for the test of what comes after.
    package func free() async throws {
        guard let record = try await record(), let lease = record.lease(of: record.owner) else {
            return
        }
        try await release(lease, now: 0)
    }
}
