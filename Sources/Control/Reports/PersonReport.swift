import Archive
import Favorites
package import Foundation
package import Mirroring
import Outbox
package import Posts

/// Everything that was said to one person or is stored about them, for who asks.
package struct PersonReport: Codable, Sendable {
    /// One of their accounts.
    package struct KnownAccount: Codable, Sendable {
        /// As a person types it.
        package var account: String
        package var handle: String?
        /// The stance on being answered, their own or the operator's; `nil` if none.
        package var stance: String?
        package var reason: String?
        /// The denied server that the account is on, or one above it; `stance` goes before that.
        package var onDenied: String?
        package var lastContact: Date?
        /// Nothing but that is kept.
        package var isForgotten: Bool
        /// The digest of what is remembered of the account, for who changes it; nil in reports of
        /// earlier versions.
        package var seen: Seen?
    }

    /// An answer or a favorite.
    package struct Deed: Codable, Sendable {
        package var id: String
        package var kind: String
        package var at: Date
        package var state: String
        /// The post of theirs that it is about.
        package var about: String
        package var text: String?
        /// Where a browser shows what was sent; nil if that is not known.
        package var link: String?
        package var why: String?
    }

    /// A post of the human's that answers them or names them.
    package struct Mention: Codable, Sendable {
        package var post: String
        package var written: Date
        package var isReply: Bool
        package var text: String
    }

    /// A post of theirs that is learned from.
    package struct Learned: Codable, Sendable {
        package var post: String
        package var text: String
        /// How it was seen, or that it was a favorite.
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
    ///   - person: One of their accounts; those that are linked to it are theirs too.
    ///   - mirror: What remembers them.
    ///   - zone: The human's time zone.
    ///   - now: When the report is made.
    /// - Throws: The store's error.
    package init(on person: AccountID, in mirror: HumanMirror, zone: TimeZone, now: Date)
        async throws
    {
        let ids = try await mirror.people.linked(to: person)
        let gone = try await mirror.people.forgotten(among: ids)
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
            let known = try await mirror.people.person(id)
            accounts.append(
                KnownAccount(
                    account: id.reference, handle: known?.handle ?? handles[id],
                    stance: known.flatMap { $0.stance == .none ? nil : $0.stance.rawValue },
                    reason: known?.reason,
                    onDenied: ServerName.covering(id).first(where: servers.contains)?.reference,
                    lastContact: known?.lastContact, isForgotten: gone.contains(id),
                    seen: known?.seen ?? People.Person.seen(id)))
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
                why: action.told?.text ?? action.explanation?.summary)
        }
    }
}
