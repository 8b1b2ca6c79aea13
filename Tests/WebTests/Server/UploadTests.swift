import Archive
import Foundation
import Mirroring
import Settings
import Storage
import TestSupport
import Testing

@testable import Web

/// Archives that a browser sends in pieces.
@Suite(.timeLimit(.minutes(30))) struct UploadTests {
    private static let text = (0..<40).map { number in
        #"{"id":"up-\#(number)","author":"mika@social.example","text":"Sent \#(number)","#
            + #""created_at":"2026-03-\#(number % 20 + 10)T09:30:00Z"}"# + "\n"
    }.joined()

    private static func address(
        _ name: String = "posts.jsonl", size: Int? = nil, offset: Int? = nil
    ) -> String {
        let fields: [(String, String?)] = [
            ("what", "posts"), ("name", name), ("size", "\(size ?? text.utf8.count)"),
            ("modified", "1780000000000"), ("offset", offset.map { "\($0)" }),
        ]
        return "/m/mika/setup/upload" + WebFields.query(fields)
    }

    private static func send(
        _ piece: some StringProtocol, to address: String, of client: WebClient,
        token: String? = nil
    ) async throws -> WebClient.Answer {
        let own = try await client.send("/m/mika").field("csrf") ?? ""
        return try await client.send(
            address,
            headers: [
                "Content-Type": "application/octet-stream", "X-Form-Token": token ?? own,
            ], body: String(piece))
    }

    /// The files that are there.
    private static func files(_ stand: WebStand) throws -> [String] {
        guard case .sqlite(let path) = stand.installation.process.storage else { return [] }
        let folder = (path as NSString).deletingLastPathComponent + "/uploads"
        do {
            return try FileManager.default.subpathsOfDirectory(atPath: folder).filter {
                $0.contains("/")
            }
        } catch CocoaError.fileReadNoSuchFile {
            // There is no folder, or the only one in it was removed while it was read.
            return []
        }
    }

    @Test func anArchiveComesInPiecesAndIsReadAndRemoved() async throws {
        try await WebStand.with { stand in
            let client = stand.client
            let before = try await stand.mirror().archive.count()
            try await #expect(client.send(Self.address()).body == "0")
            let half = Self.text.utf8.count / 2
            let first = String(Self.text.prefix(half))
            let rest = Self.text.dropFirst(half)
            try await #expect(
                Self.send(first, to: Self.address(offset: 0), of: client).body == "\(half)")
            // The same piece once more, as after an answer that was lost.
            try await #expect(
                Self.send(first, to: Self.address(offset: 0), of: client).body == "\(half)")
            // Another page of the same database goes on where the first one was.
            let again = try await stand.serveAgain()
            try await #expect(again.send(Self.address()).body == "\(half)")
            try #expect(Self.files(stand).count == 1)
            try await #expect(
                Self.send(rest, to: Self.address(offset: half), of: again).body == "done")
            while try !Self.files(stand).isEmpty { await Task.yield() }
            try await #expect(stand.mirror().archive.count() == before + 40)
        }
    }

    /// The body of a form with a file, as a browser without scripts sends it.
    private static func form(
        _ fields: [(String, String)], name: String? = "posts.jsonl", content: String = text
    ) -> String {
        let parts = fields.map { name, value in
            "--B\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
        }
        let file = name.map { name in
            "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"\(name)\"\r\n"
                + "Content-Type: application/octet-stream\r\n\r\n\(content)\r\n"
        }
        return parts.joined() + (file ?? "") + "--B--\r\n"
    }

    private static func send(
        form: String, of client: WebClient, type: String = "multipart/form-data; boundary=B"
    ) async throws -> WebClient.Answer {
        try await client.send(
            "/m/mika/setup/file", headers: ["Content-Type": type], body: form)
    }

    @Test func aFormWithAFileNeedsNoScript() async throws {
        try await WebStand.with { stand in
            let client = stand.client
            let before = try await stand.mirror().archive.count()
            let token = try #require(try await client.send("/m/mika").field("csrf"))
            let fields = [("csrf", token), ("what", "posts")]
            // What an upload of the same size left is no beginning of it.
            let body = Self.form(fields)
            let left = try #require(
                UploadFolder.File(
                    mirror: "mika", name: "posts.jsonl", size: "\(body.utf8.count)", modified: "0")
            )
            let uploads = UploadFolder(stand.installation.process.storage)
            _ = try await uploads.add([1, 2, 3], at: 0, to: left, now: Date())
            let answer = try await Self.send(form: body, of: client)
            #expect(answer.status == 303)
            #expect(answer["Location"] == "/m/mika/setup?step=posts")
            while try !Self.files(stand).isEmpty { await Task.yield() }
            try await #expect(stand.mirror().archive.count() == before + 40)
        }
    }

    @Test func aFormWithAFileIsCheckedBeforeTheFile() async throws {
        try await WebStand.with { stand in
            let client = stand.client
            let token = try await client.send("/m/mika").field("csrf") ?? ""
            let fields = [("csrf", token), ("what", "posts")]
            func status(
                _ fields: [(String, String)], name: String? = "posts.jsonl",
                content: String = Self.text
            ) async throws -> Int {
                let form = Self.form(fields, name: name, content: content)
                return try await Self.send(form: form, of: client).status
            }
            try await #expect(status([("what", "posts")]) == 403)
            try await #expect(status([("csrf", "wrong"), ("what", "posts")]) == 403)
            try await #expect(status([("csrf", token)]) == 400)
            try await #expect(status([("csrf", token), ("what", "secrets")]) == 400)
            try await #expect(status(fields, name: "") == 400)
            try await #expect(status(fields, name: nil) == 400)
            try await #expect(status(fields, content: "") == 400)
            let many = (0..<9).map { ("a\($0)", "b") }
            try await #expect(status(many + fields) == 400)
            let long = String(repeating: "x", count: 2_000)
            try await #expect(status([("what", long)] + fields) == 400)
            // A form that ends too early, and what is none.
            let whole = Self.form(fields)
            try await #expect(
                Self.send(form: String(whole.dropLast(20)), of: client).status == 400)
            for type in ["text/plain", "multipart/form-data", "multipart/form-data; boundary=é"] {
                try await #expect(Self.send(form: whole, of: client, type: type).status == 400)
            }
            try #expect(Self.files(stand) == [])
        }
        try await WebStand.with(isReadOnly: true) { stand in
            try await #expect(Self.send(form: Self.form([]), of: stand.client).status == 403)
        }
    }

    @Test func whatIsNoPieceOfTheFileIsRefused() async throws {
        try await WebStand.with { stand in
            let client = stand.client
            // A name leads nowhere else.
            _ = try await Self.send(
                "abc", to: Self.address("../../../x.zip", size: 9, offset: 0), of: client)
            try #expect(
                Self.files(stand).map { $0.split(separator: "/").last } == [
                    "archive-.._.._.._x.zip"
                ])
            for (size, offset) in [(0, 0), (-4, 0), (17 << 30, 0), (9, -1)] {
                let address = Self.address(size: size, offset: offset)
                try await #expect(Self.send("abc", to: address, of: client).status == 400)
            }
            // More than the file has.
            try await #expect(
                Self.send("abcdef", to: Self.address(size: 3, offset: 0), of: client).body == "0")
            let large = String(repeating: "x", count: UploadFolder.mostOfPiece + 1)
            try await #expect(
                Self.send(large, to: Self.address(size: 20 << 20, offset: 0), of: client).status
                    == 413)
            try await #expect(
                Self.send("abc", to: Self.address(offset: 0), of: client, token: "wrong").status
                    == 403)
            try await #expect(
                client.send("/m/nobody/setup/upload?name=a&size=1&modified=1").status == 404)
        }
        try await WebStand.with(isReadOnly: true) { stand in
            try await #expect(
                Self.send("abc", to: Self.address(offset: 0), of: stand.client).status == 403)
        }
    }

    /// Who comes through a proxy, or has to log in, may be elsewhere.
    @Test func onlyWhoIsAtTheMachineNamesAFile() async throws {
        let path = "/m/mika/setup?step=human&on=archive"
        let form = [("what", "posts"), ("step", "posts"), ("archive", "/etc/hostname")]
        func expectNoPath(_ stand: WebStand, _ headers: [String: String] = [:]) async throws {
            let page = try await stand.client.send(path, headers: headers)
            #expect(page.status == 200)
            #expect(page.body.contains("data-upload=\"/m/mika/setup/upload\""))
            #expect(
                page.body.contains(
                    "action=\"/m/mika/setup/file\" enctype=\"multipart/form-data\""))
            #expect(!page.body.contains("name=\"archive\""))
            let token = ("csrf", try #require(page.field("csrf")))
            let refused = try await stand.client.send(
                "/m/mika/setup/learn", form: [token] + form, headers: headers)
            #expect(refused.status == 409)
            #expect(refused.body.contains("<div id=\"setup-learning\"></div>"))
        }
        try await WebStand.with([]) { stand in
            try await stand.add("mika")
            let here = try await stand.client.send(path)
            #expect(here.body.contains("name=\"archive\""))
            try await expectNoPath(stand, ["X-Forwarded-For": "192.0.2.1"])
        }
        try await WebStand.with([], variables: ["WEB_PASSWORD": WebStand.password]) { stand in
            try await stand.add("mika")
            try await stand.logIn()
            try await expectNoPath(stand)
        }
        try await WebStand.with([], variables: ["WEB_HOSTS": "mirror.example.org"]) { stand in
            try await stand.add("mika")
            let headers = [
                "Host": "mirror.example.org", "Origin": "http://mirror.example.org",
            ]
            try await expectNoPath(stand, headers)
        }
    }

    @Test func whatWasNotFinishedIsRemovedAfterADay() async throws {
        let folder = try TemporaryDirectory()
        let uploads = UploadFolder(.sqlite(path: folder.path("mirror-bot.sqlite")))
        func file(_ name: String) throws -> UploadFolder.File {
            try #require(
                UploadFolder.File(mirror: "mika", name: name, size: "9", modified: "1"))
        }
        let old = try file("old.zip")
        try await #expect(uploads.add([1, 2], at: 0, to: old, now: Date()) == .partial(2))
        let new = try file("new.zip")
        let tomorrow = Date() + 90_000
        try await #expect(uploads.add([1, 2], at: 0, to: new, now: tomorrow) == .partial(2))
        try await #expect(uploads.received(old) == 0)
        try await #expect(uploads.received(new) == 2)
    }
}
