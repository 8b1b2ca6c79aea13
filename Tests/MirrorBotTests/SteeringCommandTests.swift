import Control
import Expectations
import Foundation
import Mirroring
import Posts
import Sandbox
import Storage
import TestSupport
import Testing

/// `pause`, `resume`, `set`, `unset`, `plan …`, `never` and `post`, as a person types them.
@Suite(.timeLimit(.minutes(30))) struct SteeringCommandTests {
    private static let zone = ["TIME_ZONE": "UTC"]

    /// A machine with a trained mirror, on the embedded store or on a server.
    private func stage(onServer: Bool) async throws -> Stage {
        guard onServer else {
            let stage = try Stage(Self.zone)
            try await stage.train(Fixture.lines(days: 60, perDay: 6))
            return stage
        }
        let stage = try await Stage.onServer(Self.zone)
        try await stage.train(Fixture.lines(days: 60, perDay: 6))
        return stage
    }

    @Test(arguments: [false, true]) func aPauseIsSaidEverywhere(onServer: Bool) async throws {
        let stage = try await stage(onServer: onServer)
        let sandbox = try await Sandbox.live()
        let settings = sandbox.botSettings
        let paused = try await stage.run(
            "pause", "--until", "3d", "--reason", "a\u{1B}[31mway", environment: settings)
        #expect(paused.status == 0)
        #expect(paused.output.hasPrefix("mirror default pauses until "))
        #expect(paused.output.hasSuffix("; mirror-bot resume ends it sooner\n"))
        let once = try await stage.run("run", "--once", environment: settings)
        #expect(once.status == 0)
        #expect(once.output.hasPrefix("nothing was done: mirror default pauses until "))
        let idle = try await stage.status(settings).idle
        expect(idle) { $0.contains { $0.hasPrefix("nothing is sent: the mirror pauses since ") } }
        let shown = try await stage.run("status", environment: settings)
        #expect(!shown.output.contains("\u{1B}[31m"))

        let worker = try stage.start(["run"], environment: settings)
        try await worker.waitForError("Paused")
        let check = try await stage.run("status", "--check", environment: settings)
        #expect(check.status == 0)
        #expect(check.output == "mirror default pauses, as it was told\n")
        worker.send(SIGTERM)
        await expect(worker.ending().status, equals: 0)

        let resumed = try await stage.run("resume", environment: settings)
        #expect(resumed.output == "mirror default continues\n")
        try await expect(stage.run("resume", environment: settings).output) {
            $0.hasPrefix("nothing to do: ")
        }
        let json = try await stage.run("pause", "--json", environment: settings)
        #expect(json.output.contains(#""schema" : "mirror-bot/pause/1""#))
        #expect(json.output.contains(#""is_paused" : true"#))
        for words in [["--until", "yesterday"], ["--until", "2020-01-01"], ["--until", ""]] {
            try await expect(
                stage.run(words: ["pause"] + words, environment: settings).status, equals: 64,
                "\(words)")
        }
        await sandbox.stop()
    }

    /// At whatever hour that is asked: the day may be over, and then it is one of another day.
    @Test(arguments: [false, true]) func whatComesNextIsKnownByThatWord(onServer: Bool) async throws
    {
        let stage = try await stage(onServer: onServer)
        func next() async throws -> ExplainReport {
            try Stage.decode(
                ExplainReport.self, from: try await stage.run("explain", "next", "--json"))
        }
        let first = try await next()
        #expect(first.text != nil)
        #expect(["planned", "preview"].contains(first.state))
        try await expect(stage.run("plan", "skip", "next").status, equals: 0)
        let second = try await next()
        #expect(second.subject != first.subject)
        let pinned = try await stage.run("plan", "pin", "next")
        let text = try #require(second.text)
        #expect(pinned.status == 0)
        #expect(pinned.output.contains(text))
        try await expect(next().subject, equals: second.subject)
        try await expect(stage.run("never", "next").output) { $0.contains(text) }
        try await expect(next().text) { $0 != text }

        let empty = try Stage(Self.zone)
        _ = try await empty.run("set", "MAX_PER_DAY=3")
        let none = try await empty.run("explain", "next")
        #expect(none.status == 64)
        #expect(none.error.contains("no post is planned"))
    }

    @Test(arguments: [false, true]) func whatIsSetWinsOverTheEnvironment(onServer: Bool)
        async throws
    {
        let stage = try await stage(onServer: onServer)
        try await expect(stage.run("set").output, equals: "nothing is set for mirror default\n")
        let set = try await stage.run("set", "MAX_PER_DAY=3", "QUIET_HOURS=22:00-08:00")
        #expect(set.status == 0)
        #expect(set.output == "MAX_PER_DAY=3\nQUIET_HOURS=22:00-08:00\n")
        let config = try await stage.run("config", "--json", environment: ["MAX_PER_DAY": "9"])
        let lines = config.output.filter { !$0.isWhitespace }
        #expect(lines.contains(#""name":"MAX_PER_DAY","origin":"set""#))
        #expect(lines.contains(#""value":"3""#))
        try await expect(
            stage.plan("--date", "2030-01-01", environment: ["MAX_PER_DAY": "9"]).slots.count
        ) { $0 <= 3 }
        try await expect(
            stage.run("unset", "MAX_PER_DAY", "LINKS").output,
            equals: "MAX_PER_DAY is no longer set\nnothing to do: LINKS was not set\n")
        try await expect(stage.run("set", "--json").output) {
            $0.contains(#""schema" : "mirror-bot/set/1""#)
        }
        // A new mirror may begin with its settings; one that is only asked for does not.
        try await expect(stage.run("set", "--mirror", "second").status, equals: 78)
        try await expect(stage.run("set", "MAX_PER_DAY=7", "--mirror", "second").status, equals: 0)
        try await expect(stage.run("set", "--mirror", "second").output, equals: "MAX_PER_DAY=7\n")
        // All or nothing, and no secret is shown.
        for (words, status, text) in [
            (["MEDIA=own", "MAX_PER_DAY=none"], 78, "MAX_PER_DAY is \"none\""),
            (["MEDIA"], 64, "is no NAME=VALUE"), (["MEDIA="], 64, "mirror-bot unset MEDIA"),
            (["MEDIA=off", "MEDIA=own"], 64, "MEDIA is given twice"),
            (["BOT_ACCESS_TOKEN=planted4711"], 78, "BOT_ACCESS_TOKEN is a secret"),
            (["MAX_PRE_DAY=3"], 78, "did you mean MAX_PER_DAY?"),
            (["BURSTS=off"], 78, "BURSTS is no longer used: OLD_BOT=yes"),
        ] as [([String], Int32, String)] {
            let ending = try await stage.run(words: ["set"] + words)
            #expect(ending.status == status, "\(words): \(ending.error)")
            #expect(ending.error.contains(text), "\(words): \(ending.error)")
            #expect(!ending.error.contains("planted4711"))
        }
        try await expect(stage.run("set").output, equals: "QUIET_HOURS=22:00-08:00\n")
        // As after an update that takes less: every command says so, but for those that mend it.
        try await stage.withMirror { mirror in
            _ = try await mirror.storage.execute(
                "UPDATE settings SET value = 'at night' WHERE mirror = 'default'")
        }
        let broken = try await stage.run("status")
        #expect(broken.status == 78, "\(broken.error)")
        #expect(broken.error.contains("mirror-bot unset QUIET_HOURS forgets it"), "\(broken.error)")
        try await expect(stage.run("set").output, equals: "QUIET_HOURS=at night\n")
        try await expect(stage.run("set", "MEDIA=own").status, equals: 78)
        try await expect(stage.run("unset", "QUIET_HOURS").status, equals: 0)
        try await expect(stage.run("status").status, equals: 0)
        // What an update takes no longer at all is ignored with a warning.
        try await stage.withMirror { mirror in
            _ = try await mirror.storage.execute(
                """
                INSERT INTO settings (mirror, name, value, updated_ms)
                VALUES ('default', 'BURSTS', 'off', 0)
                """)
        }
        for command in ["status", "config"] {
            let warned = try await stage.run(command)
            #expect(warned.status == 0, "\(warned.error)")
            expect(warned.error) {
                $0.contains("warning: BURSTS is no longer used: ")
                    && $0.contains("; mirror-bot unset BURSTS forgets it\n")
            }
        }
        try await expect(
            stage.run("unset", "BURSTS").output, equals: "BURSTS is no longer set\n")
        try await expect(stage.run("status").error) { !$0.contains("BURSTS") }
    }

    @Test(arguments: [false, true]) func aDayIsChangedAsItWasShown(onServer: Bool) async throws {
        let stage = try await stage(onServer: onServer)
        let day = "2031-05-06"
        let far = try await stage.run("plan", "skip", "\(day)#1")
        #expect(far.status == 64)
        #expect(far.error.contains("is more than 366 days away"))
        let tomorrow = String(Date(timeIntervalSinceNow: 86_400).rfc3339.prefix(10))
        let preview = try await stage.plan("--date", tomorrow)
        try #require(!preview.isStored && preview.slots.count >= 3)
        let skipped = try await stage.run("plan", "skip", "\(tomorrow)#1")
        #expect(skipped.status == 0)
        #expect(skipped.output.hasPrefix("\(tomorrow)#1 at "))
        #expect(skipped.output.contains(" is skipped"))
        let moved = try await stage.run("plan", "move", "\(tomorrow)#2", "0:07", "--json")
        #expect(moved.output.contains(#""time" : "00:07""#))
        #expect(moved.output.contains(#""is_pinned" : true"#))
        let stored = try await stage.plan("--date", tomorrow)
        #expect(stored.isStored)
        #expect(stored.slots.count == preview.slots.count)
        #expect(Set(stored.slots.map(\.text)) == Set(preview.slots.map(\.text)))
        let pinned = try await stage.run("plan", "pin", "\(tomorrow)#3", "3-2")
        #expect(pinned.status == 0, "\(pinned.error)")
        #expect(pinned.output.contains(" is pinned: Loaf 2 of morning 3"), "\(pinned.error)")
        let rolled = try await stage.run("plan", "reroll", tomorrow)
        #expect(rolled.status == 0)
        #expect(rolled.output.hasPrefix("drew \(tomorrow) again: "))
        let after = try await stage.plan("--date", tomorrow)
        expect(after.slots) {
            $0.contains {
                $0.subject == "\(tomorrow)#2" && $0.time == "00:07" && $0.state == "planned"
            }
        }
        expect(after.slots) {
            $0.contains { $0.subject == "\(tomorrow)#3" && $0.text == "Loaf 2 of morning 3" }
        }
        let never = try await stage.run("never", "\(tomorrow)#3")
        #expect(never.status == 0)
        #expect(never.output.hasPrefix("excluded: Loaf 2 of morning 3\n"))
        try await expect(stage.plan("--date", tomorrow).slots) {
            $0.allSatisfy { $0.text != "Loaf 2 of morning 3" }
        }
        for (words, status) in [
            (["plan", "skip"], 64), (["plan", "skip", "x"], 64),
            (["plan", "move", "#1", "99:99"], 64),
            (["plan", "reroll", "someday"], 64), (["plan", "reroll", "2020-01-01"], 64),
            (["never", "nothing"], 64),
            (["post", "3-2"], 64), (["post", "3-2", "--now", "--mirror", "nobody"], 78),
        ] as [([String], Int32)] {
            try await expect(stage.run(words: words).status, equals: status, "\(words)")
        }
    }

    @Test func aPostLeavesAtOnce() async throws {
        let stage = try await stage(onServer: false)
        let sandbox = try await Sandbox.live()
        let settings = sandbox.botSettings
        let posted = try await stage.run("post", "7-1", "--now", environment: settings)
        #expect(posted.status == 0, "\(posted.error)")
        #expect(posted.output.contains(" is pinned: Loaf 1 of morning 7"), "\(posted.error)")
        try await expect(stage.run("run", "--once", environment: settings).status, equals: 0)
        try await expect(stage.run("run", "--once", environment: settings).status, equals: 0)
        let sent = await sandbox.ledger.deliveries.filter { $0.text == "Loaf 1 of morning 7" }
        #expect(sent.count == 1)
        await sandbox.stop()
    }

    @Test(arguments: [false, true]) func theMirrorsAreListedWithWhatTheyDo(onServer: Bool)
        async throws
    {
        let stage = try await stage(onServer: onServer)
        try await stage.train(Fixture.lines(days: 2), environment: ["MIRROR": "second"])
        try await stage.train(Fixture.lines(days: 2), environment: ["MIRROR": "third"])
        try await expect(stage.run("pause", "--mirror", "second").status, equals: 0)
        try await expect(
            stage.run("move", "--mirror", "third", "--to", stage.folder.path("there")).status,
            equals: 0)
        let list = try await stage.run("mirrors", environment: ["MIRROR": "fourth"])
        #expect(list.status == 0)
        #expect(
            list.output == """
                default  stopped   unknown → unknown
                second   paused    unknown → unknown
                third    left      unknown → unknown

                """)
        let json = try await stage.run("mirrors", "--json").output.filter { !$0.isWhitespace }
        #expect(json.contains(#""name":"second","state":"paused""#))
        #expect(json.contains(#""schema":"mirror-bot/mirrors/1""#))
        let empty = try Stage()
        try await expect(empty.run("mirrors").status, equals: 78)
    }

    @Test func theFirstLineOfStatusSaysHowItIs() async throws {
        let stage = try await stage(onServer: false)
        let sandbox = try await Sandbox.live()
        let settings = sandbox.botSettings
        func first(_ environment: [String: String]) async throws -> String {
            let ending = try await stage.run("status", environment: environment)
            return String(ending.output.prefix { $0 != "\n" })
        }
        try await expect(
            first([:]),
            equals:
                "○ not set up yet: 5 of 8 steps are done; next is the bot's account: mirror-bot login mastodon --as bot"
        )
        let stopped = try await first(settings)
        #expect(
            stopped
                == "○ not set up yet: 6 of 8 steps are done; next is what the human favorites: mirror-bot train classifier"
        )
        let worker = try stage.start(["run"], environment: settings)
        try await worker.waitForError("Worker started")
        let running = try await first(settings)
        #expect(running.hasPrefix("◐ working, but no favorites yet: 0 of 20 favorites"))
        _ = try await stage.run("pause", environment: settings)
        let paused = try await first(settings)
        #expect(paused.hasPrefix("◐ the mirror pauses since "))
        #expect(paused.hasSuffix(" until mirror-bot resume"))
        worker.send(SIGTERM)
        await expect(worker.ending().status, equals: 0)
        await sandbox.stop()
    }
}
