import Foundation
import Posts

/// Whose archive of a server of the Mastodon family it is.
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

    /// Nil where the actor lacks what makes a name.
    ///
    /// - Parameters:
    ///   - wire: The archive's `actor.json`.
    ///   - localHost: The host of the server's names, where the caller knows it. It counts if the actor's host is this
    ///     one or lies below it: people are `user@example.org` while the server answers at `social.example.org`.
    init?(_ wire: JSON, localHost: String?) {
        guard let actor = wire["id"]?.name, let address = ActorAddress(actor) else { return nil }
        // New servers tell `user@host`.
        let told = wire["webfinger"]?.name.flatMap { text in
            ActorAddress.name(text.hasPrefix("acct:") ? String(text.dropFirst(5)) : text)
        }
        let written = wire["preferredUsername"]?.name
        guard
            let name = written.flatMap(ActorAddress.name).flatMap({ $0.host == nil ? $0.user : nil })
                ?? told?.user ?? address.user
        else { return nil }
        self.init(
            actor: actor, host: address.host, name: name, localHost: told?.host ?? Self.related(localHost, address))
        self.name = written ?? name
        followers = wire["followers"]?.name
    }

    /// Who made a post, from the author's address alone; nil where it holds no name.
    init?(actor: String, localHost: String?) {
        guard let address = ActorAddress(actor), let user = address.user else { return nil }
        self.init(actor: actor, host: address.host, name: user, localHost: Self.related(localHost, address))
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

    /// Who a mention names; nil where it does not tell.
    func person(_ mention: WireMention) -> AccountID? {
        let address = mention.href.flatMap(ActorAddress.init)
        let host = address.map { $0.host == actorHost ? localHost : $0.host } ?? localHost
        if let name = mention.name.flatMap(ActorAddress.name) {
            return .mastodon(name.user, localHost: name.host ?? host)
        }
        return address?.user.map { .mastodon($0, localHost: host) }
    }
}

/// A web address, as far as it tells whose it is.
struct ActorAddress: Equatable {
    private static let maximumBytes = 2_048
    private static let folders: Set<String> = ["users", "user", "u", "accounts", "profile"]

    /// The host, with its port where one is written, in lower case.
    var host: String
    /// The name in a path such as `/users/name/statuses/1` or `/@name`, in lower case; nil in other paths.
    var user: String?

    /// Nil for what is no web address.
    init?(_ text: String) {
        guard Self.isOneWord(text), let colon = text.range(of: "://") else { return nil }
        let scheme = text[..<colon.lowerBound].lowercased()
        guard scheme == "https" || scheme == "http" else { return nil }
        let rest = text[colon.upperBound...].prefix { $0 != "?" && $0 != "#" }
        let parts = rest.split(separator: "/", maxSplits: 4, omittingEmptySubsequences: false).map { $0.lowercased() }
        guard let host = parts.first, Self.isHost(host) else { return nil }
        self.host = host
        if parts.count > 1, parts[1].hasPrefix("@") {
            user = Self.localName(parts[1].dropFirst())
        } else if parts.count > 2, Self.folders.contains(parts[1]) {
            user = Self.localName(parts[2])
        }
    }

    /// `user@host` in lower case, with or without a leading `@`; `nil` in the host's place for `user` alone.
    ///
    /// Nil for what is no name of a person.
    static func name(_ text: String) -> (user: String, host: String?)? {
        guard isOneWord(text) else { return nil }
        let bare = text.drop { $0 == "@" }.lowercased()
        let parts = bare.split(separator: "@", omittingEmptySubsequences: false)
        guard let first = parts.first, let user = localName(first) else { return nil }
        switch parts.count {
        case 1: return (user, nil)
        case 2: return isHost(String(parts[1])) ? (user, String(parts[1])) : nil
        default: return nil
        }
    }

    /// Whether `text` can be the address of a post: one word of a usual length.
    static func isOneWord(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= maximumBytes
            && text.unicodeScalars.allSatisfy {
                $0.properties.generalCategory != .control && !$0.properties.isWhitespace
            }
    }

    private static func localName(_ text: some StringProtocol) -> String? {
        text.isEmpty || text.contains { "/@:?#".contains($0) } ? nil : String(text)
    }

    static func isHost(_ text: String) -> Bool {
        !text.isEmpty && !text.hasPrefix(".") && !text.contains { "/@?#\\<>\"%".contains($0) } && isOneWord(text)
    }
}
