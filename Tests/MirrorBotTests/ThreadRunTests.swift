import Control
import Expectations
import Foundation
import Mirroring
import Sandbox
import TestSupport
import Testing

/// The program as it is built, killed between the parts of a thread.
@Suite(.timeLimit(.minutes(30))) struct ThreadRunTests {
    private static let texts = [
        "A walk begins at the station.", "It goes up into the hills.", "There is soup at the end.",
    ]

    /// An X archive of one thread; X's ids tell the times, here a minute apart.
    private static func archive(in folder: TemporaryDirectory) throws -> String {
        let first = 1_493_934_455_234_732_032
        let posts = texts.enumerated().map { number, text in
            let id = first + number << 38
            let before = first + (number - 1) << 38
            let answered =
                number == 0
                ? ""
                : #","in_reply_to_status_id_str":"\#(before)","in_reply_to_user_id_str":"4242""#
            return #"{"tweet":{"id_str":"\#(id)","full_text":"\#(text)"\#(answered)}}"#
        }
        let account = #"{"account":{"username":"haruka","accountId":"4242"}}"#
        try FileManager.default.createDirectory(
            atPath: folder.path("data"), withIntermediateDirectories: true)
        for (name, contents) in [("account", account), ("tweets", posts.joined(separator: ","))] {
            try Data("window.YTD.\(name).part0 = [\(contents)]".utf8)
                .write(to: URL(fileURLWithPath: folder.path("data/\(name).js")))
        }
        return "\(first)"
    }

    @Test(arguments: ["delivery.claimed", "delivery.outcome-stored"])
    func aWorkerThatIsKilledBetweenPartsSaysEachOnce(point: String) async throws {
        let sandbox = try await Sandbox.live()
        let folder = try TemporaryDirectory()
        let head = try Self.archive(in: folder)
        var rehearsal = Rehearsal.Settings(
            // Whole seconds, and not before what was asked for by the real clock.
            origin: Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.up)),
            started: Date(),
            factor: 1, leaseSeconds: 0.5)
        let calm = rehearsal.variables
        rehearsal.fault = "kill@\(point)#1"
        let stage = try Stage(
            sandbox.botSettings.merging([
                "HUMAN_NETWORK": "x", "TIME_ZONE": "UTC", "MIN_AGE_DAYS": "0", "MAX_PER_DAY": "0",
                "THREADS": "whole",
            ]) { $1 })
        let training = try await stage.run("train", "scheduler", "--from", folder.path)
        #expect(training.status == 0, "\(training.error)")
        let asked = try await stage.run("post", "--now", head)
        #expect(asked.status == 0, "\(asked.error)")
        try await expect(stage.run("plan").output) {
            $0.contains("(thread, 3 parts) \(Self.texts[0])")
        }
        var kills = 0
        for number in 0..<12 {
            let isDeadly = number % 2 == 0
            let ending = try await stage.spawn(
                ["run", "--once"], environment: isDeadly ? rehearsal.variables : calm)
            if isDeadly, ending.status == 128 + SIGKILL {
                kills += 1
            } else {
                #expect(ending.status == 0)
            }
        }
        let ledger = await sandbox.ledger
        #expect(ledger.deliveries.map(\.text) == Self.texts)
        #expect(ledger.deliveries.map(\.replyTo) == [nil] + ledger.deliveries.dropLast().map(\.id))
        #expect(ledger.summary.duplicateSends + ledger.summary.errors == 0)
        #expect(kills >= 1)
        let plan = try await stage.plan()
        #expect(plan.slots.map(\.state) == ["done", "done", "done"])
        await sandbox.stop()
    }
}
