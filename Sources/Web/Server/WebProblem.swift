import Favorites
import HTTPTypes
import Mirroring
import Settings
import Storage

/// An error response, with the title and the text of its page.
struct WebProblem: Error, Sendable {
    let status: HTTPResponse.Status
    let title: String
    let text: String
    /// The state that determines the shape and color on the page.
    var state = "unset"
    /// The path of the link back; nil for `/`, or for no link if the request is of the public page.
    var back: String?
    /// Seconds after which the client may retry; nil for no `Retry-After`.
    var retryAfter: Int?

    static let notFound = WebProblem(
        status: .notFound, title: "There is no such page",
        text: "It may have been there once, or the address is wrong."
    )

    static let readOnly = WebProblem(
        status: .forbidden, title: "This page only shows",
        text:
            "Whoever runs it lets it change nothing. The commands of mirror-bot can, in a terminal."
    )

    static let badForm = WebProblem(
        status: .badRequest, title: "The form could not be read",
        text: "Nothing was done. Look again and repeat it.")

    static let foreignForm = WebProblem(
        status: .forbidden, title: "This form is not from here",
        text:
            "Nothing was done. The form came from another page, or from a session that has ended. Look again and "
            + "repeat it.")

    static let noOrigin = WebProblem(
        status: .forbidden, title: "This form is not from here",
        text:
            "Nothing was done. The browser did not say from which page the form came: the request has no Origin. "
            + "A reverse proxy in front of this page has to pass it on.")

    /// The error for a form that came from another address than the page's.
    ///
    /// The text names both addresses, so that a person can distinguish a proxy that passes another
    /// Host from an attack.
    ///
    /// - Parameters:
    ///   - origin: The origin that the browser sent.
    ///   - page: The scheme and authority by which the browser requested the page.
    static func foreignOrigin(_ origin: String, of page: String) -> WebProblem {
        WebProblem(
            status: .forbidden, title: "This form is not from here",
            text: comparison(origin, page)
                + " If both are this page, the reverse proxy in front of it has to pass on the Host that the browser "
                + "sent, with its port (in nginx: proxy_set_header Host $http_host).")
    }

    /// The error for a form from https to a page requested by http, or vice versa.
    ///
    /// - Parameters: As those of ``foreignOrigin(_:of:)``.
    static func foreignScheme(_ origin: String, of page: String) -> WebProblem {
        WebProblem(
            status: .forbidden, title: "This form is not from here",
            text: comparison(origin, page)
                + " A reverse proxy in front of it has to send X-Forwarded-Proto.")
    }

    private static func comparison(_ origin: String, _ page: String) -> String {
        "Nothing was done. The form came from \(origin.prefix(shownLength)), and this page was called "
            + "\(page.prefix(shownLength))."
    }

    /// The most characters of a header that a response repeats.
    private static let shownLength = 200

    static let noHost = WebProblem(
        status: .misdirectedRequest, title: "The request names no host",
        text: "Pages are shown only to requests with a Host.")

    static let ambiguousHost = WebProblem(
        status: .badRequest, title: "The request could not be read",
        text: "It names more than one host.")

    /// The error for a connection that was closed while the request waited for its turn; nobody
    /// reads it.
    static let gone = WebProblem(
        status: .requestTimeout, title: "The connection was closed", text: "Nothing was done.")

    /// Creates the response to an error of a request.
    init(_ error: any Error) {
        switch error {
        case let problem as WebProblem: self = problem
        case let error as StorageError where error.code == .readOnly || error.code == .full:
            self.init(
                status: .serviceUnavailable, title: "Nothing can be changed.",
                text: "The database takes no changes: \(error.code.label).", state: "failing")
        case is StorageError:
            self.init(
                status: .serviceUnavailable, title: "Nothing can be read.",
                text:
                    "The database does not answer. This page tries again when you do; the worker tries by itself.",
                state: "failing")
        case is FavoritesError:
            self.init(
                status: .serviceUnavailable, title: "Favorites cannot be judged now.",
                text:
                    "What was learned cannot be counted: Redis does not answer, or is being filled. Health has the "
                    + "reason. This page tries again when you do; the worker tries by itself.",
                state: "hindered")
        case let error as ConfigurationError where error.part == .mirror:
            self.init(
                status: .notFound, title: "There is no such mirror",
                text: "This database has no mirror of that name (any more).")
        case let error as ConfigurationError:
            self.init(status: .conflict, title: "Not done", text: "\(error)", state: "failing")
        case let refusal as ChangeRefusal:
            let status: HTTPResponse.Status =
                if refusal.code == .unknown {
                    .notFound
                } else if refusal.isMisuse {
                    .badRequest
                } else {
                    .conflict
                }
            self.init(status: status, title: "Not done", text: refusal.text.page)
        default:
            self.init(
                status: .internalServerError, title: "Something went wrong",
                text:
                    "This is a bug. The log of the process that serves this page names the error.",
                state: "failing")
        }
    }

    init(
        status: HTTPResponse.Status, title: String, text: String, state: String = "unset",
        back: String? = nil,
        retryAfter: Int? = nil
    ) {
        self.status = status
        self.title = title
        self.text = text
        self.state = state
        self.back = back
        self.retryAfter = retryAfter
    }
}
