import Favorites
package import Foundation
package import Networks
import Outbox
package import Posts
import Redis
import Settings
import Storage

/// Which failures are tried again; how is said by `RetryRule`.
package enum Retry {
    /// Errors that no retry can fix; a replaced file is another database, which the next start
    /// opens.
    private static let finalStorageCodes: [StorageError.Code] = [
        .outOfDate, .authentication, .configuration, .corrupt, .replaced,
    ]

    /// Whether trying again cannot help, so that the worker ends.
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
    /// When to try something again that failed so many times in a row, the last time with this
    /// error.
    package func next(after failures: Int, of name: String, _ error: any Error, now: Date) -> Date {
        next(after: failures, key: name, asked: (error as? NetworkError)?.retryAfter, now: now)
    }
}

/// Somebody logged in or out, bound the mirror anew, paused it or changed a setting while the
/// worker ran; it begins again with what is stored now.
package struct MirrorChanged: Error {
    package init() {}
}

extension NetworkError {
    /// Which row of the table of `RetryRule` the error belongs to.
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
