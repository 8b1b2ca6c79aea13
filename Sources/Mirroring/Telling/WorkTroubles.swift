package import Foundation
import Posts
import Storage

/// A part of a worker's work that fails, each time since it last succeeded.
package struct WorkTrouble: Equatable, Sendable {
    /// What comes before all passes: putting the worker together, which asks both networks.
    package static let start = "start"
    package static let publisher = "publisher"
    /// A part that has failed for a shorter time is not worth a word, in seconds: most passes by itself.
    private static let patience: TimeInterval = 600
    /// What the database says while it cannot be used, whoever asks.
    private static let databaseCodes: [StorageError.Code] = [
        .full, .readOnly, .unavailable, .busy, .authentication, .closed,
    ]

    /// ``start``, or the name of a pass.
    package let part: String
    /// When it failed first.
    package let since: Date
    /// When it failed last.
    let noted: Date
    let error: String
    /// Whether the database cannot be used at all; not known of a row.
    var isOfDatabase = false

    fileprivate init(_ part: String, _ error: any Error, after earlier: WorkTrouble?, now: Date) {
        (self.part, noted, self.error) = (part, now, "\(error)")
        since = min(earlier?.since ?? now, now)
        isOfDatabase = (error as? StorageError).map { Self.databaseCodes.contains($0.code) } ?? false
    }

    fileprivate init(row: SQLRow) throws {
        (part, error) = (try row.text("role"), try row.text("error"))
        (since, noted) = (try row.date("since_ms"), try row.date("noted_ms"))
    }

    /// Whether it failed again and again for so long that it does not look as if it passed by itself.
    package var isLasting: Bool { noted.timeIntervalSince(since) >= Self.patience }

    /// Whether the bot neither sends nor hears while this lasts.
    package var stopsWork: Bool { [Self.start, Self.publisher, FeedName.botMentions].contains(part) }

    /// Whether nothing that is due is sent.
    var stopsSending: Bool { [Self.start, Self.publisher].contains(part) }

    /// What goes wrong, in our own words.
    var subject: String { part == Self.start ? "the worker cannot begin" : "\(part) fails each time" }

    /// What goes wrong, since when, and why.
    package var text: String { "\(subject) since \(since.rfc3339): \(error)" }
}

/// What fails in a worker's work, for its own process, and in rows for every other.
///
/// A row is written when a part fails for the first time, and again every few minutes while it does; the first success
/// removes it. Where the database takes no rows, the process alone knows. They are kept among the refusals, under the
/// name of the part instead of that of an account.
package actor WorkTroubles {
    /// Between two writings of one row, in seconds.
    private static let interval: TimeInterval = 300
    /// A row of an earlier process is about the same trouble if that one failed so lately, in seconds.
    private static let memory: TimeInterval = 1_200

    private let storage: any StorageEngine
    private let mirror: String
    private let clock: any WallClock
    private let pulse: WorkerPulse?
    private var known: [String: WorkTrouble] = [:]
    /// When each row that is there was written; nil before they were read.
    private var stored: [String: Date]?

    /// - Parameters:
    ///   - mirror: Whose work it is.
    ///   - pulse: Told of every change; nil for nobody.
    package init(of mirror: HumanMirror, pulse: WorkerPulse?) {
        (storage, self.mirror, clock, self.pulse) = (mirror.storage, mirror.name, mirror.clock, pulse)
    }

    /// Notes that a part failed; a note that cannot be written is not worth another error.
    package func fails(_ part: String, _ error: any Error) async {
        // A database that is away is not asked again: that would be another wait.
        let isAway = (error as? StorageError)?.isTransient == true
        if !isAway { await load() }
        let now = clock.now
        let trouble = WorkTrouble(part, error, after: known[part], now: now)
        note(trouble, of: part)
        guard !isAway, let stored else { return }
        if let written = stored[part], abs(now.timeIntervalSince(written)) < Self.interval { return }
        let isWritten = try? await storage.note(
            """
            INSERT INTO refusals (mirror, role, error, since_ms, noted_ms)
            VALUES (\(mirror), \(part), \(trouble.error), \(trouble.since.milliseconds), \(now.milliseconds))
            ON CONFLICT (mirror, role) DO UPDATE
            SET error = excluded.error, since_ms = excluded.since_ms, noted_ms = excluded.noted_ms
            """)
        if isWritten != nil { self.stored?[part] = now }
    }

    /// Notes that a part succeeded, or is not to do anything.
    package func works(_ part: String) async {
        await load()
        note(nil, of: part)
        guard stored?[part] != nil else { return }
        let isGone = try? await storage.note("DELETE FROM refusals WHERE mirror = \(mirror) AND role = \(part)")
        if isGone != nil { stored?[part] = nil }
    }

    /// Forgets what failed of other parts than these, which alone are to be done from now on.
    package func begins(_ parts: [String]) async {
        await load()
        for part in Set(known.keys).union((stored ?? [:]).keys).subtracting(parts) { await works(part) }
    }

    private func note(_ trouble: WorkTrouble?, of part: String) {
        known[part] = trouble
        publish()
    }

    private func publish() {
        let sorted = known.values.sorted { ($0.since, $0.part) < ($1.since, $1.part) }
        pulse?.fails(sorted, isComplete: stored != nil)
    }

    /// Reads what earlier processes noted, once.
    private func load() async {
        guard stored == nil, let rows = try? await Self.rows(of: mirror, in: storage), stored == nil else { return }
        stored = Dictionary(rows.map { ($0.part, $0.noted) }) { first, _ in first }
        let now = clock.now
        let unknown = rows.filter { known[$0.part] == nil }
        let recent = unknown.filter { (0..<Self.memory).contains(now.timeIntervalSince($0.noted)) }
        for row in recent { known[row.part] = row }
        publish()
        for row in unknown where known[row.part] == nil { await works(row.part) }
    }

    fileprivate static func rows(of mirror: String, in storage: any StorageEngine) async throws -> [WorkTrouble] {
        let roles = AccountRole.allCases.map(\.rawValue)
        return try await storage.query(
            """
            SELECT role, error, since_ms, noted_ms FROM refusals
            WHERE mirror = \(mirror) AND role NOT IN \(list: roles) ORDER BY since_ms, role
            """
        ).map(WorkTrouble.init(row:))
    }
}

extension HumanMirror {
    /// What has been failing in the work of the mirror's worker for some minutes, the worst first.
    ///
    /// - Throws: The store's error.
    package func workTroubles() async throws -> [WorkTrouble] {
        let lasting = try await WorkTroubles.rows(of: name, in: storage).filter(\.isLasting)
        return lasting.filter(\.stopsSending) + lasting.filter { $0.stopsWork && !$0.stopsSending }
            + lasting.filter { !$0.stopsWork }
    }
}
