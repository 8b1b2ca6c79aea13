import Foundation
import Logging
import Mirroring
import Networks
import Posts
import Settings

/// A change of the bot's profile.
private struct ProfileChange {
    let present: AccountProfile
    let intended: AccountProfile

    /// Nil if nothing is proposed.
    init?(_ report: ProfileProposal, _ present: AccountProfile?) {
        guard let proposed = report.proposed, let present else { return nil }
        self.present = present
        var intended = present
        intended.bio = proposed.bio
        intended.fields = proposed.fields
        self.intended = intended
    }

    /// A digest that identifies the change.
    var mark: String {
        Seen(of: ["profile"] + Self.parts(present) + ["to"] + Self.parts(intended)).description
    }

    private static func parts(_ profile: AccountProfile) -> [String] {
        ProfileProposal.Text(bio: profile.bio, fields: profile.fields).parts
    }
}

extension HumanMirror {
    /// Writes the proposed profile.
    ///
    /// The change is stored as an ``Effect`` before its request is sent. If it is interrupted, the
    /// next ``EffectRecovery`` completes it.
    ///
    /// - Parameter shown: The proposal that a person has agreed to.
    /// - Returns: False, without any change, if the proposal has changed meanwhile.
    /// - Throws: As ``profileProposal()``.
    package func writeProfile(_ shown: ProfileProposal) async throws -> Bool {
        let (report, bot, present) = try await proposal()
        guard report.proposed == shown.proposed, let change = ProfileChange(report, present),
            let network = bot as? any ProfiledNetwork
        else { return false }
        let account =
            if let bound = try await table.record().bot { bound } else {
                try await bot.verifyAccount().id
            }
        let now = clock.now
        let requestLifetime = EffectRecovery(self, network: bot, account: account).requestLifetime
        let effect = try await effects.begin(
            .profile, mark: change.mark, account: account, begun: bot.present(at: now), sent: now,
            next: now + requestLifetime)
        do {
            try await network.setProfile(change.intended, insteadOf: change.present)
        } catch let error as NetworkError where error.outcome != .unknown {
            try await effects.end(effect)
            throw error
        }
        try await settleProfile()
        return true
    }

    /// Completes an interrupted change of the profile, if the proposal is still the one that a
    /// person agreed to; else the next `mirror-bot profile` shows the actual profile.
    ///
    /// - Parameter mark: ``ProfileChange/mark`` of the change.
    /// - Throws: As ``profileProposal()``.
    func finishProfile(_ mark: String) async throws {
        let (report, bot, present) = try await proposal()
        guard report.proposed != nil else { return try await settleProfile() }
        guard let change = ProfileChange(report, present), change.mark == mark,
            let network = bot as? any ProfiledNetwork
        else {
            return logger.notice(
                "Profile changed by somebody else, so a change of it was not finished")
        }
        try await network.setProfile(change.intended, insteadOf: change.present)
        try await settleProfile()
    }

    /// Drops interrupted changes of the profile, because a person decides about it again.
    ///
    /// - Throws: The store's error.
    package func dropProfileChanges() async throws { try await effects.drop(.profile) }
}
