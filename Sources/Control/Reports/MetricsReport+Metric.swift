import Settings

extension MetricsReport {
    /// The metrics, in the order of the report.
    ///
    /// The alerts and dashboards of `deploy/` use these names.
    package enum Metric: String, CaseIterable, Sendable {
        case buildInfo = "build_info"
        case up
        case mirrorsOwned = "mirrors_owned"
        case mirrorsUnowned = "mirrors_unowned"
        case passesLate = "passes_late_seconds"
        case mirrors
        case well, state, stopped, obstacle
        case posts = "posts_total"
        case replies = "replies_total"
        case favorites = "favourites_total"
        case planSlots = "plan_slots"
        case archiveRows = "archive_rows"
        case precision = "classifier_precision"
        case spend = "spend_dollars_total"
        case budget = "budget_dollars"
        case budgetLeft = "budget_left_dollars"
        case lastSuccess = "last_success_timestamp_seconds"
        case requestDuration = "api_request_duration_seconds"
        case limitRemaining = "rate_limit_remaining"

        package var name: String { "mirrorbot_\(rawValue)" }

        fileprivate var kind: Exposition.Family.Kind {
            switch self {
            case .posts, .replies, .favorites, .spend: .counter
            case .requestDuration: .histogram
            default: .gauge
            }
        }

        /// The description of a mirror's sample, and of the total of all mirrors.
        ///
        /// The total is nil for a metric that does not belong to a mirror.
        fileprivate var help: (sample: String, total: String?) {
            switch self {
            case .buildInfo: ("The program, as a constant 1.", nil)
            case .up: ("Whether the database could be read.", nil)
            case .mirrorsOwned: ("Mirrors of the database that a living worker holds.", nil)
            case .mirrorsUnowned:
                ("Mirrors of the database that neither pause nor have a worker.", nil)
            case .passesLate:
                (
                    "By how much one of a worker's passes began late, at most, within the last minute.",
                    nil
                )
            case .mirrors:
                (
                    "Mirrors of the database by state and by the obstacle that decides on it; code is empty for healthy ones.",
                    nil
                )
            case .well:
                (
                    "Whether the mirror does its work, or pauses as a person wants.",
                    "whether each of them does its work, or pauses as a person wants."
                )
            case .state:
                (
                    "The mirror's state: 1 for the one that holds.",
                    "how many of them are in a state."
                )
            case .stopped:
                (
                    "Whether a kind of work is lost as a whole, also by a setting.",
                    "how many of them lose a kind of work as a whole, also by a setting."
                )
            case .obstacle:
                ("How many conditions of a kind hold.", "how many conditions of a kind hold.")
            case .posts:
                (
                    "Posts by how they ended, as long as they are kept (\(Setting.historyDays.name)).",
                    "posts by how they ended, as long as they are kept (\(Setting.historyDays.name))."
                )
            case .replies:
                (
                    "Mentions by how they ended and why, as long as they are kept (\(Setting.historyDays.name)); a silence is skipped.",
                    "mentions by how they ended and why, as long as they are kept (\(Setting.historyDays.name)); a silence is skipped."
                )
            case .favorites:
                (
                    "Favorites by how they ended, with \(Setting.favoriteMode.name) as it is now, as long as they are kept (\(Setting.historyDays.name)).",
                    "favorites by how they ended, with \(Setting.favoriteMode.name) as it is now, as long as they are kept (\(Setting.historyDays.name))."
                )
            case .planSlots:
                (
                    "Slots of the human's present day by their state.",
                    "slots of each human's present day by their state."
                )
            case .archiveRows:
                ("Archived posts of the human.", "archived posts of their humans.")
            case .precision:
                (
                    "Share of the favorites that the bot gave which the human gave too, among those that are learned or dismissed.",
                    "share of the favorites that the bots gave which their humans gave too, among those that are learned or dismissed."
                )
            case .spend:
                (
                    "What calls have cost, of both accounts, in US dollars.",
                    "what calls have cost, of both accounts, in US dollars."
                )
            case .budget:
                (
                    "What calls may cost in a month, of both accounts, in US dollars.",
                    "what calls may cost in a month, of both accounts, in US dollars."
                )
            case .budgetLeft:
                (
                    "What is left of that in the present month, in US dollars.",
                    "what is left of that in the present month, in US dollars."
                )
            case .lastSuccess:
                (
                    "When a part of the work last succeeded: a feed was read to its end, something of a kind was sent, a worker lived.",
                    "the oldest time at which a part of the work last succeeded, over all mirrors that are not paused."
                )
            case .requestDuration:
                (
                    "How long calls to a network took, with what they wait for; counted since the mirror began.",
                    "how long calls to a network took, with what they wait for; counted since each of them began."
                )
            case .limitRemaining:
                (
                    "Requests that a network still lets an account make in its period, as the last answer said.",
                    "requests that a network still lets the account with the fewest make in its period, as the last answer said, without the mirrors that pause."
                )
            }
        }
    }
}

extension Exposition.Family {
    /// - Parameters:
    ///   - metric: A metric that does not belong to a single mirror.
    init(_ metric: MetricsReport.Metric) {
        self.init(metric.name, metric.kind, metric.help.sample)
    }

    /// - Parameters:
    ///   - metric: A metric of a mirror.
    ///   - mirror: The name of the mirror, which becomes a label of all samples; nil for totals of
    ///     all mirrors, without such a label.
    init(_ metric: MetricsReport.Metric, of mirror: String?) {
        guard let mirror else {
            let help = metric.help.total.map { "Total of all mirrors: \($0)" }
            self.init(metric.name, metric.kind, help ?? metric.help.sample)
            return
        }
        self.init(metric.name, metric.kind, metric.help.sample, labels: ["mirror": mirror])
    }
}
