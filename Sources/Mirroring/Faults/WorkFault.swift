package import Foundation

/// A part of a worker's work that has failed in every run since its last success, or an account
/// whose credentials its network has refused since it last accepted them: a row of `refusals`.
package struct WorkFault: Codable, Equatable, Sendable {
    /// The start of the worker, which makes requests to both networks.
    package static let start = "start"
    /// Sending due actions.
    package static let publisher = "publisher"
    /// The end of a worker for a reason that no retry fixes.
    package static let end = "end"
    /// The comparison of this machine's clock with the network's.
    package static let clock = "clock"
    /// Seconds within which a failing part is expected to recover.
    package static let recoveryTime: TimeInterval = 600

    /// One of the above, the name of a pass, or the role of an account.
    package var part: String
    /// When it first failed.
    package var since: Date
    /// When it last failed.
    package var noted: Date
    package var error: String
    /// `store-` and the label of a `StorageError.Code`, `counts`, `dictionary`, `configuration`, or
    /// the raw value of a `NetworkError.Code`; nil for another error, and for rows that an earlier
    /// version wrote.
    package var code: String?

    package init(part: String, since: Date, noted: Date, error: String, code: String? = nil) {
        self.part = part
        self.since = since
        self.noted = noted
        self.error = error
        self.code = code
    }

    /// Whether it has failed for so long that it is not expected to recover.
    package var isLasting: Bool { noted.timeIntervalSince(since) >= Self.recoveryTime }
}
