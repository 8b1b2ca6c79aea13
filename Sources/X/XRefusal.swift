import Foundation
import Localization
import Networks
import Transport

/// The retry time in the headers of an answer by X.
///
/// X counts requests in windows of fifteen minutes and, in separate headers, in windows of a day
/// for an account and for an application. A refusal may be caused by any of them.
struct XPacing {
    /// Seconds after midnight in UTC from which on a day's counters are expected to have begun
    /// anew, because they do not do so exactly at midnight.
    private static let dayMargin: TimeInterval = 300

    /// The limit in windows of fifteen minutes.
    let shortWindow: ServerPacing
    /// The limits in windows of a day, of the application and of the account.
    private let dayWindows: [ServerPacing]
    private let receivedAt: Date

    /// - Parameters:
    ///   - receivedAt: The time at which the answer came, on the local clock.
    init(_ headers: HTTPHeaders, receivedAt: Date) {
        func pacing(_ window: String) -> ServerPacing {
            ServerPacing(
                headers, receivedAt: receivedAt, prefix: window + "-", range: 5...86_400,
                defaultWait: 900,
                implausibleWait: 1e15)
        }
        shortWindow = pacing("x-rate-limit")
        dayWindows = ["x-app-limit-24hour", "x-user-limit-24hour"].map(pacing)
        self.receivedAt = receivedAt
    }

    /// Whether a limit in windows of a day is used up.
    var isDayExhausted: Bool { dayWindows.contains(where: \.isExhausted) }

    /// The time at which to try again after a rate limit: when the last of the exhausted windows
    /// ends.
    var retryAfterRateLimit: Date {
        let resets = (dayWindows + [shortWindow]).filter(\.isExhausted).compactMap(\.resetDistance)
        guard let longestWait = resets.max() else { return shortWindow.retryAfterRateLimit }
        return shortWindow.date(after: longestWait)
    }

    /// The time in `Retry-After`; nil without it.
    var retryAfter: Date? { shortWindow.retryDistance.map(shortWindow.date) }

    /// The time some minutes after the next day begins in UTC by the server's clock; converted to
    /// the local clock.
    var nextDay: Date {
        let serverTime = receivedAt.timeIntervalSince1970 - (shortWindow.clockLead ?? 0)
        let secondsUntilMidnight = 86_400 - serverTime.truncatingRemainder(dividingBy: 86_400)
        return receivedAt.addingTimeInterval(max(secondsUntilMidnight, 0) + Self.dayMargin)
    }
}

/// A refusal by X, interpreted by its status, words and headers together.
struct XRefusal {
    /// Seconds without calls after the credits ran out.
    private static let creditsWait: TimeInterval = 3_600
    /// Seconds after which a call that the application's plan does not include is tried again.
    private static let planWait: TimeInterval = 86_400
    /// Seconds by which a clock may be wrong without being the cause of a refused signature.
    private static let clockTolerance: TimeInterval = 60

    let status: Int
    let problems: [XProblem]
    /// Whether the call requests the account of the credentials, so that a refusal is about the
    /// credentials, not about an object.
    let isVerifying: Bool
    let pacing: XPacing

    // The error codes of version 1.1 of the API that X still sends.
    private enum Legacy {
        static let credentials: Set<Int> = [32, 89, 99, 135, 215]
        static let account: Set<Int> = [64, 326]
        static let missing: Set<Int> = [34, 144]
        static let rateLimited = 88
        static let daily = 185
        static let tooLong = 186
        static let duplicate = 187
        static let readOnly = 261
        static let callback = 415
        static let plan = 453
    }

    private var codes: Set<Int> { Set(problems.compactMap(\.code)) }

    private var kinds: Set<String> { Set(problems.compactMap(\.kind)) }

    private var titles: Set<String> { Set(problems.compactMap(\.title)) }

    private var words: String {
        problems.flatMap { [$0.title, $0.detail] }.compactMap(\.self).joined(separator: " ")
            .lowercased()
    }

    var code: NetworkError.Code {
        // The status of these problems varies, so X's words for them come first.
        if isPlanCap { return .capReached }
        if status == 402 || titles.contains("CreditsDepleted") { return .creditsDepleted }
        switch status {
        case 200...299: return codeOfProblem
        case 401: return codes.isDisjoint(with: Legacy.account) ? .unauthorized : .accountDisabled
        case 403: return codeOfForbidden
        case 404, 410: return codeOfMissing
        case 405: return isVerifying ? .configuration : .rejected
        case 429:
            return codes.contains(Legacy.daily) || pacing.isDayExhausted
                ? .capReached : .rateLimited
        default:
            let code = NetworkError.Code(status: status)
            return code == .rejected ? codeOfRejected : code
        }
    }

    /// An explanation for a person, in addition to X's own words.
    var detail: String? {
        switch code {
        case .unauthorized: clockDetail
        case .missingScope:
            localized(
                "the access token may only read; allow the app to read and write, then make a new access token"
            )
        case .configuration where codes.contains(Legacy.callback):
            localized(
                "set a callback address for the app in the developer console, any address will do")
        case .configuration where isPlanProblem:
            localized(
                "the app is not enrolled in a project or plan; enrol it in the developer console")
        case .capability: localized("the app's plan does not include this call")
        case .capReached: localized("what X allows in a day or month is used up")
        default: nil
        }
    }

