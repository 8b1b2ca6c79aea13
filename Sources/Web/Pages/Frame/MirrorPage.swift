import HTTPTypes
import Localization

/// The nine main pages of a mirror, in the order of the navigation.
package enum PageSection: String, CaseIterable, Sendable {
    case today, waiting, actions, hours, favorites, texts, people, health, settings

    package var title: String {
        switch self {
        case .today: localized("Today")
        case .waiting: localized("Waiting")
        case .actions: localized("Actions")
        case .hours: localized("Hours")
        case .favorites: localized("Favorites")
        case .texts: localized("Texts")
        case .people: localized("People")
        case .health: localized("Health")
        case .settings: localized("Settings")
        }
    }

    /// The path after `/m/NAME`.
    var path: String { self == .today ? "" : "/\(rawValue)" }
}

/// A page of one mirror with its operations: its routes, confirmations and templates.
package protocol MirrorPage: Sendable {
    static var section: PageSection { get }
    static var routes: [MirrorRoute] { get }
    /// The pages of `/m/NAME/confirm/OPERATION`, by the operation's name.
    static var confirmations: [String: @Sendable (MirrorRequest) async throws -> Confirmation] {
        get
    }
    static var templates: [PageTemplate] { get }
    /// The ids of the elements that `live.js` replaces after a change.
    static var liveParts: [String] { get }
}

extension MirrorPage {
    package static var confirmations:
        [String: @Sendable (MirrorRequest) async throws -> Confirmation]
    { [:] }
    package static var liveParts: [String] { [] }
}

/// A method and a path below `/m/NAME`, with its handler.
package struct MirrorRoute: Sendable {
    package typealias Handler = @Sendable (MirrorRequest) async throws -> WebReply

    let method: HTTPRequest.Method
    /// The pattern of the path, as `/slots/:id/skip`; empty for `/m/NAME` itself.
    let pattern: String
    /// Whether a request changes something, so that its answer is never cached.
    let isChange: Bool
    let answer: Handler

    package static func get(_ pattern: String, _ answer: @escaping Handler) -> MirrorRoute {
        MirrorRoute(method: .get, pattern: pattern, isChange: false, answer: answer)
    }

    /// Handles a GET to which another site redirects, and which changes something.
    ///
    /// `answer` must check a secret in the query. HEAD is refused, and so is every request if the
    /// server is read-only.
    package static func comingBack(_ pattern: String, _ answer: @escaping Handler) -> MirrorRoute {
        MirrorRoute(method: .get, pattern: pattern, isChange: true, answer: answer)
    }

    /// Handles a POST from a form of this server; refused if the server is read-only.
    package static func post(_ pattern: String, _ answer: @escaping Handler) -> MirrorRoute {
        MirrorRoute(method: .post, pattern: pattern, isChange: true, answer: answer)
    }
}
