import Expectations
import Foundation
import Posts
import TestSupport
import Testing
import Transport

@testable import Bluesky
@testable import Networks

/// Bluesky as it is: an entryway, a directory, an AppView and the account's own server are
/// different machines.
private struct Machines {
    static let did = "did:plc:humanhumanhumanhuman2345"
    static let handle = "human.example"

    let entryway: LoopbackServer
    let directory: LoopbackServer
    let appView: LoopbackServer
    let home: LoopbackServer

    /// In `document`, `HOME` stands for the account's server.
    init(
        document: String = Machines.document(), resolved: String = Machines.did,
        home answer: @escaping @Sendable (LoopbackServer.Request) -> Answer? = { _ in nil }
    ) throws {
        func server(_ answer: @escaping @Sendable (LoopbackServer.Request) -> Answer?) throws
            -> LoopbackServer
        {
            try LoopbackServer { request, connection in
                let answer = answer(request) ?? .xrpc("RecordNotFound", "Could not locate record")
                try connection.respond(
                    status: answer.status, headers: answer.headers, body: Array(answer.body.utf8))
            }
        }
        let base = Box("")
        home = try server { request in
            if request.path == "/.well-known/did.json" {
                return .json(document.replacingOccurrences(of: "HOME", with: base.value))
            }
            if request.method("com.atproto.server.createSession") {
                return .json(BlueskyJSON.session("home.access", "home.refresh", did: resolved))
            }
            return answer(request)
        }
        base.value = home.url
        let text = document.replacingOccurrences(of: "HOME", with: home.url)
        directory = try server { $0.path == "/\(Machines.did)" ? .json(text) : Answer(status: 404) }
        entryway = try server { request in
            guard request.method("com.atproto.identity.resolveHandle") else { return nil }
            guard request.query["handle"] == Machines.handle else {
                return .xrpc("InvalidRequest", "Unable to resolve handle")
            }
            return .json(#"{"did":"\#(resolved)"}"#)
        }
        appView = try server { request in
            switch request.path {
            case "/xrpc/app.bsky.actor.getProfile":
                .json(BlueskyJSON.author(resolved, Machines.handle))
            case "/xrpc/app.bsky.feed.getPosts":
                .json(BlueskyJSON.page("posts", [BlueskyJSON.view("a")]))
            case "/xrpc/app.bsky.actor.getProfiles": .json(#"{"profiles":[]}"#)
            default: nil
            }
        }
    }

    static func document(
        _ did: String = did, names: [String] = ["at://\(handle)"], endpoint: String = "HOME",
        service: String = "#atproto_pds"
    ) -> String {
        let names = names.map { "\"\($0)\"" }.joined(separator: ",")
        return
            ##"{"@context":["x"],"id":"\##(did)","alsoKnownAs":[\##(names)],"service":[{"id":"#other","type":"X","serviceEndpoint":"https://other.example"},{"id":"\##(service)","type":"AtprotoPersonalDataServer","serviceEndpoint":"\##(endpoint)"}]}"##
    }

    func network(
        _ identifier: String = Machines.handle, password: String? = nil,
        now: @escaping @Sendable () -> Date = { BlueskyLoopback.start }
    ) throws -> BlueskyNetwork {
        let hosts = BlueskyHosts(
            entryway: try ServerAddress(entryway.url, network: .bluesky),
            appView: try ServerAddress(appView.url, network: .bluesky),
            directory: try ServerAddress(directory.url, network: .bluesky))
        return try BlueskyNetwork(
            identifier: identifier, appPassword: password.map { Secret($0) }, hosts: hosts,
            sessions: MemoryCredentials(),
            client: HTTPClient(
                configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests")), now: now)
    }
}

@Suite struct BlueskyIdentityTests {
    private static let records = "/xrpc/com.atproto.repo.listRecords"

    @Sendable private static func posts(_ request: LoopbackServer.Request) -> Answer? {
        guard request.path == records else { return nil }
        let isLikes = request.query["collection"] == "app.bsky.feed.like"
        let like = BlueskyJSON.like("3ke6kg3wk2222", of: BlueskyJSON.uri("a"))
            .replacingOccurrences(of: BlueskyLoopback.did, with: Machines.did)
        return .json(
            BlueskyJSON.records([
                isLikes ? like : BlueskyJSON.listed("3ke6kg3wk2222", by: Machines.did)
            ]))
    }

    @Test(arguments: [Machines.handle, "@Human.Example", Machines.did])
    func withoutAPasswordPublicThingsAreRead(identifier: String) async throws {
        let machines = try Machines(home: Self.posts)
        let network = try machines.network(identifier)
        #expect(network.capabilities.feeds == [.ownPosts, .favorites])
        #expect(!network.capabilities.canPublish)
        #expect(!network.capabilities.canFavorite)
        let account = try await network.verifyAccount()
        #expect(account.id == AccountID(network: .bluesky, value: Machines.did))
        #expect(account.handle == Machines.handle)
        #expect(account.address == Machines.did)
        let posts = try await network.page(.ownPosts, .newest)
        #expect(posts.items.map(\.post.author.value) == [Machines.did])
        #expect(posts.items.map(\.post.visibility) == [.public])
        let favorites = try await network.page(.favorites, .newest)
        #expect(favorites.items.map(\.post.id.value) == [BlueskyJSON.uri("a")])
        let servers = [machines.entryway, machines.directory, machines.appView, machines.home]
        #expect(servers.flatMap(\.requests).count { $0.header("Authorization") != nil } == 0)
        #expect(machines.home.requests.map(\.path) == [Self.records, Self.records])
        #expect(machines.directory.requests.map(\.target) == ["/\(Machines.did)"])
        #expect(machines.entryway.requests.count == (identifier == Machines.did ? 0 : 1))
    }

    @Test func whatNeedsAPasswordSaysSo() async throws {
        let machines = try Machines()
        let network = try machines.network()
        let address = "\(BlueskyJSON.uri("a")) \(BlueskyJSON.cid)"
        let draft = Draft(text: "x", key: "k", createdAt: BlueskyLoopback.start)
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await network.page(.home, .newest) },
            { _ = try await network.page(.mentions, .newest) },
            { _ = try await network.publish(draft) },
            {
                try await network.favorite(
                    FavoriteDraft(address: address, key: "k", createdAt: BlueskyLoopback.start))
            },
            { try await network.delete(address) }, { try await network.labelAsBot() },
            { _ = try await network.isFavorited(address) },
        ]
        for call in calls {
            let error = try await #require(throws: NetworkError.self) { try await call() }
            #expect(error.code == .capability)
            #expect(error.outcome == .notSent)
            #expect(error.description.contains("app password"))
        }
        #expect(machines.home.requests.isEmpty)
    }

    @Test(arguments: [true, false])
    func thePasswordGoesToTheAccountsOwnServer(isFullID: Bool) async throws {
        let document = Machines.document(
            service: isFullID ? "\(Machines.did)#atproto_pds" : "#atproto_pds")
        let machines = try Machines(document: document) { request in
            request.method("app.bsky.feed.getTimeline") ? .json(#"{"feed":[]}"#) : nil
        }
        let network = try machines.network(password: BlueskyLoopback.password)
        _ = try await network.page(.home, .newest)
        #expect(
            machines.home.requests.map(\.path)
                == ["/xrpc/com.atproto.server.createSession", "/xrpc/app.bsky.feed.getTimeline"])
        let others = [machines.entryway, machines.directory, machines.appView].flatMap(\.requests)
        #expect(others.count { $0.bodyText.contains(BlueskyLoopback.password) } == 0)
        #expect(others.count { $0.header("Authorization") != nil } == 0)
    }

    /// Bluesky's own many servers leave logging in to the entryway.
    @Test func theEntrywayLogsInItsOwn() throws {
        let hosts = try BlueskyHosts(apiBaseURL: nil)
        func login(_ url: String) throws -> String {
            hosts.login(for: try ServerAddress(url, network: .bluesky)).base
        }
        try expect(login("https://morel.us-east.host.bsky.network"), equals: "https://bsky.social")
        try expect(login("https://pds.example"), equals: "https://pds.example")
        try expect(
            login("https://evilhost.bsky.network.example"),
            equals: "https://evilhost.bsky.network.example")
        #expect(hosts.appView.base == "https://public.api.bsky.app")
        #expect(hosts.directory?.base == "https://plc.directory")
    }

    @Test func aDIDOfTheWebIsReadFromItsHost() async throws {
        let box = Box("")
        let pds = try LoopbackServer { request, connection in
            let body: String
            switch request.path {
            case "/.well-known/did.json": body = box.value
            case "/xrpc/com.atproto.repo.listRecords": body = BlueskyJSON.records([])
            default: body = "{}"
            }
            try connection.respond(status: 200, headers: [], body: Array(body.utf8))
        }
        let did = "did:web:localhost%3A\(pds.port)"
        box.value = Machines.document(did, endpoint: pds.url)
        let machines = try Machines()
        let identity = try await machines.network(did).resolver.resolve()
        #expect(identity.did == did)
        #expect(identity.server.base == pds.url)
        #expect(pds.requests.map(\.path) == ["/.well-known/did.json"])
        #expect(machines.directory.requests.isEmpty)
    }

    @Test(arguments: [
        // The server must be one to which nobody listens in on the way.
        (Machines.document(endpoint: "http://pds.example"), "no server"),
        (Machines.document(endpoint: "ftp://pds.example"), "no server"),
        (Machines.document(endpoint: "https://user@pds.example"), "no server"),
        (Machines.document(endpoint: "http://127.0.0.1.example"), "no server"),
        (Machines.document(service: "#atproto_labeler"), "no server"),
        (
            #"{"id":"did:plc:humanhumanhumanhuman2345","alsoKnownAs":["at://human.example"]}"#,
            "no server"
        ),
        // Anybody may lead their handle to somebody else's account.
        (Machines.document(names: []), "by that handle"),
        (Machines.document(names: ["at://other.example"]), "by that handle"),
        (Machines.document(names: ["https://human.example"]), "by that handle"),
    ])
    func aDocumentThatCannotBeTrustedEndsIt(document: String, cause: String) async throws {
        let machines = try Machines(document: document, home: Self.posts)
        let network = try machines.network(password: BlueskyLoopback.password)
        let error = try await #require(throws: NetworkError.self) {
            _ = try await network.page(.ownPosts, .newest)
        }
        #expect(error.code == .configuration)
        #expect(error.operation == .resolveIdentity)
        expect(error.detail) { $0?.contains(cause) == true }
        #expect(machines.home.requests.isEmpty)
    }

    /// Anybody can write anything into a document; only the operator can name a server of the own
    /// network.
    @Test(arguments: [
        "http://127.0.0.1:2583", "http://localhost:2583", "https://localhost", "https://127.0.0.1",
        "https://0x7f.1",
        "https://2130706433", "https://0", "https://[::1]", "https://[::ffff:127.0.0.1]",
        "https://10.0.0.7",
        "https://192.168.1.1", "https://169.254.169.254", "https://[fe80::1]", "https://[fd00::1]",
        "https://router",
        "https://pds.internal",
    ])
    func aDocumentLeadsToNoPrivateNetwork(endpoint: String) throws {
        let text = Machines.document(endpoint: endpoint)
        let document = try JSONDecoder().decode(DIDDocument.self, from: Data(text.utf8))
        expect(
            document.server(of: Machines.did, hosts: try BlueskyHosts(apiBaseURL: nil)),
            equals: nil)
        let saved = BlueskySession(
            did: Machines.did, handle: nil, server: try ServerAddress(endpoint, network: .bluesky),
            access: Secret("a"), refresh: Secret("r"))
        let hosts = try BlueskyHosts(apiBaseURL: nil)
        let sealed = try saved.sealed(for: Machines.did, at: hosts.entryway)
        #expect(BlueskySession(sealed: sealed, for: Machines.did, at: hosts) == nil)
        // Where the operator's own server is this machine, everything may be.
        let own = try BlueskyHosts(apiBaseURL: "http://127.0.0.1:1")
        expect(document.server(of: Machines.did, hosts: own)) { $0?.isPublicOnly == false }
    }

    @Test func theServerOfADocumentIsAskedInPublicOnly() throws {
        let document = try JSONDecoder().decode(
            DIDDocument.self, from: Data(Machines.document(endpoint: "https://pds.example").utf8))
        let server = document.server(of: Machines.did, hosts: try BlueskyHosts(apiBaseURL: nil))
        expect(server) { $0?.isPublicOnly == true }
    }

    @Test(arguments: ["", "{}", "<html>", Machines.document("did:plc:somebodyelse")])
    func aDocumentAboutSomethingElseIsNotUsed(document: String) async throws {
        let machines = try Machines(document: document)
        let network = try machines.network()
        let error = try await #require(throws: NetworkError.self) {
            _ = try await network.verifyAccount()
        }
        #expect(error.code == .malformedResponse)
        #expect(machines.home.requests.isEmpty)
    }

