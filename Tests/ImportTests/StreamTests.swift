import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Import

/// Archives on standard input and in pipes.
@Suite(.timeLimit(.minutes(30))) struct StreamTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// Reads bytes that come through a pipe.
    private func read(_ data: Data, limits: ImportLimits = ImportLimits()) throws -> Reading {
        let path = directory.path("pipe-\(UUID().uuidString)")
        #expect(mkfifo(path, 0o600) == 0)
        Thread.detachNewThread {
            guard let handle = FileHandle(forWritingAtPath: path) else { return }
            try? handle.write(contentsOf: data)
            try? handle.close()
        }
        return try Reading(path, limits: limits)
    }

    /// One file of each kind.
    private func samples() throws -> [String: Data] {
        var zip = ZipWriter()
        zip.add("data/account.js", Fixture.account)
        zip.add("data/tweets.js", Fixture.tweets([Fixture.tweet("1500000000000000001", "bread")]))
        var tar = TarWriter()
        tar.add("actor.json", MastodonFixture.actor)
        tar.add(
            "media_attachments/files/1/original/a.png", String(repeating: "picture", count: 100_000)
        )
        tar.add(
            "outbox.json", MastodonFixture.outbox([MastodonFixture.create("1", "<p>bread</p>")]))
        let packed = try tar.writePacked(to: "archive", in: directory)
        var repository = RepositoryWriter()
        let car = repository.repository(
            (0..<300).map { (RepositoryWriter.key($0), RepositoryWriter.post("text \($0)")) })
        let line =
            #"{"id":"1","author":"a@b.example","text":"bread","created_at":"2024-01-02T03:04:05Z"}"#
            + "\n"
        return [
            "zip": zip.data, "tar": tar.data,
            "tar.gz": try Data(contentsOf: URL(fileURLWithPath: packed)),
            "car": Data(car),
            "outbox.json": Data(
                MastodonFixture.outbox([MastodonFixture.create("1", "<p>bread</p>")]).utf8),
            "jsonl": Data(String(repeating: line, count: 2_000).utf8),
            "notes-2023-01-31-12-00-00.json": Data(
                #"[{"id":"9a","text":"bread","createdAt":"2023-01-31T12:00:00.250Z","fileIds":[],"replyId":null,"renoteId":null,"poll":null,"cw":null,"visibility":"public","visibleUserIds":[],"localOnly":false}]"#
                    .utf8),
        ]
    }

    @Test func everyKindIsReadFromAPipeAsFromAFile() throws {
        for (name, data) in try samples() {
            let file = try Reading(try directory.write(data, to: name))
            let stream = try read(data)
            #expect(stream.texts == file.texts, "\(name)")
            #expect(stream.summary.posts == file.summary.posts, "\(name)")
            #expect(!file.texts.isEmpty, "\(name)")
        }
    }

    /// What cannot be read is named, with the way to read it.
    @Test(
        arguments: [
            ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "packed with 7z; unpack it"),
            (Array("Rar!\u{1A}".utf8), "packed with rar"),
            ([0xFD, 0x37, 0x7A, 0x58, 0x5A], "xz -d"), (Array("BZh91".utf8), "bunzip2"),
            ([0x28, 0xB5, 0x2F, 0xFD], "zstd -d"),
            ([0xFF, 0xFE, 0x7B, 0x00], "written as UTF-16; save it as UTF-8"),
            (Array("SQLite format 3\0".utf8), "mirror-bot move"),
            (Array("<!DOCTYPE html>".utf8), "download the archive itself"),
            (Array("window.YTD.tweets".utf8), "give the folder"),
            (Array("just words".utf8), "expected an archive of X or Mastodon"), ([], "it is empty"),
        ] as [([UInt8], String)])
    func whatIsNoArchiveIsRefusedByName(_ bytes: [UInt8], _ problem: String) throws {
        for isStream in [true, false] {
            let error = try importError {
                _ =
                    isStream
                    ? try read(Data(bytes))
                    : try Reading(try directory.write(Data(bytes), to: UUID().uuidString))
            }
            expect(error.description) { $0.contains(problem) }
            expect(error.description) { !$0.contains("/proc/self") && !$0.contains("UTF-8:") }
        }
    }

    /// Readers of one format alone.
    @Test func anArchiveInTheWrongPlaceIsNamed() throws {
        let zip = try directory.write(try #require(try samples()["zip"]), to: "archive.zip")
        let reader = JSONLinesReader(
            path: zip, purpose: .classifier, network: .mastodon, localHost: nil)
        let lines = try importError { _ = try reader.read { _ in } }
        expect(lines.description) {
            $0.contains("it is a zip; unpack it, and give the file with JSON Lines")
        }
        let table = try importError { try EventTableReader(path: zip).read { _ in } }
        expect(table.description) {
            $0.contains("it is a zip; unpack it, and give the file with a table")
        }
    }

    @Test func aDamagedStreamIsNamedAsItWasGiven() throws {
        var zip = ZipWriter()
        zip.add("data/tweets.js", Fixture.tweets([]))
        let error = try importError { _ = try read(zip.data.dropLast(20)) }
        expect(error.description) { $0.contains("/pipe-") && $0.contains("download it again") }
        #expect(
            ImportError(.damaged, path: "-", "x").description
                == "could not import standard input: x")
        var limits = ImportLimits()
        limits.totalBytes = 10_000
        let long = try importError {
            _ = try read(Data("PK".utf8) + Data(count: 20_000), limits: limits)
        }
        #expect(long.code == .bomb)
    }
}
