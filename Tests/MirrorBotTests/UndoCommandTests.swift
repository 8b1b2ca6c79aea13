import Control
import Expectations
import Foundation
import Mirroring
import Networks
import Outbox
import Posts
import Sandbox
import TestSupport
import Testing

/// `mirror-bot undo`, as a person types it.
@Suite(.timeLimit(.minutes(30))) struct UndoCommandTests {
    private static let texts = ["The first of all loaves", "Another loaf", "A third one"]

    /// A mirror whose bot has three posts on the network, the newest last.
    private func mirror(
        _ store: StoreUnderTest, on sandbox: Sandbox
    ) async throws -> (stage: Stage, actions: [Action]) {
        let stage = try await store.stage(sandbox.botSettings.merging(["TIME_ZONE": "UTC"]) { $1 })
        let actions = try await stage.withMirror { mirror in
            try await mirror.storage.agree(to: mirror.name)
            let bot = try await mirror.confirmedBotNetwork()
            let outbox = mirror.outbox(lease: nil)
            var actions: [Action] = []
            for (index, text) in Self.texts.enumerated() {
                let now = Date() - Double(3_600 * (Self.texts.count - index))
                let wording = Action.Wording(
                    source: PostID(network: .mastodon, value: "source-\(index)"), text: text,
                    visibility: .unlisted)
                let slot = Slot.Name(day: LocalTime(now, in: .gmt).day, number: index + 1)
                _ = try await outbox.store(
                    StoredPlan(day: slot.day, timeZone: "UTC", seed: "1", made: now), slots: [])
                let intent = Intent(.post(slot, wording), due: now, expires: now + 900)
                let claimed = try await outbox.claim(
                    try await outbox.propose(intent, now: now).action, now: now)
                let sending = try await outbox.beginSending(
                    claimed, lookUp: now + 90, deadline: .seconds(30), now: now)
                let published = try await bot.publish(
                    Draft(text: text, key: sending.key, createdAt: now))
                actions.append(
                    try await outbox.confirm(
                        sending, remoteID: published.id.value, remoteAddress: published.address,
                        now: now))
            }
            return actions
        }
        return (stage, actions)
    }

    private func texts(_ sandbox: Sandbox) async -> [String] {
        let ledger = await sandbox.ledger
        let removed = Set(ledger.removals.map(\.postID))
        return ledger.deliveries.filter { !removed.contains($0.id) }.map(\.text)
    }

    @Test(arguments: StoreUnderTest.allCases) func takesBackWhatIsNamedAndTheLast(
        _ store: StoreUnderTest
    ) async throws {
        let sandbox = try await Sandbox.live()
        let (stage, actions) = try await mirror(store, on: sandbox)
        // Nobody can be asked, and nobody said yes.
        let asked = try await stage.run("undo", "last")
        #expect(asked.status == 64)
        #expect(asked.error.contains("1 post\n"))
        #expect(asked.error.contains("“A third one”"))
        #expect(asked.error.hasSuffix("error: nothing was changed; answer y, or pass --yes\n"))
        await expect(texts(sandbox).count, equals: 3)

        let last = try await stage.run("undo", "last", "--yes")
        #expect(last.status == 0, "\(last.error)")
        #expect(last.output == "1 taken back\n", "\(last.error)")
        await expect(texts(sandbox), equals: Array(Self.texts.prefix(2)))
        let named = try await stage.run("undo", String(actions[0].id.prefix(7)), "-y", "--json")
        let receipt = try Stage.decode(UndoReceipt.self, from: named)
        #expect(receipt.schema == "mirror-bot/undo/1")
        #expect(receipt.takenBack == 1)
        #expect(receipt.isComplete)
        #expect(named.output.contains(#""taken_back" : 1"#))
        #expect(named.output.contains(#""result" : "taken-back""#))
        await expect(texts(sandbox), equals: [Self.texts[1]])
        // Once more is no error, and asks the network nothing.
        let again = try await stage.run("undo", actions[0].id, "--yes")
        #expect(again.status == 0)
        #expect(again.output == "1 taken back before\n")
        await expect(sandbox.ledger.removals.count, equals: 2)

        let explained = try await stage.run("explain", actions[0].id)
        #expect(explained.output.contains("undone"))
        #expect(explained.output.contains("a person asked to take it back"))
        let plan = try await stage.plan("--date", "\(LocalTime(actions[0].due, in: .gmt).day)")
        expect(plan.slots) { $0.contains { $0.id == actions[0].id && $0.state == "undone" } }
        try await expect(stage.status().recent) {
            $0.contains { $0.state == .undone && $0.reason == "by-person" }
        }
        await sandbox.stop()
    }

    @Test(arguments: StoreUnderTest.allCases) func everythingWantsTwoYeses(_ store: StoreUnderTest)
        async throws
    {
        let sandbox = try await Sandbox.live()
        let (stage, _) = try await mirror(store, on: sandbox)
        let handle = try #require(try await stage.status().bot)
        for words in [["--yes"], ["--yes", "--bot", "@somebody@else.example"], ["--bot", handle]] {
            let refused = try await stage.run(words: ["undo", "everything"] + words)
            #expect(refused.status == 64, "\(words): \(refused.error)")
            #expect(refused.error.contains("nothing was changed"), "\(words): \(refused.error)")
        }
        await expect(texts(sandbox).count, equals: 3)
        let some = try await stage.run("undo", "everything", "--replies", "--yes", "--bot", handle)
        #expect(some.status == 0)
        #expect(some.output.hasPrefix("nothing to take back\n"))

        let terminal = try PseudoTerminal()
        let program = try stage.start(["undo", "everything"], replacing: [0: terminal.inner])
        try await program.waitForError("Take them back? [y/N] ")
        try terminal.type("y\n")
        try await program.waitForError("Type the bot's handle")
        await expect(texts(sandbox).count, equals: 3)
        try terminal.type("@\(handle)\n")
        let ending = await program.ending()
        #expect(ending.status == 0)
        #expect(
            ending.output
                == "3 taken back\nwhat the bot did before it had this database is not included\n",
            "\(ending.error)")
        await expect(texts(sandbox)) { $0.isEmpty }
        await sandbox.stop()
    }

    @Test(arguments: StoreUnderTest.allCases) func sinceATimeCountsBack(_ store: StoreUnderTest)
        async throws
    {
        let sandbox = try await Sandbox.live()
        let (stage, _) = try await mirror(store, on: sandbox)
        let ending = try await stage.run("undo", "--since", "150m", "--posts", "--yes")
        #expect(ending.status == 0, "\(ending.error)")
        #expect(ending.output == "2 taken back\n", "\(ending.error)")
        await expect(texts(sandbox), equals: [Self.texts[0]])
        await sandbox.stop()
    }

    /// Killed between the network's answer and the note of it; and before the request leaves.
    @Test(arguments: StoreUnderTest.allCases) func aDeathInBetweenIsMadeUpFor(
        _ store: StoreUnderTest
    ) async throws {
        let sandbox = try await Sandbox.live()
        let (stage, actions) = try await mirror(store, on: sandbox)
        let hurry = Rehearsal.Settings(origin: Date(), started: Date(), factor: 300)
        for (point, left) in [("undo.answered", 2), ("undo.begun", 2)] {
            var fatal = hurry
            fatal.fault = "kill@\(point)#1"
            let program = try stage.start(["undo", "last", "--yes"], environment: fatal.variables)
            await expect(program.ending().status) { $0 != 0 }
            await expect(texts(sandbox).count, equals: left)
        }
        try await expect(stage.status().undo?.waiting, equals: 2)
        let resumed = try await stage.run("undo", "--resume", environment: hurry.variables)
        #expect(resumed.status == 0, "\(resumed.error)")
        #expect(resumed.output == "1 taken back\n1 gone already\n", "\(resumed.error)")
        await expect(texts(sandbox), equals: [Self.texts[0]])
        let states = try await stage.withMirror { mirror in
            try await mirror.outbox(lease: nil).actions(withIDs: actions.map(\.id))
        }
        #expect(actions.map { states[$0.id]?.state } == [.done, .undone, .undone])
        try await expect(stage.run("undo", "--resume").output, equals: "nothing to take back\n")
        await sandbox.stop()
    }

    @Test func aNetworkThatIsAwayLeavesTheWish() async throws {
        let sandbox = try await Sandbox.live()
        let (stage, actions) = try await mirror(.sqlite, on: sandbox)
        let url = sandbox.url
        await sandbox.stop()
        let hurry = Rehearsal.Settings(origin: Date(), started: Date(), factor: 300)
        let ending = try await stage.run(
            "undo", actions[2].id, "--yes", environment: hurry.variables)
        #expect(ending.status == 75, "\(ending.error)")
        #expect(ending.output.hasPrefix("1 waiting to be taken back\n"), "\(ending.error)")
        #expect(ending.error.contains("mirror-bot undo --resume or a worker continues"))
        #expect(!url.isEmpty)
        try await expect(stage.status().undo?.waiting, equals: 1)
    }

    @Test func whatCannotBeMeantIsAMisuse() async throws {
        let stage = try await StoreUnderTest.sqlite.stage(["TIME_ZONE": "UTC"])
        for words in [
            [], ["last", "everything"], ["last", "--since", "6h"], ["--resume", "--since", "6h"],
            ["0123abc"],
            ["0123abc", "--posts"], ["last", "--bot", "x"], ["--since", "someday"],
            ["--since", "2099-01-01"], ["#1"],
        ] {
            let ending = try await stage.run(words: ["undo"] + words)
            #expect(ending.status == 64, "\(words): \(ending.error)")
        }
        try await expect(
            stage.run("undo", "last", "--yes").output, equals: "nothing to take back\n")
    }
}
