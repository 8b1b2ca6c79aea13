import Foundation

/// The current faults of the workers of this process, by mirror, including those that the database
/// could not store.
package final class LiveFaults: @unchecked Sendable {
    // Sendable because `faults` is only touched under `lock`.
    private let lock = NSLock()
    private var faults: [String: [WorkFault]] = [:]

    func set(_ current: [WorkFault], of mirror: String) {
        lock.withLock { faults[mirror] = current }
    }

    /// Returns the faults in a mirror's work in this process, the oldest first.
    package func of(_ mirror: String) -> [WorkFault] { lock.withLock { faults[mirror] ?? [] } }
}
