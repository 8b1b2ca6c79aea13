import Formats
import Foundation
import Posts

/// The owner of an archive of a server of the Mastodon family.
struct MastodonOwner {
    /// The address of the actor, by which posts name their author.
    var actor: String
    /// The host of that address; the names of people there may end in another.
    var actorHost: String
    var account: AccountID
    /// The name without its host, with the case that the person chose.
    var name: String
    /// The host that names without one belong to.
    var localHost: String
    /// The address of the collection of followers.
    var followers: String?

    /// `nil` if the actor lacks what makes a name.
    ///
    /// - Parameters:
    ///   - wire: The archive's `actor.json`.
    ///   - localHost: The host of the server's names, where the caller knows it. It counts if the
    ///     actor's host is this one or lies below it: people are `user@example.org` while the
    ///     server answers at `social.example.org`.
    init?(_ wire: JSON, localHost: String?) {
        guard let actor = wire["id"]?.name, let address = ActorAddress(actor) else { return nil }
        // New servers tell `user@host`.
        let told = wire["webfinger"]?.name.flatMap { text in
            ActorAddress.name(text.hasPrefix("acct:") ? String(text.dropFirst(5)) : text)
        }
        let written = wire["preferredUsername"]?.name
        guard
            let name = written.flatMap(ActorAddress.name).flatMap({ $0.host == nil ? $0.user : nil }
            )
                ?? told?.user ?? address.user
        else { return nil }
        self.init(
            actor: actor, host: address.host, name: name,
            localHost: told?.host ?? Self.related(localHost, address))
        self.name = written ?? name
        followers = wire["followers"]?.name
    }

    /// Creates the author of a post from the author's address alone; `nil` if it holds no name.
    init?(actor: String, localHost: String?) {
        guard let address = ActorAddress(actor), let user = address.user else { return nil }
        self.init(
            actor: actor, host: address.host, name: user,
            localHost: Self.related(localHost, address))
    }

    private init(actor: String, host: String, name: String, localHost: String?) {
        self.actor = actor
        self.name = name
        actorHost = host
        self.localHost = localHost ?? host
        account = .mastodon(name, localHost: self.localHost)
    }

    /// `localHost` if the address is of that host or of one below it.
    private static func related(_ localHost: String?, _ address: ActorAddress) -> String? {
        guard let host = localHost?.lowercased(), !host.isEmpty else { return nil }
        return address.host == host || address.host.hasSuffix("." + host) ? host : nil
    }

    /// Returns the account that a mention names; `nil` if the mention does not tell.
    func person(_ mention: WireMention) -> AccountID? {
        let address = mention.href.flatMap(ActorAddress.init)
        let host = address.map { $0.host == actorHost ? localHost : $0.host } ?? localHost
        if let name = mention.name.flatMap(ActorAddress.name) {
            return .mastodon(name.user, localHost: name.host ?? host)
        }
        return address?.user.map { .mastodon($0, localHost: host) }
    }
}
