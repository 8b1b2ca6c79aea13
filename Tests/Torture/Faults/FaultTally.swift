import Foundation

/// Lines that several threads note.
final class Notes: @unchecked Sendable {
    // Sendable because the variable is only touched under `lock`.
    private let lock = NSLock()
    private var lines: [String] = []

    var values: [String] { lock.withLock { lines } }

    func add(_ line: String) { lock.withLock { lines.append(line) } }
}

/// How often each kind of fault has happened to somebody.
final class FaultTally: @unchecked Sendable {
    // Sendable because the variable is only touched under `lock`.
    private let lock = NSLock()
    private var numbers: [String: Int] = [:]

    /// The kinds that have happened, and how often.
    var counts: [String: Int] { lock.withLock { numbers } }

    func count(_ kind: some RawRepresentable<String>) {
        lock.withLock { numbers[kind.rawValue, default: 0] += 1 }
    }
}
