import Cryptography
package import Foundation
import Networks
package import Posts

/// The source of an account's credentials.
package enum AccountOrigin: String, Codable, Sendable {
    /// Flags, variables, the files that they name, or `.env`.
    case environment
    /// The login that `mirror-bot login` stored.
    case login
}

/// An account that mirror-bot uses: its server and its credentials.
package struct AccountConfiguration: Sendable {
    package var role: AccountRole
    package var credentials: AccountCredentials
    /// The address for requests, if it is not the network's own; nil for the network's own.
    package var apiBaseURL: String?
    package var origin: AccountOrigin

    package init(
        role: AccountRole, credentials: AccountCredentials, apiBaseURL: String? = nil,
        origin: AccountOrigin = .environment
    ) {
        self.role = role
        self.credentials = credentials
        self.apiBaseURL = apiBaseURL
        self.origin = origin
    }

    package var network: NetworkName { credentials.network }

    /// The host to which handles without a host belong, with its port if that is not the default.
    package var host: String {
        if let site = network.traits.site { return site }
        let server = credentials.text(.server)
        return server.split(separator: "/").last.map(String.init) ?? server
    }

    /// The address for requests; nil for the network's own.
    package var address: String? { apiBaseURL ?? credentials[.server]?.reveal() }
}

extension AccountConfiguration {
    /// The variables that pass this account to another process, in the order of the documentation.
    package var variables: [(name: String, value: Secret)] {
        var variables = [(Setting.network(of: role).name, Secret(network.rawValue))]
        for field in network.descriptor.fields.map(\.field) where field.setting != nil {
            if let value = credentials[field] { variables.append((field.name(of: role), value)) }
        }
        if let apiBaseURL {
            variables.append((Setting.apiBaseURL(of: role).name, Secret(apiBaseURL)))
        }
        return variables
    }
}

/// The values that identify an account and log in to it: the fields of its network's
/// ``NetworkDescriptor``.
///
/// Its values do not appear when it is printed or dumped.
package struct AccountCredentials: Sendable {
    package let network: NetworkName
    private let values: [AccountField: Secret]
    /// The time at which the access token expires; nil if it does not, or if unknown.
    package let expiresAt: Date?

    /// - Parameters:
    ///   - network: The account's network.
    ///   - values: The known values; nil for unknown ones.
    ///   - expiresAt: The time at which the access token expires.
    package init(network: NetworkName, _ values: [AccountField: Secret?], expiresAt: Date? = nil) {
        self.network = network
        self.values = values.compactMapValues(\.self)
        self.expiresAt = expiresAt
    }

    /// A field's value; nil if unknown.
    package subscript(field: AccountField) -> Secret? { values[field] }

    /// The value of a field that the network requires; empty if unknown.
    package func secret(_ field: AccountField) -> Secret { values[field] ?? Secret("") }

    /// The revealed value of a field.
    package func text(_ field: AccountField) -> String { secret(field).reveal() }

    /// Whether all values are known that at least one role needs.
    var isComplete: Bool {
        AccountRole.allCases.contains { role in
            network.descriptor.required(by: role).allSatisfy { values[$0] != nil }
        }
    }

    /// Whether the credentials contain a secret that logs in to the account.
    ///
    /// Without a secret they only name the account: on a network with public posts, a handle is
    /// enough to read it.
    package var opensAccount: Bool {
        network.descriptor.fields.map(\.field).contains { field in
            field.setting != nil && field.isSecret && !text(field).isEmpty
        }
    }

    /// A digest that distinguishes credentials without revealing them.
    package var fingerprint: String {
        let parts = network.descriptor.fingerprint.map(text)
        let text = ([network.rawValue] + parts).joined(separator: "\n")
        return Data(HashFunction.sha256.digest(of: text.utf8).prefix(16)).base64EncodedString()
    }

    /// Whether these credentials and others certainly log in to the same account.
    ///
    /// The server's address is ignored, because it has several spellings, while a token has one.
    package func openSameAccount(as other: AccountCredentials) -> Bool {
        let identity = network.descriptor.identity
        return network == other.network && text(identity) == other.text(identity)
    }
}

extension AccountCredentials: CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    package var description: String { "credentials for \(network.displayName)" }

    package var debugDescription: String { description }

    package var customMirror: Mirror { Mirror(self, children: []) }
}
