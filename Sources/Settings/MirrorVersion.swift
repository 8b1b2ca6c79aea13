package import Storage

/// The number in a mirror's row that grows with every change of what its worker goes by.
///
/// A process that works for many mirrors reads the numbers of all of them with one statement, and
/// looks at a mirror only if its number has changed. What was prepared to be sent under an older
/// number is checked once more.
package enum MirrorVersion {
    /// Raises the number, in the transaction of the change; nothing happens for a mirror without a
    /// row.
    package static func raise(_ mirror: String, on connection: any StorageConnection) throws {
        try connection.execute("UPDATE mirrors SET version = version + 1 WHERE mirror = \(mirror)")
    }
}
