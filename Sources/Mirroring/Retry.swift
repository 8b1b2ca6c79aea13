import Favorites
package import Foundation
package import Networks
package import Outbox
import Posts
import Redis
import Settings
import Storage

/// What is tried again after a failure, and when.
package enum Retry {
    /// Never sooner than the network asked for.
    private static let backoff = Backoff(first: 5, longest: 300)
    /// What no retry mends; a replaced file is another database, which the next start opens.
    private static let finalStorageCodes: [StorageError.Code] = [
        .outOfDate, .authentication, .configuration, .corrupt, .replaced,
    ]

    /// When to try something again that failed so many times in a row.
    ///
    /// - Parameters:
    ///   - failures: How often, this time counted.
    ///   - name: What is tried; things of other names wait a little more or less.
    ///   - error: How it failed the last time.
    ///   - now: The time from which the wait is counted.
    /// - Returns: The time of the next try.
    package static func next(after failures: Int, of name: String, _ error: any Error, now: Date) -> Date {
        backoff.next(
            after: failures, key: "\(name) \(failures)", asked: (error as? NetworkError)?.retryAfter, now: now,
            atMost: .greatestFiniteMagnitude)
    }

    /// Whether trying again cannot help, so that the worker ends.
    package static func isInVain(_ error: any Error) -> Bool {
        switch error {
        case is ConfigurationError, is UnusableAccount, is MirrorChanged: true
        case let error as OutboxError: [.leaseLost, .paused].contains(error.code)
        case let error as StorageError: finalStorageCodes.contains(error.code)
        case let error as FavoritesError: error.code == .invalidConfiguration
        case let error as RedisError: error.code == .invalidConfiguration
        default: false
        }
    }
}

/// Somebody logged in or out, bound the mirror anew, paused it or changed a setting while the worker ran; it begins
/// again with what is stored now.
package struct MirrorChanged: Error {
    package init() {}
}

extension NetworkError {
    /// Which row of the table of ``RetryPolicy`` the error belongs to.
    package var retryCause: RetryPolicy.Cause {
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
