import Formats
import Foundation
import Localization
import NetworkNames
import Networks
import Posts
import Transport

/// The identity of an account and the server of its records.
struct BlueskyIdentity: Sendable, Equatable {
    let did: String
    /// The handle that the account's own document names, or the configured handle if no document is
    /// read.
    let handle: String?
    /// The server that keeps the account's records.
    let server: ServerAddress
}

/// The document of a DID, with the fields that are needed to find an account.
struct DIDDocument: Decodable, Sendable {
    let id: String?
    /// The handles that the account claims.
    let handles: [String]
    private let services: [Service]

    private struct Service: Decodable {
        let id: String
        let endpoint: String

        init(from decoder: any Decoder) throws {
            let wire = try WireObject(from: decoder)
            guard let id = wire.text("id"), let endpoint = wire.text("serviceEndpoint") else {
                throw ShapeError()
            }
            self.id = id
            self.endpoint = endpoint
        }
    }

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        id = wire.text("id")
        handles = wire.list(of: String.self, "alsoKnownAs").compactMap { name in
            name.hasPrefix("at://") ? BlueskyName.handle(name.dropFirst(5)) : nil
        }
        services = wire.list(of: Service.self, "service")
    }

    /// The server that keeps the records of `did`; nil if the document names none, or one to which
    /// no request may be sent.
    func server(of did: String, hosts: BlueskyHosts) -> ServerAddress? {
        let service = services.first { $0.id == "#atproto_pds" || $0.id == "\(did)#atproto_pds" }
        return service.flatMap { ServerAddress(untrusted: $0.endpoint, hosts: hosts) }
    }
}

/// Finds the identity of an account and the server of its records.
struct BlueskyResolver: Sendable {
    /// A DID, or a handle in lower case.
    let identifier: String
    let hosts: BlueskyHosts
    let client: BlueskyClient

    /// - Parameters:
    ///   - identifier: A handle, with or without `@`, or a DID.
    /// - Throws: `NetworkError` with code `.configuration` for other texts.
    init(identifier: String, hosts: BlueskyHosts, client: BlueskyClient) throws(NetworkError) {
        let trimmed = identifier.trimmingCharacters(in: .whitespacesAndNewlines)
        guard let name = BlueskyName.isDID(trimmed) ? trimmed : BlueskyName.handle(trimmed) else {
            throw NetworkError(
                code: .configuration, network: .bluesky, host: hosts.entryway.host,
                operation: .configure,
                detail: localized(
                    "the account is neither a handle such as name.bsky.social nor a DID"),
                outcome: .notSent)
        }
        self.identifier = name
        self.hosts = hosts
        self.client = client
    }

    /// Finds the account's DID, its handle and the server of its records.
    ///
    /// - Throws: `NetworkError` or `CancellationError`.
    func resolve() async throws -> BlueskyIdentity {
        let isDID = BlueskyName.isDID(identifier)
        let did = isDID ? identifier : try await did(ofHandle: identifier)
        guard let directory = hosts.directory else {
            return BlueskyIdentity(
                did: did, handle: isDID ? nil : identifier, server: hosts.entryway)
        }
        let (document, host) = try await document(of: did, directory)
        guard let server = document.server(of: did, hosts: hosts) else {
            throw failure(
                localized(
                    """
                    the account's document names no server that can be asked safely; for a server on this machine or \
                    its network name it yourself as HUMAN_API_BASE_URL or BOT_API_BASE_URL
                    """),
                host: host)
        }
        guard isDID || document.handles.contains(identifier) else {
            throw failure(
                localized(
                    "the account that the handle leads to does not call itself by that handle"),
                host: host)
        }
        return BlueskyIdentity(
            did: did, handle: isDID ? document.handles.first : identifier, server: server)
    }

    private func did(ofHandle handle: String) async throws -> String {
        let call = NetworkCall(
            .resolveIdentity, "com.atproto.identity.resolveHandle",
            [(name: "handle", value: handle)])
        let answer = try await client.at(hosts.entryway).answer(to: call)
        if var error = answer.refusal?.error, error.code == .rejected || error.code == .notFound {
            error.code = .configuration
            error.detail = localized("no account has this handle")
            throw error
        }
        return try answer.read(\.did)
    }

