import Archive
import Favorites
import Import
import MeCab
package import Mirroring
import Networks
package import Posts
package import Settings

/// The stored state on which the next step of a setup depends.
package struct SetupPosition: Sendable {
    /// The checklist of the setup; empty once the mirror has worked.
    package let steps: [SetupStep]
    /// The proposed network for an account that is missing.
    package let networks: [AccountRole: NetworkName]
    package let hasHuman: Bool
    /// The name of the human's account while another login may still replace it; else `nil`.
    package let replaceableHuman: String?
    package let policy: NetworkDescriptor.Policy?
    /// The setting that limits the cost of reading the human's account; nil if reading is free.
    package let budget: String?
    /// Nil while the time zone is unknown.
    package let tomorrow: LocalDay?

    /// Steps without which a worker cannot start, or has nothing to post.
    private static let vitalSteps: Set<SetupStep.Kind> = [.human, .bot, .posts, .timeZone]

    /// The steps that are not done, except the start of the worker.
    package var openSteps: [SetupStep] { steps.filter { !$0.isDone && $0.kind != .start } }

    /// Whether a worker can start.
    package var isReady: Bool { !openSteps.contains { Self.vitalSteps.contains($0.kind) } }

    package func isOpen(_ kind: SetupStep.Kind) -> Bool { openSteps.contains { $0.kind == kind } }

    /// Whether another answer, or a retry, may complete a step that failed.
    package static func isMendable(_ error: any Error) -> Bool {
        error is ConfigurationError || error is NetworkError || error is ImportError
            || error is ArchiveError || error is FavoritesError || error is MeCabError
            || error is ChangeRefusal || error is LoginRefusal
    }
}

extension HumanMirror {
    /// The progress of the setup; contacts no network.
    ///
    /// - Parameter namedNetworks: The networks that a person named for missing accounts.
    /// - Throws: The store's error.
    package func setupPosition(on namedNetworks: [AccountRole: NetworkName] = [:]) async throws
        -> SetupPosition
    {
        let accounts = try await FoundAccounts(in: self)
        let humanNetwork = accounts.accounts[.human]?.network
        // Without a setting, the bot is proposed to be on the network of the human.
        let proposedForBot = configuration.networkSetting(of: .bot) == nil ? humanNetwork : nil
        let record = try await table.record()
        let isBound = try await table.isBound(.human)
        let replaceable =
            isBound ? nil : BoundAccount(record.human, called: record.humanHandle)?.name()
        return SetupPosition(
            steps: try await setupSteps(record, accounts, on: namedNetworks),
            networks: [
                .human: configuration.network(of: .human),
                .bot: proposedForBot ?? configuration.network(of: .bot),
            ],
            hasHuman: humanNetwork != nil,
            replaceableHuman: humanNetwork == nil ? nil : replaceable,
            policy: accounts.accounts[.bot]?.network.descriptor.policy,
            budget: humanNetwork?.descriptor.prices?.budgetSetting,
            tomorrow: knownTimeZone(record).map { LocalTime(clock.now, in: $0).day.advanced(by: 1) }
        )
    }
}
