import Posts

/// One of the two accounts that a mirror connects.
package enum SandboxRole: String, CaseIterable, Sendable {
    case human
    case bot

    var person: Int { self == .human ? SandboxPopulation.human : SandboxPopulation.bot }
}

/// The keys that open an account on X.
package struct SandboxXKeys: Equatable, Sendable {
    package var consumerKey: String
    package var consumerSecret: String
    package var accessToken: String
    package var accessTokenSecret: String
}

/// What opens an account on Bluesky.
package struct SandboxBlueskyLogin: Equatable, Sendable {
    package var handle: String
    package var appPassword: String
}

/// What opens an account on the Mastodon-compatible server.
package struct SandboxMastodonLogin: Equatable, Sendable {
    package var clientID: String
    package var clientSecret: String
    package var accessToken: String
    /// Of use where tokens expire.
    package var refreshToken: String
}

/// Everything that opens the two accounts, on each network; drawn anew for every sandbox.
struct SandboxAccess: Sendable {
    let mastodonLogins: [SandboxRole: SandboxMastodonLogin]
    private let xKeys: [SandboxRole: SandboxXKeys]
    private let blueskyLogins: [SandboxRole: SandboxBlueskyLogin]

    init(world: SandboxWorld) {
        var generator = SampleGenerator(seed: world.configuration.seed ^ 0x70_6B_65_6E)
        func word() -> String { String(generator.next(), radix: 36) + String(generator.next(), radix: 36) }
        var tokens: [SandboxRole: String] = [:]
        for role in SandboxRole.allCases { tokens[role] = word() }
        let (consumerKey, consumerSecret) = (word(), word())
        var keys: [SandboxRole: SandboxXKeys] = [:]
        var logins: [SandboxRole: SandboxBlueskyLogin] = [:]
        for role in SandboxRole.allCases {
            let person = world.population.people[role.person]
            keys[role] = SandboxXKeys(
                consumerKey: consumerKey, consumerSecret: consumerSecret,
                accessToken: "\(person.id(on: .x).value)-\(word())", accessTokenSecret: word())
            let letters = (0..<4).map { _ in
                String((0..<4).map { _ in "abcdefghijklmnopqrstuvwxyz234567".randomElement(using: &generator) ?? "a" })
            }
            logins[role] = SandboxBlueskyLogin(
                handle: person.handle(on: .bluesky), appPassword: letters.joined(separator: "-"))
        }
        var mastodon: [SandboxRole: SandboxMastodonLogin] = [:]
        for role in SandboxRole.allCases {
            mastodon[role] = SandboxMastodonLogin(
                clientID: word(), clientSecret: word(), accessToken: tokens[role] ?? "", refreshToken: word())
        }
        mastodonLogins = mastodon
        xKeys = keys
        blueskyLogins = logins
    }

    func mastodonToken(_ role: SandboxRole) -> String { mastodon(role).accessToken }

    func mastodon(_ role: SandboxRole) -> SandboxMastodonLogin {
        mastodonLogins[role]
            ?? SandboxMastodonLogin(clientID: "", clientSecret: "", accessToken: "", refreshToken: "")
    }

    func x(_ role: SandboxRole) -> SandboxXKeys {
        xKeys[role] ?? SandboxXKeys(consumerKey: "", consumerSecret: "", accessToken: "", accessTokenSecret: "")
    }

    func bluesky(_ role: SandboxRole) -> SandboxBlueskyLogin {
        blueskyLogins[role] ?? SandboxBlueskyLogin(handle: "", appPassword: "")
    }
}
