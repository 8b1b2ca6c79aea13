import Posts
import Sandbox

/// What a person would set to use the two accounts of a sandbox.
struct DemoSettings {
    let variables: [String: String]

    init(_ sandbox: Sandbox, _ network: NetworkName) {
        // Every other minute is often enough for people who are not there, and takes half as long.
        var variables = ["NETWORK": network.rawValue, "POLL_SECONDS": "120"]
        for role in SandboxRole.allCases {
            for (name, value) in Self.account(role, sandbox, network) {
                variables["\(role.rawValue.uppercased())_\(name)"] = value
            }
        }
        if network == .x {
            variables["X_ACKNOWLEDGE_POLICY"] = "yes"
            // Nothing is paid here, and a budget of the size that people set would end with the first day's reading.
            variables["X_BUDGET_USD_PER_MONTH"] = "1000"
            variables["X_HOME_POSTS_PER_DAY"] = "2000"
        }
        self.variables = variables
    }

    private static func account(
        _ role: SandboxRole, _ sandbox: Sandbox, _ network: NetworkName
    ) -> [(name: String, value: String)] {
        switch network {
        case .mastodon:
            return [
                ("SERVER", sandbox.url), ("ACCESS_TOKEN", role == .human ? sandbox.humanToken : sandbox.botToken),
            ]
        case .x:
            let keys = sandbox.xKeys(role)
            return [
                ("API_BASE_URL", sandbox.url), ("CONSUMER_KEY", keys.consumerKey),
                ("CONSUMER_SECRET", keys.consumerSecret), ("ACCESS_TOKEN", keys.accessToken),
                ("ACCESS_TOKEN_SECRET", keys.accessTokenSecret),
            ]
        case .bluesky:
            let login = sandbox.blueskyLogin(role)
            return [("API_BASE_URL", sandbox.url), ("HANDLE", login.handle), ("APP_PASSWORD", login.appPassword)]
        }
    }
}