    @Test(arguments: ["nobody.example", "did:plc:nobody", "did:key:zabc", "did:web:a:b"])
    func whoDoesNotExistIsAConfigurationError(identifier: String) async throws {
        let machines = try Machines()
        let network = try machines.network(identifier)
        let error = try await #require(throws: NetworkError.self) {
            _ = try await network.verifyAccount()
        }
        #expect(error.code == .configuration)
        #expect(machines.home.requests.isEmpty)
        #expect(error.stopsActor)
    }

    @Test func anAccountThatMovedIsFoundAgain() async throws {
        let clock = Box(BlueskyLoopback.start)
        let hasMoved = Box(false)
        let machines = try Machines { request in
            hasMoved.value ? .xrpc("InvalidRequest", "Could not find repo: x") : Self.posts(request)
        }
        let network = try machines.network(now: { clock.value })
        _ = try await network.page(.ownPosts, .newest)
        _ = try await network.page(.ownPosts, .newest)
        #expect(machines.directory.requests.count == 1)
        hasMoved.value = true
        let error = try await #require(throws: NetworkError.self) {
            _ = try await network.page(.ownPosts, .newest)
        }
        #expect(error.code == .notFound)
        hasMoved.value = false
        _ = try await network.page(.ownPosts, .newest)
        #expect(machines.directory.requests.count == 2)
        clock.value += 3_601
        _ = try await network.page(.ownPosts, .newest)
        #expect(machines.directory.requests.count == 3)
    }

    /// Nobody has said that the owner agrees, so the owner's wish counts as anybody's.
    @Test func whoHidesFromStrangersIsNotMirroredWithoutAPassword() async throws {
        let label = #"[{"src":"\#(BlueskyLoopback.did)","val":"!no-unauthenticated"}]"#
        for password in [nil, BlueskyLoopback.password] {
            let loopback = try BlueskyLoopback(password: password) { request in
                switch request.path {
                case "/xrpc/app.bsky.actor.getProfile":
                    .json(
                        BlueskyJSON.author(
                            BlueskyLoopback.did, BlueskyLoopback.handle, ["labels": label]))
                case Self.records: .json(BlueskyJSON.records([BlueskyJSON.listed("a")]))
                default: nil
                }
            }
            let page = try await loopback.network.page(.ownPosts, .newest)
            #expect(page.items.map(\.post.visibility) == [password == nil ? .private : .public])
        }
    }
}
