import Favorites
import Foundation
import Networks
import Outbox
import Posts
import Schedule

/// What goes wrong for longer than a moment.
struct Troubles {
    /// Since when, and in what words, a network refuses an account's credentials.
    var refusals: [AccountRole: (since: Date, error: String)] = [:]
    /// How well each feed is heard.
    var feeds: [FeedHealth] = []
    /// Why the database takes no changes; nil if it does.
    var database: String?
    /// What its worker cannot do, the worst first.
    var work: [WorkTrouble] = []
    /// Where the mirror lives instead; nil if here.
    var move: String?
    /// That a person wants it so; nil if nobody does.
    var pause: Pause?
    /// What may or may not have arrived in the last day, the newest first.
    var unconfirmed: [Action] = []

    /// Rows of actions that this version does not understand, a sentence each.
    var setAside: [String] = []

    /// How many actions are named.
    private static let named = 5

    func sentence(_ role: AccountRole, _ consequence: String) -> [String] {
        refusals[role].map { since, error in
            ["\(consequence): the network refuses the \(role.rawValue)'s credentials since \(since.rfc3339): \(error)"]
        } ?? []
    }

    /// What fails each time for another reason than that a feed cannot be read, and keeps nothing from being sent.
    var failing: [String] {
        let unread = feeds.filter { $0.error != nil }.map(\.feed)
        return work.filter { !$0.stopsSending && !unread.contains($0.part) }.map(\.text)
    }

    /// What was not heard, or is not now.
    var unheard: [String] {
        feeds.flatMap { feed -> [String] in
            var sentences =
                feed.error.map { error in
                    ["\(feed.feed) cannot be read since \((feed.errorSince ?? .distantPast).rfc3339): \(error)"]
                } ?? []
            if feed.unreadable > 0 {
                sentences.append(
                    "\(feed.unreadable) of \(feed.feed) could not be read and are passed over until an update of mirror-bot"
                )
            }
            sentences += feed.unreached.prefix(Self.named).map {
                "what came in \(feed.feed) between \($0.from.rfc3339) and \($0.to.rfc3339) cannot be read any more"
            }
            return sentences
        }
    }

    /// What a person may want to look for at the network.
    var lost: [String] {
        guard !unconfirmed.isEmpty else { return [] }
        let names = unconfirmed.prefix(Self.named).map { "\($0.kind.rawValue) \($0.id)" }.joined(separator: ", ")
        let rest = unconfirmed.count > Self.named ? " and others" : ""
        let subject = unconfirmed.count == 1 ? "1 action" : "\(unconfirmed.count) actions"
        return ["\(subject) of the last day may or may not have arrived, for the answers were lost: \(names)\(rest)"]
    }
}

/// Why a mirror does not do one of the things it could do.
struct IdleReasons {
    let configuration: MirrorConfiguration
    let accounts: FoundAccounts
    /// What X has cost; nil where no account is there.
    let spending: Spending?
    let zone: TimeZone?
    /// The zone that an archive named.
    var namedZone: String?
    let posts: Int
    /// Whether the human's past has been read.
    let knowsPast: Bool
    let plan: PlanReport?
    let isRunning: Bool
    let classifier: StatusReport.ClassifierState?
    let classifierProblem: String?
    let suggestions: Int
    var troubles = Troubles()

    static let unknownPast =
        "no posts and no replies: the human's past has not been read; run mirror-bot train scheduler"

    /// A sentence for each reason, the most important first.
    var sentences: [String] {
        sending + troubles.failing + troubles.unheard + troubles.lost + troubles.setAside + money + posting
            + (accounts.problem(.bot) == nil ? favoriting : learning) + human
    }

    private var sending: [String] {
        if let move = troubles.move { return ["nothing is sent: the mirror \(move)"] }
        var sentences = troubles.pause.map { [pausing($0)] } ?? []
        if let problem = accounts.problem(.bot) { return sentences + ["nothing is sent: \(problem)"] }
        sentences += troubles.sentence(.bot, "nothing is sent")
        if let database = troubles.database { sentences.append("nothing is sent: \(database)") }
        if !isRunning { sentences.append("nothing is sent: no worker is running; start one with mirror-bot run") }
        return sentences + troubles.work.filter(\.stopsSending).map { "nothing is sent: \($0.text)" }
    }

    private func pausing(_ pause: Pause) -> String {
        let reason = pause.reason.map { ": \($0)" } ?? ""
        return
            "nothing is sent: the mirror pauses since \(pause.beginning(in: zone)) \(pause.ending(in: zone))\(reason)"
    }

