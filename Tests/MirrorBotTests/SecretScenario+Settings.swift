import Control
import Foundation
import Mirroring
import NetworkNames
import Networks
import Posts
import Settings
import TestSupport
import Testing

/// Secrets in the settings: well-formed, malformed, in files, in the wrong place.
extension SecretScenario {
    static let settings =
        NetworkName.allCases.map { network in
            SecretScenario("every secret setting of \(network.rawValue)") { stage in
                let accounts = PlantedAccounts.variables(
                    of: network, in: stage.book, at: "http://127.0.0.1:1")
                let all = accounts.merging(PlantedAccounts.stores(in: stage.book)) { $1 }
                let shown = try await stage.run(["config"], all)
                #expect(shown.status == 0, "\(shown.error)")
                #expect(shown.output.contains("<redacted>"))
                for words in [
                    ["config", "--json"], ["status"], ["plan"], ["run", "--once"],
                    ["train", "scheduler"],
                ] {
                    try await stage.run(words, all)
                }
            }
        } + [
            SecretScenario("secrets in the files that NAME_FILE names") { stage in
                var environment = [
                    "HUMAN_SERVER": "http://127.0.0.1:1", "BOT_SERVER": "http://127.0.0.1:1",
                ]
                for name in ["HUMAN_ACCESS_TOKEN", "BOT_ACCESS_TOKEN", "SECRET_KEY", "REDIS_URL"] {
                    let secret = stage.book.plant(name)
                    let text =
                        name == "REDIS_URL" ? "redis://me:\(secret.escaped)@127.0.0.1:1" : secret
                    environment[name + "_FILE"] = try stage.writeOwn("file-" + name, text + "\n")
                }
                try await stage.run(["config"], environment, ends: 0)
                for words in [
                    ["config", "--json"], ["status", "--json"], ["run", "--once"],
                    ["train", "classifier"],
                ] {
                    try await stage.run(words, environment)
                }
            },
            SecretScenario("files that cannot be used") { stage in
                let secret = stage.book.plant("token")
                let files = [
                    try stage.writeOwn("control", secret + "\u{1B}[2J"),
                    try stage.writeOwn("lines", "\(secret)\nx"),
                    try stage.writeOwn("long", String(repeating: secret, count: 3_000)),
                    stage.stage.folder.path,
                ]
                for file in files {
                    for name in [
                        "BOT_ACCESS_TOKEN_FILE", "SECRET_KEY_FILE", "DATABASE_URL_FILE",
                        "REDIS_URL_FILE",
                    ] {
                        try await stage.run(["config"], [name: file], ends: 78)
                    }
                }
            },
            SecretScenario("secrets in .env") { stage in
                let accounts = PlantedAccounts.variables(
                    of: .mastodon, in: stage.book, at: "http://127.0.0.1:1")
                try stage.writeDotEnv(accounts.map { "\($0.key)='\($0.value)'" })
                try await stage.run(["config"], ends: 0)
                for words in [["config", "--json"], ["run", "--once"], ["status"]] {
                    try await stage.run(words)
                }
                for line in [
                    "BOT_SERVER=https://\(stage.book.plant("user info"))@a.example", "LINKS\r\n",
                ] {
                    try stage.writeDotEnv([line, "BOT_ACCESS_TOKEN=\(stage.book.plant("token"))"])
                    try await stage.run(["config"], ends: 78)
                }
            },
            SecretScenario("values that no secret setting takes") { stage in
                for setting in AnySetting.all where setting.isSecret {
                    for tail in ["\nsecond line", "\u{1B}[2J"] {
                        let value = stage.book.plant(setting.name) + tail
                        try await stage.run(["config"], [setting.name: value], ends: 78)
                    }
                }
                try await stage.run(["config"], ["SECRET_KEY": "Sh0rtKey!?"], ends: 78)
                stage.book.add("a key that is too short", "Sh0rtKey!?")
            },
            SecretScenario("URLs that cannot be used") { stage in
                for (name, form) in malformedURLs {
                    let value = form.replacing("{}", with: stage.book.plant(name).escaped)
                    let others = ["HUMAN_SERVER": "https://a.invalid", "HUMAN_ACCESS_TOKEN": "t"]
                    for words in [["config"], ["run", "--once"], ["train", "scheduler"]] {
                        let ending = try await stage.run(
                            words, others.merging([name: value]) { $1 })
                        #expect(
                            ending.status != 0 || words == ["config"], "\(name) \(form) \(words)")
                    }
                }
            },
            SecretScenario("credentials of another network") { stage in
                for setting in [
                    "CONSUMER_SECRET", "ACCESS_TOKEN_SECRET", "APP_PASSWORD", "CONSUMER_KEY",
                ] {
                    let environment = [
                        "BOT_\(setting)": stage.book.plant(setting),
                        "BOT_SERVER": "https://a.invalid",
                    ]
                    for words in [["config"], ["run", "--once"], ["status"]] {
                        try await stage.run(words, environment, ends: 78)
                    }
                }
                for role in ["HUMAN", "BOT"] {
                    let environment = [
                        "NETWORK": "x",
                        "\(role)_CONSUMER_SECRET": stage.book.plant("half an account"),
                    ]
                    try await stage.run(["config"], environment, ends: 78)
                }
            },
        ]

    /// A setting and a value that is wrong, or right and of no use, around a secret.
    private static let malformedURLs = [
        ("DATABASE_URL", "mysql://me:{}@db.example/x"), ("DATABASE_URL", "postgres://me:{}@[::1/x"),
        ("DATABASE_URL", "postgres://me:{}@db.example:port/x"), ("DATABASE_URL", "{}"),
        ("DATABASE_URL", "postgres://me:{}%zz@127.0.0.1:1/x?sslmode={}"),
        ("DATABASE_URL", "postgres://127.0.0.1:1/x?password={}&sslmode=never"),
        ("DATABASE_URL", "postgres://127.0.0.1:1/x?passwort={}"),
        ("DATABASE_URL", "postgres://a.invalid/{}"),
        ("DATABASE_URL", "postgres://me:{}@127.0.0.1:1/x?connect_timeout={}"),
        ("REDIS_URL", "redis://me:{}@[::1"), ("REDIS_URL", "{}"),
        ("REDIS_URL", "http://:{}@a.example"),
        ("REDIS_URL", "redis://:{}@a.example:port"),
        ("REDIS_URL", "redis://:{}@a.example/database"),
        ("HUMAN_SERVER", "https://me:{}@a.example"),
        ("HUMAN_SERVER", "https://a.example/?token={}"),
        ("BOT_SERVER", "{}:{}@a.example"), ("BOT_API_BASE_URL", "https://{}@a.example"),
        ("HUMAN_API_BASE_URL", "https://a.example/#{}"),
    ]
}

extension String {
    /// As it stands in a URL.
    var escaped: String { addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? self }
}