    /// The time before which another try is pointless.
    var retryAfter: Date? {
        switch code {
        case .rateLimited: pacing.retryAfterRateLimit
        // X does not state when a cap ends, so the call is tried once a day: a new month also
        // begins with a day.
        case .capReached: isPlanCap ? pacing.nextDay : pacing.retryAfterRateLimit
        case .creditsDepleted:
            max(pacing.shortWindow.date(after: Self.creditsWait), pacing.retryAfter ?? .distantPast)
        case .capability: pacing.shortWindow.date(after: Self.planWait)
        case .conflict: pacing.retryAfter ?? pacing.shortWindow.date(after: 0)
        case .unavailable: pacing.retryAfter
        default: nil
        }
    }

    /// The later calls that X would refuse too, and that are held back; nil for none.
    func pausedCalls(after call: NetworkCall) -> XMemory.Scope? {
        switch code {
        case .creditsDepleted: .everything
        case .capReached: isPlanCap ? .everything : .endpoint(call.endpoint)
        case .rateLimited, .capability: .endpoint(call.endpoint)
        default: nil
        }
    }

    // MARK: Parts

    /// The code for a missing object.
    ///
    /// A proxy may report an object as missing that X has, so a post counts as missing only if the
    /// answer has a problem in X's form.
    private var codeOfMissing: NetworkError.Code {
        if isVerifying { return .configuration }
        // The JSON of a proxy may have a title or a detail too, but not both.
        let isFromX = problems.contains {
            $0.kind != nil || $0.code != nil || ($0.title != nil && $0.detail != nil)
        }
        return isFromX ? .notFound : .malformedResponse
    }

    private var codeOfForbidden: NetworkError.Code {
        if isDuplicate { return .duplicate }
        if kinds.contains("oauth1-permissions") || codes.contains(Legacy.readOnly) {
            return .missingScope
        }
        if codes.contains(Legacy.callback) { return .configuration }
        if isPlanProblem { return isVerifying || isNotEnrolled ? .configuration : .capability }
        if !codes.isDisjoint(with: Legacy.account) { return .accountDisabled }
        if !codes.isDisjoint(with: Legacy.credentials) { return .unauthorized }
        if codes.contains(Legacy.daily) { return .capReached }
        if codes.contains(Legacy.rateLimited) { return .rateLimited }
        return codes.contains(Legacy.tooLong) ? .tooLong : .forbidden
    }

    private var codeOfRejected: NetworkError.Code {
        if isDuplicate { return .duplicate }
        if !codes.isDisjoint(with: Legacy.credentials) { return .unauthorized }
        if codes.contains(Legacy.callback) { return .configuration }
        if !codes.isDisjoint(with: Legacy.missing) { return .notFound }
        let isLong =
            codes.contains(Legacy.tooLong) || words.contains("too long")
            || words.contains("a bit shorter")
        return isLong ? .tooLong : .rejected
    }

    /// The code for a problem in an answer with a good status.
    private var codeOfProblem: NetworkError.Code {
        if kinds.contains("rate-limit-exceeded") { return .rateLimited }
        if !kinds.isDisjoint(with: ["resource-not-found", "resource-unavailable"]) {
            return .notFound
        }
        let forbidden: Set<String> = [
            "not-authorized-for-resource", "not-authorized-for-field", "disallowed-resource",
        ]
        if !kinds.isDisjoint(with: forbidden) { return .forbidden }
        if !kinds.isDisjoint(with: ["internal-error", "field-hydration-failure"]) {
            return .unavailable
        }
        if !codes.isDisjoint(with: Legacy.missing) { return .notFound }
        // The status decides nothing here, so the more specific code of both interpretations is
        // used.
        let codes = [codeOfForbidden, codeOfRejected]
        return codes.first { $0 != .forbidden && $0 != .rejected } ?? .rejected
    }

    /// Whether the application, or its plan, does not include this call.
    private var isPlanProblem: Bool {
        isNotEnrolled || codes.contains(Legacy.plan)
            || !kinds.isDisjoint(with: ["client-forbidden", "unsupported-authentication"])
    }

    /// Whether the application is not enrolled, so that X refuses all of its calls.
    private var isNotEnrolled: Bool { problems.contains { $0.reason == "client-not-enrolled" } }

    private var isDuplicate: Bool {
        codes.contains(Legacy.duplicate) || words.contains("duplicate content")
    }

    /// Whether a cap of the application's plan is reached, rather than a limit in the headers.
    private var isPlanCap: Bool {
        kinds.contains("usage-capped") || titles.contains("UsageCapExceeded")
    }

    private var clockDetail: String? {
        guard let lead = pacing.shortWindow.clockLead, abs(lead) >= Self.clockTolerance else {
            return nil
        }
        let seconds = Int(abs(lead).rounded())
        return lead > 0
            ? localized(
                """
                this machine's clock is \(seconds) seconds ahead of the server's; \
                set it right before anything else
                """)
            : localized(
                """
                this machine's clock is \(seconds) seconds behind the server's; \
                set it right before anything else
                """)
    }
}
