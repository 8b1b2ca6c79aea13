import Archive
import Favorites
package import Foundation
package import Mirroring
import Outbox
package import Posts

/// All data about one person and all actions for them, to answer their request.
package struct PersonReport: Codable, Sendable {
    /// One of their accounts.
    package struct KnownAccount: Codable, Sendable {
        /// The account in the form that people type.
        package var account: String
        package var handle: String?
        /// The stance on being answered, their own or the operator's; `nil` if none.
        package var stance: String?
        package var reason: String?
        /// The account's denied server, or a denied domain above that server; nil if there is none.
        ///
        /// A `stance` has precedence over the denial of a server.
        package var onDenied: String?
        package var lastContact: Date?
        /// Whether the account is forgotten, so that nothing else is stored.
        package var isForgotten: Bool
        /// The digest of the account's record, to be sent with a change; nil in reports of earlier
        /// versions.
        package var seen: Seen?
    }

    /// An answer or a favorite.
    package struct Deed: Codable, Sendable {
        package var id: String
        package var kind: String
        package var at: Date
        package var state: String
        /// The person's post that the action answers or favorites.
        package var about: String
        package var text: String?
        /// The web page of the bot's post; nil if unknown.
        package var link: String?
        package var why: String?
    }

    /// A post of the human that answers or mentions them.
    package struct Mention: Codable, Sendable {
        package var post: String
        package var written: Date
        package var isReply: Bool
        package var text: String
    }

    /// A learned post of theirs.
    package struct Learned: Codable, Sendable {
        package var post: String
        package var text: String
        /// How the post was learned: as seen, or as a favorite.
        package var state: String
        package var noted: Date
    }

    package var schema = "mirror-bot/person/1"
    package var mirror: String
    package var made: Date
    package var timeZone: String
    package var accounts: [KnownAccount]
    package var deeds: [Deed]
    package var mentions: [Mention]
    package var learned: [Learned]
}

extension PersonReport {
    /// - Parameters:
    ///   - person: One of their accounts; linked accounts are included.
    ///   - mirror: The mirror whose data is reported.
    ///   - zone: The human's time zone.
    ///   - now: The time of the report.
    /// - Throws: The store's error.
    package init(on person: AccountID, in mirror: HumanMirror, zone: TimeZone, now: Date)
        async throws
    {
        let ids = try await mirror.people.linked(to: person)
        let forgotten = try await mirror.people.forgotten(among: ids)
        let servers = try await mirror.people.deniedServers()
        let handles = try await mirror.handles(
            of: ids.filter { !$0.network.traits.namesAreIdentities })
        self.mirror = mirror.name
        made = now
        timeZone = zone.name
        accounts = []
        mentions = []
        learned = []
        for id in ids {
            let record = try await mirror.people.person(id)
            accounts.append(
                KnownAccount(
                    account: id.reference, handle: record?.handle ?? handles[id],
                    stance: record.flatMap { $0.stance == .none ? nil : $0.stance.rawValue },
                    reason: record?.reason,
                    onDenied: ServerName.covering(id).first(where: servers.contains)?.reference,
                    lastContact: record?.lastContact, isForgotten: forgotten.contains(id),
                    seen: record?.seen ?? People.Person.seen(id)))
            mentions += try await mirror.people.posts(about: id).map {
                Mention(
                    post: $0.id.webAddress ?? $0.id.value, written: $0.createdAt,
                    isReply: $0.isReply, text: $0.text)
            }
            learned += try await Favorites.learned(
                from: id, called: try await mirror.names(of: id), of: mirror.name,
                in: mirror.storage
            ).map {
                Learned(
                    post: $0.id.webAddress ?? $0.id.value, text: $0.text, state: $0.state,
                    noted: $0.decided)
            }
        }
        deeds = try await mirror.outbox(lease: nil).actions(about: ids).map { action in
            let link = action.remoteID.flatMap { id in
                action.target.flatMap { PostID(network: $0.author.network, value: id).webAddress }
            }
            return Deed(
                id: action.id, kind: action.kind.rawValue, at: action.sending ?? action.due,
                state: action.state.rawValue, about: action.target?.post ?? action.subject,
                text: action.text,
                link: action.kind == .reply ? link : nil,
                why: action.reportedReason?.text
                    ?? (action.explanation?.summary).map(StoredText.inWords))
        }
    }
}
