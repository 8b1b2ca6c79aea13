import Archive
import Foundation
import Mirroring
import Networks
import Outbox
import Posts
import Settings
import Storage

/// Reads the health of all mirrors of a database, with the same number of statements however many there are.
///
/// The facts of ``standings(_:now:)`` are those of ``HealthReader`` except for those that cost a look into each mirror's
/// archive or actions: how many texts are fit, whether all people are denied, what feeds could not read, which post a day
/// without a plan would bring. So a mirror that is hindered only because none of its texts is fit or everybody is denied
/// counts as healthy there.
/// ``readings(of:now:)`` has all facts.
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
        let opened = try await open(mirrors, with: try base.vault.keyed())
        let feeds = try await brokenFeeds()
        let contents = try await contents(now: now)
        let spending = try await spending(at: now)
        let store = try await HealthReader(base).storeFault([], now: now)
        let standings = opened.map { opened -> Standing in
            let (name, record) = (opened.mirror.name, opened.record)
            var rows = opened.rows
            rows.feeds = feeds[name] ?? []
            let contents = contents[name] ?? Contents()
            rows.numbers.posts = contents.hasPosts ? 1 : 0
            rows.numbers.networks = contents.networks
            (rows.numbers.suggestions, rows.numbers.undo.proposed) = (contents.suggestions, contents.proposedUndos)
            let reader = HealthReader(opened.mirror, silence: silence)
            if opened.hasPrices {
                rows.money = reader.money(spending(name, opened.mirror.configuration), rows.accounts)
            }
            var facts = reader.facts(of: rows, zone: opened.zone, now: now)
            (facts.faults, facts.store) = (opened.faults, store)
            if opened.isUnset {
                facts.setup = opened.mirror.setupSteps(
                    record, rows.accounts,
                    SetupRows(hasPosts: contents.hasPosts, hasExamples: contents.hasExamples))
            }
            return Standing(
                name: name, record: record, health: Health(facts, next: contents.nextSlot, now: now),
                suggestions: contents.suggestions, nextSlot: contents.nextSlot, settingError: opened.problem)
        }
        return standings.sorted { $0.order < $1.order }
    }

    // MARK: All facts

    /// Reads the facts of some mirrors as ``HealthReader`` does for one, with the same number of statements however many
    /// there are.
    ///
    /// - Parameter mirrors: Some hundred at most.
    /// - Returns: In the same order. A mirror with a stored setting that cannot be used has the settings of the process.
    /// - Throws: The store's error.
    func readings(of mirrors: [(name: String, record: MirrorRecord)], now: Date) async throws -> [Reading] {
        let names = mirrors.map(\.name)
        // With a key file that cannot be used every login fails, as it does where one mirror is read.
        let vault = (try? base.vault.keyed()) ?? base.vault
        let opened = try await open(mirrors, with: vault, only: names)
        let feeds = try await FeedTable.health(of: names, in: storage, now: now)
        let totals = try await SpendingTable.totals(of: names, in: storage, now: now)
        let withText = try await mirrorsWithText(opened)
        let zones: [(mirror: String, zone: TimeZone?)] = opened.map { ($0.mirror.name, $0.zone) }
        let numbers = try await HealthReader.numbers(of: zones, in: storage, now: now)
        let setups = try await setups(opened)
        let isFull = base.process.storage.lackOfRoom != nil
        let store = try await HealthReader(base).storeFault([], now: now)
        return opened.map { opened -> Reading in
            let (name, reader) = (opened.mirror.name, HealthReader(opened.mirror, silence: silence))
            var rows = opened.rows
            (rows.feeds, rows.numbers) = (feeds[name] ?? [], numbers[name] ?? HealthNumbers())
            rows.isWithoutText = !withText.contains(name)
            let budget = opened.mirror.configuration.x.monthlyBudget
            let spending =
                opened.hasPrices ? Spending(at: now, budget: budget, total: totals[name]?.month ?? .zero) : nil
            rows.money = spending.map { reader.money($0, rows.accounts) }
            var facts = reader.facts(of: rows, zone: opened.zone, now: now)
            reader.note(opened.faults, in: &facts)
            facts.store = isFull ? store : reader.refusedWrite(reader.live, now: now) ?? store
            if opened.isUnset {
                var setup = setups[name] ?? SetupRows()
                setup.hasPosts = rows.numbers.posts > 0
                facts.setup = opened.mirror.setupSteps(opened.record, rows.accounts, setup)
            }
            let reading = HealthReading(
                facts: facts, record: opened.record, accounts: rows.accounts, spending: spending, lease: rows.lease,
                numbers: rows.numbers)
            return Reading(
                mirror: opened.mirror, reading: reading, spent: totals[name]?.all ?? .zero, problem: opened.problem)
        }
    }

    /// A mirror and the facts of its health.
    struct Reading: Sendable {
        let mirror: HumanMirror
        let reading: HealthReading
        /// The cost of the mirror's calls to X in all months.
        let spent: Money
        /// Set if a stored setting of the mirror cannot be used.
        let problem: String?

        /// The health's verdict and obstacles; nil if a setting that cannot be used decides.
        var health: Health? { problem == nil ? Health(reading.facts) : nil }
    }

    /// The names of the mirrors with a text that may be posted, with a statement for each kind of filter.
    private func mirrorsWithText(_ opened: [Opened]) async throws -> Set<String> {
        var found: Set<String> = []
        let filters = Dictionary(grouping: opened) { $0.mirror.textFilter() }
        for (filter, group) in filters {
            found.formUnion(try await Archive.havingText(group.map(\.mirror.name), filter, in: storage))
        }
        return found
    }

    /// Reads the rows from which the checklists are made, except posts, of the mirrors that have not worked yet.
    private func setups(_ opened: [Opened]) async throws -> [String: SetupRows] {
        let unset = opened.filter(\.isUnset)
        guard !unset.isEmpty else { return [:] }
        let examples = try await storage.query(
            """
            SELECT asked.column1 AS name FROM \(SQL.asked(unset.map(\.mirror.name)))
            WHERE EXISTS (SELECT 1 FROM examples WHERE mirror = asked.column1)
            """)
        var setups = try examples.reduce(into: [String: SetupRows]()) {
            $0[try $1.text("name"), default: SetupRows()].hasExamples = true
        }
        let paying = unset.filter { $0.rows.accounts.accounts[.human]?.network.descriptor.prices != nil }
        for (name, left) in try await FeedTable.trainingLeft(of: paying.map(\.mirror.name), in: storage) {
            setups[name, default: SetupRows()].trainings = SetupRows.trainings(left)
        }
        return setups
    }

    // MARK: What every look needs

    /// A mirror with its effective settings, its accounts, and the rows that name faults.
    private struct Opened {
        let mirror: HumanMirror
        let record: MirrorRecord
        /// With accounts, lease and refusals.
        let rows: HealthRows
        let faults: [WorkFault]
        /// Set if a stored setting of the mirror cannot be used.
        let problem: String?

        var zone: TimeZone? { mirror.knownTimeZone(record) }
        var hasPrices: Bool { rows.accounts.networks.contains { $0.descriptor.prices != nil } }
        /// Whether the mirror has not worked yet.
        var isUnset: Bool { record.activated == nil || record.past == nil }
    }

    /// - Parameter names: The mirrors whose rows are read; nil for those of all mirrors.
    private func open(
        _ mirrors: [(name: String, record: MirrorRecord)], with vault: CredentialVault, only names: [String]? = nil
    ) async throws -> [Opened] {
        let leases = try await LeaseTable.records(of: mirrors.map(\.name), in: storage)
        let faults = try await FaultTable.all(of: names, in: storage)
        let (settings, logins) = (try await settings(names), try await logins(names))
        var configurations = Configurations(installation: base.installation)
        return try mirrors.map { name, record -> Opened in
            let opened = Self.open(logins[name] ?? [:], with: vault.of(name))
            let networks = opened.compactMapValues { try? $0.get().network }
            let (configuration, problem) = try configurations.effective(name, settings[name] ?? [:], networks)
            let mirror = try base.other(configuration)
            var rows = HealthRows(record: record, accounts: FoundAccounts(in: mirror, logins: opened))
            let stored = faults[name] ?? StoredFaults()
            rows.lease = leases[name]
            rows.refusals = stored.refusals
            rows.waits = stored.waits
            return Opened(
                mirror: mirror, record: record, rows: rows, faults: stored.faults, problem: problem)
        }
    }

    private static func open(
        _ logins: [AccountRole: String], with vault: CredentialVault
    ) -> [AccountRole: Result<StoredLogin, any Error>] {
        var opened: [AccountRole: Result<StoredLogin, any Error>] = [:]
        for (role, sealed) in logins { opened[role] = Result { try vault.opened(sealed, of: role) } }
        return opened
    }

    // MARK: Statements

    private func settings(_ names: [String]?) async throws -> [String: [String: String]] {
        let rows = try await storage.query("SELECT mirror, name, value FROM settings\(SQL.condition(on: names))")
        return try rows.reduce(into: [:]) { settings, row in
            settings[try row.text("mirror"), default: [:]][try row.text("name")] = try row.text("value")
        }
    }

    private func logins(_ names: [String]?) async throws -> [String: [AccountRole: String]] {
        let rows = try await storage.query("SELECT mirror, role, sealed FROM credentials\(SQL.condition(on: names))")
        return try rows.reduce(into: [:]) { logins, row in
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
        /// As in ``HealthNumbers``.
        var networks: Set<String> = []
        var hasExamples = false
        var suggestions = 0
        var proposedUndos = 0
        var nextSlot: Date?
    }

    private func contents(now: Date) async throws -> [String: Contents] {
        let rows = try await storage.query(
            """
            SELECT mirror,
                (SELECT MIN(network) FROM posts WHERE posts.mirror = mirrors.mirror) AS first_network,
                (SELECT MAX(network) FROM posts WHERE posts.mirror = mirrors.mirror) AS last_network,
                CASE WHEN EXISTS (SELECT 1 FROM examples WHERE examples.mirror = mirrors.mirror) THEN 1 ELSE 0 END
                    AS examples,
                (SELECT COUNT(*) FROM actions WHERE actions.mirror = mirrors.mirror AND state = 'suggested')
                    AS suggestions,
                (SELECT COUNT(*) FROM actions WHERE actions.mirror = mirrors.mirror AND \(OutboxStore.isProposed))
                    AS proposed,
                (SELECT MIN(due_ms) FROM actions
                    WHERE actions.mirror = mirrors.mirror AND \(OutboxStore.comes(after: now))) AS next_ms
            FROM mirrors
            """)
        return try rows.reduce(into: [:]) { contents, row in
            let names = try ["first_network", "last_network"].compactMap { try row.optionalText($0) }
            let networks = Set(names)
            contents[try row.text("mirror")] = Contents(
                hasPosts: !networks.isEmpty, networks: networks, hasExamples: try row.int("examples") == 1,
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
