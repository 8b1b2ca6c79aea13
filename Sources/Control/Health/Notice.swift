package import Foundation
import Localization
import Mirroring
import Posts
import Settings

/// A condition about which a person is notified.
package enum NoticeCause: String, CaseIterable, Codable, Sendable {
    /// The worker has ended and does not begin again by itself.
    case stopped
    /// The network refuses the bot's credentials.
    case refused
    /// The network refuses the human's credentials.
    case humanRefused = "human-refused"
    /// The database is unreachable or read-only.
    case database
    /// The worker cannot start, or a part of its work always fails.
    case failing
    /// A network cannot be read.
    case unreachable
    /// The month's money for X is used up.
    case budget
    /// This machine's clock is wrong.
    case clock
    /// An item waits for a person's decision.
    case review
    /// Nothing can be posted in the present state: nothing was learned, or the network's rules were
    /// not accepted.
    case idle

    /// Seconds that the condition must last before a notice, because many conditions end by
    /// themselves.
    var secondsBeforeNotice: TimeInterval {
        switch self {
        case .stopped, .budget, .review: 0
        case .database: 300
        case .clock: 600
        // A lasting refusal ends the worker after 12 minutes, and the end is reported at once.
        case .refused, .humanRefused, .failing: 900
        case .unreachable, .idle: 3_600
        }
    }

    /// Whether the mirror cannot do all of its work under this condition.
    var stopsWork: Bool {
        switch self {
        case .stopped, .refused, .database, .failing, .unreachable, .budget, .idle: true
        case .humanRefused, .clock, .review: false
        }
    }

    /// The subject, without a full stop.
    var title: String {
        switch self {
        case .stopped: localized("the worker has ended")
        case .refused: localized("the network refuses the bot's credentials")
        case .humanRefused: localized("the network refuses the human's credentials")
        case .database: localized("the database cannot be used")
        case .failing: localized("the worker cannot do all of its work")
        case .unreachable: localized("a network cannot be reached")
        case .budget: localized("the budget for X is used up")
        case .clock: localized("this machine's clock is wrong")
        case .review: localized("something waits for you")
        case .idle: localized("nothing can be posted")
        }
    }

    /// The explanation and the remedy, without any text of other people or servers.
    fileprivate func text(_ detail: String?) -> String {
        switch self {
        case .stopped:
            detail.map {
                localized("The worker has ended: \($0). mirror-bot doctor says what to do.")
            } ?? localized("The worker has ended. mirror-bot doctor says what to do.")
        case .refused:
            localized("Nothing is sent. Log in again: mirror-bot login NETWORK --as bot.")
        case .humanRefused:
            localized("Nothing new is learned. Log in again: mirror-bot login NETWORK --as human.")
        case .database:
            localized(
                "Nothing is sent for any of its mirrors until it takes changes again. mirror-bot doctor says more."
            )
        case .failing:
            detail.map {
                localized(
                    "The worker retries: \($0). mirror-bot status says why, and mirror-bot doctor what to do."
                )
            }
                ?? localized(
                    "The worker retries. mirror-bot status says why, and mirror-bot doctor what to do."
                )
        case .unreachable:
            detail.map {
                localized(
                    "The worker retries until it answers: \($0). mirror-bot status says more.")
            } ?? localized("The worker retries until it answers. mirror-bot status says more.")
        case .budget:
            detail.map {
                localized("X is left alone: \($0). \(Setting.xBudget.name) changes that.")
            } ?? localized("X is left alone. \(Setting.xBudget.name) changes that.")
        case .clock:
            localized(
                "It is \(detail ?? localized("far")) off that of the network. Synchronize it with a time server."
            )
        case .review:
            detail.map { localized("\($0).") }
                ?? localized("Something waits for your decision: mirror-bot status.")
        case .idle:
            detail.map { localized("Nothing is posted: \($0). mirror-bot status says what to do.") }
                ?? localized("Nothing is posted. mirror-bot status says what to do.")
        }
    }
}

/// The known state of a cause at some time.
package enum NoticeFinding: Equatable, Sendable {
    /// The known beginning of the condition, and details in our own words.
    ///
    /// `isCertain` marks a condition that does not end by itself, and is reported at once.
    case holds(since: Date, detail: String? = nil, isCertain: Bool = false)
    case isOver
}

/// A message to a person about a condition.
///
/// It is sent once a day for each cause, and once when the condition is over.
///
/// Contains no text of other people or servers, no handle and no secret.
package struct Notice: Codable, Equatable, Sendable {
    package enum State: String, Codable, Sendable {
        case began
        /// Reported at least a day ago, and still present.
        case continues
        case resolved
        /// A test of the delivery.
        case test
    }

    package var schema = "mirror-bot/notice/1"
    package var mirror: String
    /// Nil for a test.
    package var cause: NoticeCause?
    package var state: State
    /// One line.
    package var title: String
    package var text: String
    /// The beginning of the condition.
    package var since: Date
    package var at: Date

    /// - Parameters:
    ///   - cause: The condition.
    ///   - state: The state of the condition.
    ///   - mirror: The mirror's name.
    ///   - since: The beginning of the condition.
    ///   - detail: Details, in our own words.
    ///   - now: The time of the message.
    init(
        _ cause: NoticeCause, _ state: State, mirror: String, since: Date, detail: String?,
        now: Date
    ) {
        self.mirror = mirror
        self.cause = cause
        self.state = state
        self.since = since
        at = now
        switch state {
        case .resolved:
            title = localized("\(mirror): over: \(cause.title)")
            text = localized("It began at \(since.rfc3339) and is over.")
        default:
            title = localized("\(mirror): \(cause.title)")
            text = cause.text(detail)
        }
    }

    /// A test notice.
    ///
    /// - Parameter asker: The command or the page that asked for it.
    package static func test(
        of mirror: String, now: Date, asker: String = "mirror-bot notify --test"
    ) -> Notice {
        var notice = Notice(.stopped, .test, mirror: mirror, since: now, detail: nil, now: now)
        notice.cause = nil
        notice.title = localized("\(mirror): a test")
        notice.text = localized("Nothing happened: \(asker) asked for this message.")
        return notice
    }

    /// The notice as JSON in `snake_case` on one line.
    func json() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
    }
}
