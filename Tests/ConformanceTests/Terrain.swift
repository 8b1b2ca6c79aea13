import Foundation
import NetworkNames
import Posts
import Sandbox
import Testing

/// A network, and one habit of its servers.
struct Terrain: Sendable, CustomTestStringConvertible {
    /// A part of the protocol that a server's habit can change; each test covers one.
    enum Aspect: CaseIterable {
        /// Reading accounts, and the headers of every response.
        case accounts
        /// Reading a feed from its newest item to its end.
        case pages
        /// Polling a feed from its last position, for hours.
        case arrivals
        /// Publishing, and finding the post again by its time.
        case publishing
        /// Repeating a request with the same idempotency key.
        case keys
        /// Lost requests and lost responses.
        case losses
        /// Replying to a post that was read.
        case answering
        /// Favorites, and taking them back.
        case favorites
        /// Deleting, and posts that no longer exist.
        case removal
        case pictures
        /// Billed requests and the budget.
        case money
    }

    let network: NetworkName
    let habit: String
    /// The aspects that the habit can change; tests of other aspects do not run with it.
    let changes: Set<Aspect>
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
    /// The list of favorites is always empty.
    var listsNoFavorites = false
    /// A second deletion is answered as the first one.
    var repeatsDeletions = false
    let set: @Sendable (SandboxFaults) -> Void

    init(
        _ network: NetworkName, _ habit: String, changes: Set<Aspect> = Set(Aspect.allCases),
        forgetsKeys: Bool = false,
        rewritesTexts: Bool = false, hidesPosts: Bool = false, namesNoErrors: Bool = false,
        asksInNewNames: Bool = false, listsNoFavorites: Bool = false,
        repeatsDeletions: Bool = false,
        _ set: @escaping @Sendable (SandboxFaults) -> Void = { _ in }
    ) {
        self.network = network
        self.habit = habit
        self.changes = changes
        self.forgetsKeys = forgetsKeys
        self.rewritesTexts = rewritesTexts
        self.hidesPosts = hidesPosts
        self.namesNoErrors = namesNoErrors
        self.asksInNewNames = asksInNewNames
        self.listsNoFavorites = listsNoFavorites
        self.repeatsDeletions = repeatsDeletions
        self.set = set
    }

    /// The network has no habit of its own.
    var isDocumented: Bool { habit == Self.documentedName }

    private static let documentedName = "as documented"

    var testDescription: String { "\(network.rawValue): \(habit)" }

    /// Each network as documented.
    static let documented = NetworkName.allCases.map { Terrain($0, documentedName) }

    private static let all = documented + mastodon + x + bluesky + clocks + refusals

    /// Each network as documented, and with every habit that can change something about `aspect`.
    static func all(changing aspect: Aspect) -> [Terrain] {
        all.filter { $0.changes.contains(aspect) }
    }

    /// Aspects that read a feed page by page, lookups after a lost response included.
    private static let paging: Set<Aspect> = [.pages, .arrivals, .publishing, .losses, .answering]
    /// Aspects whose requests the server may refuse.
    private static let refusing: Set<Aspect> = [.removal, .favorites, .losses]
    /// Aspects whose tests take longer than a token is valid.
    private static let lasting: Set<Aspect> = [.accounts, .arrivals, .answering, .favorites]
    /// Aspects that depend on the server's clock.
    private static let timed: Set<Aspect> = [
        .accounts, .arrivals, .publishing, .keys, .losses, .answering, .money,
    ]

    private static let mastodon = [
        Terrain(.mastodon, "GoToSocial", forgetsKeys: true) { $0.mastodon = .gotosocial },
        Terrain(.mastodon, "Pleroma") { $0.mastodon = .pleroma },
        Terrain(.mastodon, "Takahe", forgetsKeys: true) { $0.mastodon = .takahe },
        Terrain(.mastodon, "snac", forgetsKeys: true, rewritesTexts: true, listsNoFavorites: true) {
            $0.mastodon = .snac
        },
        Terrain(.mastodon, "Friendica", forgetsKeys: true, rewritesTexts: true) {
            $0.mastodon = .friendica
        },
        Terrain(
            .mastodon, "WordPress", changes: [.accounts, .pages, .removal], forgetsKeys: true,
            repeatsDeletions: true
        ) {
            $0.mastodon = .wordpress
            // What is not for everybody is for nobody there, which tests of deleting are not about.
            $0.mastodon.losesVisibility = false
        },
        Terrain(.mastodon, "404 as a page", changes: refusing) { $0.mastodon.missingForm = .html },
        Terrain(
            .mastodon, "GoToSocial reads Markdown", changes: [.publishing, .losses, .pictures],
            forgetsKeys: true,
            rewritesTexts: true
        ) {
            $0.mastodon = .gotosocial
            $0.mastodon.rewritesTexts = true
        },
        Terrain(.mastodon, "repeats items", changes: paging) { $0.mastodon.repeatsItems = true },
        Terrain(.mastodon, "ignores since_id and min_id", changes: paging) {
            $0.mastodon.ignoresSinceID = MastodonHabits.everywhere
            $0.mastodon.ignoresMinID = MastodonHabits.everywhere
        },
        Terrain(.mastodon, "takes min_id for since_id", changes: paging) {
            $0.mastodon.takesMinIDForSinceID = MastodonHabits.everywhere
        },
        Terrain(.mastodon, "no Link header", changes: paging) { $0.mastodon.links = .missing },
        Terrain(.mastodon, "next on the last page", changes: paging) {
            $0.mastodon.links = .untilEmpty
        },
        Terrain(.mastodon, "seven items a page", changes: paging) { $0.mastodon.fixedPageSize = 7 },
        Terrain(.mastodon, "ids that do not sort", changes: paging) { $0.mastodon.ids = .hash },
        Terrain(.mastodon, "errors as HTML", changes: refusing) { $0.mastodon.errorForm = .html },
        Terrain(.mastodon, "errors as plain text", changes: refusing) {
            $0.mastodon.errorForm = .plainText
        },
        Terrain(.mastodon, "errors without a body", changes: refusing) {
            $0.mastodon.errorForm = .empty
        },
        Terrain(.mastodon, "tokens for an hour", changes: lasting) {
            $0.mastodon.tokenLifetime = 3_600
        },
        Terrain(.mastodon, "reset as a number", changes: [.accounts, .pages]) {
            $0.mastodon.tellsResetAsNumber = true
        },
        Terrain(.mastodon, "a repeated key fails", changes: [.keys, .losses], forgetsKeys: true) {
            $0.mastodon.keys = .failing
        },
    ]

