import NetworkNames
package import Posts

/// The ids and handles of the sandbox's people and posts on each network.
///
/// All of them are derived from those on the Mastodon-compatible server, so that an archive can be
/// converted without the sandbox.
package enum SandboxIdentity {
    /// The identity of `user@host`.
    package static func account(_ handle: String, on network: NetworkName) -> AccountID {
        let handle = handle.lowercased()
        switch network {
        case .mastodon: return AccountID(network: .mastodon, value: handle)
        // The identity has at most eighteen digits, and never so few that it looks like a count.
        case .x:
            return AccountID(
                network: .x, value: String(1_000_000_000 + hash(handle) % 900_000_000_000_000_000))
        default:
            var firstHash = hash(handle)
            var secondHash = hash("did " + handle)
            var letters: [Character] = []
            for index in 0..<24 {
                letters.append(base32[Int(index < 12 ? firstHash & 31 : secondHash & 31)])
                if index < 12 { firstHash >>= 5 } else { secondHash >>= 5 }
            }
            return AccountID(network: .bluesky, value: "did:plc:" + String(letters))
        }
    }

    /// Returns the handle of `user@host` on a network, as people type it after `@`.
    package static func handle(_ handle: String, on network: NetworkName) -> String {
        let handle = handle.lowercased()
        let parts = handle.split(separator: "@", maxSplits: 1).map(String.init)
        let user = parts.first ?? handle
        let host = parts.count > 1 ? parts[1] : SamplePeople.host
        switch network {
        case .mastodon:
            return "\(user)@\(host)"
        case .x:
            // A handle has at most fifteen characters; names from other servers and longer ones are
            // distinguished by a hash.
            if host == SamplePeople.host, user.utf8.count <= 15 { return user }
            let hashText = String(hash(handle) % 2_176_782_336, radix: 36)
            return "\(user.prefix(8))_\(hashText)"
        default:
            let label = user.map { $0 == "_" ? "-" : $0 }
            return "\(String(label).trimmed(of: "-")).\(host)"
        }
    }

    /// The identity of the post with the sandbox's `id`.
    ///
    /// - Parameters:
    ///   - id: The sandbox's own number.
    ///   - author: `user@host` of its author.
    ///   - network: The network of the identity.
    /// - Returns: Always the same for one number, author and network.
    package static func post(_ id: Int64, by author: String, on network: NetworkName) -> PostID {
        switch network {
        case .mastodon:
            let parts = author.lowercased().split(separator: "@", maxSplits: 1).map(String.init)
            let host = parts.count > 1 ? parts[1] : SamplePeople.host
            return PostID(
                network: .mastodon,
                value: "https://\(host)/users/\(parts.first ?? "")/statuses/\(id)")
        case .x:
            return PostID(network: .x, value: String(id))
        default:
            let did = account(author, on: .bluesky).value
            return PostID(
                network: .bluesky, value: "at://\(did)/app.bsky.feed.post/\(recordKey(id))")
        }
    }

    /// The sandbox's id of a post in an archive of the sandbox itself; nil for a post of another
    /// archive.
    static func localID(of id: PostID?, by author: SandboxPerson) -> Int64? {
        let prefix = author.uri + "/statuses/"
        guard let id, id.network == .mastodon, id.value.hasPrefix(prefix) else { return nil }
        return Int64(id.value.dropFirst(prefix.count))
    }

    /// The record key of a post: the time of its number in microseconds, and the rest of the number
    /// as the clock id.
    package static func recordKey(_ id: Int64) -> String {
        let milliseconds = UInt64(max(0, id)) >> 16
        let sequence = UInt64(max(0, id)) & 0xFFFF
        // The upper six bits of the sequence count microseconds; the lower ten are the clock id.
        let microseconds = (milliseconds &* 1_000 &+ (sequence >> 10)) & ((1 << 53) - 1)
        return recordKey(microseconds: microseconds, clock: sequence & 1_023)
    }

    /// Thirteen characters of five bits: a zero, 53 bits of microseconds, ten bits of clock id.
    static func recordKey(microseconds: UInt64, clock: UInt64) -> String {
        let value = microseconds << 10 | clock
        return String(
            (0..<13).map { place in sortableBase32[Int(value >> (60 - 5 * UInt64(place)) & 31)] })
    }

    /// A post of the Mastodon-compatible server as it would be on another network.
    ///
    /// - Parameters:
    ///   - post: The post, with identities of the sandbox's server.
    ///   - network: The other network.
    /// - Returns: The post with the network's names, without an address.
    package static func carried(_ post: Post, to network: NetworkName) -> Post {
        guard network != .mastodon else { return post }
        var carried = post
        carried.id = self.carried(post.id, by: post.author, to: network)
        carried.author = account(post.author.value, on: network)
        carried.replyTo = post.replyTo.map { target in
            ReplyTarget(
                author: target.author.map { account($0.value, on: network) },
                post: target.post.map { id in
                    self.carried(id, by: target.author ?? post.author, to: network)
                })
        }
        carried.mentions = post.mentions.map { account($0.value, on: network) }
        carried.address = nil
        return carried
    }

    private static func carried(_ id: PostID, by author: AccountID, to network: NetworkName)
        -> PostID
    {
        let number = id.value.split(separator: "/").last.flatMap { Int64($0) }
        // An id from another server may have no number: its hash keeps different ids different.
        return post(number ?? Int64(hash(id.value) >> 2), by: author.value, on: network)
    }

    static func hash(_ text: String) -> UInt64 { StableHash.fnv1a(text) }

    private static let base32 = Array("abcdefghijklmnopqrstuvwxyz234567")
    private static let sortableBase32 = Array("234567abcdefghijklmnopqrstuvwxyz")
}

extension SandboxPerson {
    /// The person's identity on a network.
    package func id(on network: NetworkName) -> AccountID {
        SandboxIdentity.account(handle, on: network)
    }

    /// Returns the person's handle on a network, as people type it after `@`.
    package func handle(on network: NetworkName) -> String {
        SandboxIdentity.handle(handle, on: network)
    }
}

/// All people with their names on one network.
///
/// The names are stored, because every item of every answer names its author.
struct SandboxDirectory: Sendable {
    let population: SandboxPopulation
    /// The identities by person, in the same order as `handles`.
    let ids: [String]
    let handles: [String]
    private let byID: [String: Int]
    private let byHandle: [String: Int]

    init(_ population: SandboxPopulation, on network: NetworkName) {
        self.population = population
        ids = population.people.map { $0.id(on: network).value }
        handles = population.people.map { $0.handle(on: network) }
        byID = Dictionary(
            ids.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        byHandle = Dictionary(
            handles.enumerated().map { ($1.lowercased(), $0) },
            uniquingKeysWith: { first, _ in first })
    }

    func person(id: String) -> Int? { byID[id] }

    func person(handle: String) -> Int? { byHandle[handle.lowercased()] }

    /// Returns the index of the person meant by `@user` or `@user@host` in a text of the sandbox.
    func person(named user: String, at host: String?) -> Int? {
        if let host { return population.index(of: "\(user)@\(host)") }
        return person(handle: user) ?? population.index(of: user)
    }
}

extension String {
    fileprivate func trimmed(of character: Character) -> String {
        String(drop { $0 == character }.reversed().drop { $0 == character }.reversed())
    }
}
