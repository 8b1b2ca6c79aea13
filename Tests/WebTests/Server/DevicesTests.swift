import Expectations
import Foundation
import Posts
import Settings
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Mirroring
@testable import Web

/// The page on which a browser is added to those that get notifications.
@Suite(.timeLimit(.minutes(30))) struct DevicesTests {
    private static let variables = [
        "WEB_ADDRESS": "http://127.0.0.1:8080",
        "SECRET_KEY": "planted-key-planted-key-planted-key",
    ]
    /// The keys of the browser of RFC 8291, section 5.
    private static let keys = [
        (
            "p256dh",
            "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
        ), ("auth", "BTBZMqHH6r4Tts7J_aSIgg"),
    ]

    private static func service(_ status: Int = 201) throws -> LoopbackServer {
        try LoopbackServer { _, connection in try connection.respond(status: status) }
    }

    private func add(
        _ endpoint: String, named name: String = "my <phone>", by client: WebClient
    ) async throws -> WebClient.Answer {
        let token = try #require(try await client.send("/m/mika/devices").field("csrf"))
        return try await client.send(
            "/m/mika/devices",
            form: [("csrf", token), ("endpoint", endpoint), ("name", name)] + Self.keys)
    }

    private func devices(_ stand: WebStand) async throws -> [PushDevice] {
        try await PushDeviceTable(of: "mika", in: stand.installation).all()
    }

    @Test func aDeviceIsAddedGreetedAndRemoved() async throws {
        try await WebStand.with(variables: Self.variables) { stand in
            let service = try Self.service()
            let client = stand.client
            let page = try await client.send("/m/mika/devices")
            #expect(page.status == 200)
            let key = try #require(page.body.firstMatch(of: #/data-key="([\w-]+)"/#)?.output.1)
            let identity = try PushDeviceTable(of: "mika", in: stand.installation).identity(
                page: "http://127.0.0.1:8080")
            #expect(identity?.publicKey == String(key))
            try await expect(client.send("/m/mika").body) {
                $0.contains(#"href="/m/mika/devices""#)
            }

            let answer = try await add("\(service.url)/s3cr3t", by: client)
            #expect(answer.status == 303)
            #expect(answer["Location"] == "/m/mika/devices")
            #expect(service.requests.map(\.target) == ["/s3cr3t"])
            #expect(service.requests.first?.header("Content-Encoding") == "aes128gcm")
            let shown = try await client.send("/m/mika/devices").body
            #expect(shown.contains("my &lt;phone&gt;"))
            #expect(shown.contains("A first message is on its way"))
            #expect(!shown.contains("s3cr3t"))
            #expect(!stand.log.all.contains("s3cr3t"))

            let id = try #require(try await devices(stand).first?.id)
            let token = try #require(try await client.send("/m/mika/devices").field("csrf"))
            for status in [303, 400] {
                let removed = try await client.send(
                    "/m/mika/devices/remove", form: [("csrf", token), ("device", id)])
                #expect(removed.status == status)
            }
            try await expect(devices(stand)) { $0.isEmpty }
        }
    }

    /// What the push service says of the first message is said.
    @Test(arguments: [(410, 409, 0), (404, 409, 0), (429, 303, 1), (403, 303, 1)])
    func whatDoesNotArriveIsSaid(_ status: Int, _ answer: Int, _ count: Int) async throws {
        try await WebStand.with(variables: Self.variables) { stand in
            let service = try Self.service(status)
            try await expect(
                add("\(service.url)/1", by: stand.client).status, equals: answer)
            try await expect(devices(stand).count, equals: count)
            guard count > 0 else { return }
            try await expect(stand.client.send("/m/mika/devices").body) {
                $0.contains("the first message did not arrive")
            }
        }
    }

    @Test(arguments: [
        "https://10.0.0.1/x", "https://localhost/x", "http://push.example.net/x", "",
        "https://169.254.169.254/latest/meta-data", "file:///etc/passwd",
    ])
    func onlyAPushServiceIsAdded(_ endpoint: String) async throws {
        let variables = Self.variables.merging(
            ["WEB_ADDRESS": "https://mirror.example", "WEB_PASSWORD": WebStand.password]
        ) { $1 }
        try await WebStand.with(variables: variables) { stand in
            try await stand.logIn()
            try await expect(add(endpoint, by: stand.client).status, equals: 400)
            try await expect(devices(stand)) { $0.isEmpty }
        }
    }

    /// A form of another page adds nothing, and a page that only shows has no form.
    @Test func nobodyElseAddsADevice() async throws {
        try await WebStand.with(
            variables: Self.variables.merging(["WEB_PASSWORD": WebStand.password]) { $1 }
        ) { stand in
            let service = try Self.service()
            let form = [("csrf", "x"), ("endpoint", service.url + "/1")] + Self.keys
            try await expect(
                stand.client.send("/m/mika/devices", form: form).status, equals: 403)
            try await expect(stand.client.send("/m/mika/devices").status, equals: 401)
            try await expect(devices(stand)) { $0.isEmpty }
            #expect(service.requests.isEmpty)
        }
        try await WebStand.with(variables: Self.variables, isReadOnly: true) { stand in
            let page = try await stand.client.send("/m/mika/devices").body
            #expect(!page.contains("data-key"))
            #expect(!page.contains(#"action="/m/mika/devices"#))
        }
    }

    @Test func whatIsMissingIsSaid() async throws {
        try await WebStand.with { stand in
            let page = try await stand.client.send("/m/mika/devices").body
            #expect(page.contains("WEB_ADDRESS"))
            #expect(!page.contains("data-key"))
        }
        // The key file is made by a press, and not by a look.
        try await WebStand.with(variables: ["WEB_ADDRESS": "http://127.0.0.1:8080"]) { stand in
            let client = stand.client
            for _ in 0..<2 {
                let page = try await client.send("/m/mika/devices").body
                #expect(page.contains("Make the key"))
                #expect(!page.contains("data-key"))
            }
            let token = try #require(try await client.send("/m/mika/devices").field("csrf"))
            try await expect(
                client.send("/m/mika/devices/key", form: [("csrf", token)]).status, equals: 303)
            try await expect(client.send("/m/mika/devices").body) { $0.contains("data-key") }
        }
    }

    /// The worker may do what the page may, for the whole page, and a newer one is found at once.
    @Test func theWorkerIsServedToTheWholePage() async throws {
        try await WebStand.with(variables: ["WEB_PASSWORD": WebStand.password]) { stand in
            let worker = try await stand.client.send("/worker.js")
            #expect(worker.status == 200)
            #expect(worker["Content-Type"] == "text/javascript; charset=utf-8")
            #expect(worker["Cache-Control"] == "no-cache")
            expect(worker["Content-Security-Policy"]) {
                $0?.contains("connect-src 'self'") == true
                    && $0?.contains("script-src 'self'") == true
            }
            for text in ["'fetch'", "caches", "https://"] {
                #expect(!worker.body.contains(text), "\(text)")
            }
            try await expect(stand.client.send("/push.js").status, equals: 401)
            try await stand.logIn()
            try await expect(stand.client.send("/push.js").status, equals: 200)
        }
    }
}
