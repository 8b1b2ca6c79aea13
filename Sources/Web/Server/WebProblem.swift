import Favorites
import HTTPTypes
import Localization
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

    static var notFound: WebProblem {
        WebProblem(
            status: .notFound, title: localized("There is no such page"),
            text: localized("It may have been there once, or the address is wrong."))
    }

    static var readOnly: WebProblem {
        WebProblem(
            status: .forbidden, title: localized("This page only shows"),
            text: localized(
                "Whoever runs it lets it change nothing. The commands of mirror-bot can, in a terminal."
            ))
    }

    static var badForm: WebProblem {
        WebProblem(
            status: .badRequest, title: localized("The form could not be read"),
            text: localized("Nothing was done. Look again and repeat it."))
    }

    static var foreignForm: WebProblem {
        WebProblem(
            status: .forbidden, title: localized("This form is not from here"),
            text: localized(
                """
                Nothing was done. The form came from another page, or from a session that has ended. Look again and \
                repeat it.
                """))
    }

    static var noOrigin: WebProblem {
        WebProblem(
            status: .forbidden, title: localized("This form is not from here"),
            text: localized(
                """
                Nothing was done. The browser did not say from which page the form came: the request has no Origin. \
                A reverse proxy in front of this page has to pass it on.
                """))
    }

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
            status: .forbidden, title: localized("This form is not from here"),
            text: localized(
                """
                Nothing was done. The form came from \(origin.prefix(shownLength)), and this page was called \
                \(page.prefix(shownLength)). If both are this page, the reverse proxy in front of it has to pass on \
                the Host that the browser sent, with its port (in nginx: proxy_set_header Host $http_host).
                """))
    }

    /// The error for a form from https to a page requested by http, or vice versa.
    ///
    /// - Parameters: As those of ``foreignOrigin(_:of:)``.
    static func foreignScheme(_ origin: String, of page: String) -> WebProblem {
        WebProblem(
            status: .forbidden, title: localized("This form is not from here"),
            text: localized(
                """
                Nothing was done. The form came from \(origin.prefix(shownLength)), and this page was called \
                \(page.prefix(shownLength)). A reverse proxy in front of it has to send X-Forwarded-Proto.
                """))
    }

    /// The most characters of a header that a response repeats.
    private static let shownLength = 200

    static var noHost: WebProblem {
        WebProblem(
            status: .misdirectedRequest, title: localized("The request names no host"),
            text: localized("Pages are shown only to requests with a Host."))
    }

    static var ambiguousHost: WebProblem {
        WebProblem(
            status: .badRequest, title: localized("The request could not be read"),
            text: localized("It names more than one host."))
    }

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
                status: .serviceUnavailable, title: localized("Nothing can be changed."),
                text: localized("The database takes no changes: \(error.code.label)."),
                state: "failing")
        case is StorageError:
            self.init(
                status: .serviceUnavailable, title: localized("Nothing can be read."),
                text: localized(
                    "The database does not answer. This page tries again when you do; the worker tries by itself."
                ),
                state: "failing")
        case is FavoritesError:
            self.init(
                status: .serviceUnavailable, title: localized("Favorites cannot be judged now."),
                text: localized(
                    """
                    What was learned cannot be counted: Redis does not answer, or is being filled. Health has the \
                    reason. This page tries again when you do; the worker tries by itself.
                    """),
                state: "hindered")
        case let error as ConfigurationError where error.part == .mirror:
            self.init(
                status: .notFound, title: localized("There is no such mirror"),
                text: localized("This database has no mirror of that name (any more)."))
        case let error as ConfigurationError:
            self.init(
                status: .conflict, title: localized("Not done"), text: "\(error)", state: "failing")
        case let refusal as ChangeRefusal:
            let status: HTTPResponse.Status =
                if refusal.code == .unknown {
                    .notFound
                } else if refusal.isMisuse {
                    .badRequest
                } else {
                    .conflict
                }
            self.init(status: status, title: localized("Not done"), text: refusal.text.page)
        default:
            self.init(
                status: .internalServerError, title: localized("Something went wrong"),
                text: localized(
                    "This is a bug. The log of the process that serves this page names the error."),
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
