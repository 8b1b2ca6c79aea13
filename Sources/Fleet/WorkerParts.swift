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

/// The objects that the passes of one worker use, created at its start.
package struct WorkerParts: Sendable {
    let configuration: MirrorSettings
    let clock: any WallClock
    let cadence: Cadence
    /// The worker's live status, which the publisher updates.
    let pulse: WorkerPulse
    let faultPoints: FaultPoints
    let logger: Logger
    let zone: TimeZone
    /// When the mirror first tried to start.
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
    /// Holds posts back while the human is posting, and in quiet hours.
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
    /// Checks the state of the human's account; `nil` without one, and for a dry run.
    let standing: StandingLook?
    /// Undoes or completes the effects of interrupted commands; `nil` for a dry run.
    let effects: EffectRecovery?
    /// Continues trainings that the budget interrupted; `nil` if reading the human's posts is free.
    let training: PaidTraining?
    /// Completes the forgetting of people that was begun.
    let continueForgetting: @Sendable () async throws -> Void
}

/// The feeds that a worker reads: those that its accounts can access.
struct WatchedFeeds: Sendable {
    var mentions: FeedReader?
    var botHome: FeedReader?
    /// The home timeline whose posts count as seen by the human.
    ///
    /// If it cannot be read, the posts of the bot's home timeline count as seen. The two are never
    /// used together, because a post in both would be counted twice.
    var humanHome: FeedReader?
    var humanFavorites: FeedReader?
    var humanPosts: FeedReader?
}
