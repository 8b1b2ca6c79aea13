import Posts
import Transport

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
    var isPrivate: Bool { base.hasPrefix("https://") || HostPlace.isLoopback(host) }

    /// The address as somebody named it who is not the operator; nil if nothing may be sent there.
    ///
    /// Then a name or number of this machine or its network counts for nothing, and a name that leads there fails when it
    /// is asked, unless the operator's own server is on this machine.
    ///
    /// - Parameters:
    ///   - text: The address.
    ///   - hosts: The operator's own choice.
    init?(named text: String, besides hosts: BlueskyHosts) {
        guard var server = try? ServerAddress(text, network: .bluesky), server.isPrivate else { return nil }
        server.isPublicOnly = !HostPlace.isLoopback(hosts.entryway.host)
        guard !server.isPublicOnly || !HostPlace.mayBeLocal(server.host) else { return nil }
        self = server
    }
}
