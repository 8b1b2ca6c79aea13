import Foundation
import Posts
import Sandbox
import Testing

/// A network, and one habit of its servers.
struct Terrain: Sendable, CustomTestStringConvertible {
    let network: NetworkName
    let habit: String
    /// The server forgets the key of a draft, so a second attempt publishes again.
    var forgetsKeys = false
    /// The server makes other texts of what is published.
    var rewritesTexts = false
    /// Some posts of others are given out only later, or never.
    var hidesPosts = false
    /// Refusals do not say what is wrong.
    var namesNoErrors = false
    /// X is asked in the names of 2026.
    var asksInNewNames = false
    let set: @Sendable (SandboxFaults) -> Void

    init(
        _ network: NetworkName, _ habit: String, forgetsKeys: Bool = false, rewritesTexts: Bool = false,
        hidesPosts: Bool = false, namesNoErrors: Bool = false, asksInNewNames: Bool = false,
        _ set: @escaping @Sendable (SandboxFaults) -> Void = { _ in }
    ) {
        self.network = network
        self.habit = habit
        self.forgetsKeys = forgetsKeys
        self.rewritesTexts = rewritesTexts
        self.hidesPosts = hidesPosts
        self.namesNoErrors = namesNoErrors
        self.asksInNewNames = asksInNewNames
        self.set = set
    }

    /// Refusals do not have the form of the network's interface, so that a page of somebody else's may be behind them.
    var errorsAreAnybodys: Bool {
        network == .mastodon && (habit == "snac" || habit.hasPrefix("errors "))
    }

    var testDescription: String { "\(network.rawValue): \(habit)" }

    /// Each network as documented.
    static let documented = NetworkName.allCases.map { Terrain($0, "as documented") }

    static let all = documented + mastodon + x + bluesky + clocks + refusals

    private static let mastodon = [
        Terrain(.mastodon, "GoToSocial", forgetsKeys: true) { $0.mastodon = .gotosocial },
        Terrain(.mastodon, "Pleroma") { $0.mastodon = .pleroma },
        Terrain(.mastodon, "Takahe", forgetsKeys: true) { $0.mastodon = .takahe },
        Terrain(.mastodon, "snac", forgetsKeys: true, rewritesTexts: true) { $0.mastodon = .snac },
        Terrain(.mastodon, "GoToSocial reads Markdown", forgetsKeys: true, rewritesTexts: true) {
            $0.mastodon = .gotosocial
            $0.mastodon.rewritesTexts = true
        },
        Terrain(.mastodon, "repeats items") { $0.mastodon.repeatsItems = true },
        Terrain(.mastodon, "ignores since_id and min_id") {
            $0.mastodon.ignoresSinceID = MastodonHabits.everywhere
            $0.mastodon.ignoresMinID = MastodonHabits.everywhere
        },
        Terrain(.mastodon, "takes min_id for since_id") {
            $0.mastodon.takesMinIDForSinceID = MastodonHabits.everywhere
        },
        Terrain(.mastodon, "no Link header") { $0.mastodon.links = .missing },
        Terrain(.mastodon, "next on the last page") { $0.mastodon.links = .untilEmpty },
        Terrain(.mastodon, "seven items a page") { $0.mastodon.fixedPageSize = 7 },
        Terrain(.mastodon, "ids that do not sort") { $0.mastodon.ids = .hash },
        Terrain(.mastodon, "errors as HTML") { $0.mastodon.errorForm = .html },
        Terrain(.mastodon, "errors as plain text") { $0.mastodon.errorForm = .plainText },
        Terrain(.mastodon, "errors without a body") { $0.mastodon.errorForm = .empty },
        Terrain(.mastodon, "tokens for an hour") { $0.mastodon.tokenLifetime = 3_600 },
        Terrain(.mastodon, "reset as a number") { $0.mastodon.tellsResetAsNumber = true },
        Terrain(.mastodon, "a repeated key fails", forgetsKeys: true) { $0.mastodon.keys = .failing },
    ]

    private static let x = [
        Terrain(.x, "answers in the new spelling") { $0.x.answerSpelling = .post },
        Terrain(.x, "knows only the new spelling", asksInNewNames: true) {
            $0.x.parameterSpelling = .post
            $0.x.answerSpelling = .post
            $0.x.referencesOnlyByExpansion = true
        },
        Terrain(.x, "missing things are a 200 with errors") { $0.x.answersMissingWith200 = true },
        Terrain(.x, "empty lists have data") { $0.x.sendsEmptyData = true },
        Terrain(.x, "short pages") { $0.x.shortPages = true },
        Terrain(.x, "empty pages") { $0.x.emptyPages = true },
        Terrain(.x, "new posts appear late") { $0.x.hidesRecent = 60 },
        Terrain(.x, "names whom a text answers") { $0.x.namesTheAnswered = true },
        Terrain(.x, "old errors") { $0.x.oldErrors = true },
        // Beyond the minutes that X lets a signature be old or ahead.
        Terrain(.x, "clock an hour ahead") { $0.clockSkew = 3_600 },
        Terrain(.x, "clock a day behind") { $0.clockSkew = -86_400 },
    ]

    private static let bluesky = [
        Terrain(.bluesky, "errors as plain text") { $0.bluesky.errorForm = .plainText },
        Terrain(.bluesky, "errors as HTML", namesNoErrors: true) { $0.bluesky.errorForm = .html },
        Terrain(.bluesky, "errors without a body", namesNoErrors: true) { $0.bluesky.errorForm = .empty },
        Terrain(.bluesky, "tokens for five minutes") { $0.bluesky.accessTokenLifetime = 300 },
        Terrain(.bluesky, "old tokens end at once") {
            $0.bluesky.accessTokenLifetime = 300
            $0.bluesky.revokesOldTokens = true
        },
        Terrain(.bluesky, "empty pages") { $0.bluesky.sendsEmptyPages = true },
        Terrain(.bluesky, "short timeline") { $0.bluesky.shortensTimeline = true },
        Terrain(.bluesky, "repeats items") { $0.bluesky.repeatsTimelineItems = true },
        // What is dated back by days is below everything that is remembered of a timeline.
        Terrain(.bluesky, "back-dated records", hidesPosts: true) { $0.bluesky.backdatesRecords = true },
        Terrain(.bluesky, "leaves posts out", hidesPosts: true) { $0.bluesky.omitsPosts = true },
    ]

    /// What is asked about one post or one person alone; ``LoneRefusalTests`` has the rest.
    private static let refusals = [NetworkName.mastodon, .bluesky].map { network in
        Terrain(network, "no conversation and no person is given out") {
            let rule = SandboxRefusals.Rule(share: 1)
            $0.refusals = SandboxRefusals(rules: [.thread: rule, .person: rule])
        }
    }

    private static let clocks = NetworkName.allCases.flatMap { network in
        [
            Terrain(network, "clock four minutes ahead") { $0.clockSkew = 240 },
            Terrain(network, "clock four minutes behind") { $0.clockSkew = -240 },
        ]
    }
}
