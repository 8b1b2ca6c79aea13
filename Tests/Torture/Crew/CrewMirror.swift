import Foundation
import NetworkNames
import Posts
import Sandbox

/// One mirror of a crew, with a network of its own.
struct CrewMirror: Sendable {
    /// Whom the human has answered, and who therefore mention the bot.
    static let people = 20

    /// The mirror, and the first label of its host.
    let name: String
    let sandbox: Sandbox
    let relay: HostRelay
    /// Whether anybody said that the human agreed; if not, nothing may leave.
    let isAgreed: Bool

    /// Opens the network of a mirror.
    ///
    /// - Parameters:
    ///   - number: Counted from 1.
    ///   - settings: Of the run.
    ///   - past: The human's posts that the mirror has learned.
    ///   - days: How many days of the clock the network is to last.
    ///   - cut: Names the process that does not reach it.
    ///   - isAgreed: Whether the human agreed.
    ///   - now: The clock.
    /// - Throws: ``TestSupportError`` or `SandboxError` if it cannot be opened.
    static func open(
        _ number: Int, _ settings: CrewSettings, past: [Post], days: Int, cut: NetworkCut,
        isAgreed: Bool,
        now: @escaping @Sendable () -> Date
    ) async throws -> CrewMirror {
        var configuration = SandboxWorld.Configuration.busy(
            seed: settings.seed &* 1_000 &+ UInt64(number), origin: Stage.origin, days: days,
            timeZone: Stage.zone,
            network: .mastodon, people: people, mentionsPerDay: settings.mentionsPerDay)
        configuration.repliesPerPersonAndDay = Stage.repliesAtMost
        configuration.repliesPerThread = Stage.repliesAtMost
        // Before a text is sent the network is asked for its post.
        configuration.olderPosts = past
        let sandbox = try await Sandbox.start(
            world: SandboxWorld(configuration: configuration), rateLimits: .unlimited, now: now)
        let relay = try HostRelay(
            on: "127.1.\(number / 250).\(number % 250 + 1)", to: sandbox.port,
            replacing: SamplePeople.host,
            with: host(number), cut: cut)
        return CrewMirror(name: name(number), sandbox: sandbox, relay: relay, isAgreed: isAgreed)
    }

    static func name(_ number: Int) -> String { String(format: "m%06d", number) }

    /// As long as the host of every sandbox.
    static func host(_ number: Int) -> String { name(number) + ".example" }

    /// The settings of the account of a role, as variables.
    func login(of role: SandboxRole) -> [String: String] {
        var variables = sandbox.settings(of: role, on: .mastodon)
        variables["\(role.rawValue.uppercased())_SERVER"] = relay.url
        return variables
    }

    /// The line of the file that `mirrors import` reads.
    func importLine(_ settings: [String: String]) throws -> String {
        struct Line: Encodable {
            struct Login: Encodable {
                var network = NetworkName.mastodon.rawValue
                var server, token: String

                enum CodingKeys: String, CodingKey {
                    case network, server
                    case token = "access_token"
                }
            }

            var name: String
            var settings: [String: String]
            var credentials: [String: Login]
        }

        var settings = settings
        var logins = ["bot": Line.Login(server: relay.url, token: sandbox.botToken)]
        if isAgreed {
            logins["human"] = Line.Login(server: relay.url, token: sandbox.humanToken)
        } else {
            settings["HUMAN_CONSENT"] = nil
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let line = Line(name: name, settings: settings, credentials: logins)
        return String(decoding: try encoder.encode(line), as: UTF8.self) + "\n"
    }

    /// Lets the bot's token be refused from now on.
    func refuseLogin() {
        sandbox.faults.failNext(
            .error(status: 401, message: "The access token is invalid"), count: .max)
    }

    func stop() async {
        relay.stop()
        await sandbox.stop()
    }
}
