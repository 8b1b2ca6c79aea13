package import Foundation
import Mirroring
import Posts

/// Why a person should be told something while nobody looks.
package enum NoticeCause: String, CaseIterable, Codable, Sendable {
    /// The worker has ended and does not begin again by itself.
    case stopped
    /// The network refuses the bot's credentials.
    case refused
    /// The network refuses the human's credentials.
    case humanRefused = "human-refused"
    /// The database cannot be reached or takes no changes.
    case database
    /// The worker cannot begin, or a part of what it does fails each time.
    case failing
    /// A network cannot be read.
    case unreachable
    /// The month's money for X is used up.
    case budget
    /// This machine's clock is wrong.
    case clock
    /// Something waits for a person's decision.
    case review
    /// Nothing can be posted as things are: nothing was learned, or the network's rules were not
    /// agreed to.
    case idle

    /// How long it must hold before anybody is told, in seconds: much passes by itself.
    var patience: TimeInterval {
        switch self {
        case .stopped, .budget, .review: 0
        case .database: 300
        case .clock: 600
        // A refusal that stays ends the worker after 12 minutes, which is told at once.
        case .refused, .humanRefused, .failing: 900
        case .unreachable, .idle: 3_600
        }
    }

    /// Whether the mirror does not do all of its work while it holds.
    var stopsWork: Bool {
        switch self {
        case .stopped, .refused, .database, .failing, .unreachable, .budget, .idle: true
        case .humanRefused, .clock, .review: false
        }
    }

    /// The subject, without a full stop.
    var title: String {
        switch self {
        case .stopped: "the worker has ended"
        case .refused: "the network refuses the bot's credentials"
        case .humanRefused: "the network refuses the human's credentials"
        case .database: "the database cannot be used"
        case .failing: "the worker cannot do all of its work"
        case .unreachable: "a network cannot be reached"
        case .budget: "the budget for X is used up"
        case .clock: "this machine's clock is wrong"
        case .review: "something waits for you"
        case .idle: "nothing can be posted"
        }
    }

    /// The explanation and the remedy, without anything that somebody else wrote.
    fileprivate func text(_ detail: String?) -> String {
        let about = detail.map { ": \($0)" } ?? ""
        return switch self {
        case .stopped: "The worker has ended\(about). mirror-bot doctor says what to do."
        case .refused: "Nothing is sent. Log in again: mirror-bot login NETWORK --as bot."
        case .humanRefused:
            "Nothing new is learned. Log in again: mirror-bot login NETWORK --as human."
        case .database:
            "Nothing is sent for any of its mirrors until it takes changes again. mirror-bot doctor says more."
        case .failing:
            "The worker retries\(about). mirror-bot status says why, and mirror-bot doctor what to do."
        case .unreachable:
            "The worker retries until it answers\(about). mirror-bot status says more."
        case .budget: "X is left alone\(about). X_BUDGET_USD_PER_MONTH changes that."
        case .clock:
            "It is \(detail ?? "far") off that of the network. Synchronize it with a time server."
        case .review: "\(detail ?? "Something waits for your decision: mirror-bot status")."
        case .idle: "Nothing is posted\(about). mirror-bot status says what to do."
        }
    }
}

/// The known state of a cause at some time.
package enum NoticeFinding: Equatable, Sendable {
    /// Since when it holds, as far as that is known, and what there is to say of it in our own
    /// words.
    ///
    /// Certain is what does not pass by itself, and is told at once.
    case holds(since: Date, detail: String? = nil, isCertain: Bool = false)
    case isOver
}

/// A message to a person, sent once a day for each cause, and once when it is over.
///
/// Holds nothing that somebody else wrote, no handle and no secret.
package struct Notice: Codable, Equatable, Sendable {
    package enum State: String, Codable, Sendable {
        case began
        /// Told of a day ago or longer, and still so.
        case continues
        case resolved
        /// Nothing happened: somebody tries whether notices arrive.
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
    /// Since when it holds, or held.
    package var since: Date
    package var at: Date

    /// - Parameters:
    ///   - cause: What it is about.
    ///   - state: What became of it.
    ///   - mirror: The mirror's name.
    ///   - since: Since when it holds, or held.
    ///   - detail: What there is to say of it, in our own words.
    ///   - now: When it is told.
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
            title = "\(mirror): over: \(cause.title)"
            text = "It began at \(since.rfc3339) and is over."
        default:
            title = "\(mirror): \(cause.title)"
            text = cause.text(detail)
        }
    }

    /// A notice that says that nothing happened.
    package static func test(of mirror: String, now: Date) -> Notice {
        var notice = Notice(.stopped, .test, mirror: mirror, since: now, detail: nil, now: now)
        notice.cause = nil
        notice.title = "\(mirror): a test"
        notice.text = "Nothing happened: mirror-bot notify --test asked for this message."
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
