import Archive
import Control
import Expectations
import Foundation
import Mirroring
import Outbox
import Posts
import TestSupport
import Testing

/// `mirror-bot train` with archives.
@Suite(.timeLimit(.minutes(30))) struct TrainCommandTests {
    private let stage: Stage

    init() throws { stage = try Stage(["TIME_ZONE": "Asia/Tokyo"]) }

    @Test func readsStandardInput() async throws {
        let ending = try await stage.run(
            "train", "scheduler", "--from", "-", input: Fixture.lines(days: 3, perDay: 2))
        #expect(ending.status == 0)
        #expect(ending.output == "read 6 posts: 6 new, 0 known\nthe archive holds 6 posts\n")
        #expect(ending.error == "next: mirror-bot login mastodon --as bot\n")
        try await expect(stage.status().archive.posts, equals: 6)
    }

    @Test func readsAPipe() async throws {
        try stage.folder.write(Data(Fixture.lines(days: 2).utf8), to: "posts.jsonl")
        let shell = try RunningProgram(
            Launch(
                path: "/bin/sh",
                arguments: [
                    "-c", "cat posts.jsonl | \"$0\" train scheduler --from -", Stage.program(),
                ],
                environment: stage.environment, folder: stage.folder.path))
        let ending = await shell.ending()
        #expect(ending.status == 0)
        #expect(ending.output.hasPrefix("read 2 posts: 2 new"))
    }

    @Test func aSecondReadingLearnsNothingTwice() async throws {
        let lines = Fixture.lines(days: 4)
        try await stage.train(lines)
        let again = try await stage.run("train", "scheduler", "--from", "-", input: lines)
        #expect(again.output.hasPrefix("read 4 posts: 0 new, 4 known\n"))
        let over = try await stage.run(
            "train", "scheduler", "--from", "-", "--again", input: Fixture.lines(days: 1))
        #expect(over.output == "read 1 posts: 1 new, 0 known\nthe archive holds 1 posts\n")
    }

    /// What is to be learned anew is there until something can be read in its place.
    @Test func startingOverFromNothingForgetsNothing() async throws {
        try await stage.train(Fixture.lines(days: 4))
        let wrong = try await stage.run("train", "scheduler", "--again", "--from", "missing.jsonl")
        #expect(wrong.status == 65)
        let empty = try await stage.run("train", "scheduler", "--again", "--from", "-", input: "")
        #expect(empty.status == 65)
        let locked = try await stage.run("train", "scheduler", "--again", "--if-possible")
        #expect(locked.status == 0)
        #expect(locked.error.hasPrefix("not trained yet: "))
        try await expect(stage.status().archive.posts, equals: 4)
    }

    /// Who looks by another clock is told so, and moves nothing.
    @Test func onlyTrainingMovesTheMinutes() async throws {
        try await stage.train(Fixture.lines(days: 4))
        let stats = try await stage.run("stats", "--time-zone", "Europe/Berlin", "--json")
        #expect(stats.status == 0)
        #expect(stats.output.contains(#""time_zone" : "Asia/Tokyo""#))
        #expect(
            stats.error.hasPrefix(
                "note: minutes are those of Asia/Tokyo; TIME_ZONE, Europe/Berlin, counts from"))
        try await expect(stage.status().timeZone, equals: "Asia/Tokyo")
        _ = try await stage.run(
            "train", "scheduler", "--time-zone", "Europe/Berlin", "--from", "-",
            input: Fixture.lines(days: 1))
        try await expect(stage.status().timeZone, equals: "Europe/Berlin")
    }

    @Test func keepsTheGoodLinesAndNamesTheBadOnes() async throws {
        let lines = [
            Fixture.line("a", "A good line"), "not json at all\n",
            Fixture.line("b", "Another good line"),
            #"{"id":"c","author":"me@home.example","created_at":"2026-01-01T00:00:00Z"}"# + "\n",
            #"{"id":"d","text":"when","created_at":"yesterday"}"# + "\n", "[1]\n",
        ]
        let path = try stage.folder.write(Data(lines.joined().utf8), to: "mixed.jsonl")
        let ending = try await stage.run("train", "scheduler", "--from", path)
        #expect(ending.status == 0)
        #expect(ending.output.contains("read 2 posts: 2 new, 0 known\n"))
        #expect(ending.output.contains("left out because they cannot be read: 4\n"))
        for number in [2, 4, 5, 6] {
            #expect(ending.output.contains("mixed.jsonl, line \(number): "))
        }
        #expect(!ending.output.contains("not json at all"), "a text of the archive was printed")
        try await expect(stage.status().archive.posts, equals: 2)
    }

    @Test func readsAnExtractedArchive() async throws {
        let path = try Fixture.xArchive(in: stage.folder)
        let scheduler = try await stage.run("train", "scheduler", "--from", path)
        #expect(scheduler.status == 0)
        #expect(scheduler.output.contains("read 120 posts: 120 new, 0 known\n"))
        #expect(scheduler.output.hasPrefix("X archive of "))
        #expect(
            scheduler.output.contains(
                "\nread 2 files: data/account.js, data/tweets.js\nleft closed 1 file: data/like.js\n"
            ))
        let classifier = try await stage.run("train", "classifier", "--from", path, "--limit", "10")
        #expect(classifier.status == 0)
        #expect(classifier.output.contains("learned so far: 10 favorites, 0 other posts\n"))
        #expect(
            classifier.output.contains("favorites wait until there is more: 10 of 20 favorites"))
        #expect(
            classifier.output.contains(
                "; normals are learned from a home timeline, here or while mirror-bot run"))
    }

    @Test func saysThatAnArchiveIsSomebodyElses() async throws {
        let path = try Fixture.xArchive(in: stage.folder)
        let environment = ["HUMAN_NETWORK": "x"]
        try await stage.withMirror(environment) { mirror in
            try await mirror.bind(
                human: Account(id: AccountID(network: .x, value: "777"), handle: "other"), bot: nil,
                now: Date())
        }
        let ending = try await stage.run(
            "train", "scheduler", "--from", path, environment: environment)
        #expect(ending.status == 0)
        #expect(
            ending.output.contains(
                "the archive is not the human's: it is of x:42, and the human is x:777\n"))
    }

    @Test func postsInCommunitiesAreAskedFor() async throws {
        let path = try Fixture.xArchive(in: stage.folder)
        let club =
            #"window.YTD.community_tweet.part0 = [{"tweet":{"id_str":"1595500000000000001","full_text":"for the club"}}]"#
        try club.write(
            toFile: path + "/data/community-tweet.js", atomically: false, encoding: .utf8)
        let without = try await stage.run("train", "scheduler", "--from", path)
        #expect(
            without.output.contains(
                "posts in communities were left out; mirror-bot train scheduler --from ARCHIVE --communities reads "
                    + "them as well\n"))
        let with = try await stage.run("train", "scheduler", "--from", path, "--communities")
        #expect(with.output.contains("read 121 posts: 1 new, 120 known\n"))
        let alone = try await stage.run("train", "scheduler", "--communities")
        #expect(alone.status == 64)
        #expect(alone.error.contains("--communities needs --from"))
    }

    /// Favorites with their texts need no account, and who opted out of bots is not learned from.
    @Test func learnsTheFavoritesThatMastodonArchiveSaved() async throws {
        func status(_ id: Int, _ text: String, by name: String, note: String = "") -> String {
            #"""
            {"id":\#(id),"uri":"https://b.example/\#(id)","content":"<p>\#(text)</p>","visibility":"public",\#
            "created_at":"2017-04-05T12:33:11+00:00","account":{"id":\#(id),"acct":"\#(name)@b.example","note":"\#(note)"}}
            """#
        }
        let favorites = [
            status(1, "ships", by: "bob"),
            status(2, "quiet ships", by: "ann", note: "<p>#nobot</p>"),
        ]
        let backup =
            #"{"account":{},"statuses":[],"favourites":[\#(favorites.joined(separator: ","))]}"#
        let path = try stage.folder.write(Data(backup.utf8), to: "backup.json")
        let ending = try await stage.run("train", "classifier", "--from", path)
        #expect(ending.status == 0)
        #expect(ending.output.contains("learned so far: 1 favorites, 0 other posts\n"))
        #expect(ending.output.contains("left out 1: own posts, reposts and people who opted out\n"))
    }

    @Test func guessesTheTimeZoneThatIsNotSet() async throws {
        let ending = try await stage.run(
            "train", "scheduler", "--from", "-", environment: ["TIME_ZONE": ""],
            input: Fixture.lines(days: 30, perDay: 12))
        #expect(ending.status == 0)
        #expect(
            ending.output.contains(
                ", guessed from the hours in which the human never posts, give or take 2 hours; set TIME_ZONE if it is another\n"
            ))
        let status = try await stage.status(["TIME_ZONE": ""])
        try expect(#require(status.timeZone)) {
            ending.output.contains("the time zone is \($0), guessed")
        }
        expect(status.idle) {
            $0.contains { $0.contains("guessed") && $0.contains("set TIME_ZONE if") }
        }
    }

    @Test func saysThatThereIsTooLittleToGuessATimeZoneFrom() async throws {
        let ending = try await stage.run(
            "train", "scheduler", "--from", "-", environment: ["TIME_ZONE": ""],
            input: Fixture.lines(days: 5, perDay: 4))
        #expect(ending.status == 0)
        #expect(ending.output.contains("set TIME_ZONE before run: there are too few posts"))
        try await expect(stage.status(["TIME_ZONE": ""]).timeZone, equals: nil)
    }

    @Test func takesTheZoneThatAnArchiveNames() async throws {
        let path = try Fixture.xArchive(in: stage.folder)
        let zone =
            #"window.YTD.account_timezone.part0 = [{"accountTimezone":{"accountId":"42","timeZone":"Tokyo"}}]"#
        try zone.write(
            toFile: path + "/data/account-timezone.js", atomically: false, encoding: .utf8)
        let unset = ["TIME_ZONE": ""]
        let trained = try await stage.run("train", "scheduler", "--from", path, environment: unset)
        #expect(
            trained.output.contains(
                "the time zone is Asia/Tokyo, as the archive says; set TIME_ZONE if it is another\n"
            ))
        try await expect(stage.run("plan", environment: unset).status, equals: 0)
        try await expect(stage.status(unset).timeZone, equals: "Asia/Tokyo")
        // A person's word counts from then on.
        let set = try await stage.run(
            "train", "scheduler", "--from", path, environment: ["TIME_ZONE": "Europe/Berlin"])
        expect(set.output) { !$0.contains("the time zone is") }
        let status = try await stage.status(unset)
        #expect(status.timeZone == "Europe/Berlin")
        expect(status.idle) { !$0.contains { $0.contains("as the archive says") } }
    }

    // MARK: Clearing

    /// Posts, examples, an action and a person of two mirrors.
    private func fill() async throws {
        let path = try stage.folder.write(Data(Fixture.examples(6).utf8), to: "examples.jsonl")
        for mirror in ["default", "other"] {
            let environment = ["MIRROR": mirror]
            try await stage.train(Fixture.lines(days: 5), environment: environment)
            _ = try await stage.run("train", "classifier", "--from", path, environment: environment)
            try await stage.withMirror(environment) { mirror in
                try await mirror.people.set(
                    .deny, for: Self.weary, handle: "weary@home.example", reason: "asked",
                    at: Date())
                let due = Date() - 60
                _ = try await mirror.outbox(lease: nil).propose(
                    Intent(
                        .undecidable(mention: "s"), state: .skipped, due: due, expires: due,
                        reason: "undecidable"),
                    now: due)
            }
        }
    }

    private static let weary = AccountID(network: .mastodon, value: "weary@home.example")

    private func learned(_ mirror: String) async throws -> [Int] {
        let report = try await stage.status(["MIRROR": mirror])
        let classifier = try #require(report.classifier)
        return [report.archive.posts, classifier.favorites, classifier.normals]
    }

    private func expectTheRestIsKept() async throws {
        for mirror in ["default", "other"] {
            try await expect(stage.status(["MIRROR": mirror]).recent.count, equals: 1)
            let stance = try await stage.withMirror(["MIRROR": mirror]) {
                try await $0.people.stance(of: Self.weary)
            }
            #expect(stance == .deny)
        }
        try await expect(learned("other"), equals: [5, 3, 3])
    }

    @Test func clearingNeedsAYesWhereNobodyCanBeAsked() async throws {
        try await fill()
        // An answer in a file is nobody's answer.
        let refused = try await stage.run("train", "clear", input: "y\n")
        #expect(refused.status == 64)
        #expect(refused.error == "error: nothing was removed; answer y, or pass --yes\n")
        #expect(refused.output.isEmpty)
        try await expect(learned("default"), equals: [5, 3, 3])

        let cleared = try await stage.run("train", "clear", "--yes")
        #expect(cleared.status == 0)
        #expect(cleared.output == "removed what mirror default had learned\n")
        try await expect(learned("default"), equals: [0, 0, 0])
        try await expectTheRestIsKept()
    }

    @Test(arguments: [("n\n", 64, 5), ("\n", 64, 5), ("y\n", 0, 0), ("YES\n", 0, 0)])
    func clearingAsksOnATerminal(_ answer: String, _ status: Int32, _ posts: Int) async throws {
        try await stage.train(Fixture.lines(days: 5))
        let terminal = try PseudoTerminal()
        try terminal.type(answer)
        let ending = try await stage.spawn(["train", "clear"], replacing: [0: terminal.inner])
        #expect(ending.status == status)
        #expect(
            ending.error.contains(
                "Remove 5 archived posts and everything learned by mirror default? [y/N]"))
        try await expect(stage.status().archive.posts, equals: posts)
    }
}
