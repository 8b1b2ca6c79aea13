package import Storage

/// A number in a mirror's row that is increased by every change that affects its worker.
///
/// A process with many mirrors reads all numbers with one statement, and reads a mirror only if its
/// number has changed. An action that was prepared under an older number is checked again before it
/// is sent.
package enum MirrorVersion {
    /// Increases the number, in the transaction of the change; does nothing for a mirror without a
    /// row.
    package static func raise(_ mirror: String, on connection: any StorageConnection) throws {
        try connection.execute("UPDATE mirrors SET version = version + 1 WHERE mirror = \(mirror)")
    }
}
