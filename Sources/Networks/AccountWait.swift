package import Foundation

/// A state of an account in which its network delays some calls, or in which they have failed since
/// the last success.
///
/// The wait is stored for the next process; its ``length`` determines its severity.
package struct AccountWait: Equatable, Sendable {
    /// The calls that have to wait; the raw value is stored.
    package enum Scope: Hashable, Sendable, RawRepresentable {
        case everything
        case operation(NetworkError.Operation)

        private static let everythingName = "everything"

        package init?(rawValue: String) {
            if rawValue == Self.everythingName {
                self = .everything
            } else if let operation = NetworkError.Operation(rawValue: rawValue) {
                self = .operation(operation)
            } else {
                return nil
            }
        }

        package var rawValue: String {
            switch self {
            case .everything: Self.everythingName
            case .operation(let operation): operation.rawValue
            }
        }

        /// Whether the scope includes an operation.
        package func covers(_ operation: NetworkError.Operation) -> Bool {
            self == .everything || self == .operation(operation)
        }
    }

    package var scope: Scope
    package var code: NetworkError.Code
    /// The description of the last error.
    package var error: String
    /// The time of the first failure since the last success.
    package var since: Date
    /// The time of the last failure.
    package var noted: Date
    /// The time of the next call; not later than ``noted`` if the network named no time.
    package var until: Date

    package init(
        scope: Scope, code: NetworkError.Code, error: String, since: Date, noted: Date, until: Date
    ) {
        self.scope = scope
        self.code = code
        self.error = error
        self.since = since
        self.noted = noted
        self.until = until
    }

    /// The duration without a successful call, in seconds, as known at the last failure.
    package var length: TimeInterval { max(until, noted).timeIntervalSince(since) }

    /// Whether no calls are made before ``until``; otherwise the program only notes that they fail.
    package var holdsCalls: Bool { code == .rateLimited || code == .capReached }

    /// Seconds after which a failure is stored again even if nothing else has changed.
    private static let rewriteInterval: TimeInterval = 300
    /// Seconds by which the end of a wait may move without being stored again.
    private static let tolerance: TimeInterval = 60

    /// Whether the wait differs so little from `written` that it need not be stored.
    func isNearlyEqual(to written: AccountWait) -> Bool {
        code == written.code && abs(until.timeIntervalSince(written.until)) <= Self.tolerance
            && (0..<Self.rewriteInterval).contains(noted.timeIntervalSince(written.noted))
    }
}
