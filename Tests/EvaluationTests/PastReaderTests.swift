import Expectations
import Foundation
import Import
import Posts
import TestSupport
import Testing

@testable import Evaluation

/// Posting times read from files, for measuring without a mirror.
@Suite struct PastReaderTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func write(_ lines: [String], to name: String) throws -> String {
        try folder.write(Data(lines.joined(separator: "\n").utf8), to: name)
    }

    private func table(_ rows: [String], to name: String = "events.csv") throws -> String {
        try write(["author,timestamp"] + rows, to: name)
    }

    private func shown(_ past: Past) -> [String] { past.times.map { "\($0.day) \($0.minute)" } }

    // MARK: Tables

    @Test func eachAuthorsPostsAreInTheOrderOfTime() async throws {
        let path = try table([
            "ada,2026-01-02T00:30:00+09:00", "bob,2026-01-01T10:00:00Z", "ada,2026-01-01T16:00:00Z",
            "ada,2026-01-01T08:00:00-09:00",
        ])
        let pasts = try await PastReader(zone: nil).tables(at: [path])
        #expect(pasts.map(\.author) == ["ada", "bob"])
        // 15:30, 16:00 and 17:00 in UTC; what is kept is what each clock showed.
        #expect(shown(pasts[0]) == ["2026-01-02 00:30", "2026-01-01 16:00", "2026-01-01 08:00"])
        #expect(shown(pasts[1]) == ["2026-01-01 10:00"])
    }

    @Test func oneZoneMayBeGivenForAll() async throws {
        let path = try table(["ada,2026-01-02T00:30:00+09:00", "ada,2026-07-01T08:00:00-09:00"])
        let zone = try #require(TimeZone(identifier: "America/New_York"))
        let pasts = try await PastReader(zone: zone).tables(at: [path])
        #expect(shown(pasts[0]) == ["2026-01-01 10:30", "2026-07-01 13:00"])
    }

    @Test func tablesOfAFolderAreOneTable() async throws {
        _ = try table(["ada,2026-01-02T10:00:00Z"], to: "b.csv")
        _ = try table(["bob,2026-01-01T10:00:00Z", "ada,2026-01-01T10:00:00Z"], to: "a.csv")
        let pasts = try await PastReader(zone: nil).tables(at: [folder.path])
        #expect(pasts.map(\.author) == ["bob", "ada"])
        #expect(shown(pasts[1]) == ["2026-01-01 10:00", "2026-01-02 10:00"])
        let twice = try await PastReader(zone: nil).tables(at: [
            folder.path("a.csv"), folder.path("a.csv"),
        ])
        #expect(twice.map(\.times.count) == [2, 2])
    }

    @Test func aFaultNamesItsFileAndLine() async throws {
        let good = try table(["ada,2026-01-02T10:00:00Z"], to: "a.csv")
        let bad = try table(["ada,2026-01-02T10:00:00Z", "ada,soon"], to: "b.csv")
        let error = await #expect(throws: ImportError.self) {
            _ = try await PastReader(zone: nil).tables(at: [good, bad])
        }
        #expect(error?.path == bad)
        expect(error?.description) { $0?.contains("b.csv: line 3: timestamp is no date") == true }
    }

    @Test func moreAuthorsThanCanBeToldApartAreRefused() async throws {
        let rows = (0..<PastReader.maximumAuthors).map { "a\($0),2026-01-02T10:00:00Z" }
        let fitting = try table(rows, to: "fitting.csv")
        try await expect(
            PastReader(zone: nil).tables(at: [fitting]).count, equals: PastReader.maximumAuthors)
        let more = try table(rows + ["one more,2026-01-02T10:00:00Z"], to: "more.csv")
        let error = await #expect(throws: ImportError.self) {
            _ = try await PastReader(zone: nil).tables(at: [more])
        }
        expect(error?.reason) { $0?.contains("more than 10000 authors") == true }
    }

    // MARK: Archives

    private func line(_ id: String, _ time: String, _ more: String = "") -> String {
        #"{"id":"\#(id)","author":"me@home.example","text":"hello","created_at":"\#(time)"\#(more)}"#
    }

    @Test func anArchiveGivesWhatTheScheduleLearns() async throws {
        let path = try write(
            [
                line("3", "2026-01-03T10:00:00Z"), line("1", "2026-01-01T10:00:00Z"),
                line("2", "2026-01-02T10:00:00Z", #","reply_to_author":"pal@home.example""#),
                line("4", "2026-01-04T10:00:00Z", #","visibility":"private""#),
                line("5", "2026-01-05T10:00:00+09:00", #","visibility":"unlisted""#),
                line("1", "2026-01-01T10:00:00Z"),
            ], to: "posts.jsonl")
        let (past, zone) = try await PastReader(zone: nil).archive(at: path)
        #expect(zone == .gmt)
        #expect(past.author == path)
        #expect(shown(past) == ["2026-01-01 10:00", "2026-01-03 10:00", "2026-01-05 01:00"])
        let tokyo = try #require(TimeZone(identifier: "Asia/Tokyo"))
        let (local, used) = try await PastReader(zone: tokyo).archive(at: path)
        #expect(used == tokyo)
        #expect(shown(local) == ["2026-01-01 19:00", "2026-01-03 19:00", "2026-01-05 10:00"])
    }

    @Test func anArchiveIsReadInTheZoneItNames() async throws {
        let data = folder.path("archive/data")
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        // The id holds the time: 2026-01-10T20:00:00Z.
        let id = (UInt64(1_768_075_200_000) - 1_288_834_974_657) << 22
        let files = [
            "account-timezone":
                #"window.YTD.account_timezone.part0 = [{"accountTimezone":{"accountId":"1","timeZone":"Tokyo"}}]"#,
            "account":
                #"window.YTD.account.part0 = [{"account":{"accountId":"1","username":"me"}}]"#,
            "tweets": #"window.YTD.tweets.part0 = [{"tweet":{"id_str":"\#(id)","full_text":"hi","#
                + #""created_at":"Sat Jan 10 20:00:00 +0000 2026"}}]"#,
        ]
        for (name, text) in files {
            try folder.write(Data(text.utf8), to: "archive/data/\(name).js")
        }
        let (past, zone) = try await PastReader(zone: nil).archive(at: folder.path("archive"))
        #expect(zone.identifier == "Asia/Tokyo")
        #expect(shown(past) == ["2026-01-11 05:00"])
        #expect(past.author == "me")
        let (utc, _) = try await PastReader(zone: .gmt).archive(at: folder.path("archive"))
        #expect(shown(utc) == ["2026-01-10 20:00"])
    }

    @Test func whatIsNoArchiveIsRefused() async throws {
        await #expect(throws: ImportError.self) {
            _ = try await PastReader(zone: nil).archive(at: folder.path("missing"))
        }
    }
}
