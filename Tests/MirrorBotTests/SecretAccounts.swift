import Control
import Mirroring
import NetworkNames
import Posts
import Sandbox
import Settings

/// Settings in which every credential is a planted one.
enum PlantedAccounts {
    /// Both accounts of a network.
    static func variables(of network: NetworkName, in book: SecretBook, at url: String) -> [String:
        String]
    {
        var variables = ["NETWORK": network.rawValue]
        if network == .x { variables["X_ACKNOWLEDGE_POLICY"] = "yes" }
        for role in ["HUMAN", "BOT"] {
            let (open, secret) = settings(of: network)
            for name in secret { variables["\(role)_\(name)"] = book.plant("\(role)_\(name)") }
            for name in open {
                variables["\(role)_\(name)"] =
                    name == "HANDLE" ? "\(role.lowercased()).sandbox.example" : url
            }
        }
        return variables
    }

    private static func settings(of network: NetworkName) -> (open: [String], secret: [String]) {
        switch network {
        case .mastodon: (["SERVER"], ["ACCESS_TOKEN"])
        case .x:
            (
                ["API_BASE_URL"],
                ["CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET"]
            )
        default: (["HANDLE", "API_BASE_URL"], ["APP_PASSWORD"])
        }
    }

    /// A key, and a Redis that nobody reaches.
    static func stores(in book: SecretBook) -> [String: String] {
        [
            "SECRET_KEY": book.plant("SECRET_KEY"),
            "REDIS_URL": "redis://me:\(book.plant("password in REDIS_URL").escaped)@127.0.0.1:1",
        ]
    }

    /// The accounts of a sandbox behind a tap, whose keys are secrets from now on.
    static func variables(
        of sandbox: Sandbox, on network: NetworkName, in book: SecretBook, at url: String
    ) -> [String: String] {
        var variables: [String: String] = [:]
        for role in SandboxRole.allCases {
            variables.merge(sandbox.settings(of: role, on: network)) { $1 }
        }
        for setting in AnySetting.all where setting.isSecret {
            book.add(setting.name, variables[setting.name])
        }
        return variables.mapValues { $0 == sandbox.url ? url : $0 }
    }
}
