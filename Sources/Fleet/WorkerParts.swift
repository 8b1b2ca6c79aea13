import Archive
import Conduct
import Control
import Favorites
import Foundation
import Logging
import Mirroring
import Networks
import Outbox
import Posts
import Settings

/// The objects that the passes of one worker use, put together once at its start.
package struct WorkerParts: Sendable {
    let configuration: MirrorSettings
    let clock: any WallClock
    let cadence: Cadence
    let faultPoints: FaultPoints
    let logger: Logger
    let zone: TimeZone
    let activated: Date
    let archive: Archive
    let people: People
    let classifiers: ClassifierSource
    let bot: AccountGate
    let human: AccountGate?
    let learnable: Learnable
    let store: OutboxStore
    let planner: PlanMaker
    let judging: TextJudging
    let hold: SlotHold
    let courier: Courier
    let originals: Originals
    let mentionDecider: MentionDecider
    let favoriteDecider: FavoriteDecider
    let feeds: WatchedFeeds
    let feedTable: FeedTable
    let proofs: ProofTable
    /// Reads the rules of the bot's server; `nil` for a dry run.
    let serverRules: ServerRuleLook?
    /// Looks at the state of the human's account; `nil` without one, and for a dry run.
    let standing: StandingLook?
    /// Takes back or finishes what commands were cut in; `nil` for a dry run.
    let effects: EffectRecovery?
    /// Goes on with trainings that money cut short; `nil` where reading the human's posts costs
    /// nothing.
    let training: PaidTraining?
    /// Ends what a person has begun to have forgotten.
    let goOnForgetting: @Sendable () async throws -> Void
}

/// The feeds that a worker watches: those that its accounts can read.
struct WatchedFeeds: Sendable {
    var mentions: FeedReader?
    var botHome: FeedReader?
    /// Where it can be read, it counts as what the human saw, else the bot's: never both, for then
    /// the same post could be seen twice, by two people.
    var humanHome: FeedReader?
    var humanFavorites: FeedReader?
    var humanPosts: FeedReader?
}
