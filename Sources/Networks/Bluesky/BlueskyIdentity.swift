import Foundation
import Posts

/// Who an account is and where its records are.
struct BlueskyIdentity: Sendable, Equatable {
    let did: String
    /// The handle that the account's own document confirms, or the configured one where no document is read.
    let handle: String?
    /// The server that keeps the account's records.
    let server: ServerAddress
}

/// The document of a DID, as far as it tells where an account lives.
struct DIDDocument: Decodable, Sendable {
    let id: String?
    /// The handles that the account says are its own.
    let handles: [String]
    private let services: [Service]

    private struct Service: Decodable {
        let id: String
        let endpoint: String

        private enum CodingKeys: String, CodingKey {
            case id
            case endpoint = "serviceEndpoint"
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            guard let id = container.text(.id), let endpoint = container.text(.endpoint) else {
                throw BlueskyShapeError()
            }
            self.id = id
            self.endpoint = endpoint
        }
    }

    private enum CodingKeys: CodingKey {
        case id, alsoKnownAs, service
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = container.text(.id)
        handles = container.list(of: String.self, .alsoKnownAs).compactMap { name in
            name.hasPrefix("at://") ? BlueskyName.handle(name.dropFirst(5)) : nil
        }
        services = container.list(of: Service.self, .service)
    }

    /// The server that keeps the records of `did`; nil if the document names none that may be asked.
    func server(of did: String, besides hosts: BlueskyHosts) -> ServerAddress? {
        let service = services.first { $0.id == "#atproto_pds" || $0.id == "\(did)#atproto_pds" }
        return service.flatMap { ServerAddress(named: $0.endpoint, besides: hosts) }
    }
}

/// Finds out who an account is and where its records are.
struct BlueskyResolver: Sendable {
    /// A DID, or a handle in lower case.
    let identifier: String
    let hosts: BlueskyHosts
    let client: BlueskyClient

    /// - Parameters:
    ///   - identifier: A handle, with or without `@`, or a DID.
    ///   - hosts: Whom to ask.
    ///   - client: Carries the requests.
    /// - Throws: ``NetworkError`` with code `.configuration` for everything else.
    init(identifier: String, hosts: BlueskyHosts, client: BlueskyClient) throws(NetworkError) {
        let trimmed = identifier.trimmingCharacters(in: .whitespacesAndNewlines)
        guard let name = BlueskyName.isDID(trimmed) ? trimmed : BlueskyName.handle(trimmed) else {
            throw NetworkError(
                code: .configuration, network: .bluesky, host: hosts.entryway.host, operation: .configure,
                detail: "the account is neither a handle such as name.bsky.social nor a DID", outcome: .notSent)
        }
        self.identifier = name
        self.hosts = hosts
        self.client = client
    }

    /// - Throws: ``NetworkError`` or `CancellationError`.
    func resolve() async throws -> BlueskyIdentity {
        let isDID = BlueskyName.isDID(identifier)
        let did = isDID ? identifier : try await did(ofHandle: identifier)
        guard let directory = hosts.directory else {
            return BlueskyIdentity(did: did, handle: isDID ? nil : identifier, server: hosts.entryway)
        }
        let (document, host) = try await document(of: did, directory)
        guard let server = document.server(of: did, besides: hosts) else {
            throw failure(
                "the account's document names no server that can be asked safely; for a server on this machine or its "
                    + "network name it yourself as HUMAN_API_BASE_URL or BOT_API_BASE_URL", host: host)
        }
        guard isDID || document.handles.contains(identifier) else {
            throw failure("the account that the handle leads to does not call itself by that handle", host: host)
        }
        return BlueskyIdentity(did: did, handle: isDID ? document.handles.first : identifier, server: server)
    }

    private func did(ofHandle handle: String) async throws -> String {
        let call = BlueskyCall(
            .resolveIdentity, "com.atproto.identity.resolveHandle", [(name: "handle", value: handle)])
        let answer = try await client.answer(to: call, from: hosts.entryway)
        if case .refusal(let refusal) = answer, refusal.error.code == .rejected || refusal.error.code == .notFound {
            var error = refusal.error
            error.code = .configuration
            error.detail = "no account has this handle"
            throw error
        }
        let host = hosts.entryway.host
        let found = try client.decode(BlueskyHandle.self, from: try answer.response(), call, host: host)
        return found.did
    }

    private func document(
        of did: String, _ directory: ServerAddress
    ) async throws -> (document: DIDDocument, host: String) {
        let (server, path) = try place(of: did, directory)
        let call = BlueskyCall(.resolveIdentity, document: path)
        let answer = try await client.answer(to: call, from: server)
        if case .refusal(let refusal) = answer, [404, 410].contains(refusal.error.status) {
            throw failure("the account's document is gone", host: server.host)
        }
        let response = try answer.response()
        let document = try client.decode(DIDDocument.self, from: response, call, host: server.host)
        guard document.id == did else {
            throw client.malformed(call, host: server.host, response, "the document is about another account")
        }
        return (document, server.host)
    }

    /// Where the document of a DID is.
    private func place(of did: String, _ directory: ServerAddress) throws(NetworkError) -> (ServerAddress, String) {
        if did.hasPrefix("did:plc:"), did.dropFirst(8).utf8.allSatisfy(BlueskyName.isLetterOrDigit) {
            return (directory, "/\(did)")
        }
        let prefix = "did:web:"
        guard did.hasPrefix(prefix), let host = String(did.dropFirst(prefix.count)).removingPercentEncoding,
            !host.contains(":") || host.hasPrefix("localhost:")
        else { throw failure("the account's DID is of a kind that Bluesky does not use", host: directory.host) }
        // Only software under test runs on this machine, and it has no certificate.
        let scheme = host.hasPrefix("localhost:") ? "http" : "https"
        guard let server = ServerAddress(named: "\(scheme)://\(host)", besides: hosts) else {
            throw failure("the account's DID names no host that can be asked safely", host: directory.host)
        }
        return (server, "/.well-known/did.json")
    }

    private func failure(_ cause: String, host: String) -> NetworkError {
        NetworkError(
            code: .configuration, network: .bluesky, host: host, operation: .resolveIdentity, detail: cause,
            outcome: .refused)
    }
}

private struct BlueskyHandle: Decodable {
    let did: String

    private enum CodingKeys: CodingKey {
        case did
    }

    init(from decoder: any Decoder) throws {
        guard let did = try decoder.container(keyedBy: CodingKeys.self).text(.did), BlueskyName.isDID(did) else {
            throw BlueskyShapeError()
        }
        self.did = did
    }
}