    private func document(
        of did: String, _ directory: ServerAddress
    ) async throws -> (document: DIDDocument, host: String) {
        let (server, path) = try location(of: did, directory)
        let call = NetworkCall(.resolveIdentity, document: path)
        let answer = try await client.at(server).answer(to: call)
        if [404, 410].contains(answer.refusal?.error.status) {
            throw failure(localized("the account's document is gone"), host: server.host)
        }
        let document = try answer.value(DIDDocument.self)
        guard document.id == did else {
            throw answer.malformed(localized("the document is about another account"))
        }
        return (document, server.host)
    }

    /// The server and path of a DID's document.
    private func location(of did: String, _ directory: ServerAddress) throws(NetworkError) -> (
        ServerAddress, String
    ) {
        if did.hasPrefix("did:plc:"), did.dropFirst(8).utf8.allSatisfy(\.isLetterOrDigit) {
            return (directory, "/\(did)")
        }
        let prefix = "did:web:"
        guard did.hasPrefix(prefix),
            let host = String(did.dropFirst(prefix.count)).removingPercentEncoding,
            !host.contains(":") || host.hasPrefix("localhost:")
        else {
            throw failure(
                localized("the account's DID is of a kind that Bluesky does not use"),
                host: directory.host)
        }
        // A server on this machine is one of a test, and has no certificate.
        let scheme = host.hasPrefix("localhost:") ? "http" : "https"
        guard let server = ServerAddress(untrusted: "\(scheme)://\(host)", hosts: hosts) else {
            throw failure(
                localized("the account's DID names no host that can be asked safely"),
                host: directory.host)
        }
        return (server, "/.well-known/did.json")
    }

    private func failure(_ cause: String, host: String) -> NetworkError {
        NetworkError(
            code: .configuration, network: .bluesky, host: host, operation: .resolveIdentity,
            detail: cause,
            outcome: .refused)
    }
}

/// The servers to use if the account's own server is not known yet, or not needed.
struct BlueskyHosts: Sendable {
    /// The server that resolves handles, and logs in the accounts on Bluesky's own servers.
    let entryway: ServerAddress
    /// The server that answers public requests about all posts.
    let appView: ServerAddress
    /// The directory of `did:plc` documents; nil if one server is configured in place of all, so
    /// that no document is read.
    let directory: ServerAddress?

    /// - Parameter apiBaseURL: The server to use in place of all of them; nil for Bluesky's own
    ///   servers.
    /// - Throws: `NetworkError` with code `.configuration` for an invalid address.
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

    /// The server for logging in an account whose records are at `server`.
    ///
    /// Bluesky's own servers accept no logins; the entryway does it for them.
    func login(for server: ServerAddress) -> ServerAddress {
        server.host.hasSuffix(".host.bsky.network") ? entryway : server
    }
}

extension WireObject {
    /// The field `did`, if it is a valid DID.
    var did: String? { text("did").flatMap { BlueskyName.isDID($0) ? $0 : nil } }
}

extension ServerAddress {
    /// Whether requests to the address are encrypted or stay on this machine.
    var isPrivate: Bool { base.hasPrefix("https://") || HostPlace.isLoopback(host) }

    /// Reads an address that did not come from the operator; nil if no request may be sent there.
    ///
    /// Unless the operator's own server is on this machine, names and IP addresses of this machine
    /// or its network are refused. A request to a name that resolves to such an address fails.
    ///
    /// - Parameters:
    ///   - hosts: The servers that the operator has configured.
    init?(untrusted text: String, hosts: BlueskyHosts) {
        guard var server = try? ServerAddress(text, network: .bluesky), server.isPrivate else {
            return nil
        }
        server.isPublicOnly = !HostPlace.isLoopback(hosts.entryway.host)
        guard !server.isPublicOnly || !HostPlace.mayBeLocal(server.host) else { return nil }
        self = server
    }
}
