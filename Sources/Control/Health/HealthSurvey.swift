import Foundation
import Mirroring
import Networks
import Outbox
import Posts
import Settings
import Storage

/// Reads the health of all mirrors of a database, with the same number of statements however many there are.
///
/// The facts are those of ``HealthReader`` except for those that cost a look into each mirror's archive or actions: how
/// many texts are fit, whether all people are denied, what feeds could not read. So a mirror that
/// is hindered only because none of its texts is fit or everybody is denied counts as healthy here.
struct HealthSurvey {
    /// A mirror and its health.
    struct Standing: Sendable {
        let name: String
        let record: MirrorRecord
        let health: Health
        /// How many suggestions wait for a person.
        let suggestions: Int
        /// When the next post of a stored plan is due; nil if none is stored.
        let nextSlot: Date?
        /// Set instead of an obstacle if a stored setting of the mirror cannot be used.
        var settingError: String?
    }

    private let base: HumanMirror
    private let silence: TimeInterval?

    /// - Parameters:
    ///   - base: Any mirror of the database.
    ///   - silence: From how many seconds on a worker's last beat is too old; nil for the usual limit.
    init(_ base: HumanMirror, silence: TimeInterval? = nil) { (self.base, self.silence) = (base, silence) }

    private var storage: any StorageEngine { base.storage }

    /// Reads the standings of the mirrors that a search finds.
    ///
    /// - Parameter words: What the name or a handle of each contains; nil for all.
    /// - Returns: The worst first.
    /// - Throws: The store's error; `ConfigurationError` for a key file that cannot be used.
    func standings(_ words: SearchWords?, now: Date) async throws -> [Standing] {
        let mirrors = try await MirrorTable.all(in: storage).filter { name, record in
            words?.occur(in: [name, record.humanHandle, record.botHandle].compactMap(\.self)) ?? true
        }
        let leases = try await LeaseTable.records(of: mirrors.map(\.name), in: storage)
        let faults = try await FaultTable.all(in: storage)
        let feeds = try await brokenFeeds()
        let (settings, logins) = (try await settings(), try await logins())
        let contents = try await contents(now: now)
        let spending = try await spending(at: now)
        let reader = HealthReader(base)
        let store = try await reader.storeFault([], now: now)
        var configurations = Configurations(installation: base.installation)
        let vault = try base.vault.keyed()
        let standings = try mirrors.map { name, record -> Standing in
            let opened = Self.open(logins[name] ?? [:], with: vault.of(name))
            let networks = opened.compactMapValues { try? $0.get().network }
            let (configuration, problem) = try configurations.effective(name, settings[name] ?? [:], networks)
            let mirror = try base.other(configuration)
            var rows = HealthRows(record: record, accounts: FoundAccounts(in: mirror, logins: opened))
            rows.lease = leases[name]
            rows.refusals = faults[name]?.refusals ?? [:]
            rows.feeds = feeds[name] ?? []
            let contents = contents[name] ?? Contents()
            rows.numbers.posts = contents.hasPosts ? 1 : 0
            (rows.numbers.suggestions, rows.numbers.undo.proposed) = (contents.suggestions, contents.proposedUndos)
            let reader = HealthReader(mirror, silence: silence)
            if rows.accounts.networks.contains(where: { $0.descriptor.prices != nil }) {
                rows.money = reader.money(spending(name, configuration), rows.accounts)
            }
            var facts = reader.facts(of: rows, zone: mirror.knownTimeZone(record), now: now)
            (facts.faults, facts.store) = (faults[name]?.faults ?? [], store)
            if record.activated == nil || record.past == nil {
                facts.setup = mirror.setupSteps(
                    record, rows.accounts,
                    SetupRows(hasPosts: contents.hasPosts, hasExamples: contents.hasExamples))
            }
            return Standing(
                name: name, record: record, health: Health(facts), suggestions: contents.suggestions,
                nextSlot: contents.nextSlot, settingError: problem)
        }
        return standings.sorted { $0.order < $1.order }
    }

    private static func open(
        _ logins: [AccountRole: String], with vault: CredentialVault
    ) -> [AccountRole: Result<StoredLogin, any Error>] {
        var opened: [AccountRole: Result<StoredLogin, any Error>] = [:]
        for (role, sealed) in logins { opened[role] = Result { try vault.opened(sealed, of: role) } }
        return opened
    }

    // MARK: Statements

    private func settings() async throws -> [String: [String: String]] {
        try await storage.query("SELECT mirror, name, value FROM settings").reduce(into: [:]) { settings, row in
            settings[try row.text("mirror"), default: [:]][try row.text("name")] = try row.text("value")
        }
    }

    private func logins() async throws -> [String: [AccountRole: String]] {
        try await storage.query("SELECT mirror, role, sealed FROM credentials").reduce(into: [:]) { logins, row in
            guard let role = AccountRole(rawValue: try row.text("role")) else { return }
            logins[try row.text("mirror"), default: [:]][role] = try row.text("sealed")
        }
    }

