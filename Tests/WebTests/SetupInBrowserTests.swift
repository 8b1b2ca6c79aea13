import Foundation
import NetworkNames
import Posts
import Sandbox
import Synchronization
import TestSupport
import Testing

@testable import Web

/// A set-up by the pages alone, on a phone and without script; `make check-pages` asks for it.
@Suite(.enabled(if: BrowserVisit.python != nil), .timeLimit(.minutes(30)), .serialized)
struct SetupInBrowserTests {
    /// What a person types, by the role and the name of the field.
    private static func answers(_ network: NetworkName, _ sandbox: Sandbox) -> [String: String] {
        var answers = ["network": network.rawValue]
        for role in SandboxRole.allCases {
            switch network {
            case .mastodon:
                // Another site than that of the page, so that the browser sends no cookie when it
                // comes back from there.
                answers["\(role.rawValue).server"] = "http://localhost:\(sandbox.port)"
                answers["as \(role.rawValue)"] = "&as=\(role.rawValue)"
            case .x:
                let keys = sandbox.xKeys(role)
                let name =
                    role == .human ? sandbox.world.humanHandle : sandbox.world.botHandle
                answers["\(role.rawValue).consumerKey"] = keys.consumerKey
                answers["\(role.rawValue).consumerSecret"] = keys.consumerSecret
                answers["as \(role.rawValue)"] =
                    "&screen_name=\(name.split(separator: "@").first ?? "")"
            default:
                let login = sandbox.blueskyLogin(role)
                answers["\(role.rawValue).identifier"] = login.handle
                if role == .bot { answers["bot.appPassword"] = login.appPassword }
            }
        }
        return answers
    }

    @Test(arguments: [NetworkName.mastodon, .x, .bluesky])
    func anEmptyHomeIsLedToTheBeginning(_ network: NetworkName) async throws {
        let sandbox = try await SetupSandbox.start()
        var variables = SetupSandbox.variables(at: sandbox)
        let password = network == .mastodon ? WebStand.password : nil
        variables["WEB_PASSWORD"] = password
        let begun = Mutex<[String]>([])
        try await WebStand.with(
            [], variables: variables,
            onBegin: { name in
                begun.withLock { $0.append(name) }
                return true
            }
        ) { stand in
            let task = BrowserVisit.Task(
                what: "setup", state: "setup-\(network.rawValue)", port: stand.client.port,
                password: password, names: Self.answers(network, sandbox))
            for violation in try await BrowserVisit.run(task) { Issue.record("\(violation)") }
        }
        #expect(begun.withLock { $0 } == ["default"])
        await sandbox.stop()
    }

    /// Larger than one piece.
    @Test func anArchiveIsSentFromTheDevice() async throws {
        let folder = try TemporaryDirectory()
        let words = String(repeating: "a calm thought ", count: 10)
        let lines = (0..<30_000).map { number in
            let day = number % 28 + 1
            return #"{"id":"up-\#(number)","author":"mika@social.example","#
                + #""text":"\#(words)\#(number)","created_at":"2026-03-\#(day < 10 ? "0" : "")\#(day)T09:30:00Z"}"#
                + "\n"
        }
        let archive = try folder.write(Data(lines.joined().utf8), to: "posts.jsonl")
        let nothing = ["HUMAN_SERVER", "HUMAN_ACCESS_TOKEN", "BOT_SERVER", "BOT_ACCESS_TOKEN"]
        try await WebStand.with(
            [], variables: Dictionary(uniqueKeysWithValues: nothing.map { ($0, "") })
        ) { stand in
            let task = BrowserVisit.Task(
                what: "upload", state: "upload", port: stand.client.port,
                names: ["archive": archive, "sentence": "The archive holds"])
            for violation in try await BrowserVisit.run(task) { Issue.record("\(violation)") }
        }
    }
}
