package import Foundation
import Localization
package import Posts

/// A failed call to a network.
///
/// The description is safe to print and log. It holds no credentials and no address of a request.
/// Of an answer it holds only the server's short error message, cut and cleaned.
package struct NetworkError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of failure; the raw value is a stable label for metrics.
    package enum Code: String, CaseIterable, Sendable {
        /// The credentials are wrong, expired or revoked.
        case unauthorized
        /// The credentials are valid, but do not permit the call: for example, the token lacks the
        /// scope.
        case missingScope = "missing-scope"
        /// The account is suspended, disabled, moved away or waits for approval.
        case accountDisabled = "account-disabled"
        /// The call is not allowed for this post or account, because it is blocked or closed to
        /// favorites, for example.
        case forbidden
        /// The post or account is gone, or was never visible.
        case notFound = "not-found"
        /// Too many requests; see ``NetworkError/retryAfter``.
        case rateLimited = "rate-limited"
        /// The request is invalid, and will be refused again.
        case rejected
        /// The text is longer than the server accepts.
        case tooLong = "too-long"
        /// The network refused the text because it published the same one before.
        case duplicate
        /// An equal request is in progress.
        case conflict
        /// The server is overloaded or broken.
        case unavailable
        /// The server could not be reached or the connection was lost.
        case transport
        /// The answer does not have the form that the interface promises.
        case malformedResponse = "malformed-response"
        /// The answer is larger than this program accepts; a smaller page may fit.
        case tooLarge = "too-large"
        /// The server redirects the request to an address that must not get the credentials, or
        /// redirects a write; servers do so in maintenance, or after they have moved.
        ///
        /// A redirected write was not made, unless the status is 303: with "see other" HTTP reports
        /// that a request was carried out.
        case redirected
        /// The network does not support the call.
        case capability
        /// The configuration cannot be used.
        case configuration
        /// The call costs money that the account does not have at the network.
        case creditsDepleted = "credits-depleted"
        /// The network's quota for a day or month is used up; see ``NetworkError/retryAfter``.
        case capReached = "cap-reached"
        /// The call was not made, because it would cost more than the rest of the configured
        /// budget.
        case overBudget = "over-budget"
    }

    /// The purpose of a call; the raw value is a stable label for metrics.
    package enum Operation: String, Sendable, CaseIterable {
        case configure
        case verifyAccount = "verify-account"
        case readLimits = "read-limits"
        case readEmoji = "read-emoji"
        case readRules = "read-rules"
        case readOwnPosts = "read-own-posts"
        case readHome = "read-home"
        case readFavorites = "read-favorites"
        case readMentions = "read-mentions"
        case readPost = "read-post"
        case readConversation = "read-conversation"
        case publish
        case upload
        case favorite
        case logIn = "log-in"
        case refreshSession = "refresh-session"
        case resolveIdentity = "resolve-identity"
        case labelAccount = "label-account"
        case readProfile = "read-profile"
        case changeProfile = "change-profile"
        case delete
        case unfavorite
        case edit
    }

    /// The outcome of a write.
    package enum Outcome: String, Sendable {
        /// The request was certainly not sent.
        case notSent = "not-sent"
        /// The network refused the request, and did nothing.
        case refused
        /// The change may have been made or not; this must be checked before another try.
        case unknown
    }

    package var code: Code
    package var network: NetworkName
    /// The host that received the request.
    package var host: String
    package var operation: Operation
    /// The status of the HTTP answer; nil without an answer.
    package var status: Int?
    /// The server's own short description of the error; `nil` if there is none in the form of its
    /// interface.
    package var serverCode: String?
    /// Details beyond the code.
    package var detail: String?
    /// The server's identifier of the request, for questions to its operators.
    package var requestID: String?
    /// The time before which a retry is pointless, on the local clock.
    package var retryAfter: Date?
    /// The outcome of a write; without meaning for reads.
    package var outcome: Outcome
    /// Whether the call was anonymous, without credentials of an account.
    package var isAnonymous: Bool
    /// Whether the call was held back because of the host's limit by address, not because of the
    /// account.
    package var isAboutAddressLimit = false
    /// Whether the network delays all calls of the account, not only calls of this kind.
    package var concernsAccount = false

    package init(
        code: Code, network: NetworkName, host: String, operation: Operation, detail: String? = nil,
        retryAfter: Date? = nil, outcome: Outcome, isAnonymous: Bool = false
    ) {
        self.code = code
        self.network = network
        self.host = host
        self.operation = operation
        self.detail = detail
        self.retryAfter = retryAfter
        self.outcome = outcome
        self.isAnonymous = isAnonymous
    }

    /// Whether the item of the call should be dropped, because no call about it can succeed,
    /// whatever the credentials.
    ///
    /// Refused credentials reveal nothing about the item.
    package var dropsItem: Bool { isPermanent && !stopsActor }

    /// Whether the same call can never succeed; other credentials may change that, see
    /// ``stopsActor``.
    package var isPermanent: Bool {
        let temporary: Set<Code> = [
            .rateLimited, .conflict, .unavailable, .transport, .malformedResponse, .redirected,
            .creditsDepleted,
            .capReached, .overBudget,
        ]
        return !temporary.contains(code)
    }

    /// Whether a page may have failed because of one of its items.
    ///
    /// A smaller page may succeed then. An overloaded server gives the same answers, however.
    package var mayBeOfOneItem: Bool {
        code == .tooLarge || retryAfter == nil && [.unavailable, .malformedResponse].contains(code)
    }

    /// Whether a server may have refused a page because of an item in it, because its position is
    /// gone, or because a filter in front of the server takes the request for an attack.
    ///
    /// Requests with another position may succeed.
    package var mayBeOfOnePage: Bool {
        mayBeOfOneItem || status != nil && [.rejected, .notFound, .forbidden].contains(code)
    }

    /// Whether no call with these credentials can succeed until a person acts.
    package var stopsActor: Bool {
        let codes: Set<Code> = [.unauthorized, .missingScope, .accountDisabled, .configuration]
        return codes.contains(code)
    }

    package var description: String {
        let failure = localized(
            "could not \(operation.phrase) on \(network.displayName) (\(host)): \(cause)")
        let request = requestID.map { localized("request id \($0)") }
        return [failure, hint, request, prospect].compactMap(\.self)
            .joined(by: .semicolon)
    }

    /// The phrase that says whether the call will be repeated.
    private var prospect: String {
        if stopsActor {
            switch (isAnonymous, hint == nil) {
            case (true, true): return localized("no more calls are made")
            case (true, false): return localized("no more calls are made until that is done")
            case (false, true): return localized("no more calls are made with these credentials")
            case (false, false):
                return localized(
                    "no more calls are made with these credentials until that is done")
            }
        }
        if isPermanent { return localized("this will not be tried again") }
        if operation.isWrite, operation != .upload, outcome == .unknown {
            return localized("before another attempt it is looked up")
        }
        return retryAfter.map { localized("this may be tried again after \($0.rfc3339)") }
            ?? localized("this may be tried again")
    }

    private var cause: String {
        let serverWords = [detail, serverCode.map { "\"\($0)\"" }].compactMap(\.self).joined(
            separator: ": ")
        guard let status else { return serverWords.isEmpty ? code.rawValue : serverWords }
        return localized(
            "the server answered \(status) (\(serverWords.isEmpty ? code.rawValue : serverWords))")
    }

    private var hint: String? {
        switch code {
        case .unauthorized where operation == .logIn: network.traits.wrongLogin.description
        case .unauthorized where isAnonymous:
            localized("the server answers only who is logged in: configure a login")
        case .unauthorized: network.traits.newCredentials.description
        case .missingScope:
            localized("make a new access token with the scopes that docs/settings.md names")
        case .accountDisabled: localized("log in with a browser to see what the server wants")
        case .redirected:
            localized("if this lasts, configure the server by the address it redirects to")
        case .malformedResponse where status != nil:
            localized("check that this is a \(network.displayName) server")
        case .creditsDepleted: localized("add credits in the developer console")
        case .overBudget: localized("raise X_BUDGET_USD_PER_MONTH, or wait")
        // With this status the user cannot correct the request.
        case .configuration where status == 403: nil
        case .configuration: localized("correct the setting")
        case .forbidden, .notFound, .rateLimited, .rejected, .tooLong, .duplicate, .conflict,
            .unavailable, .transport, .malformedResponse, .tooLarge, .capability, .capReached:
            nil
        }
    }
}

