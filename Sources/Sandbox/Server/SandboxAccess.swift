import NetworkNames
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

/// The credentials of an account on Bluesky.
package struct SandboxBlueskyLogin: Equatable, Sendable {
    package var handle: String
    package var appPassword: String
}

/// The credentials of an account on the Mastodon-compatible server.
package struct SandboxMastodonLogin: Equatable, Sendable {
    package var clientID: String
    package var clientSecret: String
    package var accessToken: String
    /// The refresh token, which is needed if tokens expire.
    package var refreshToken: String
}

/// The credentials of the two accounts, on each network; drawn anew for every sandbox.
struct SandboxAccess: Sendable {
    // The credentials are in the order of the roles, the human's first.
    private var mastodonLogins: [SandboxMastodonLogin] = []
    private var xKeys: [SandboxXKeys] = []
    private var blueskyLogins: [SandboxBlueskyLogin] = []

    init(world: SandboxWorld) {
        var generator = SampleGenerator(seed: world.configuration.seed ^ 0x70_6B_65_6E)
        let people = SandboxRole.allCases.map { world.population.people[$0.person] }
        let tokens = people.map { _ in generator.word() }
        let consumerKey = generator.word()
        let consumerSecret = generator.word()
        for person in people {
            xKeys.append(
                SandboxXKeys(
                    consumerKey: consumerKey, consumerSecret: consumerSecret,
                    accessToken: "\(person.id(on: .x).value)-\(generator.word())",
                    accessTokenSecret: generator.word()))
            let groups = (0..<4).map { _ in
                String(
                    (0..<4).map { _ in
                        "abcdefghijklmnopqrstuvwxyz234567".randomElement(using: &generator) ?? "a"
                    })
            }
            blueskyLogins.append(
                SandboxBlueskyLogin(
                    handle: person.handle(on: .bluesky), appPassword: groups.joined(separator: "-")
                ))
        }
        for token in tokens {
            mastodonLogins.append(
                SandboxMastodonLogin(
                    clientID: generator.word(), clientSecret: generator.word(), accessToken: token,
                    refreshToken: generator.word()))
        }
    }

    func mastodon(_ role: SandboxRole) -> SandboxMastodonLogin { mastodonLogins[role.person] }

    func x(_ role: SandboxRole) -> SandboxXKeys { xKeys[role.person] }

    func bluesky(_ role: SandboxRole) -> SandboxBlueskyLogin { blueskyLogins[role.person] }
}
