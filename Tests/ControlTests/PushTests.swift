import Cryptography
import Expectations
import Fixtures
import Foundation
import Outbox
import Posts
import Settings
import Storage
import TestSupport
import Testing
import Transport

@testable import Control
@testable import Mirroring

/// Notices on devices: read by the browser alone, and told as those on every other way.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct PushTests {
    private static let page = "http://127.0.0.1:8080"
    private static let key = "planted-key-planted-key-planted-key"
    private let clock = VirtualClock(startingAt: BareMirror.now)

    /// What the service worker gets.
    private struct Message: Decodable {
        struct Button: Decodable {
            let label: String
            let path: String
        }

        let title: String
        let text: String
        let tag: String
        let open: String
        let buttons: [Button]
        let refused: String?
        let unreached: String?
    }

    private func open(
        _ engine: Engine = .sqlite, _ variables: [String: String] = [:],
        log: Recorder<String> = Recorder()
    ) async throws -> HumanMirror {
        let basics = ["WEB_ADDRESS": Self.page, "SECRET_KEY": Self.key]
        let all = BareMirror.accounts.merging(basics) { $1 }.merging(variables) { $1 }
        let mirror = try await BareMirror(engine, variables: all).open(log: log, clock: clock)
        try await mirror.beginWorking()
        return mirror
    }

    /// A push service that answers with the status that the path ends with.
    private static func service() throws -> LoopbackServer {
        try LoopbackServer { request, connection in
            let status = request.target.split(separator: "/").last.flatMap { Int($0) }
            try connection.respond(status: status ?? 201)
        }
    }

    private func table(_ mirror: HumanMirror) -> PushDeviceTable {
        PushDeviceTable(of: mirror.name, in: mirror.installation)
    }

    @discardableResult
    private func add(
        _ receiver: PushReceiver, at endpoint: String, named name: String = "phone",
        to mirror: HumanMirror
    ) async throws -> PushDevice {
        let subscription = try #require(
            PushSubscription(
                endpoint: endpoint, key: Base64URL.text(of: receiver.publicKey),
                secret: Base64URL.text(of: receiver.secret), page: Self.page))
        return try await table(mirror).add(subscription, name: name, now: clock.now)
    }

    private func look(at mirror: HumanMirror) async throws {
        let pulse = WorkerPulse()
        pulse.holdsMirror = true
        pulse.works(uptime: clock.uptime)
        let notifier = try #require(Notifier(mirror.installation, clock: clock))
        await notifier.look(at: Notifier.Watch(mirror.name, pulse))
        notifier.shutdown()
    }

    private func suggest(in mirror: HumanMirror) async throws -> Action {
        let wording = Action.Wording(
            source: PostID(network: .mastodon, value: "1"), text: "Bread, loaf 1",
            visibility: .unlisted)
        let zone = mirror.configuration.timeZone ?? .gmt
        let slot = Slot.Name(day: LocalTime(clock.now, in: zone).day, number: 1)
        let due = clock.now + 7_200
        let intent = Intent(.post(slot, wording), state: .suggested, due: due, expires: due + 3_600)
        return try await mirror.outbox(lease: nil).propose(intent, now: clock.now).action
    }

    private func message(_ request: LoopbackServer.Request, for receiver: PushReceiver) throws
        -> Message
    {
        try JSONDecoder().decode(Message.self, from: Data(try receiver.opened(request.body)))
    }

    // MARK: The standards

    /// RFC 8291, appendix A.
    @Test func theMessageOfTheStandardIsEncryptedAsThere() throws {
        func bytes(_ text: String) throws -> [UInt8] { try #require(Base64URL.bytes(of: text)) }
        let subscription = try #require(
            PushSubscription(
                endpoint: "https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV",
                key:
                    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
                secret: "BTBZMqHH6r4Tts7J_aSIgg", page: "https://mirror.example"))
        let key = try #require(
            P256Key(scalar: try bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")))
        let body = try PushEncryption.body(
            Array("When I grow up, I want to be a watermelon".utf8), for: subscription, key: key,
            salt: try bytes("DGv6ra1nlYgDCS1FRnbzlw"))
        let expected = """
            DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml\
            mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT\
            pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN
            """
        #expect(Base64URL.text(of: body) == expected)
    }

    /// A browser reads the longest message, and the same one twice differs.
    @Test func aMessageIsForOneBrowserAlone() throws {
        let receiver = try PushReceiver()
        let other = try PushReceiver()
        let subscription = try #require(
            PushSubscription(
                endpoint: "https://push.example.net/1",
                key: Base64URL.text(of: receiver.publicKey),
                secret: Base64URL.text(of: receiver.secret), page: Self.page))
        let longest = [UInt8](repeating: 0x41, count: PushEncryption.longestMessage)
        let plains: [[UInt8]] = [[], [0], longest]
        for plain in plains {
            let body = try PushEncryption.body(plain, for: subscription)
            #expect(try receiver.opened(body) == plain)
            #expect(try receiver.canOpen(body))
            #expect(try !other.canOpen(body))
            #expect(try !receiver.canOpen(body.dropLast() + [body[body.count - 1] ^ 1]))
            #expect(try PushEncryption.body(plain, for: subscription) != body)
            #expect(body.count <= 4_096)
        }
        #expect(throws: PushEncryption.Failure.self) {
            try PushEncryption.body(
                [UInt8](repeating: 0, count: PushEncryption.longestMessage + 1), for: subscription)
        }
    }

    @Test func theSignatureIsForOnePushServiceAndTwelveHours() throws {
        let identity = PushIdentity(
            material: Array("planted".utf8), page: "https://mirror.example")
        let now = BareMirror.now
        let claims = try PushReceiver.claims(
            in: identity.authorization(for: "https://push.example.net", now: now),
            signedBy: identity.publicKey)
        #expect(
            claims
                == PushReceiver.Claims(
                    aud: "https://push.example.net", exp: Int(now.timeIntervalSince1970) + 43_200,
                    sub: "https://mirror.example"))
        let same = PushIdentity(material: Array("planted".utf8), page: Self.page)
        #expect(same.publicKey == identity.publicKey)
        let other = PushIdentity(material: Array("planted.".utf8), page: Self.page)
        #expect(other.publicKey != identity.publicKey)
        let local = try PushReceiver.claims(
            in: same.authorization(for: "http://127.0.0.1:1", now: now),
            signedBy: same.publicKey)
        #expect(local.sub == nil)
    }

    // MARK: Telling

    @Test(arguments: Engine.allCases) func everyDeviceIsToldOnce(_ engine: Engine) async throws {
        let service = try Self.service()
        let mirror = try await open(engine)
        let receivers = [try PushReceiver(), try PushReceiver()]
        for (number, receiver) in receivers.enumerated() {
            try await add(receiver, at: "\(service.url)/push/s3cr3t\(number)", to: mirror)
        }
        let action = try await suggest(in: mirror)
        try await look(at: mirror)
        let requests = service.requests.sorted { $0.target < $1.target }
        #expect(requests.map(\.target) == ["/push/s3cr3t0", "/push/s3cr3t1"])
        let identity = try #require(try table(mirror).identity(page: Self.page))
        var messages: [Message] = []
        for (request, receiver) in zip(requests, receivers) {
            #expect(request.method == "POST")
            #expect(request.header("Content-Encoding") == "aes128gcm")
            #expect(request.header("TTL") == "86400")
            #expect(request.header("Urgency") == "normal")
            expect(request.header("Topic")) {
                $0?.wholeMatch(of: #/[A-Za-z0-9_-]{1,32}/#) != nil
            }
            let claims = try PushReceiver.claims(
                in: try #require(request.header("Authorization")), signedBy: identity.publicKey)
            #expect(claims.aud == "http://127.0.0.1:\(service.port)")
            messages.append(try self.message(request, for: receiver))
        }
        let message = try #require(messages.first)
        #expect(message.title == "test: something waits for you")
        expect(message.text) { $0.hasPrefix("1 action waits for your decision") }
        #expect(message.open == "/m/test/waiting")
        #expect(message.buttons.map(\.label) == ["Approve", "Skip"])
        #expect(message.refused != nil && message.unreached != nil)
        // Told once, and again when it is over, in the place of the first message.
        try await look(at: mirror)
        #expect(service.requests.count == 2)
        let addresses = try #require(
            try await OnceAddresses(of: mirror.name, in: mirror.installation))
        let text = message.buttons[0].path.dropFirst("/once/test/".count)
        _ = try await addresses.use(
            String(text), at: Desk(mirror, zone: mirror.configuration.timeZone))
        let store = mirror.outbox(lease: nil)
        try await expect(store.actions(withIDs: [action.id])[action.id]?.state, equals: .planned)
        try await look(at: mirror)
        #expect(service.requests.count == 4)
        let last = try #require(service.requests.last { $0.target.hasSuffix("0") })
        #expect(last.header("Urgency") == "low")
        let over = try self.message(last, for: receivers[0])
        #expect(over.title == "test: over: something waits for you")
        #expect(over.tag == message.tag)
        #expect(over.buttons.isEmpty)
        #expect(over.refused == nil && over.unreached == nil)
    }

    /// Devices and the other ways are told by the same decision.
    @Test func aDeviceIsToldBesideTheOtherWays() async throws {
        let service = try Self.service()
        let server = try LoopbackServer { _, connection in try connection.respond(status: 200) }
        let mirror = try await open(.sqlite, ["NOTIFY_URL": server.url])
        try await add(try PushReceiver(), at: "\(service.url)/1", to: mirror)
        _ = try await suggest(in: mirror)
        try await look(at: mirror)
        try await look(at: mirror)
        #expect(server.requests.count == 1)
        #expect(service.requests.count == 1)
        try await expect(mirror.notices.told(limit: 5).count, equals: 1)
    }

    /// Without a device nothing is tried, so that a device that is added later is told.
    @Test func withoutADeviceNothingIsCounted() async throws {
        let service = try Self.service()
        let mirror = try await open()
        _ = try await suggest(in: mirror)
        for _ in 0..<3 {
            try await look(at: mirror)
            try await clock.sleep(until: clock.now + 600)
        }
        try await expect(mirror.notices.rows()) { $0.isEmpty }
        try await add(try PushReceiver(), at: "\(service.url)/1", to: mirror)
        try await look(at: mirror)
        #expect(service.requests.count == 1)
        let nobody = try await BareMirror(variables: BareMirror.accounts).open(clock: clock)
        #expect(Notifier(nobody.installation, clock: clock) == nil)
    }

    /// Who has ended it is not told again; who takes no more for now, or has another problem, is.
    @Test func whoIsGoneIsRemoved() async throws {
        let service = try Self.service()
        let log = Recorder<String>()
        let mirror = try await open(log: log)
        for status in [404, 410, 413, 429, 403, 500, 201] {
            try await add(
                try PushReceiver(), at: "\(service.url)/s3cr3t/\(status)", named: "\(status)",
                to: mirror)
        }
        _ = try await suggest(in: mirror)
        try await look(at: mirror)
        #expect(service.requests.count == 7)
        try await expect(table(mirror).all().map(\.name).sorted()) {
            $0 == ["201", "403", "413", "429", "500"]
        }
        let lines = log.values.joined(separator: "\n")
        for text in ["takes no more for now", "too long", "refuses the signature", "status 500"] {
            #expect(lines.contains(text), "\(text)")
        }
        #expect(!lines.contains("s3cr3t"))
        #expect(!lines.contains("/once/"))
        // One that took it is enough.
        try await expect(mirror.notices.told(limit: 5).count, equals: 1)
    }

    // MARK: Subscriptions

    @Test(arguments: [
        "http://push.example.net/1", "ftp://push.example.net/1", "push.example.net", "",
        "https://localhost/1", "https://127.0.0.1/1", "https://127.1/1", "https://2130706433/1",
        "https://0x7f.1/1", "https://[::1]/1", "https://[::ffff:10.0.0.1]/1", "https://10.0.0.1/1",
        "https://192.168.1.5/1", "https://169.254.169.254/latest", "https://printer/1",
        "https://nas.lan/1", "https://db.internal/1", "https://me@push.example.net/1",
        "https://push.example.net\\@10.0.0.1/1", "https://push.example.net/a b",
        "https://push.example.net/\r\nX: y", "javascript:alert(1)",
        "https://push.example.net/" + String(repeating: "a", count: 2_048),
    ])
    func aPushServiceIsPublic(_ endpoint: String) throws {
        let receiver = try PushReceiver()
        let subscription = PushSubscription(
            endpoint: endpoint, key: Base64URL.text(of: receiver.publicKey),
            secret: Base64URL.text(of: receiver.secret), page: "https://mirror.example")
        #expect(subscription == nil)
    }

    /// A public name may still lead to a private address, which the connection refuses.
    @Test func aPublicNameIsCheckedOnceMore() throws {
        let receiver = try PushReceiver()
        let identity = PushIdentity(material: [1], page: Self.page)
        func request(_ endpoint: String) throws -> Bool {
            let subscription = try #require(
                PushSubscription(
                    endpoint: endpoint, key: Base64URL.text(of: receiver.publicKey),
                    secret: Base64URL.text(of: receiver.secret), page: Self.page))
            let message = PushRequest(body: [], topic: "topic", urgency: .normal)
            return message.request(to: subscription, by: identity, now: BareMirror.now)
                .isPublicOnly
        }
        #expect(try request("https://push.example.net/1"))
        #expect(try !request("http://127.0.0.1:1/1"))
    }

    @Test(arguments: [
        ("https://Push.Example.net/1", "https://push.example.net"),
        ("https://push.example.net:443/1", "https://push.example.net"),
        ("https://push.example.net:8443/1?a=b", "https://push.example.net:8443"),
        ("http://127.0.0.1:80/1", "http://127.0.0.1"),
    ])
    func theOriginIsWrittenInOneWay(_ endpoint: String, _ origin: String) throws {
        let receiver = try PushReceiver()
        let subscription = PushSubscription(
            endpoint: endpoint, key: Base64URL.text(of: receiver.publicKey),
            secret: Base64URL.text(of: receiver.secret), page: Self.page)
        #expect(subscription?.origin == origin)
    }

    @Test func keysThatAreNoneAreRefused() throws {
        let receiver = try PushReceiver()
        var elsewhere = receiver.publicKey
        elsewhere[64] ^= 1
        let good = receiver.publicKey
        let wrong: [([UInt8], [UInt8])] = [
            (elsewhere, receiver.secret), ([], receiver.secret), (good, []),
            (Array(good.dropLast()), receiver.secret), (good + [0], receiver.secret),
            ([2] + good.dropFirst(), receiver.secret), (good, receiver.secret + [0]),
            ([UInt8](repeating: 0, count: 65), receiver.secret),
        ]
        for (key, secret) in wrong {
            let subscription = PushSubscription(
                endpoint: "https://push.example.net/1", key: Base64URL.text(of: key),
                secret: Base64URL.text(of: secret), page: Self.page)
            #expect(subscription == nil, "\(key) \(secret)")
        }
    }

    // MARK: Storage

    @Test(arguments: Engine.allCases)
    func aSubscriptionIsStoredSealed(_ engine: Engine) async throws {
        let mirror = try await open(engine)
        let receiver = try PushReceiver()
        let endpoint = "https://push.example.net/planted-endpoint"
        let device = try await add(
            receiver, at: endpoint, named: " my\u{0}\u{202E} phone ", to: mirror)
        #expect(device.name == "my phone")
        let row = try #require(
            try await mirror.storage.query("SELECT device, sealed FROM push_devices").first)
        let sealed = try row.text("sealed")
        #expect(!sealed.contains("planted"))
        try await expect(table(mirror).all().map(\.subscription?.endpoint), equals: [endpoint])
        // The same browser again is the same device.
        try await add(receiver, at: endpoint, named: "tablet", to: mirror)
        try await expect(table(mirror).all().map(\.name), equals: ["tablet"])
        // A row of another mirror does not open.
        try await mirror.storage.execute("UPDATE push_devices SET mirror = 'other'")
        let others = PushDeviceTable(of: "other", in: mirror.installation)
        try await expect(others.all().map(\.subscription), equals: [nil])
        try await expect(
            PushDeviceTable.devices(of: ["other", "test"], in: mirror.installation)
        ) { $0.isEmpty }
        try await expect(others.remove(device.id), equals: true)
        try await expect(others.remove(device.id), equals: false)
    }

    @Test func thereAreTwentyDevicesAtMost() async throws {
        let mirror = try await open()
        for number in 0..<PushDeviceTable.mostDevices {
            try await add(
                try PushReceiver(), at: "https://push.example.net/\(number)", to: mirror)
        }
        let refusal = await #expect(throws: ChangeRefusal.self) {
            try await add(try PushReceiver(), at: "https://push.example.net/more", to: mirror)
        }
        #expect(refusal?.code == .full)
        try await expect(table(mirror).all().count, equals: PushDeviceTable.mostDevices)
    }

    /// A database server without `SECRET_KEY` has nothing to seal or to sign with.
    @Test func withoutAKeyThereAreNoDevices() async throws {
        let mirror = try await BareMirror(
            .postgres, variables: BareMirror.accounts.merging(["WEB_ADDRESS": Self.page]) { $1 }
        ).open(clock: clock)
        try expect(table(mirror).identity(page: Self.page, mayMake: true)?.publicKey, equals: nil)
        let refusal = await #expect(throws: ChangeRefusal.self) {
            try await add(try PushReceiver(), at: "https://push.example.net/1", to: mirror)
        }
        #expect(refusal?.code == .notAllowed)
    }
}
