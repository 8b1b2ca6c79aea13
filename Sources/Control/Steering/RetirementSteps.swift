import Foundation
import Logging
package import Mirroring
import Networks
package import Outbox
import Posts
import Settings

/// The steps of a retirement that are neither sending nor undoing; a worker carries them out.
///
/// Each step can be repeated: its result is in the database, or is found at the network.
package struct RetirementSteps: Sendable {
    /// Seconds after the retirement began within which the last post may be sent: a network may be
    /// unreachable for days.
    private static let lastPostLifetime: TimeInterval = 7 * 86_400
    /// Seconds after the retirement's date for which the human's network is asked to verify the
    /// login.
    private static let verificationPeriod: TimeInterval = 86_400

    private let mirror: HumanMirror
    private let store: OutboxStore
    private var now: Date { mirror.clock.now }

    /// - Parameter lease: The lease of the worker.
    package init(_ mirror: HumanMirror, lease: Lease) {
        self.mirror = mirror
        store = mirror.outbox(lease: lease)
    }

    /// Skips all waiting actions, and adds the last post.
    ///
    /// The last post is left out, and the retirement continues, if the post is not fit any more, if
    /// there is no consent, or if the state of the human's account forbids posts.
    ///
    /// - Throws: `OutboxError` if the lease is lost; `NetworkError` of a server that may answer
    ///   later; the store's error.
    package func begin(_ retirement: Retirement, _ record: MirrorRecord) async throws {
        var wording: Action.Wording?
        if let last = retirement.last, record.standing?.isHold != true,
            try await isAgreed(retirement, record)
        {
            do { wording = try await LastPost(mirror).wording(of: last) } catch let refusal
                as ChangeRefusal
            {
                mirror.logger.warning(
                    "The last post is left out", metadata: [LogKeys.error: "\(refusal)"])
            }
        }
        let zone = mirror.knownTimeZone(record) ?? .gmt
        let isBegun = try await store.beginRetirement(
            saying: wording, on: LocalTime(now, in: zone).day, expires: now + Self.lastPostLifetime,
            now: now)
        if isBegun { mirror.logger.notice("Retiring") }
    }

    /// Whether there is a consent to the mirror.
    ///
    /// If no consent is stored, this first tries to store one, as a worker does at its start.
    ///
    /// - Throws: `NetworkError` of a server that may answer later; the store's error.
    private func isAgreed(_ retirement: Retirement, _ record: MirrorRecord) async throws -> Bool {
        if record.consent != nil { return true }
        do {
            if record.stopped == nil, let human = try await mirror.network(of: .human) {
                try await mirror.bind(human: try await human.verifyAccount(), bot: nil, now: now)
            }
        } catch let error as NetworkError
            where !error.isPermanent && now < retirement.date + Self.verificationPeriod
        {
            throw error
        } catch let error as NetworkError {
            mirror.logger.warning(
                "The human's login was not seen", metadata: [LogKeys.error: "\(error)"])
        } catch let error as ConfigurationError {
            mirror.logger.warning(
                "The human's login was not seen", metadata: [LogKeys.error: "\(error)"])
        }
        try await mirror.table.noteStatement(mirror.configuration.statedConsent, now: now)
        return try await mirror.table.record().consent != nil
    }

    /// Writes into the bot's profile that the mirror has retired.
    ///
    /// If only a person can do that, or the server refuses, this is recorded, and the retirement
    /// continues.
    ///
    /// - Throws: `NetworkError` of a server that may answer later; the store's error.
    package func settleProfile(_ retirement: Retirement) async throws {
        var note: String?
        // Without a login the retirement waits for one, unless there never was a bot.
        if try await mirror.table.record().bot != nil {
            _ = try await mirror.requiredNetwork(of: .bot)
        }
        do {
            note = try await mirror.writeRetiredProfile()
        } catch let error as NetworkError {
            let rule = RetryRule.undo(error.retryCause)
            let isFinal = error.dropsItem || [.missingScope, .capability].contains(error.code)
            guard isFinal || rule.isOver(since: retirement.begun, now: now) else { throw error }
            note = error.description
        } catch let error as ConfigurationError {
            note = error.description
        }
        if let note {
            mirror.logger.warning("Profile not written", metadata: [LogKeys.error: "\(note)"])
        }
        try await mirror.table.noteRetiredProfile(note, now: now)
    }

    /// Requests to undo everything except the last post.
    ///
    /// - Throws: `OutboxError` if the lease is lost; the store's error.
    package func askUndos(_ retirement: Retirement) async throws {
        let actions = try await Undoing(mirror: mirror).actions(
            .everything, kinds: ActionKind.allCases, now: now)
        let ids = actions.map(\.id).filter { $0 != retirement.post }
        _ = try await store.askUndos(ids, reason: .retired, now: now)
        try await mirror.table.noteRetiredWishes(now: now)
    }

    /// Removes the logins: the mirror has retired.
    ///
    /// - Throws: The store's error.
    package func end() async throws {
        try await mirror.table.endRetirement(now: now)
        mirror.logger.notice("Retired; the logins are removed")
    }
}

extension HumanMirror {
    /// Writes into the bot's profile that the mirror has retired.
    ///
    /// Writing the same text twice is harmless, so nothing has to be stored before.
    ///
    /// - Returns: Why only a person can write it; nil if it was written.
    /// - Throws: As ``profileProposal()``.
    fileprivate func writeRetiredProfile() async throws -> String? {
        let (report, bot, present) = try await proposal()
        guard let proposed = report.proposed, let present, let network = bot as? any ProfiledNetwork
        else {
            return report.notes.first.map { "\($0): \(report.line)" }
        }
        var intended = present
        intended.bio = proposed.bio
        intended.fields = proposed.fields
        try await network.setProfile(intended, insteadOf: present)
        return report.notes.first
    }
}
