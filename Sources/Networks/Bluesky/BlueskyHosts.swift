import Posts

/// Whom to ask where the account's own server is not known, or need not be asked.
struct BlueskyHosts: Sendable {
    /// Knows handles, and logs in the accounts that Bluesky itself keeps.
    let entryway: ServerAddress
    /// Answers public questions about everybody's posts.
    let appView: ServerAddress
    /// Keeps the documents of `did:plc`; nil where one server stands for everything and no document is read.
    let directory: ServerAddress?

    /// - Parameter apiBaseURL: The server that stands for all of them; nil for Bluesky's own.
    /// - Throws: ``NetworkError`` with code `.configuration` for what is no address of a server.
    init(apiBaseURL: String?) throws(NetworkError) {
        if let apiBaseURL {
            let server = try ServerAddress(apiBaseURL, network: .bluesky)
            self.init(entryway: server, appView: server, directory: nil)
        } else {
            self.init(
                entryway: try ServerAddress("https://bsky.social", network: .bluesky),
                appView: try ServerAddress("https://public.api.bsky.app", network: .bluesky),
                directory: try ServerAddress("https://plc.directory", network: .bluesky))
        }
    }

    init(entryway: ServerAddress, appView: ServerAddress, directory: ServerAddress?) {
        self.entryway = entryway
        self.appView = appView
        self.directory = directory
    }

    /// Where a password is sent for an account whose records are at `server`.
    ///
    /// The many servers that Bluesky runs leave logging in to the entryway.
    func login(for server: ServerAddress) -> ServerAddress {
        server.host.hasSuffix(".host.bsky.network") ? entryway : server
    }
}

extension ServerAddress {
    /// Whether a request to it can be read by nobody on the way.
    var isPrivate: Bool { base.hasPrefix("https://") || isLoopback }

    private var isLoopback: Bool {
        if ["localhost", "[::1]"].contains(host) { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy { UInt8($0) != nil }
    }
}
