import Crypto
import Foundation
package import Networks
package import Posts

/// Which of a mirror's two accounts.
package enum AccountRole: String, CaseIterable, Codable, Sendable {
    /// The person who is mirrored.
    case human
    /// The account that posts, answers and favorites.
    case bot

    /// What the names of the role's settings begin with.
    var prefix: String { rawValue.uppercased() }
}

/// Where the credentials of an account were found.
package enum AccountOrigin: String, Codable, Sendable {
    /// Flags, variables, the files that they name, or `.env`.
    case environment
    /// What `mirror-bot login` stored.
    case login
}

/// An account that mirror-bot uses: where it lives and what opens it.
package struct AccountConfiguration: Sendable {
    package var role: AccountRole
    package var credentials: AccountCredentials
    /// Where requests go instead of the network's own address; nil for that one.
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

    /// The host that local names belong to, and its port if it is not the usual one.
    package var host: String {
        switch credentials {
        case .mastodon(let server, _): server.split(separator: "/").last.map(String.init) ?? server
        case .x: "x.com"
        case .bluesky: "bsky.app"
        }
    }
}

extension AccountConfiguration {
    /// The variables that describe this account to another process, in the order of the documentation.
    package var variables: [(name: String, value: Secret)] {
        func pair(_ setting: AccountSetting, _ value: Secret) -> (String, Secret) { (setting.name(of: role), value) }
        var variables = [("\(role.prefix)_NETWORK", Secret(network.rawValue))]
        switch credentials {
        case .mastodon(let server, let credentials):
            variables += [pair(.server, Secret(server)), pair(.accessToken, credentials.accessToken)]
        case .x(let credentials):
            variables += [
                pair(.consumerKey, Secret(credentials.consumerKey)), pair(.consumerSecret, credentials.consumerSecret),
                pair(.accessToken, credentials.accessToken), pair(.accessTokenSecret, credentials.accessTokenSecret),
            ]
        case .bluesky(let identifier, let appPassword):
            variables.append(pair(.handle, Secret(identifier)))
            if let appPassword { variables.append(pair(.appPassword, appPassword)) }
        }
        if let apiBaseURL { variables.append(("\(role.prefix)_API_BASE_URL", Secret(apiBaseURL))) }
        return variables
    }
}

/// What opens an account, by network.
///
/// Shows nothing of itself when it is printed or dumped.
package enum AccountCredentials: Sendable {
    /// - server: `scheme://host[:port]`, without a path.
    case mastodon(server: String, MastodonCredentials)
    case x(XCredentials)
    /// - identifier: A handle or a DID.
    /// - appPassword: Nil where public reading is enough.
    case bluesky(identifier: String, appPassword: Secret?)

    package var network: NetworkName {
        switch self {
        case .mastodon: .mastodon
        case .x: .x
        case .bluesky: .bluesky
        }
    }

    /// Tells these credentials from others, and shows nothing of either.
    var fingerprint: String {
        let parts =
            switch self {
            case .mastodon(let server, let credentials): [server, credentials.accessToken.reveal()]
            case .x(let credentials): [credentials.consumerKey, credentials.accessToken.reveal()]
            // A password may be one that can be guessed from its hash.
            case .bluesky(let identifier, _): [identifier]
            }
        let text = ([network.rawValue] + parts).joined(separator: "\n")
        return Data(SHA256.hash(data: Data(text.utf8)).prefix(16)).base64EncodedString()
    }

    /// Whether both certainly open one and the same account.
    ///
    /// The address of a server does not count: it can be written in several ways, a token cannot.
    func openSameAccount(as other: AccountCredentials) -> Bool {
        switch (self, other) {
        case (.mastodon(_, let mine), .mastodon(_, let theirs)):
            mine.accessToken.reveal() == theirs.accessToken.reveal()
        case (.x(let mine), .x(let theirs)): mine.accessToken.reveal() == theirs.accessToken.reveal()
        case (.bluesky(let mine, _), .bluesky(let theirs, _)): mine == theirs
        default: false
        }
    }
}

extension AccountCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "credentials for \(network.displayName)" }

    package var debugDescription: String { description }

    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The accounts that a mirror has, or why it has them not.
struct FoundAccounts: Sendable {
    let configuration: MirrorConfiguration
    private(set) var accounts: [AccountRole: AccountConfiguration] = [:]
    private(set) var problems: [AccountRole: String] = [:]

    init(in mirror: HumanMirror) async throws {
        configuration = mirror.configuration
        for role in AccountRole.allCases {
            do {
                accounts[role] = try await mirror.account(role)
            } catch let error as ConfigurationError {
                problems[role] = error.description
            }
        }
    }

    /// The networks that the accounts live on.
    var networks: Set<NetworkName> { Set(accounts.values.map(\.network)) }

    /// Why a role does nothing; nil if it has an account.
    func problem(_ role: AccountRole) -> String? {
        guard accounts[role] == nil else { return nil }
        if let problem = problems[role] { return problem }
        let names = AccountSetting.requiredNames(on: configuration.network(of: role), by: role)
        let start = names.dropLast().joined(separator: ", ")
        return names.count == 1 ? "\(names[0]) is not set" : "\(start) and \(names[names.count - 1]) are not set"
    }

    /// Why the home timeline of a role is not read; nil if it is.
    func homeProblem(_ role: AccountRole) -> String? {
        switch accounts[role]?.credentials {
        case nil: "the \(role.rawValue) has no account"
        case .x where configuration.x.homePostsPerDay == 0: "X_HOME_POSTS_PER_DAY is 0"
        case .bluesky(_, nil): "\(AccountSetting.appPassword.name(of: role)) is not set"
        default: nil
        }
    }
}
