package import Foundation
package import Networks
package import Posts
package import Transport

/// The steps by which a person logs in to an account of a network.
///
/// The person answers questions, and on some networks then enters a code that a page of the network
/// shows. The result is the credentials.
///
/// A terminal asks the questions one after the other, a page all at once.
package struct NetworkLogin: Sendable {
    /// A question to the person, whose answer is submitted to the network.
    package struct Question: Sendable {
        /// The places where an answer is visible.
        package enum Privacy: Sendable {
            /// The answer may be shown, also as a proposal.
            case open
            /// The answer is shown as it is typed at a terminal, and hidden on a page.
            case masked
            case secret
        }

        package let field: AccountField
        /// The label, as "Server of the bot's account".
        package let label: String
        /// The form of an answer, for a terminal; nil if the label is enough.
        package var form: String?
        /// A hint for a page: an example, or how to get the value.
        package var hint: String?
        package var privacy = Privacy.open
        package var isOptional = false
        /// The field of the question on which this one depends: at a terminal, this question is
        /// asked only if that question got an answer.
        package var follows: AccountField?
        /// The page on which the account's owner creates the value; nil if there is none, or if the
        /// value is not needed.
        package var page: String?
        /// Whether a token or password that was given beforehand is the answer.
        package var isToken = false
        /// The refusals after which the question is asked again.
        package var refusals: Set<RefusedAnswer> = []
        /// Converts an answer to its canonical form.
        ///
        /// - Throws: ``ConfigurationError`` for an invalid one.
        package var parse: @Sendable (String) throws -> String = { $0 }

        init(_ field: AccountField, _ label: String) {
            self.field = field
            self.label = label
        }

        /// The name of the answer on a page.
        package var name: String { field.name }

        /// Whether a page hides what is typed.
        package var isSecret: Bool { privacy != .open }
    }

    /// The account to log in to, and the parameters of its requests.
    package struct Request: Sendable {
        package let role: AccountRole
        /// The address for requests; nil for the network's own address.
        let apiBaseURL: String?
        /// Whether the person has a token that was made in the settings of the account.
        let hasToken: Bool
        /// The credentials of the mirror's other account, where ``NetworkLogin/sharesApp`` is true;
        /// nil if they are unknown.
        let otherCredentials: AccountCredentials?
        let client: HTTPClient
        let origin: RequestOrigin
        let now: @Sendable () -> Date

        package init(
            role: AccountRole, apiBaseURL: String?, hasToken: Bool,
            otherCredentials: AccountCredentials?,
            client: HTTPClient, origin: RequestOrigin, now: @escaping @Sendable () -> Date
        ) {
            self.role = role
            self.apiBaseURL = apiBaseURL
            self.hasToken = hasToken
            self.otherCredentials = otherCredentials
            self.client = client
            self.origin = origin
            self.now = now
        }

        /// The account in words, as "the bot's".
        var whose: String { role.whose }
    }

    /// The answers to the questions; a missing one counts as empty.
    package typealias Answers = [AccountField: Secret]

    /// A login that waits for the code of a page of the network.
    package struct Pending: Sendable {
        /// The address that the person opens; it must be kept private if ``leadsBack`` is true.
        package let page: String
        /// Whether the network redirects the browser back with the code, so that the person need
        /// not copy it.
        package var leadsBack = false
        /// The word for the text that the page shows, such as "code" or "PIN".
        package let codeName: String
        /// Whether the `state` that a redirected browser has belongs to this login.
        package var hasState: @Sendable (String) -> Bool = { _ in false }
        /// Exchanges the code that the network's page showed or returned.
        package let finish: @Sendable (_ code: String) async throws -> Grant
        /// Begins the login again after a refused code; nil if the page can show another code.
        package var beginAgain: (@Sendable () async throws -> Pending)?

        init(
            page: String, codeName: String,
            finish: @escaping @Sendable (_ code: String) async throws -> Grant
        ) {
            self.page = page
            self.codeName = codeName
            self.finish = finish
        }
    }

    /// The credentials that a network has granted.
    package struct Grant: Sendable {
        package let credentials: AccountCredentials
        /// Warnings for the person, one sentence each.
        package var warnings: [String] = []
        /// The scopes that the bot needs and the credentials lack.
        package var missing: [NetworkDescriptor.MissingScope] = []
        /// How to get credentials with all scopes.
        package var advice = ""
        /// Whether the credentials have not been tested yet: a request must show if they are right.
        package var isUntried = false
        /// Revokes the token that the network issued for this login; nil if it issued none.
        package var revoke: (@Sendable () async throws -> Void)?

        init(_ credentials: AccountCredentials) { self.credentials = credentials }
    }

    /// The state of a login after its answers were submitted.
    package enum Step: Sendable {
        case asksForCode(Pending)
        case granted(Grant)
    }

    /// Whether the human's account and the bot's may use one developer app.
    package var sharesApp = false
    /// The questions for an account.
    package let questions: @Sendable (Request) -> [Question]
    /// Submits the answers to the network.
    ///
    /// - Throws: ``ConfigurationError`` for answers that are not enough; `NetworkError`.
    package let begin:
        @Sendable (
            _ answers: Answers, _ request: Request,
            _ returnPage: String?
        ) async throws -> Step

    /// - Parameters:
    ///   - questions: The questions for an account.
    ///   - begin: Submits the answers; `returnPage` is the address to which the network leads back
    ///     if it can, and nil to show a code.
    init(
        questions: @escaping @Sendable (Request) -> [Question],
        begin:
            @escaping @Sendable (
                _ answers: Answers, _ request: Request, _ returnPage: String?
            ) async throws -> Step
    ) {
        self.questions = questions
        self.begin = begin
    }
}

extension NetworkLogin {
    /// The login of a network without steps of its own: a question for each field that an account
    /// needs.
    static func fields(of network: NetworkName) -> NetworkLogin {
        NetworkLogin(
            questions: { request in
                network.descriptor.required(by: request.role).map { field in
                    let label = field.summary(request.whose, request.role)
                    var question = Question(field, label)
                    question.privacy = field.isSecret ? .secret : .open
                    question.parse = { try field.canonicalize($0, label) }
                    return question
                }
            },
            begin: { answers, _, _ in
                .granted(Grant(AccountCredentials(network: network, answers)))
            })
    }
}

extension NetworkLogin.Answers {
    /// An answer; empty if it is missing.
    func text(_ field: AccountField) -> String { self[field]?.reveal() ?? "" }
}

/// The part of a person's input that a network refused.
package enum RefusedAnswer: Sendable {
    /// The server or the handle, which does not exist.
    case serverOrHandle
    /// The code, the token or the password.
    case secret

    /// Returns the part that an error refuses; nil if no other input would help, as while a network
    /// limits requests.
    package init?(_ error: NetworkError) {
        switch error.code {
        case .rateLimited, .creditsDepleted, .capReached, .overBudget, .accountDisabled,
            .missingScope:
            return nil
        case .unauthorized, .rejected, .forbidden: self = .secret
        default: self = .serverOrHandle
        }
    }
}
