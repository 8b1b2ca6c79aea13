import Archive
import Configuration
import Control
import Expectations
import Fixtures
import Foundation
import Outbox
import Posts
import Sandbox
import Settings
import Storage
import TestSupport
import Testing

@testable import Fleet
@testable import Mirroring

/// What a mirror does after an older state of its database was put back.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct RestoreTests {
    /// The state of the current database when the backup is restored.
    enum Loss: String, CaseIterable, Sendable {
        /// It is all there.
        case nothing
        /// Its file is damaged.
        case damaged
        /// The machine is gone.
        case everything
    }

    /// Half a day is backed up at ten, lived on until one, and restored.
    private struct Life {
        let fixture: MirrorFixture
        let folder: TemporaryDirectory
        let backup: String

        init(until hour: Double = 13) async throws {
            fixture = try await MirrorFixture.start(days: 2, from: 6.5)
            folder = try TemporaryDirectory()
            backup = folder.path("backup.sqlite")
            try await fixture.live(until: 10)
            try await fixture.mirror.storage.backup(to: backup)
            try await fixture.live(until: hour)
        }

        /// Puts the backup back, and opens the mirror as the next process does.
        func restored(after loss: Loss) async throws -> (HumanMirror, RestoreReport) {
            var process = fixture.mirror.process
            guard case .sqlite(var path) = process.storage else {
                preconditionFailure("on a server")
            }
            if loss != .nothing {
                path = folder.path("home/mirror-bot.sqlite")
                if loss == .damaged {
                    try await fixture.mirror.storage.backup(to: folder.path("copy"))
                    try FileManager.default.createDirectory(
                        atPath: folder.path("home"), withIntermediateDirectories: false,
                        attributes: [.posixPermissions: 0o700])
                    try FileManager.default.moveItem(atPath: folder.path("copy"), toPath: path)
                    // The pages in the middle are no pages any more; the first ones, with the
                    // tables' names, are.
                    let file = try #require(FileHandle(forUpdatingAtPath: path))
                    let size = try file.seekToEnd()
                    try file.seek(toOffset: size / 2)
                    try file.write(contentsOf: Data(repeating: 0xA5, count: Int(size / 4)))
                    try file.close()
                }
                process.storage = .sqlite(path: path)
            }
            let configuration = MirrorConfiguration(process: process, mirror: fixture.mirror.given)
            let report = try await Restoration(configuration, clock: fixture.clock).restore(backup)
            let home = (path as NSString).deletingLastPathComponent
            return (try await fixture.reopened(changing: ["MIRROR_BOT_HOME": home]), report)
        }
    }

    /// A mirror's name goes into paths, keys and lines; a backup may come from anybody.
    @Test(arguments: [
        "../../etc/passwd", "a/b", "..", "Mika", "a b", "mika\n", String(repeating: "m", count: 41),
    ])
    func aMirrorNamedLikeAPathIsRefused(_ name: String) async throws {
        let folder = try TemporaryDirectory()
        let backup = folder.path("backup.sqlite")
        try await MigratedDatabase.copy(to: backup)
        let storage = try await Storage.open(.sqlite(path: backup))
        try await storage.execute("INSERT INTO mirrors (mirror, created_ms) VALUES (\(name), 1)")
        await storage.close()
        let environment = ["MIRROR_BOT_HOME": folder.path, "TIME_ZONE": "Europe/Berlin"]
        let values = try SettingValues(
            environment: EnvironmentVariablesProvider(environmentVariables: environment))
        let configuration = try MirrorConfiguration(values, environment: [:])
        let restoration = try Restoration(configuration)
        await #expect(throws: ConfigurationError.self) { try await restoration.restore(backup) }
        #expect(!FileManager.default.fileExists(atPath: folder.path("mirror-bot.sqlite")))
        // Nor is one that is there already moved.
        let there = try await Storage.open(.sqlite(path: backup))
        await #expect(throws: ConfigurationError.self) {
            try await MirrorMove.announce(
                [name], from: .init(there, name: "here"), to: .init(there, name: "there"),
                now: Date())
        }
        await there.close()
    }

    @Test(arguments: Loss.allCases) func nothingIsSaidTwice(after loss: Loss) async throws {
        let life = try await Life()
        let fixture = life.fixture
        let before = await fixture.sandbox.ledger
        #expect(before.summary.posted > 0)
        let denied = Sample.person("aoi")
        try await fixture.mirror.people.set(.deny, for: denied, at: fixture.clock.now)
        let (mirror, report) = try await life.restored(after: loss)
        let restored = fixture.clock.now
        #expect(report.mirrors.map(\.name) == [MirrorFixture.mirror])
        #expect(report.mirrors[0].knowsRest == (loss == .nothing))
        #expect((report.before == nil) == (loss == .everything))

        // Nothing leaves before a person has looked.
        try await fixture.worker(on: mirror).run(until: Sample.hour(14))
        await expect(fixture.sandbox.ledger.deliveries, equals: before.deliveries)
        _ = try await mirror.table.resume(now: fixture.clock.now)
        try await fixture.worker(on: mirror).run(until: fixture.sandbox.world.end)

        let ledger = await fixture.sandbox.ledger
        #expect(ledger.duplicates.isEmpty)
        #expect(ledger.summary.duplicateSends == 0)
        // Of answers that nobody remembers the caps of the day know nothing.
        if loss != .everything { #expect(ledger.summary.unsolicited + ledger.summary.errors == 0) }
        let posts = ledger.deliveries.filter { $0.replyTo == nil }.map(\.text)
        #expect(Set(posts).count == posts.count)
        #expect(posts.count > before.deliveries.count { $0.replyTo == nil })
        // Nobody is answered twice, nor at all whose words are older than the restore.
        let answered = ledger.deliveries.compactMap(\.replyTo)
        #expect(Set(answered).count == answered.count)
        let old = Set(ledger.mentions.filter { $0.date < restored }.map(\.id))
        let late = ledger.deliveries.filter { $0.date >= restored }
        #expect(late.allSatisfy { !old.contains($0.replyTo ?? "") })
        if loss == .nothing {
            try await expect(mirror.people.stance(of: denied), equals: .deny)
            #expect(late.allSatisfy { !$0.mentioned.contains(denied.value) })
        }
        // Who asked the bot to stop meanwhile was heard, whatever is left of the database.
        try await expect(mirror.people.stance(of: Sample.person("kent")), equals: .deny)
        // Every slot that had passed stays unsent.
        let slots = try await mirror.outbox(lease: nil).slots(of: Sample.day)
        #expect(
            slots.allSatisfy {
                $0.state != .done || $0.due > restored || before.texts.contains($0.text ?? "")
            })
    }

    @Test func whatWasSaidSinceIsReadFromTheNetwork() async throws {
        let life = try await Life()
        let (mirror, _) = try await life.restored(after: .everything)
        _ = try await mirror.table.resume(now: life.fixture.clock.now)
        #expect(try await life.fixture.worker(on: mirror).runOnce())
        let said = await life.fixture.sandbox.ledger.deliveries.filter { $0.replyTo == nil }
        let known = try await mirror.outbox(lease: nil).recent(1_000).filter {
            $0.kind == .post && $0.state == .done
        }
        #expect(Set(known.compactMap(\.remoteAddress)) == Set(said.map(\.id)))
        #expect(Set(known.compactMap(\.text)) == Set(said.map(\.text)))
        try await expect(mirror.table.gap(), equals: nil)
        // Their texts count as used.
        let used = try await mirror.storage.lenient.query(
            "SELECT post_id FROM posts WHERE uses > 0 AND last_used_ms IS NOT NULL")
        try #expect(
            Set(used.map { try $0.text("post_id") }).isSuperset(
                of: known.compactMap(\.wording?.source.value)))
    }

    /// Denials and deletions made after the backup still apply after the restore.
    @Test(arguments: [Loss.nothing, .damaged]) func peopleKeepTheirWord(after loss: Loss)
        async throws
    {
        let life = try await Life(until: 10.5)
        let mirror = life.fixture.mirror
        let now = life.fixture.clock.now
        let denied = Sample.person("aoi")
        let forgotten = Sample.person("daichi")
        try await mirror.people.set(.deny, for: denied, at: now)
        _ = try await mirror.forget(forgotten, now: now)
        let row = try await mirror.storage.lenient.query(
            "SELECT post_id FROM posts WHERE is_reply = FALSE ORDER BY post_id LIMIT 1")
        let post = PostID(network: .mastodon, value: try #require(try row.first?.text("post_id")))
        try await mirror.archive.forgetForGood([post], now: now)
        let (restored, report) = try await life.restored(after: loss)
        #expect(report.takenOver == (loss == .nothing ? .read : .partly))
        try await expect(restored.people.stance(of: denied), equals: .deny)
        try await expect(restored.people.stance(of: forgotten), equals: .deny)
        try await expect(restored.people.person(forgotten), equals: nil)
        try await expect(restored.people.posts(about: forgotten)) { $0.isEmpty }
        try await expect(restored.archive.post(post), equals: nil)
        try await expect(restored.archive.isForgotten(post), equals: true)
    }

    /// Who restores an older state wants what was lost since: here an archive that was cleared.
    @Test func whatWasLostComesBack() async throws {
        let life = try await Life(until: 10.5)
        let mirror = life.fixture.mirror
        let posts = try await mirror.archive.count()
        try await mirror.storage.lenient.execute("DELETE FROM posts")
        try await mirror.storage.execute(
            """
            INSERT INTO settings (mirror, name, value, updated_ms) VALUES (\(mirror.name), 'MAX_PER_DAY', '1', 1)
            """)
        let (restored, report) = try await life.restored(after: .nothing)
        #expect(report.mirrors[0].posts > 0)
        try await expect(restored.archive.count()) { (posts - 5...posts).contains($0) }
        try await expect(restored.storage.lenient.query("SELECT 1 AS one FROM settings")) {
            $0.isEmpty
        }
        // What was there before is kept, whole.
        let kept = try #require(report.before)
        try await Storage.open(.sqlite(path: kept)).closing { engine in
            try await engine.requireUndamaged("look")
            try await expect(engine.query("SELECT value FROM settings")) { $0.count == 1 }
        }
    }

    /// Neither the notices that were delivered since nor the proofs that visitors wait for are
    /// those of the backup.
    @Test func whatWasToldSinceStays() async throws {
        let life = try await Life(until: 10.5)
        let mirror = life.fixture.mirror
        try await mirror.storage.execute(
            """
            INSERT INTO told (mirror, told_ms, cause, state, text, since_ms)
            VALUES (\(mirror.name), 5, 'database', 'holds', 'The database was away.', 1)
            """)
        try await mirror.storage.execute(
            """
            INSERT INTO proofs (mirror, nonce, visitor, network, name, words, asked_ms)
            VALUES (\(mirror.name), 'n', 'v', 'mastodon', 'aoi', 'one two three', 5)
            """)
        let (restored, _) = try await life.restored(after: .nothing)
        try await expect(
            restored.storage.query("SELECT cause FROM told WHERE told_ms = 5")
        ) { $0.count == 1 }
        try await expect(
            restored.storage.query("SELECT words FROM proofs WHERE nonce = 'n'")
        ) { $0.count == 1 }
    }

    @Test func aMirrorThatAWorkerHoldsIsNotTouched() async throws {
        let life = try await Life(until: 10.5)
        let lease = try await life.fixture.mirror.holdByAWorker()
        let leases = life.fixture.leases
        let beating = Task {
            while !Task.isCancelled { try await leases.beat(lease, now: 1) }
        }
        defer { beating.cancel() }
        let configuration = MirrorConfiguration(
            process: life.fixture.mirror.process, mirror: life.fixture.mirror.given)
        let timing = LeaseTiming(silenceLimit: .seconds(60), interval: .milliseconds(100))
        let refusal = try await #require(throws: ChangeRefusal.self) {
            _ = try await Restoration(configuration, clock: life.fixture.clock, timing: timing)
                .restore(life.backup)
        }
        beating.cancel()
        _ = await beating.result
        #expect(refusal.code == .busy)
        #expect(refusal.description.contains("a worker holds mirror \(MirrorFixture.mirror)"))
        try await expect(life.fixture.mirror.table.record().pause, equals: nil)
    }
}

extension SandboxLedger {
    fileprivate var texts: Set<String> { Set(deliveries.map(\.text)) }
}
