import Synchronization

/// A kind of social network that mirror-bot can read from and publish to.
///
/// The raw value is what the `NETWORK` variables and the database use. What differs from network to
/// network stands in its ``traits``: code outside the networks' own folders asks these, and never
/// which network it is.
package struct NetworkName: RawRepresentable, Hashable, Codable, Sendable, CustomStringConvertible {
    /// One object for each network, so that names are compared without their letters.
    private final class Entry: Sendable {
        let traits: NetworkTraits

        init(_ traits: NetworkTraits) { self.traits = traits }
    }

    private let entry: Entry

    private init(_ traits: NetworkTraits) { entry = Entry(traits) }

    /// Any server that speaks Mastodon's client API.
    package static let mastodon = NetworkName(.mastodon)
    package static let x = NetworkName(.x)
    package static let bluesky = NetworkName(.bluesky)

    /// The network of an account for which no other is named, and of `user@host`.
    package static let usual = mastodon

    private static let registered = Mutex([mastodon, x, bluesky])

    /// The networks that this process knows, in the order of their registration.
    package static var known: [NetworkName] { registered.withLock(\.self) }

    /// Makes a network known to this process, for good.
    ///
    /// - Returns: Its name; the one registered before if there is one with this raw value.
    package static func register(_ traits: NetworkTraits) -> NetworkName {
        registered.withLock { known in
            if let old = known.first(where: { $0.rawValue == traits.name }) { return old }
            known.append(NetworkName(traits))
            return known[known.count - 1]
        }
    }

    /// Nil for a network that this process does not know.
    package init?(rawValue: String) {
        guard let known = Self.known.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = known
    }

    package var rawValue: String { entry.traits.name }

    /// How the network's accounts, posts and texts are written.
    package var traits: NetworkTraits { entry.traits }

    /// The name that people use for the network.
    package var displayName: String { traits.displayName }

    package var description: String { rawValue }

    package static func == (one: NetworkName, other: NetworkName) -> Bool {
        one.entry === other.entry
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(entry)) }
}

extension NetworkName: CaseIterable {
    /// The networks that mirror-bot brings along.
    package static let allCases: [NetworkName] = [.mastodon, .x, .bluesky]
}

extension PublishingLimits {
    /// Returns the limits of a network that apply unless its server says otherwise.
    package static func usual(of network: NetworkName) -> PublishingLimits { network.traits.limits }
}