    private func brokenFeeds() async throws -> [String: [FeedHealth]] {
        let rows = try await storage.query(
            "SELECT mirror, feed, read_ms, error, error_code, error_ms FROM feeds WHERE error IS NOT NULL")
        return try rows.reduce(into: [:]) { feeds, row in
            var health = FeedHealth(feed: try row.text("feed"))
            health.lastSuccess = try row.optionalDate("read_ms")
            (health.error, health.errorCode) = (try row.optionalText("error"), try row.optionalText("error_code"))
            health.errorSince = try row.optionalDate("error_ms")
            feeds[try row.text("mirror"), default: []].append(health)
        }
    }

    /// What a mirror has, and what of it waits for a person.
    private struct Contents {
        var hasPosts = false
        var hasExamples = false
        var suggestions = 0
        var proposedUndos = 0
        var nextSlot: Date?
    }

    private func contents(now: Date) async throws -> [String: Contents] {
        let rows = try await storage.query(
            """
            SELECT mirror,
                CASE WHEN EXISTS (SELECT 1 FROM posts WHERE posts.mirror = mirrors.mirror) THEN 1 ELSE 0 END AS posts,
                CASE WHEN EXISTS (SELECT 1 FROM examples WHERE examples.mirror = mirrors.mirror) THEN 1 ELSE 0 END
                    AS examples,
                (SELECT COUNT(*) FROM actions WHERE actions.mirror = mirrors.mirror AND state = 'suggested')
                    AS suggestions,
                (SELECT COUNT(*) FROM actions WHERE actions.mirror = mirrors.mirror AND \(OutboxStore.isProposed))
                    AS proposed,
                (SELECT MIN(due_ms) FROM actions WHERE actions.mirror = mirrors.mirror AND state = 'planned'
                    AND kind = 'post' AND due_ms > \(now.milliseconds)) AS next_ms
            FROM mirrors
            """)
        return try rows.reduce(into: [:]) { contents, row in
            contents[try row.text("mirror")] = Contents(
                hasPosts: try row.int("posts") == 1, hasExamples: try row.int("examples") == 1,
                suggestions: try row.int("suggestions"), proposedUndos: try row.int("proposed"),
                nextSlot: try row.optionalDate("next_ms"))
        }
    }

    /// What each mirror spent in the month of `now`.
    private func spending(at now: Date) async throws -> (String, MirrorSettings) -> Spending {
        let empty = Spending(at: now, budget: .zero, total: .zero)
        let rows = try await storage.query(
            """
            SELECT mirror, CAST(SUM(microdollars) AS BIGINT) AS microdollars FROM spending
            WHERE period = \(empty.month) GROUP BY mirror
            """)
        let totals = try rows.reduce(into: [String: Money]()) { totals, row in
            totals[try row.text("mirror")] = Money(microdollars: try row.int("microdollars"))
        }
        return { name, configuration in
            Spending(at: now, budget: configuration.x.monthlyBudget, total: totals[name] ?? .zero)
        }
    }

    // MARK: Settings

    /// The effective settings of mirrors; those of mirrors that have the same ones are parsed once.
    private struct Configurations {
        private struct Key: Hashable {
            let settings: [String: String]
            let networks: [AccountRole: NetworkName]
            let isNamed: Bool
        }

        private let installation: Installation
        private var known: [Key: (settings: MirrorSettings, problem: String?)] = [:]

        init(installation: Installation) { self.installation = installation }

        /// - Returns: The settings under the mirror's name; those of the process and the problem if those that are stored
        ///   cannot be used.
        /// - Throws: `ConfigurationError` for settings of the process that cannot be used.
        mutating func effective(
            _ name: String, _ settings: [String: String], _ networks: [AccountRole: NetworkName]
        ) throws -> (MirrorSettings, String?) {
            let key = Key(settings: settings, networks: networks, isNamed: installation.isNamed(name))
            var found = try known[key] ?? parsed(key, given: installation.settings(of: name))
            known[key] = found
            found.settings.mirror = name
            return found
        }

        private func parsed(_ key: Key, given: MirrorSettings) -> (settings: MirrorSettings, problem: String?) {
            do {
                var settings = try given.with(stored: key.settings)
                try settings.adopt(key.networks)
                return (settings, nil)
            } catch {
                return (given, "\(error)")
            }
        }
    }
}

extension HealthSurvey.Standing {
    /// The health's verdict, unless a setting that cannot be used decides.
    var verdict: Health.Verdict {
        settingError.map { Health.Verdict(state: .failing, text: $0) } ?? health.verdict
    }

    /// Who ends what the verdict says; nil for a mirror that is well.
    var failure: Finding.Cause? { settingError == nil ? health.failure : .configuration }

    /// The place in a list with the worst first: by state, then by the leading obstacle, then by name.
    fileprivate var order: (Int, Int, String) {
        (verdict.state.severity, settingError == nil ? verdict.code?.rank ?? .max : -1, name)
    }
}

extension Health.Verdict.State {
    /// 0 for the worst state.
    fileprivate var severity: Int {
        switch self {
        case .failing: 0
        case .unset: 1
        case .hindered: 2
        case .paused: 3
        case .healthy: 4
        }
    }
}
