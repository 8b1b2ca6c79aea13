import Synchronization

/// A social network, or kind of servers, from which mirror-bot can read and to which it can
/// publish.
///
/// The raw value is used by the `NETWORK` variables and the database. Code for all networks uses
/// ``traits``, which holds the differences between them. Code that is written for one network uses
/// the names in the target NetworkNames, on which no other code depends.
package struct NetworkName: RawRepresentable, Hashable, Codable, Sendable, CustomStringConvertible {
    /// One instance for each network, so that names are compared by identity.
    private final class Entry: Sendable {
        let traits: NetworkTraits

        init(_ traits: NetworkTraits) { self.traits = traits }
    }

    private let entry: Entry

    private init(_ traits: NetworkTraits) { entry = Entry(traits) }

    /// The default network of an account, and the network of `user@host`.
    package static let usual = allCases[0]

    private static let registered = Mutex(allCases)

    /// The networks known to this process, in the order of their registration.
    package static var known: [NetworkName] { registered.withLock(\.self) }

    /// Registers a network permanently in this process.
    ///
    /// - Returns: The network's name; the name registered before if the raw value is the same.
    package static func register(_ traits: NetworkTraits) -> NetworkName {
        registered.withLock { networks in
            if let earlier = networks.first(where: { $0.rawValue == traits.name }) {
                return earlier
            }
            networks.append(NetworkName(traits))
            return networks[networks.count - 1]
        }
    }

    /// Nil for a network unknown to this process.
    package init?(rawValue: String) {
        guard let network = Self.known.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = network
    }

    package var rawValue: String { entry.traits.name }

    /// The forms of the network's accounts, posts and texts.
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
    /// The built-in networks.
    package static let allCases: [NetworkName] = [
        NetworkName(.mastodon), NetworkName(.x), NetworkName(.bluesky),
    ]
}

extension PublishingLimits {
    /// Returns the limits of a network that apply unless its server says otherwise.
    package static func usual(of network: NetworkName) -> PublishingLimits { network.traits.limits }
}
