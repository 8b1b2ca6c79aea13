import Archive
import Control
import Expectations
import Foundation
import Mirroring
import Posts
import TestSupport
import Testing

/// `zones`, as a person types it.
@Suite(.timeLimit(.minutes(30))) struct ZonesCommandTests {
    /// Posts at eight in the morning of each day, in Tokyo from 2019-03-01 to 2020-06-30 and else
    /// in Berlin.
    private static let lines: String = {
        let tokyo = ["2019-03-02T23:00:00Z", "2019-12-24T23:00:00Z", "2020-06-29T23:00:00Z"]
        let berlin = ["2018-01-06T07:00:00Z", "2018-07-06T06:00:00Z", "2021-02-06T07:00:00Z"]
        return (tokyo + berlin).enumerated().map { index, time in
            #"{"id":"p\#(index)","author":"me@social.example","text":"Morning \#(index)","created_at":"\#(time)"}"#
        }
        .joined(separator: "\n")
    }()

    private func stage(onServer: Bool) async throws -> Stage {
        let variables = ["TIME_ZONE": "Europe/Berlin"]
        let stage = try await onServer ? Stage.onServer(variables) : Stage(variables)
        try await stage.train(Self.lines)
        return stage
    }

    private func minutes(_ stage: Stage) async throws -> [Int] {
        try await stage.withMirror { try await $0.archive.scheduleRows().map(\.minute.value) }
    }

    @Test(arguments: [false, true]) func whoMovedTellsSoAndMorningsAreMornings(onServer: Bool)
        async throws
    {
        let stage = try await stage(onServer: onServer)
        try await expect(minutes(stage), equals: [480, 480, 0, 0, 60, 480])
        try await expect(stage.run("zones").output, equals: "Europe/Berlin  at all times\n")
        let added = try await stage.run(
            "zones", "add", "Asia/Tokyo", "--from", "2019-03-01", "--to", "2020-06-30")
        #expect(added.status == 0, "\(added.error)")
        #expect(
            added.output == """
                noted: Asia/Tokyo from 2019-03-01 to 2020-06-30
                moved: 3 posts
                to take it back: mirror-bot zones remove 2019-03-01

                """)
        try await expect(minutes(stage), equals: Array(repeating: 480, count: 6))
        let again = try await stage.run(
            "zones", "add", "Asia/Tokyo", "--from", "2019-03-01", "--to", "2020-06-30")
        #expect(
            again.output == "that was noted already: Asia/Tokyo from 2019-03-01 to 2020-06-30\n")
        let open = try await stage.run(
            "zones", "add", "America/Lima", "--to", "2017-12-31", "--json")
        for part in [
            #""schema" : "mirror-bot/zones-change/1""#, #""is_new" : true"#, #""moved" : 0"#,
        ] {
            #expect(open.output.contains(part), "\(part)")
        }
        try await expect(
            stage.run("zones", "list").output,
            equals: """
                America/Lima   to 2017-12-31
                Asia/Tokyo     from 2019-03-01 to 2020-06-30
                Europe/Berlin  at all other times, and for the bot

                """)
        let status = try await stage.run("status")
        #expect(
            status.output.contains(
                "time zone   Europe/Berlin; America/Lima to 2017-12-31; Asia/Tokyo from 2019-03-01 to 2020-06-30\n"
            ))
        let removed = try await stage.run("zones", "remove", "2019-12-24")
        #expect(
            removed.output == """
                taken out: Asia/Tokyo from 2019-03-01 to 2020-06-30
                moved: 3 posts
                to take it back: mirror-bot zones add Asia/Tokyo --from 2019-03-01 --to 2020-06-30

                """)
        try await expect(stage.run("zones", "remove", "America/Lima").status, equals: 0)
        let output = try await stage.run("zones", "--json").output
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
        expect((report["zones"] as? [Any])) { $0?.isEmpty == true }
        #expect(report["time_zone"] as? String == "Europe/Berlin")
        try await expect(minutes(stage), equals: [480, 480, 0, 0, 60, 480])
    }

    @Test func whatCannotBeMeantIsRefusedWithAProposal() async throws {
        let stage = try await stage(onServer: false)
        func expectRefusal(_ words: [String], _ message: String) async throws {
            let ending = try await stage.run(words: words)
            #expect(ending.status == 64, "\(words)")
            #expect(ending.output.isEmpty, "\(ending.error)")
            #expect(ending.error.contains(message), "\(ending.error)")
        }
        try await expect(
            stage.run("zones", "add", "Asia/Tokyo", "--from", "2019-03-01").status, equals: 0)
        try await expectRefusal(
            ["zones", "add", "Asia/Seoul", "--from", "2020-01-01", "--to", "2020-02-01"],
            "some of these days are noted for Asia/Tokyo, from 2019-03-01; remove that first: "
                + "mirror-bot zones remove 2019-03-01")
        try await expectRefusal(
            ["zones", "add", "Asia/Tokio", "--to", "2018-01-01"],
            "is no time zone; did you mean Asia/Tokyo?")
        try await expectRefusal(
            ["zones", "add", "new york", "--to", "2018-01-01"], "did you mean America/New_York?")
        try await expectRefusal(
            ["zones", "add", "\u{1B}[2J nowhere at all", "--to", "2018-01-01"],
            "is no time zone; expected an IANA name such as Europe/Berlin")
        try await expectRefusal(["zones", "add", "Asia/Seoul"], "give --from, --to or both")
        try await expectRefusal(
            ["zones", "add", "Asia/Seoul", "--from", "2018-01-02", "--to", "2018-01-01"],
            "expected two dates, the earlier one first")
        try await expectRefusal(
            ["zones", "add", "Asia/Seoul", "--to", "soon"], "expected two dates")
        try await expectRefusal(
            ["zones", "remove", "2018-01-01"], "no zone is noted for 2018-01-01")
        try await expectRefusal(["zones", "remove", "Asia/Seoul"], "Asia/Seoul is not noted")
        try await expectRefusal(["zones", "remove", "soon"], "is no time zone")
        try await expect(stage.run("zones", "remove", "\u{1B}[2J").error) { !$0.contains("\u{1B}") }
    }
}
