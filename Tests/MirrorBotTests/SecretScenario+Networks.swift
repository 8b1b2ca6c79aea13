import Foundation
import Posts
import Settings
import TestSupport
import Testing

/// Servers that refuse, repeat, break off and lie.
extension SecretScenario {
    static let networks = NetworkName.allCases.flatMap { network in
        [
            echoing(network, "statuses", statuses.map { SecretEcho(status: $0) }),
            echoing(
                network, "forms",
                SecretEcho.Form.allCases.flatMap { form in
                    [200, 401, 500].map { SecretEcho(status: $0, form: form) }
                }),
            echoing(
                network, "spellings",
                SecretEcho.Spelling.allCases.flatMap { spelling in
                    [400, 403].map { SecretEcho(status: $0, spelling: spelling) }
                }),
            SecretScenario("\(network.rawValue): connections that end") { stage in
                for step in brokenConnections {
                    let tap = try SecretTap(stage.book, port: nil) { _ in step }
                    let accounts = PlantedAccounts.variables(
                        of: network, in: stage.book, at: tap.url)
                    try await everyCommand(stage, accounts)
                    #expect(tap.count > 0)
                }
            },
            SecretScenario("\(network.rawValue): nobody there") { stage in
                for url in ["http://127.0.0.1:1", "https://planted.invalid", "https://127.0.0.1:1"]
                {
                    let accounts = PlantedAccounts.variables(of: network, in: stage.book, at: url)
                    try await everyCommand(stage, accounts)
                }
            },
            SecretScenario("\(network.rawValue): a certificate that nobody vouches for") { stage in
                let page = try await TLSPageServer(try await SelfSignedCertificate())
                let accounts = PlantedAccounts.variables(
                    of: network, in: stage.book, at: "https://127.0.0.1:\(page.port)")
                try await everyCommand(stage, accounts)
            },
            SecretScenario("\(network.rawValue): TLS where there is none") { stage in
                let tap = try SecretTap(stage.book, port: nil)
                let accounts = PlantedAccounts.variables(
                    of: network, in: stage.book, at: tap.url.replacing("http:", with: "https:"))
                try await everyCommand(stage, accounts)
            },
        ]
    }

    private static let statuses = [
        200, 204, 301, 302, 307, 308, 400, 401, 403, 404, 409, 410, 422, 429, 500, 502, 503,
    ]

    /// How an answer may end before it is one.
    private static let brokenConnections: [SecretTap.Answer] = [
        { _, connection in connection.reset() },
        { _, connection in connection.close() },
        { request, connection in
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n{\"error\":\"")
            try connection.send(request.header("Authorization") ?? "")
            connection.close()
        },
        { request, connection in
            // No HTTP at all.
            try connection.send("ERR " + (request.header("Authorization") ?? "") + "\r\n\r\n")
            connection.close()
        },
        { request, connection in
            try connection.send("HTTP/1.1 200 OK\r\nX-" + String(repeating: "a", count: 200_000))
            connection.close()
        },
    ]

    private static func echoing(_ network: NetworkName, _ name: String, _ echoes: [SecretEcho])
        -> SecretScenario
    {
        SecretScenario("\(network.rawValue): a server that repeats what it was sent, in \(name)") {
            stage in
            for echo in echoes {
                let tap = try SecretTap(stage.book, port: nil) { _ in echo.answer }
                let accounts = PlantedAccounts.variables(of: network, in: stage.book, at: tap.url)
                try await everyCommand(stage, accounts)
                #expect(tap.count > 0, "\(echo)")
            }
        }
    }

    /// What asks a network for something: once for the bot, once for the human.
    private static func everyCommand(_ stage: SecretStage, _ accounts: [String: String])
        async throws
    {
        for words in [["run", "--once"], ["train", "scheduler"]] {
            let ending = try await stage.run(words, accounts)
            #expect(ending.status != 0, "\(words): \(ending.error)")
        }
    }
}
