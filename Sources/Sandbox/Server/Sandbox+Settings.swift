package import Posts

extension Sandbox {
    /// What a person would set to use an account of the sandbox, as environment variables of mirror-bot.
    ///
    /// - Parameters:
    ///   - role: Whose account; every name begins with it, but for what concerns X as a whole.
    ///   - network: Which of the sandbox's interfaces.
    /// - Returns: Network, address and credentials; for the bot on X also what it takes to be let write there.
    package func settings(of role: SandboxRole, on network: NetworkName) -> [String: String] {
        var account = account(of: role, on: network)
        account["NETWORK"] = network.rawValue
        let prefix = role.rawValue.uppercased() + "_"
        var settings = Dictionary(uniqueKeysWithValues: account.map { (prefix + $0.key, $0.value) })
        if network == .x, role == .bot {
            settings["X_ACKNOWLEDGE_POLICY"] = "yes"
            // Nothing is paid here, and a budget of the size that people set would end with the first day's reading.
            settings["X_BUDGET_USD_PER_MONTH"] = "1000"
            settings["X_HOME_POSTS_PER_DAY"] = "2000"
        }
        return settings
    }

    private func account(of role: SandboxRole, on network: NetworkName) -> [String: String] {
        switch network {
        case .mastodon:
            return ["SERVER": url, "ACCESS_TOKEN": role == .human ? humanToken : botToken]
        case .x:
            let keys = xKeys(role)
            return [
                "API_BASE_URL": url, "CONSUMER_KEY": keys.consumerKey, "CONSUMER_SECRET": keys.consumerSecret,
                "ACCESS_TOKEN": keys.accessToken, "ACCESS_TOKEN_SECRET": keys.accessTokenSecret,
            ]
        case .bluesky:
            let login = blueskyLogin(role)
            return ["API_BASE_URL": url, "HANDLE": login.handle, "APP_PASSWORD": login.appPassword]
        }
    }
}
