import Archive
import Foundation
package import Mirroring
import Networks
import Posts
import Settings
import Storage

extension HumanMirror {
    /// What there is to do before the mirror works, in its order; none once it has worked.
    ///
    /// - Returns: The steps, done or not.
    /// - Throws: The store's error. A login that cannot be opened counts as made.
    package func setupSteps() async throws -> [SetupStep] {
        let record = try await table.record()
        guard record.activated == nil || record.past == nil else { return [] }
        return try await setupSteps(record, try await FoundAccounts(in: self), posts: try await archive.count())
    }

    /// The steps of a mirror that has not worked yet.
    ///
    /// - Parameters:
    ///   - record: The mirror's row.
    ///   - accounts: Its accounts.
    ///   - posts: How many posts the archive has.
    /// - Returns: The steps, done or not.
    /// - Throws: The store's error.
    func setupSteps(_ record: MirrorRecord, _ accounts: FoundAccounts, posts: Int) async throws -> [SetupStep] {
        let zone = configuration.timeZone != nil || record.timeZone != nil
        let human = configuration.network(of: .human).rawValue
        // As the person called it, so that it can be copied.
        let name = configuration.isNamedByFlag ? " --mirror \(name)" : ""
        let goesOn = try await trainingsThatGoOn(accounts)
        let proposal = zone ? "" : ": \(try await timeZoneProposal())"
        return [
            SetupStep(
                isDone: accounts.accounts[.human] != nil || posts > 0,
                text: "the human's account, or an archive of theirs",
                command: "mirror-bot login \(human) --as human\(name)"),
            SetupStep(
                isDone: accounts.problem(.bot) == nil, text: "the bot's account",
                command: "mirror-bot login \(configuration.network(of: .bot).rawValue) --as bot\(name)"),
            SetupStep(
                isDone: record.past != nil || goesOn.posts, text: "when and what the human posts",
                command: "mirror-bot train scheduler\(name)"),
            SetupStep(
                isDone: try await hasLearnedFavorites() || goesOn.favorites, text: "what the human favorites",
                command: "mirror-bot train classifier\(name)"),
            SetupStep(
                isDone: zone, text: "the human's time zone\(proposal)", command: "mirror-bot set TIME_ZONE=ZONE\(name)"),
            SetupStep(
                isDone: false, text: "a look at what would happen, then the work", command: "mirror-bot run\(name)"),
        ]
    }

    /// What to do next; nil once the mirror has worked.
    ///
    /// - Throws: The store's error.
    package func nextStep() async throws -> SetupStep? { try await setupSteps().first { !$0.isDone } }

    /// Which trainings a worker goes on with by itself, so that nobody has to say them once more.
    private func trainingsThatGoOn(_ accounts: FoundAccounts) async throws -> (posts: Bool, favorites: Bool) {
        guard accounts.accounts[.human]?.network.descriptor.prices != nil else { return (false, false) }
        let left = try await feeds.trainingLeft()
        return (left.begun(.ownPosts) != nil, left.begun(.favorites) != nil)
    }

    /// Whether nothing more can be learned of favorites before the mirror works, or nobody wants any.
    private func hasLearnedFavorites() async throws -> Bool {
        guard configuration.favoriteMode != .off else { return true }
        let rows = try await storage.query("SELECT 1 AS found FROM examples WHERE mirror = \(self.name) LIMIT 1")
        return !rows.isEmpty
    }
}
