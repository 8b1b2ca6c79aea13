import Formats
import Foundation
import NetworkNames
import Posts

/// The owner of an archive of a server of the Mastodon family.
struct MastodonOwner {
    /// The address of the actor, by which posts name their author.
    var actor: String
    /// The host of ``actor``; the names of people on that server may have another host.
    var actorHost: String
    var account: AccountID
    /// The name without its host, in its original case.
    var name: String
    /// The host to add to names that have none.
    var localHost: String
    /// The address of the collection of followers.
    var followers: String?

    /// `nil` if the actor has no valid name.
    ///
    /// - Parameters:
    ///   - wire: The archive's `actor.json`.
    ///   - localHost: The host of names, if the caller knows it. It is used if the actor's host is
    ///     the same or a subdomain: people may be `user@example.org` while the server is at
    ///     `social.example.org`.
    init?(_ wire: JSON, localHost: String?) {
        guard let actor = wire["id"]?.nonEmptyText, let address = ActorAddress(actor) else {
            return nil
        }
        // Recent versions of servers add `user@host` to the actor.
        let webFinger = wire["webfinger"]?.nonEmptyText.flatMap { text in
            ActorAddress.name(text.hasPrefix("acct:") ? String(text.dropFirst(5)) : text)
        }
        let writtenName = wire["preferredUsername"]?.nonEmptyText
        let parsedName = writtenName.flatMap(ActorAddress.name)
        let nameWithoutHost = parsedName?.host == nil ? parsedName?.user : nil
        guard let name = nameWithoutHost ?? webFinger?.user ?? address.user else { return nil }
        self.init(
            actor: actor, host: address.host, name: name,
            localHost: webFinger?.host ?? Self.nameHost(localHost, for: address))
        self.name = writtenName ?? name
        followers = wire["followers"]?.nonEmptyText
    }

    /// Creates the author of a post from the author's address alone; `nil` if it contains no name.
    init?(actor: String, localHost: String?) {
        guard let address = ActorAddress(actor), let user = address.user else { return nil }
        self.init(
            actor: actor, host: address.host, name: user,
            localHost: Self.nameHost(localHost, for: address))
    }

    private init(actor: String, host: String, name: String, localHost: String?) {
        self.actor = actor
        self.name = name
        actorHost = host
        self.localHost = localHost ?? host
        account = .mastodon(name, localHost: self.localHost)
    }

    /// Returns `localHost` if the address has that host or a subdomain of it, else nil.
    private static func nameHost(_ localHost: String?, for address: ActorAddress) -> String? {
        guard let host = localHost?.lowercased(), !host.isEmpty else { return nil }
        return address.host == host || address.host.hasSuffix("." + host) ? host : nil
    }

    /// Returns the account that a mention names; `nil` if that is unclear.
    func person(_ mention: WireMention) -> AccountID? {
        let address = mention.href.flatMap(ActorAddress.init)
        // On the actor's server, names have the host `localHost`.
        let isElsewhere = address != nil && address?.host != actorHost
        let host = isElsewhere ? address?.host ?? localHost : localHost
        if let name = mention.name.flatMap(ActorAddress.name) {
            return .mastodon(name.user, localHost: name.host ?? host)
        }
        return address?.user.map { .mastodon($0, localHost: host) }
    }
}