    private var money: [String] {
        guard let spending else { return [] }
        let renewal = spending.renews.rfc3339.prefix(10)
        let rest =
            "until \(renewal): \(spending.left) is left of the month's \(spending.budget); "
            + "X_BUDGET_USD_PER_MONTH changes that"
        guard spending.left >= XPrices.current.postCreate else { return ["X is left alone \(rest)"] }
        return [(AccountRole.human, Feed.ownPosts, "the human's posts"), (.bot, .mentions, "the bot's mentions")]
            .filter { role, feed, _ in
                accounts.accounts[role]?.network == .x && spending.left < priceOfPage(feed, role)
            }
            .map { "\($0.2) on X are not read \(rest)" }
    }

    /// What must be there for the smallest page of a feed on X to be asked for.
    private func priceOfPage(_ feed: Feed, _ role: AccountRole) -> Money {
        XPrices.current.price(
            ofReading: XNetwork.smallestPage(of: feed), from: feed, ownsApp: configuration.x.appOwner == role,
            fieldNames: configuration.x.fieldNames)
    }

    private var posting: [String] {
        var sentences: [String] = []
        if accounts.accounts[.bot]?.network == .x, !configuration.x.mayPublish {
            sentences.append(
                "no posts and no replies: X_ACKNOWLEDGE_POLICY is no; the README says what X asks of a mirror")
        }
        if zone == nil {
            let proposal = namedZone.map { "; the archive says \($0)" } ?? ""
            sentences.append("no plan is made: TIME_ZONE is not set\(proposal)")
        }
        if let hold = configuration.uselessHold(accounts) { sentences.append(hold) }
        if !knowsPast {
            sentences.append(Self.unknownPast)
        } else if posts == 0 {
            sentences.append("no posts and no replies: the archive is empty; run mirror-bot train scheduler")
        } else if configuration.schedule.maximumPerDay == 0 {
            sentences.append("no posts: \(PlanReport.onlyAnswers)")
        } else if let plan, plan.isStored, plan.slots.isEmpty {
            sentences.append("no posts today: the plan drew a day of silence, as the human has them")
        }
        return sentences
    }

    /// What keeps favorites from being given or suggested.
    private var favoriting: [String] {
        guard configuration.favoriteMode != .off else { return learning }
        var sentences: [String] = []
        if let problem = accounts.homeProblem(.bot) {
            sentences.append("no favorites: the bot's home timeline is not read, for \(problem)")
        }
        sentences += learning
        if suggestions > 0 {
            sentences.append(
                suggestions == 1
                    ? "1 action waits for a person; see mirror-bot suggestions"
                    : "\(suggestions) actions wait for a person; see mirror-bot suggestions")
        }
        return sentences
    }

    /// What keeps the classifier from judging.
    private var learning: [String] {
        if configuration.favoriteMode == .off { return ["no favorites: FAVORITE_MODE is off"] }
        if let classifierProblem { return ["no favorites: \(classifierProblem)"] }
        guard let waiting = classifier?.waiting else { return [] }
        // Favorites are compared with what was seen, and that is what the home timelines show.
        guard let human = accounts.homeProblem(.human), let bot = accounts.homeProblem(.bot),
            accounts.problem(.bot) == nil
        else { return [(["no favorites yet: \(waiting)"] + nextSteps).joined(separator: "; ")] }
        let causes = human == bot ? human : "\(human), and \(bot)"
        return ["no favorites yet: \(waiting), and no home timeline is read to learn from, for \(causes)"]
    }

    /// What brings the posts that are still to be learned.
    private var nextSteps: [String] {
        let needed = configuration.favorites.minimumPerCategory
        guard let classifier else { return [] }
        let (lacksFavorites, lacksNormals) = (classifier.favorites < needed, classifier.normals < needed)
        let readsHome = accounts.homeProblem(.human) == nil
        var steps: [String] = []
        if accounts.problem(.human) != nil {
            if lacksFavorites { steps.append("run mirror-bot train classifier --from ARCHIVE") }
        } else if lacksFavorites || lacksNormals && readsHome {
            steps.append("run mirror-bot train classifier")
        }
        if lacksNormals, !readsHome {
            steps.append("normals are learned from the bot's home timeline while mirror-bot run works")
        }
        return steps
    }

    private var human: [String] {
        accounts.problem(.human).map { ["nothing new is learned: \($0)"] }
            ?? troubles.sentence(.human, "nothing new is learned")
    }
}

extension MirrorConfiguration {
    /// That posts are meant to wait for the human's silence and nobody can see it; nil if that is not so.
    func uselessHold(_ accounts: FoundAccounts) -> String? {
        guard holdWhileActive != nil, accounts.accounts[.human] == nil else { return nil }
        return "HOLD_WHILE_ACTIVE has no effect: there is no account of the human to read"
    }
}
