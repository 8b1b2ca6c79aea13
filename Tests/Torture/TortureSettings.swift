import Foundation
import NetworkNames
import Posts
import Sandbox

/// Where the tortured workers keep their data.
enum TortureStore: String, CaseIterable, Codable, Sendable {
    case sqlite
    /// With Redis for the counts.
    case postgres
    /// Postgres with a standby that confirms every commit and may take over, and a Redis Cluster
    /// for the counts.
    case cluster
}

/// What a run of the crash harness is told.
struct TortureSettings: Sendable {
    var network: NetworkName
    var store: TortureStore
    /// How many workers die by `SIGKILL` before the run ends.
    var kills: Int
    var seed: UInt64
    /// What the Mastodon-compatible server is.
    var software = MastodonHabits.Software.mastodon
    /// Whether the server recognises a request that is made again by its key.
    var keepsKeys: Bool { network != .mastodon || software == .mastodon }
    /// The executable of mirror-bot.
    var program = ""
    /// How many times as fast the clocks of the network and the workers run.
    var factor = 120.0
    /// For how many real seconds a lease must not beat before another worker takes it.
    var leaseSeconds = 0.6
    /// What the run is confined to.
    var filter = EpisodeFilter()
    /// Whether a person interferes meanwhile.
    var hasPerson = false
    var isVerbose = false
    var keepsFolder = false
}