extension NetworkError.Code {
    /// The failure in plain words, without a full stop: why an action was not sent.
    package var sentence: String {
        switch self {
        case .unauthorized: localized("the network refuses the bot's credentials")
        case .missingScope: localized("the bot's token does not allow it")
        case .accountDisabled:
            localized("the bot's account is suspended, has moved or waits for approval")
        case .forbidden: localized("the network does not allow this one")
        case .notFound: localized("the post is gone, or the bot may not see it")
        case .rateLimited: localized("the network limits the rate of requests")
        case .rejected: localized("the network refuses the request")
        case .tooLong: localized("the text is longer than the server allows")
        case .duplicate: localized("the network says that the text was published before")
        case .conflict: localized("the same request is in progress")
        case .unavailable: localized("the network is overloaded or fails")
        case .transport: localized("the network cannot be reached")
        case .malformedResponse: localized("the network's answer cannot be read")
        case .tooLarge: localized("the network's answer is too large")
        case .redirected: localized("the server redirects the request")
        case .capability: localized("the network cannot do this")
        case .configuration: localized("a setting of the bot's account cannot be used")
        case .creditsDepleted: localized("the network requires payment first")
        case .capReached: localized("the network's limit for a day or month is reached")
        case .overBudget: localized("it would exceed the month's budget")
        }
    }
}

extension ReasonCode {
    /// The code of a failed call.
    package static func network(_ code: NetworkError.Code) -> ReasonCode {
        ReasonCode(rawValue: code.rawValue)
    }
}

extension NetworkError.Operation {
    /// Whether the call changes something at the network.
    package var isWrite: Bool {
        [.publish, .upload, .favorite, .labelAccount, .changeProfile, .delete, .unfavorite, .edit]
            .contains(self)
    }

    /// The phrase after "could not" in the description.
    fileprivate var phrase: String {
        switch self {
        case .configure: localized("use the configuration")
        case .verifyAccount: localized("verify the account")
        case .readLimits: localized("read the limits")
        case .readEmoji: localized("read the emoji")
        case .readRules: localized("read the server's rules")
        case .readOwnPosts: localized("read the account's posts")
        case .readHome: localized("read the home timeline")
        case .readFavorites: localized("read the favorites")
        case .readMentions: localized("read the mentions")
        case .readPost: localized("read a post")
        case .readConversation: localized("read a conversation")
        case .publish: localized("publish a post")
        case .upload: localized("upload a picture")
        case .favorite: localized("favorite a post")
        case .logIn: localized("log in")
        case .refreshSession: localized("refresh the session")
        case .resolveIdentity: localized("find the account")
        case .labelAccount: localized("label the account")
        case .readProfile: localized("read the profile")
        case .changeProfile: localized("change the profile")
        case .delete: localized("delete a post")
        case .unfavorite: localized("take a favorite back")
        case .edit: localized("change a post")
        }
    }
}
