import Archive
import Foundation
import Localization
package import Mirroring
package import Networks
package import Posts
import Settings

/// The present and the proposed profile of the bot.
///
/// The proposed profile names the human and the operator, and says how to stop the bot.
///
/// One line of the bio and one row of the table belong to the mirror, recognized by their
/// beginning; everything else is unchanged.
package struct ProfileProposal: Codable, Sendable {
    package struct Text: Codable, Equatable, Sendable {
        package var bio: String
        package var fields: [AccountProfile.Field]

        /// The parts of the text for a digest: the bio, the number of rows, and the rows.
        var parts: [String] {
            [bio, "\(fields.count)"] + fields.flatMap { [$0.name, $0.value] }
        }
    }

    package var schema = "mirror-bot/profile/1"
    package var mirror: String
    /// The bot's name.
    package var bot: String
    package var network: NetworkName
    /// The present text; nil if the network's API does not return it.
    package var present: Text?
    /// The proposed text; nil if no change is needed, or if only a person can make it.
    package var proposed: Text?
    /// The line for the bio, to be pasted if only a person can write it.
    package var line: String
    /// Parts that do not fit or are not supported, a sentence each.
    package var notes: [String] = []

    /// The digest of the proposal, for a person who agrees to it.
    package var seen: Seen {
        Seen(of: [line] + (present?.parts ?? [nil]) + (proposed?.parts ?? [nil]))
    }

    /// The beginning of the mirror's line in the bio.
    package static let start = "Automated mirror of @"
    /// The beginning of the mirror's line after the mirror has retired.
    package static let retiredStart = "Retired mirror of @"
    /// The name of the mirror's field in the table.
    package static let fieldName = "Mirror of"

    /// The variants of the mirror's line, of which the first that fits is used.
    static func lines(human: String, contact: String?) -> [String] {
        let mirrorOf = "\(start)\(human)"
        let stop = "Reply \"stop\" and it leaves you alone."
        let runBy = contact.map { "\(mirrorOf), run by \($0)." }
        return [runBy.map { "\($0) \(stop)" }, "\(mirrorOf). \(stop)", runBy, "\(mirrorOf)."]
            .compactMap(
                \.self)
    }

    /// The variants of the line of a retired mirror.
    static func lines(retired human: String) -> [String] {
        ["\(retiredStart)\(human). It says nothing any more.", "\(retiredStart)\(human)."]
    }

    /// Whether a line of a bio is a mirror's.
    private static func isMirrorLine(_ line: String) -> Bool {
        ([start, retiredStart] + MemorialLine.starts).contains(where: line.hasPrefix)
    }

    /// Returns the bio with the first line that fits, in the place of the bot's earlier line or at
    /// the end.
    ///
    /// - Returns: The new bio; nil if no line fits.
    static func bio(_ bio: String, with lines: [String], within limits: AccountProfile.Limits)
        -> String?
    {
        let bioLines = bio.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for line in lines {
            var newLines = bioLines
            if let ownIndex = bioLines.firstIndex(where: isMirrorLine) {
                newLines[ownIndex] = line
            } else if bio.allSatisfy(\.isWhitespace) {
                newLines = [line]
            } else {
                newLines += ["", line]
            }
            let text = newLines.joined(separator: "\n")
            if limits.hold(bio: text) { return text }
        }
        return nil
    }

    /// Returns the table of fields with the row that links to the page, if there is room for it.
    static func fields(
        _ fields: [AccountProfile.Field], page: String, within limits: AccountProfile.Limits
    ) -> [AccountProfile.Field] {
        guard page.unicodeScalars.count <= limits.field else { return fields }
        var newFields = fields
        if let ownIndex = fields.firstIndex(where: {
            $0.name.lowercased() == fieldName.lowercased()
        }) {
            if fields[ownIndex].value != page {
                newFields[ownIndex] = AccountProfile.Field(name: fieldName, value: page)
            }
        } else if fields.count < limits.fields {
            newFields.append(AccountProfile.Field(name: fieldName, value: page))
        }
        return newFields
    }
}

