import Archive
import Foundation
import Localization
package import Mirroring
import Networks
package import Posts
package import Settings
import Storage

extension HumanMirror {
    /// The checklist of the setup, in its order; empty once the mirror has worked.
    ///
    /// Contacts no network: the progress is read from the settings and the database.
    ///
    /// - Parameter networks: The networks that a person named for missing accounts.
    /// - Returns: The steps, done or not. A login that cannot be opened counts as missing.
    /// - Throws: The store's error.
    package func setupSteps(on networks: [AccountRole: NetworkName] = [:]) async throws
        -> [SetupStep]
    {
        let record = try await table.record()
        guard record.isUnset else { return [] }
        return try await setupSteps(record, try await FoundAccounts(in: self), on: networks)
    }

    /// The checklist from a record and accounts that were already read.
    func setupSteps(
        _ record: MirrorRecord, _ accounts: FoundAccounts, on networks: [AccountRole: NetworkName]
    ) async throws -> [SetupStep] {
        guard record.isUnset else { return [] }
        return try await setupSteps(
            record, accounts, posts: try await archive.count(), on: networks)
    }

    /// The checklist of a mirror that has not worked yet.
    ///
    /// - Parameters:
    ///   - record: The mirror's row.
    ///   - accounts: Its accounts.
    ///   - posts: The number of archived posts.
    ///   - networks: The networks that a person named for missing accounts.
    /// - Returns: The steps, done or not.
    /// - Throws: The store's error.
    func setupSteps(
        _ record: MirrorRecord, _ accounts: FoundAccounts, posts: Int,
        on networks: [AccountRole: NetworkName] = [:]
    ) async throws -> [SetupStep] {
        var rows = SetupRows(hasPosts: posts > 0)
        rows.trainings = try await continuedTrainings(accounts)
        rows.hasExamples = try await hasExamples()
        if !hasZone(record) { rows.zoneProposal = try await timeZoneProposal() }
        return setupSteps(record, accounts, rows, on: networks)
    }

    /// The checklist from rows that were already read.
    func setupSteps(
        _ record: MirrorRecord, _ accounts: FoundAccounts, _ rows: SetupRows,
        on networks: [AccountRole: NetworkName] = [:]
    ) -> [SetupStep] {
        let flags = configuration.flagWords.map { " \($0)" }.joined()
        func command(_ arguments: String) -> String { "mirror-bot \(arguments)\(flags)" }
        func login(_ role: AccountRole) -> String {
            command(
                "login \((networks[role] ?? configuration.network(of: role)).rawValue) --as \(role.rawValue)"
            )
        }
        // The settings of the configured network do not apply to another one.
        func problem(_ role: AccountRole) -> String? {
            let namedNetwork = networks[role]
            let isConfigured =
                namedNetwork == nil || namedNetwork == configuration.network(of: role)
            return isConfigured ? accounts.problem(role) : nil
        }
        let hasHuman = accounts.accounts[.human] != nil
        var steps = [
            SetupStep(
                .human, isDone: hasHuman || rows.hasPosts,
                text: localized("the human's account, or an archive of theirs"),
                command: login(.human),
                detail: [
                    problem(.human),
                    localized("\(command("train scheduler --from FILE")) reads an archive"),
                ]
                .compactMap(\.self).joined(by: .semicolon))
        ]
        // A login of the human's account counts as agreement.
        let isAgreed =
            record.consent != nil || record.stopped == nil && accounts.willAgree(configuration)
        let agreesByLogin =
            record.stopped == nil && accounts.accounts[.human]?.credentials.opensAccount == true
        if hasHuman || rows.hasPosts, !agreesByLogin {
            steps.append(
                SetupStep(
                    .consent, isDone: isAgreed, text: localized("your word that the human agreed"),
                    command: command("set \(Setting.humanConsent.name)=WHO"),
                    detail:
                        localized(
                            "WHO is \(HumanConsent.Ground.choices); a login of the human's account counts as well"
                        )
                ))
        }
        steps.append(
            SetupStep(
                .bot, isDone: accounts.problem(.bot) == nil, text: localized("the bot's account"),
                command: login(.bot),
                detail: problem(.bot)))
        let botNetwork =
            accounts.accounts[.bot]?.network ?? networks[.bot] ?? configuration.botNetwork
        if let policy = botNetwork.descriptor.policy {
            steps.append(
                SetupStep(
                    .policy, isDone: policy.isAcknowledged(configuration),
                    text: localized(
                        "your word that you know the rules of \(botNetwork.displayName) for bots"),
                    command: command("set \(policy.setting)=yes"), detail: policy.summary))
        }
        let hasPosts = record.past != nil || rows.trainings.posts
        steps += [
            SetupStep(
                .posts, isDone: hasPosts, text: localized("when and what the human posts"),
                command: command("train scheduler"))
        ]
        // With the human's account the mirror learns of deleted posts; with an archive alone it
        // does not.
        if !hasHuman, hasPosts {
            let setting = Setting.trustArchive.name
            steps.append(
                SetupStep(
                    .trust, isDone: configuration.archiveTrust != nil,
                    text: localized("your word on posts that nobody can be asked about"),
                    command: command("set \(setting)=yes"),
                    detail: localized(
                        "without the human's account nobody can tell which posts were deleted; \(setting)=yes publishes them all the same, \(setting)=no does not"
                    )))
        }
        steps += [
            timeZoneStep(record, rows.zoneProposal, command),
            SetupStep(
                .favorites,
                isDone: configuration.favoriteMode == .off || rows.hasExamples
                    || rows.trainings.favorites,
                text: localized("what the human favorites"),
                command: command("train classifier")),
        ]
        // Without the human's name the profile has no content.
        if hasHuman || record.humanHandle != nil {
            steps.append(
                SetupStep(
                    .profile, isDone: record.profileSettled != nil,
                    text: localized("a profile that says whose mirror the bot is"),
                    command: command("profile")))
        }
        return steps + [
            SetupStep(
                .start, isDone: false,
                text: localized("a look at what would happen, then the work"),
                command: command("run"))
        ]
    }

