import Favorites
import Foundation
import MeCab
import Networks
import Posts
import Redis
import Settings
import Storage

/// The faults in a worker's work: in memory for its own process, and as rows for all others.
///
/// A row is written when a part fails for the first time, and again every few minutes while it
/// fails; the first success removes it. If the database cannot be written, only the process knows
/// of the fault. The rows are stored in the table `refusals`, with the name of the part in place of
/// that of an account.
package actor FaultLog {
    /// Seconds between two writes of one row.
    private static let interval: TimeInterval = 300
    /// Seconds after which a row of an earlier process no longer counts as the beginning of the
    /// same fault.
    private static let memory: TimeInterval = 1_200

    private let storage: any StorageEngine
    private let mirror: String
    private let clock: any WallClock
    private let pulse: WorkerPulse?
    private let live: LiveFaults
    private var current: [String: WorkFault] = [:]
    /// When each stored row was written; nil before the rows were read.
    private var stored: [String: Date]?

    /// - Parameters:
    ///   - mirror: The mirror that the worker acts for.
    ///   - pulse: Receives every change; nil for no receiver.
    package init(of mirror: HumanMirror, pulse: WorkerPulse?) {
        storage = mirror.storage
        self.mirror = mirror.name
        clock = mirror.clock
        self.pulse = pulse
        live = mirror.installation.faults
    }

    /// The log of a mirror that perhaps cannot be opened.
    package init(
        of mirror: String, in installation: Installation, clock: any WallClock, pulse: WorkerPulse?
    ) {
        storage = installation.storage
        self.mirror = mirror
        self.clock = clock
        self.pulse = pulse
        live = installation.faults
    }

    /// Notes that a part failed; an error of this write is ignored.
    package func fails(_ part: String, _ error: any Error) async {
        // An unreachable database is not asked again, because that would be another wait.
        let isUnreachable = (error as? StorageError)?.isTransient == true
        if !isUnreachable { await load() }
        let now = clock.now
        let text = StoredText.inEnglish { "\(error)" }
        let fault = WorkFault(
            part: part, since: min(current[part]?.since ?? now, now), noted: now, error: text,
            code: Self.code(of: error))
        setFault(fault, of: part)
        guard !isUnreachable, let stored else { return }
        if let written = stored[part], abs(now.timeIntervalSince(written)) < Self.interval {
            return
        }
        let isWritten = try? await storage.executeRepeatable(
            """
            INSERT INTO refusals (mirror, role, error, code, since_ms, noted_ms)
            VALUES (\(mirror), \(part), \(fault.error), \(fault.code), \(fault.since.milliseconds), \(now.milliseconds))
            ON CONFLICT (mirror, role) DO UPDATE SET error = excluded.error, code = excluded.code,
                since_ms = excluded.since_ms, noted_ms = excluded.noted_ms
            """)
        if isWritten != nil { self.stored?[part] = now }
    }

    /// Notes that a part succeeded, or that it has nothing to do.
    package func works(_ part: String) async {
        await load()
        setFault(nil, of: part)
        guard stored?[part] != nil else { return }
        // A row that could not be deleted is deleted at the next success.
        let isGone = try? await storage.executeRepeatable(
            "DELETE FROM refusals WHERE mirror = \(mirror) AND role = \(part)")
        if isGone != nil { stored?[part] = nil }
    }

    /// Forgets the faults of all parts except these, which are the only ones that still run.
    package func forgetAll(except parts: [String]) async {
        await load()
        for part in Set(current.keys).union((stored ?? [:]).keys).subtracting(parts) {
            await works(part)
        }
    }

    private func setFault(_ fault: WorkFault?, of part: String) {
        current[part] = fault
        publish()
    }

    private func publish() {
        let sorted = current.values.sorted { ($0.since, $0.part) < ($1.since, $1.part) }
        pulse?.fails(sorted, isComplete: stored != nil)
        live.set(sorted, of: mirror)
    }

    /// Reads the faults that earlier processes stored, once.
    private func load() async {
        // If the database does not answer, it is asked again at the next note.
        guard stored == nil,
            let rows = try? await FaultTable(storage: storage, mirror: mirror).rows().faults,
            stored == nil
        else { return }
        stored = Dictionary(rows.map { ($0.part, $0.noted) }) { first, _ in first }
        let now = clock.now
        let unknown = rows.filter { current[$0.part] == nil }
        let recent = unknown.filter { (0..<Self.memory).contains(now.timeIntervalSince($0.noted)) }
        for row in recent { current[row.part] = row }
        publish()
        for row in unknown where current[row.part] == nil { await works(row.part) }
    }

    /// The stable label of an error, as ``WorkFault/code`` defines it.
    static func code(of error: any Error) -> String? {
        switch error {
        case let error as StorageError: "store-\(error.code.label)"
        case let error as NetworkError: error.code.rawValue
        case is FavoritesError, is RedisError: "counts"
        case is MeCabError: "dictionary"
        case is ConfigurationError: "configuration"
        default: nil
        }
    }
}