extension HumanMirror {
    /// Compares the bot's profile with the proposed one; contacts both networks and changes
    /// nothing.
    ///
    /// - Returns: The proposal.
    /// - Throws: `ConfigurationError` without a bot or a known human; `NetworkError`; the store's
    ///   error.
    package func profileProposal() async throws -> ProfileProposal { try await proposal().report }

    /// Records that the bot's profile is complete for the setup, and ends an interrupted change.
    ///
    /// - Throws: The store's error.
    package func settleProfile() async throws {
        try await table.settleProfile(now: clock.now)
        try await effects.drop(.profile)
    }

    /// - Returns: The proposal, the bot's network, and the present profile, which is nil if the API
    ///   does not return it.
    func proposal() async throws -> (
        report: ProfileProposal, bot: any SocialNetwork, present: AccountProfile?
    ) {
        let bot = try await confirmedBotNetwork()
        let record = try await table.record()
        guard let human = try await humanHandle(record) else {
            throw ConfigurationError(
                localized("the human's account"),
                localized(
                    "is not known; run mirror-bot login NETWORK --as human, or train from an archive"
                ))
        }
        let botHandle: String
        if let handle = record.botHandle {
            botHandle = handle
        } else {
            botHandle = try await bot.verifyAccount().handle
        }
        let lines = try await profileLines(human, record)
        var report = ProfileProposal(
            mirror: name, bot: botHandle, network: bot.name, line: lines[0])
        guard let network = bot as? any ProfiledNetwork else {
            report.notes = [
                localized(
                    "\(bot.name.displayName) lets only a person change a profile: paste the line there"
                )
            ]
            return (report, bot, nil)
        }
        let present: AccountProfile
        do {
            present = try await network.profile()
        } catch let error as NetworkError where error.code == .capability {
            report.notes = [
                localized(
                    "the server does not give out the profile as its owner wrote it: paste the line there"
                )
            ]
            return (report, bot, nil)
        }
        report.present = .init(bio: present.bio, fields: present.fields)
        var proposed = present
        if let bio = ProfileProposal.bio(present.bio, with: lines, within: present.limits) {
            proposed.bio = bio
        } else {
            report.notes.append(
                localized(
                    "the bio has no room for our line; shorten it, or put the line into it by hand")
            )
        }
        if present.limits.fields > 0, let page = try await humanPage(human) {
            proposed.fields = ProfileProposal.fields(
                present.fields, page: page, within: present.limits)
            if !proposed.fields.contains(where: { $0.name == ProfileProposal.fieldName }) {
                report.notes.append(
                    localized("the table has no room for a row \"\(ProfileProposal.fieldName)\""))
            }
        }
        if proposed != present {
            report.proposed = .init(bio: proposed.bio, fields: proposed.fields)
        }
        return (report, bot, present)
    }

    /// The variants of the mirror's line in the bio, of which the first that fits is used.
    private func profileLines(_ human: String, _ record: MirrorRecord) async throws -> [String] {
        if record.retirement?.begun != nil { return ProfileProposal.lines(retired: human) }
        let contact = configuration.operatorContact
        guard configuration.isMemorial else {
            return ProfileProposal.lines(human: human, contact: contact)
        }
        let language = try await archive.commonestLanguage()
        return MemorialLine.forms(human: human, contact: contact, language: language)
    }

    /// The human's handle; that of the login if no handle is stored yet.
    private func humanHandle(_ record: MirrorRecord) async throws -> String? {
        if let handle = record.humanHandle { return handle }
        return try await network(of: .human)?.verifyAccount().handle
    }

    /// The human's web page; nil if unknown.
    func humanPage(_ handle: String) async throws -> String? {
        if let network = try await network(of: .human) as? any ProfiledNetwork {
            // A human's token may not allow reading, and the usual address is nearly always right.
            if let page = try? await network.profile().page { return page }
        }
        return configuration.humanNetwork.traits.profilePage(handle)
    }
}
