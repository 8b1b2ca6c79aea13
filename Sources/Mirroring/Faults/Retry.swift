import Favorites
package import Foundation
package import Networks
import Outbox
package import Posts
import Redis
import Settings
import Storage

/// The failures that are tried again; `RetryRule` determines the schedule.
package enum Retry {
    /// Errors that no retry can fix; a replaced database file is opened at the next start.
    private static let finalStorageCodes: [StorageError.Code] = [
        .outOfDate, .authentication, .configuration, .corrupt, .replaced,
    ]

    /// Whether a retry cannot help, so that the worker ends.
    package static func isInVain(_ error: any Error) -> Bool {
        switch error {
        case is ConfigurationError, is UnusableAccount, is MirrorChanged: true
        case let error as OutboxError: [.leaseLost, .outdated, .paused].contains(error.code)
        case let error as StorageError: finalStorageCodes.contains(error.code)
        case let error as FavoritesError: error.code == .invalidConfiguration
        case let error as RedisError: error.code == .invalidConfiguration
        default: false
        }
    }
}

extension RetryRule {
    /// The next try after a number of failures in a row, the last one with this error.
    package func next(after failures: Int, of name: String, _ error: any Error, now: Date) -> Date {
        next(after: failures, key: name, retryAfter: (error as? NetworkError)?.retryAfter, now: now)
    }
}

/// The error that the stored state changed while the worker ran: a login, logout, rebinding, pause
/// or setting.
///
/// The worker restarts with the new state.
package struct MirrorChanged: Error {
    package init() {}
}

extension NetworkError {
    /// The row of the table of `RetryRule` that the error belongs to.
    package var retryCause: RetryRule.Cause {
        if stopsActor { return .credentials }
        switch code {
        case .rateLimited: return .tooBusy
        case .unavailable, .malformedResponse, .redirected: return .serverTrouble
        case .transport: return .unreachable
        case .overBudget, .capReached, .creditsDepleted: return .limit
        case .conflict: return .conflict
        default: return .other
        }
    }
}