    /// Whether a person named the time zone.
    ///
    /// The mirror works with an adopted zone too, but a person should confirm that zone once.
    private func hasZone(_ record: MirrorRecord) -> Bool {
        configuration.timeZone != nil || record.timeZone != nil && record.timeZoneSource == nil
    }

    private func timeZoneStep(
        _ record: MirrorRecord, _ proposal: String?, _ command: (String) -> String
    ) -> SetupStep {
        let setting = Setting.timeZone.name
        return SetupStep(
            .timeZone, isDone: hasZone(record), text: localized("the human's time zone"),
            command: command(
                "set \(setting)=\(record.timeZone ?? record.archiveTimeZone ?? "ZONE")"),
            detail: proposal.map { localized("\(setting) is not set; \($0)") }
                ?? localized("\(setting) is not set"))
    }

    /// The command that leads through the checklist.
    package var setupCommand: String {
        (["mirror-bot setup"] + configuration.flagWords).joined(separator: " ")
    }

    /// Returns the next setup step; `nil` once the mirror has worked.
    ///
    /// - Throws: The store's error.
    package func nextStep() async throws -> SetupStep? {
        try await setupSteps().first { !$0.isDone }
    }

    /// Replaces a command's error by the error of the checklist's first open step.
    ///
    /// All commands and `status` then ask for the same step, whatever a command finds missing
    /// first.
    ///
    /// - Parameter error: The command's error.
    /// - Returns: `error` itself if it concerns something else, or no step is open.
    package func firstMissing(_ error: ConfigurationError) async -> ConfigurationError {
        // A checklist that cannot be read adds nothing to the error.
        guard let part = error.part, let steps = try? await setupSteps(),
            let step = steps.first(where: { !$0.isDone && part.steps.contains($0.kind) })
        else { return error }
        let details = [part == .database ? error.description : nil, step.detail].compactMap(\.self)
        return ConfigurationError(
            localized("mirror \(name)"),
            ([
                localized("is not set up yet: \(setupCommand) leads through all steps"), step.next,
            ] + details).joined(by: .semicolon),
            isMissing: error.isMissing, part: part)
    }

    /// The trainings that a worker continues by itself, so that nobody has to repeat the command.
    private func continuedTrainings(_ accounts: FoundAccounts) async throws -> (
        posts: Bool, favorites: Bool
    ) {
        guard accounts.accounts[.human]?.network.descriptor.prices != nil else {
            return (posts: false, favorites: false)
        }
        return SetupRows.trainings(try await feeds.trainingLeft())
    }

    /// Whether posts with labels are stored, from which favorites are learned; false if favorites
    /// are off.
    private func hasExamples() async throws -> Bool {
        guard configuration.favoriteMode != .off else { return false }
        let rows = try await storage.query(
            "SELECT 1 AS found FROM examples WHERE mirror = \(self.name) LIMIT 1")
        return !rows.isEmpty
    }
}

extension MirrorRecord {
    /// Whether the mirror has not worked yet.
    var isUnset: Bool { activated == nil || past == nil }
}

/// The stored facts for the setup checklist, besides the mirror's row and accounts.
struct SetupRows {
    /// Whether the archive has posts.
    var hasPosts = false
    /// Whether labelled posts are stored.
    var hasExamples = false
    /// The trainings that a worker continues by itself.
    var trainings = (posts: false, favorites: false)
    /// A proposal for a time zone that is not set, in words; nil if none was read.
    var zoneProposal: String?

    static func trainings(_ left: TrainingLeft) -> (posts: Bool, favorites: Bool) {
        (
            posts: left.itemsLeft(of: .ownPosts) != nil,
            favorites: left.itemsLeft(of: .favorites) != nil
        )
    }
}

extension MissingPart {
    /// The steps of the checklist that provide this part: those on which it depends, and its own.
    fileprivate var steps: Set<SetupStep.Kind> {
        switch self {
        case .account(.human): [.human]
        case .account(.bot): [.human, .bot]
        case .posts: [.human, .posts]
        case .timeZone: [.human, .posts, .timeZone]
        case .database: Set(SetupStep.Kind.allCases)
        case .mirror: []
        }
    }
}
