package import Foundation

/// A part of a worker's work that has failed each time since it last succeeded.
package struct WorkFault: Codable, Equatable, Sendable {
    /// The start of the worker, which asks both networks.
    package static let start = "start"
    /// Sending what is due.
    package static let publisher = "publisher"
    /// The end of a worker for a reason that no retry mends.
    package static let end = "end"
    /// Comparing this machine's clock with the network's.
    package static let clock = "clock"
    /// A part that has failed for a shorter time is expected to recover, in seconds.
    package static let patience: TimeInterval = 600

    /// One of the above, or the name of a pass.
    package var part: String
    /// When it failed first.
    package var since: Date
    /// When it failed last.
    package var noted: Date
    package var error: String
    /// `store-` and the label of a `StorageError.Code`, `counts`, `dictionary`, `configuration`, or
    /// the raw value of a `NetworkError.Code`; nil for another error, and of rows that an earlier
    /// version wrote.
    package var code: String?

    package init(part: String, since: Date, noted: Date, error: String, code: String? = nil) {
        self.part = part
        self.since = since
        self.noted = noted
        self.error = error
        self.code = code
    }

    /// Whether it failed again and again for so long that it is not expected to recover.
    package var isLasting: Bool { noted.timeIntervalSince(since) >= Self.patience }
}
