import Foundation
import GRDB

/// How long a call waits for the lock of another process.
///
/// SQLite asks on the thread that waits, which does the work of one call at a
/// time: that call is noted there, so that cancelling its task ends the wait.
enum SQLitePatience {
    /// Whether a call's task was cancelled.
    final class Call: @unchecked Sendable {
        // The lock makes every access to `cancelled` exclusive.
        private let lock = NSLock()
        private var cancelled = false

        var isCancelled: Bool { lock.withLock { cancelled } }

        func cancel() { lock.withLock { cancelled = true } }
    }

    /// How often a lock is tried again, in milliseconds.
    ///
    /// SQLite's own pauses grow to 100 ms: beside a process that writes all the
    /// time, the gaps are missed.
    private static let pause = 5
    private static let key = "mirror-bot.storage.call"

    /// Waits up to so many seconds.
    static func mode(seconds: Double) -> Database.BusyMode {
        let attempts = Int(seconds * 1_000) / pause
        return .callback { attempt in
            let call = Thread.current.threadDictionary[key] as? Call
            guard attempt < attempts, call?.isCancelled != true else { return false }
            _ = poll(nil, 0, Int32(pause))
            return true
        }
    }

    /// Opens a file on the thread that waits, trying again for so many seconds.
    ///
    /// A file that another process makes, recovers or closes for good just now is locked, and for some of these locks
    /// SQLite asks nobody whether to wait.
    static func opening<Value>(seconds: Double, _ open: () throws -> Value) throws -> Value {
        let end = ContinuousClock.now + .seconds(seconds)
        while true {
            do {
                return try open()
            } catch let error as DatabaseError
                where error.resultCode.primaryResultCode == .SQLITE_BUSY && ContinuousClock.now < end
            {
                _ = poll(nil, 0, Int32(pause))
            }
        }
    }

    /// Runs the work of a call on the thread that waits.
    static func during<Value>(_ call: Call, _ work: () throws -> Value) rethrows -> Value {
        let notes = Thread.current.threadDictionary
        notes[key] = call
        defer { notes.removeObject(forKey: key) }
        return try work()
    }
}
