import Foundation

/// What the network does wrong for a while.
enum NetworkFault: Equatable, Hashable, Sendable {
    case dropRequest
    case dropAnswer
    case resetRequest
    case resetAnswer
    case truncateAnswer
    /// Acts, and sends its answer so slowly that the worker is killed meanwhile or waits long.
    case drip
    case endlessAnswer
    /// Takes the request and never answers.
    case hang
    /// Acts that many seconds of the network's clock after the connection broke.
    case actLate(after: Int)
    /// A proxy's page instead of an answer.
    case page(status: Int)
    /// Too many requests; with a date in a header, or without any word about when.
    case tooMany(saysWhen: Bool)
    /// Errors of the server itself, so many in a row.
    case unavailable(times: Int)
    /// The token is refused once.
    case unauthorized
    /// The whole server is gone for so many real seconds.
    case vanish(seconds: Double)
    /// Mentions cannot be read so many times at first, and the answers to some writes are lost.
    /// From the first lost answer on, so many reads of single posts, which a worker makes before it
    /// sends, are refused in one of several ways.
    case refusedChecks(deaf: Int, times: Int, way: Int)

    /// The number of answers to writes that are lost beside refused checks.
    static let lostBesideChecks = 4
}

extension NetworkFault {
    /// A fault without its figures.
    enum Kind: String, CaseIterable, Sendable {
        case dropRequest = "drop-request"
        case dropAnswer = "drop-answer"
        case resetRequest = "reset-request"
        case resetAnswer = "reset-answer"
        case truncateAnswer = "truncate-answer"
        case drip
        case endlessAnswer = "endless-answer"
        case hang
        case actLate = "act-late"
        case page
        case tooMany = "too-many"
        case unavailable
        case unauthorized
        case vanish
        case refusedChecks = "refused-checks"

        /// How often it has its turn while all have theirs.
        var turns: Int {
            switch self {
            case .dropAnswer: 6
            case .resetAnswer: 5
            case .dropRequest, .resetRequest, .page, .hang, .actLate, .refusedChecks: 4
            case .truncateAnswer, .tooMany, .unavailable, .drip, .endlessAnswer, .unauthorized: 3
            case .vanish: 2
            }
        }
    }

    var kind: Kind {
        switch self {
        case .dropRequest: .dropRequest
        case .dropAnswer: .dropAnswer
        case .resetRequest: .resetRequest
        case .resetAnswer: .resetAnswer
        case .truncateAnswer: .truncateAnswer
        case .drip: .drip
        case .endlessAnswer: .endlessAnswer
        case .hang: .hang
        case .actLate: .actLate
        case .page: .page
        case .tooMany: .tooMany
        case .unavailable: .unavailable
        case .unauthorized: .unauthorized
        case .vanish: .vanish
        case .refusedChecks: .refusedChecks
        }
    }

    /// How a worker is kept from its work by a fault that a request has met.
    enum Hindrance: Sendable {
        /// Not at all: the one request is all that is lost.
        case none
        /// For as long as requests meet it.
        case whileItLasts
        /// Until the worker ends, for it may wait for an answer all the time.
        case toTheEnd
    }

    var hindrance: Hindrance {
        switch self {
        case .dropRequest, .dropAnswer, .resetRequest, .resetAnswer, .truncateAnswer, .actLate,
            .page(200), .vanish:
            .none
        case .page, .tooMany, .unavailable, .unauthorized, .refusedChecks: .whileItLasts
        case .drip, .endlessAnswer, .hang: .toTheEnd
        }
    }
}

/// A fault of the network in an episode.
struct TimedNetworkFault: Equatable, Sendable {
    var fault: NetworkFault
    /// Real seconds after the episode's beginning.
    var after: Double
    /// Only requests that publish, reply or favorite; else whatever comes first.
    var hitsWritesOnly: Bool
}