    private static let x = [
        Terrain(.x, "answers in the new spelling") { $0.x.answerSpelling = .post },
        Terrain(.x, "knows only the new spelling", asksInNewNames: true) {
            $0.x.parameterSpelling = .post
            $0.x.answerSpelling = .post
            $0.x.referencesOnlyByExpansion = true
        },
        Terrain(
            .x, "missing things are a 200 with errors", changes: [.removal, .answering, .losses]
        ) {
            $0.x.answersMissingWith200 = true
        },
        Terrain(.x, "empty lists have data", changes: paging.union([.money])) {
            $0.x.sendsEmptyData = true
        },
        Terrain(.x, "short pages", changes: paging.union([.money])) { $0.x.shortPages = true },
        Terrain(.x, "empty pages", changes: paging.union([.money])) { $0.x.emptyPages = true },
        Terrain(.x, "new posts appear late", changes: paging) { $0.x.hidesRecent = 60 },
        Terrain(.x, "names whom a text answers", changes: paging) { $0.x.namesTheAnswered = true },
        Terrain(.x, "old errors", changes: refusing) { $0.x.oldErrors = true },
        // Beyond the minutes that X lets a signature be old or ahead.
        Terrain(.x, "clock an hour ahead", changes: timed) { $0.clockSkew = 3_600 },
        Terrain(.x, "clock a day behind", changes: timed) { $0.clockSkew = -86_400 },
    ]

    private static let bluesky = [
        Terrain(.bluesky, "errors as plain text", changes: refusing) {
            $0.bluesky.errorForm = .plainText
        },
        Terrain(.bluesky, "errors as HTML", changes: refusing, namesNoErrors: true) {
            $0.bluesky.errorForm = .html
        },
        Terrain(.bluesky, "errors without a body", changes: refusing, namesNoErrors: true) {
            $0.bluesky.errorForm = .empty
        },
        Terrain(.bluesky, "tokens for five minutes", changes: lasting) {
            $0.bluesky.accessTokenLifetime = 300
        },
        Terrain(.bluesky, "old tokens end at once", changes: lasting) {
            $0.bluesky.accessTokenLifetime = 300
            $0.bluesky.revokesOldTokens = true
        },
        Terrain(.bluesky, "empty pages", changes: paging) { $0.bluesky.sendsEmptyPages = true },
        Terrain(.bluesky, "short timeline", changes: paging) { $0.bluesky.shortensTimeline = true },
        Terrain(.bluesky, "repeats items", changes: paging) {
            $0.bluesky.repeatsTimelineItems = true
        },
        // What is dated back by days is below everything that is remembered of a timeline.
        Terrain(
            .bluesky, "back-dated records", changes: paging.union([.favorites]), hidesPosts: true
        ) {
            $0.bluesky.backdatesRecords = true
        },
        Terrain(.bluesky, "leaves posts out", changes: paging, hidesPosts: true) {
            $0.bluesky.omitsPosts = true
        },
    ]

    /// What is asked about one post or one person alone; ``LoneRefusalTests`` has the rest.
    private static let refusals = [NetworkName.mastodon, .bluesky].map { network in
        Terrain(
            network, "no conversation and no person is given out",
            changes: paging.union([.accounts, .favorites])
        ) {
            let rule = SandboxRefusals.Rule(share: 1)
            $0.refusals = SandboxRefusals(rules: [.thread: rule, .person: rule])
        }
    }

    private static let clocks = NetworkName.allCases.flatMap { network in
        [
            Terrain(network, "clock four minutes ahead", changes: timed) { $0.clockSkew = 240 },
            Terrain(network, "clock four minutes behind", changes: timed) { $0.clockSkew = -240 },
        ]
    }
}
