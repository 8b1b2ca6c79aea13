package import Foundation
import Localization
import Outbox
package import Posts
import Schedule
package import Settings
package import Storage

/// Reads and changes the row of one mirror.
package struct MirrorTable: Sendable {
    let storage: any StorageEngine
    let mirror: String

    package init(storage: any StorageEngine, mirror: String) {
        self.storage = storage
        self.mirror = mirror
    }

    /// The stored record; an empty one before the first command that stores it.
    package func record() async throws -> MirrorRecord {
        try Self.record(in: try await storage.query(Self.selection(of: mirror))) ?? MirrorRecord()
    }

    /// Fails for a mirror that is not in the database, unless the database is empty and the mirror
    /// has the usual name.
    ///
    /// - Throws: `ConfigurationError` that names the mirrors of the database; the store's error.
    static func requireFirst(_ configuration: MirrorSettings, in storage: any StorageEngine)
        async throws
    {
        let mirror = configuration.mirror
        let mirrorNames = try await names(in: storage, limit: mostNamed)
        if mirrorNames.isEmpty, mirror == MirrorSettings.defaultMirror { return }
        let existing =
            mirrorNames.isEmpty
            ? localized("the database has none yet")
            : localized("the database has \(mirrorNames.joined(by: .comma))")
        throw ConfigurationError(
            configuration.mirrorSetting,
            localized(
                "is \(mirror), but there is no such mirror: \(existing); mirror-bot setup, login, train and set make one"
            ),
            part: .mirror)
    }

    /// Whether anything is stored under this name.
    package static func isKnown(_ mirror: String, in storage: any StorageEngine) async throws
        -> Bool
    {
        try await !storage.query("SELECT 1 AS found WHERE \(isKnown(mirror))").isEmpty
    }

    /// The condition that anything is stored under this name.
    fileprivate static func isKnown(_ mirror: String) -> SQL {
        """
        (EXISTS (SELECT 1 FROM mirrors WHERE mirror = \(mirror))
            OR EXISTS (SELECT 1 FROM posts WHERE mirror = \(mirror))
            OR EXISTS (SELECT 1 FROM examples WHERE mirror = \(mirror))
            OR EXISTS (SELECT 1 FROM credentials WHERE mirror = \(mirror)))
        """
    }

    /// The names of the mirrors in a database, in order.
    ///
    /// A mirror of which only an archive was imported may have no row of its own. The large tables
    /// are not scanned for it: the index leads from each name to the next.
    ///
    /// - Parameters:
    ///   - storage: The database.
    ///   - limit: The most names to return.
    /// - Returns: The names.
    /// - Throws: The store's error.
    package static func names(in storage: any StorageEngine, limit: Int64 = 100_000) async throws
        -> [String]
    {
        let rows = try await storage.query(
            """
            WITH RECURSIVE archived(mirror) AS (
                SELECT MIN(mirror) FROM posts
                UNION ALL
                SELECT (SELECT MIN(mirror) FROM posts WHERE posts.mirror > archived.mirror) FROM archived
                WHERE archived.mirror IS NOT NULL
            ), learned(mirror) AS (
                SELECT MIN(mirror) FROM examples
                UNION ALL
                SELECT (SELECT MIN(mirror) FROM examples WHERE examples.mirror > learned.mirror) FROM learned
                WHERE learned.mirror IS NOT NULL
            )
            SELECT mirror FROM mirrors UNION SELECT mirror FROM credentials
            UNION SELECT mirror FROM archived WHERE mirror IS NOT NULL
            UNION SELECT mirror FROM learned WHERE mirror IS NOT NULL
            ORDER BY mirror LIMIT \(limit)
            """)
        return try rows.map { try $0.text("mirror") }
    }

    /// The versions (`MirrorVersion`) of those mirrors that a worker may work for, by name.
    ///
    /// Mirrors that moved away, that are not complete yet or that have retired are left out. So are
    /// paused mirrors, which need no worker unless one of their actions or effects is to be taken
    /// back or finished.
    ///
    /// - Parameter names: The mirrors to consider; nil for all.
    /// - Throws: The store's error.
    package static func versionsOfLiving(
        in storage: any StorageEngine, among names: [String]? = nil, now: Date
    ) async throws -> [String: Int64] {
        let isAmongNames: SQL = names.map { "mirror IN \(list: $0) AND " } ?? ""
        let rows = try await storage.query(
            """
            SELECT mirror, version FROM mirrors
            WHERE \(isAmongNames)move_state IS NULL AND retired_ms IS NULL AND (paused_ms IS NULL OR paused_until_ms <= \(now.milliseconds)
                OR EXISTS (
                    SELECT 1 FROM actions WHERE actions.mirror = mirrors.mirror AND undo_next_ms IS NOT NULL)
                OR EXISTS (
                    SELECT 1 FROM effects WHERE effects.mirror = mirrors.mirror AND next_ms IS NOT NULL))
            """)
        return Dictionary(try rows.map { (try $0.text("mirror"), try $0.integer("version")) }) {
            first, _ in first
        }
    }

    /// Reads the records of all mirrors of a database, with their names.
    ///
    /// - Throws: The store's error.
    package static func all(in storage: any StorageEngine) async throws -> [(
        name: String, record: MirrorRecord
    )] {
        var records: [String: MirrorRecord] = [:]
        for row in try await storage.query("SELECT mirror, \(columns) FROM mirrors") {
            records[try row.text("mirror")] = try record(in: [row])
        }
        return try await names(in: storage).map { ($0, records[$0] ?? MirrorRecord()) }
    }

    /// Reads the records of some mirrors, in the order of their names; an empty record for a mirror
    /// that is not stored.
    ///
    /// - Throws: The store's error.
    package static func records(
        of names: [String], in storage: any StorageEngine
    ) async throws -> [(name: String, record: MirrorRecord)] {
        var records: [String: MirrorRecord] = [:]
        for part in names.portions {
            let rows = try await storage.query(
                "SELECT mirror, \(columns) FROM mirrors WHERE mirror IN \(list: part)")
            for row in rows { records[try row.text("mirror")] = try record(in: [row]) }
        }
        return names.map { ($0, records[$0] ?? MirrorRecord()) }
    }

    /// Fails for a mirror that was moved to another database, or is not completely in this one yet.
    ///
    /// - Returns: The mirror's record.
    /// - Throws: `ConfigurationError` that names the other database; the store's error.
    @discardableResult
    package func requireHere() async throws -> MirrorRecord {
        let record = try await record()
        guard let problem = record.move?.problem else { return record }
        throw ConfigurationError(localized("mirror \(mirror)"), problem)
    }

    /// Cancels the mark of a move away from here, if the new database is lost.
    ///
    /// - Returns: The other database; nil if the mirror was not moved away, and nothing was
    ///   changed.
    /// - Throws: The store's error.
    package func stay() async throws -> String? {
        guard let move = try await record().move, move.state == .left else { return nil }
        // Without the id, the copy at the other place can never be mistaken for the one in use.
        try await storage.execute(
            """
            UPDATE mirrors SET move_id = NULL, move_state = NULL, move_place = NULL, move_ms = NULL
            WHERE mirror = \(mirror) AND move_state = 'left'
            """)
        return move.place
    }

    /// Reads the pause that applies at `now`; `nil` if none does.
    ///
    /// - Throws: The store's error.
    package func pause(at now: Date) async throws -> Pause? {
        try await record().pause(at: now)
    }

    /// Pauses the mirror: once this returns, no further request is recorded as being sent;
    /// `InFlightWait` waits for those in flight.
    ///
    /// - Parameters:
    ///   - until: When the mirror resumes by itself; nil to wait for a person.
    ///   - reason: A person's note, to be shown later.
    ///   - code: The mirror's own reason to pause; nil for a person's wish.
    ///   - seen: ``MirrorRecord/pauseSeen(at:)`` that the person was shown; nil to change without
    ///     comparing.
    ///   - now: The beginning of the pause.
    /// - Returns: The stored pause.
    /// - Throws: `SeenChanged`; the store's error.
    @discardableResult
    package func pause(
        until: Date?, reason: String?, code: Pause.Code? = nil, seen: Seen? = nil, now: Date
    ) async throws -> Pause {
        let mirror = mirror
        try await storage.transaction { connection in
            if seen != nil {
                let record = try Self.record(mirror, connection) ?? MirrorRecord()
                try seen.require(record.pauseSeen(at: now))
            }
            try connection.execute(
                """
                INSERT INTO mirrors (mirror, created_ms, paused_ms, paused_until_ms, pause_reason, pause_code)
                VALUES (\(mirror), \(now.milliseconds), \(now.milliseconds), \(until?.milliseconds), \(reason),
                    \(code?.rawValue))
                ON CONFLICT (mirror) DO UPDATE SET paused_ms = excluded.paused_ms,
                    paused_until_ms = excluded.paused_until_ms, pause_reason = excluded.pause_reason,
                    pause_code = excluded.pause_code, version = mirrors.version + 1
                WHERE COALESCE(mirrors.pause_code, '') <> \(Pause.Code.removing.rawValue)
                """)
        }
        return Pause(
            since: Date(milliseconds: now.milliseconds),
            until: until.map { Date(milliseconds: $0.milliseconds) },
            reason: reason, code: code)
    }

    /// The pause and the account state that held a mirror when a person resumed it.
    package struct Resumption: Equatable, Sendable {
        /// The pause, which has ended.
        package let pause: Pause?
        /// The state of the human's account that held the mirror; the hold ends only if the person
        /// knew of it.
        ///
        /// This is also a state without a hold, if the person knew of it and wants to hear no more
        /// of it.
        package let standing: HumanStanding?
    }

    /// Ends a pause.
    ///
    /// - Parameters:
    ///   - goesOnRegardless: Whether the person knows the state of the human's account, and wants
    ///     the mirror to go on regardless.
    ///   - seen: ``MirrorRecord/pauseSeen(at:)`` that the person was shown; nil to change without
    ///     comparing.
    /// - Returns: The hold that the mirror had; nil if it had none.
    /// - Throws: `SeenChanged`; `ChangeRefusal` for a mirror that is being removed; the store's
    ///   error.
    package func resume(
        despiteStanding goesOnRegardless: Bool = false, seen: Seen? = nil, now: Date
    ) async throws -> Resumption? {
        let mirror = mirror
        return try await storage.transaction { connection in
            let record = try Self.record(mirror, connection) ?? MirrorRecord()
            try seen.require(record.pauseSeen(at: now))
            let pause = record.pause(at: now)
            let standing = record.standing.flatMap { standing in
                let isNewlyKnown = goesOnRegardless && standing.goesOn == nil
                return standing.isHold || isNewlyKnown ? standing : nil
            }
            if pause?.code == .removing {
                throw ChangeRefusal(
                    .over,
                    localized("it is being removed; mirror-bot mirrors remove \(mirror) continues"))
            }
            try connection.execute(
                """
                UPDATE mirrors SET paused_ms = NULL, paused_until_ms = NULL, pause_reason = NULL, pause_code = NULL,
                    version = version + 1
                WHERE mirror = \(mirror) AND paused_ms IS NOT NULL
                """)
            if goesOnRegardless { try Self.goOn(mirror, on: connection, now: now) }
            return pause == nil && standing == nil
                ? nil : Resumption(pause: pause, standing: standing)
        }
    }

    /// Requires prepared actions to be checked again before they are sent, because a person changed
    /// the rules.
    ///
    /// - Throws: The store's error.
    package func raiseVersion() async throws {
        let mirror = mirror
        try await storage.transaction { try MirrorVersion.raise(mirror, on: $0) }
    }

    /// Stores how much of the human's past is known; this never decreases from `.whole`.
    ///
    /// - Returns: Whether more is known than before.
    /// - Throws: The store's error.
    @discardableResult
    package func notePast(_ past: KnownPast, now: Date) async throws -> Bool {
        try await add(now: now)
        let knowsLess: SQL = past == .whole ? "COALESCE(past, '') <> 'whole'" : "past IS NULL"
        return try await storage.execute(
            "UPDATE mirrors SET past = \(past.rawValue) WHERE mirror = \(mirror) AND \(knowsLess)")
            == 1
    }

    /// Stores that nothing of the human's past is known any more.
    ///
    /// - Throws: The store's error.
    func forgetPast() async throws {
        try await storage.execute("UPDATE mirrors SET past = NULL WHERE mirror = \(mirror)")
    }

    /// Creates the mirror's row, although nothing else is stored about it yet.
    ///
    /// - Parameter now: Recorded for a new mirror.
    /// - Throws: The store's error.
    package func add(now: Date) async throws { try await update(now: now) { _, _ in } }

    /// The most mirrors that an error names.
    private static let mostNamed: Int64 = 50

    /// Stores the verified accounts; refuses accounts other than those the mirror is bound to.
    ///
    /// - Parameters:
    ///   - human: The human's account; nil if it was not verified.
    ///   - bot: The bot's account; nil if it was not verified.
    ///   - settings: The setting or login that each account comes from, for errors; nil for the
    ///     usual setting of its network.
    ///   - credentials: Fingerprints of the credentials that opened the accounts.
    ///   - login: The kind of login that opened the human's account; nil if it was only looked up.
    ///   - now: Recorded for a new mirror, and with a consent.
    /// - Throws: `ConfigurationError` if human and bot are one account, or if this mirror is bound
    ///   to other accounts.
    package func bind(
        human: Account?, bot: Account?, settings: [AccountRole: String] = [:],
        credentials: [AccountRole: String] = [:], login: OwnerLogin? = nil, now: Date
    ) async throws {
        let verifiedIDs = [AccountRole.human: human, .bot: bot].compactMapValues {
            $0?.id.canonical
        }
        func setting(_ role: AccountRole) -> String {
            settings[role]
                ?? (verifiedIDs[role]?.network ?? .usual).descriptor.identity.name(of: role)
        }
        let humanSetting = setting(.human)
        let botSetting = setting(.bot)
        let mirror = mirror
        try await update(now: now) { record, connection in
            record.verified.merge(credentials) { _, new in new }
            try Self.requireSame(
                bound: BoundAccount(record.human, called: record.humanHandle),
                found: human.map(BoundAccount.init),
                setting: humanSetting)
            try Self.requireSame(
                bound: BoundAccount(record.bot, called: record.botHandle),
                found: bot.map(BoundAccount.init),
                setting: botSetting)
            record.human = verifiedIDs[.human] ?? record.human?.canonical
            record.bot = verifiedIDs[.bot] ?? record.bot?.canonical
            if let humanID = record.human, humanID == record.bot {
                let isHuman = verifiedIDs[.bot] == nil
                throw Self.sameAccount(
                    as: isHuman ? humanSetting : botSetting, isHuman: isHuman)
            }
            try Self.requireOwnBot(record.bot, of: mirror, setting: botSetting, connection)
            record.humanHandle = human?.handle ?? record.humanHandle
            record.botHandle = bot?.handle ?? record.botHandle
            if human != nil, let login { record.agree(by: login, at: now) }
        }
    }

    /// Binds the mirror to other accounts, and removes the data that were about the former ones.
    ///
    /// The positions in feeds are forgotten. Another human consents only by the login that opened
    /// their account. For another bot, nothing older than `now` is answered or favorited, and
    /// unsent actions of the former bot are dropped, see
    /// ``Outbox/OutboxStore/endActionsOfPreviousAccount(of:on:now:)``.
    ///
    /// - Parameters:
    ///   - accounts: The verified accounts; a missing role stays as it is.
    ///   - settings: The setting or login that each account comes from, for errors.
    ///   - credentials: Fingerprints of the credentials that opened the accounts.
    ///   - login: As for ``bind(human:bot:settings:credentials:login:now:)``.
    ///   - now: The time of the rebinding.
    /// - Throws: `ConfigurationError` if human and bot are one account, or another mirror has this
    ///   bot.
    func rebind(
        _ accounts: [AccountRole: Account], settings: [AccountRole: String],
        credentials: [AccountRole: String],
        login: OwnerLogin? = nil, now: Date
    ) async throws {
        let mirror = mirror
        try await update(now: now, writesOtherTables: true) { record, connection in
            for (role, account) in accounts {
                let id = account.id.canonical
                record.verified[role] = credentials[role]
                switch role {
                case .human:
                    record.human = id
                    record.humanHandle = account.handle
                case .bot:
                    record.bot = id
                    record.botHandle = account.handle
                }
                try Self.forgetFeeds(of: role, mirror, connection)
            }
            if accounts[.human] != nil {
                // A stated consent was about the former human, and ends; a stop stays.
                record.consent = nil
                try Self.forgetStanding(mirror, on: connection)
                try connection.execute(
                    "DELETE FROM settings WHERE mirror = \(mirror) AND name = \(Setting.humanConsent.name)"
                )
                if let login { record.agree(by: login, at: now) }
            }
            if let humanID = record.human, humanID == record.bot {
                throw Self.sameAccount(
                    as: settings[.bot] ?? settings[.human] ?? Setting.mirror.name,
                    isHuman: accounts[.bot] == nil)
            }
            guard accounts[.bot] != nil else { return }
            try Self.requireOwnBot(
                record.bot, of: mirror, setting: settings[.bot] ?? Setting.mirror.name, connection)
            if record.activated != nil { record.activated = now }
            record.profileSettled = nil
            try OutboxStore.endActionsOfPreviousAccount(of: mirror, on: connection, now: now)
        }
    }

    /// Removes the positions in the feeds of a role, the items that waited in them, and the stored
    /// refusals and waits of its credentials.
    private static func forgetFeeds(
        of role: AccountRole, _ mirror: String, _ connection: any StorageConnection
    ) throws {
        let feedsOfRole = "\(role.rawValue)-%"
        let seenFeeds = role == .human ? "\(FeedName.seen)%" : ""
        for table in ["feeds", "feed_stretches", "feed_items", "feed_gaps"] {
            try connection.execute(
                """
                DELETE FROM \(unsafe: table)
                WHERE mirror = \(mirror) AND (feed LIKE \(feedsOfRole) OR feed LIKE \(seenFeeds))
                """)
        }
        for table in ["refusals", "waits"] {
            try connection.execute(
                "DELETE FROM \(unsafe: table) WHERE mirror = \(mirror) AND role = \(role.rawValue)")
        }
    }

    /// Fails if another mirror in the database has the same bot, because both would answer.
    private static func requireOwnBot(
        _ bot: AccountID?, of mirror: String, setting: String, _ connection: any StorageConnection
    ) throws {
        try requireOwnBot(stored(bot), of: mirror, setting: setting, connection)
    }

    /// Fails if another mirror in the database has the same bot, in its stored form.
    package static func requireOwnBot(
        _ bot: String?, of mirror: String, setting: String, _ connection: any StorageConnection
    ) throws {
        guard let bot else { return }
        let rows = try connection.query(
            "SELECT mirror FROM mirrors WHERE bot_account = \(bot) AND mirror <> \(mirror) ORDER BY mirror LIMIT 1"
        )
        guard let other = try rows.first?.text("mirror") else { return }
        throw ConfigurationError(
            setting,
            localized(
                """
                belongs to the bot of mirror \(other) in the same database, and both would answer; give one of them another \
                account: mirror-bot rebind --mirror NAME --role bot
                """))
    }

    /// The error for a mirror whose two accounts are one.
    ///
    /// - Parameters:
    ///   - setting: The setting or login that the account comes from.
    ///   - isHuman: Whether that is the human's account; usually it is the bot's.
    /// - Returns: The error.
    static func sameAccount(as setting: String, isHuman: Bool = false) -> ConfigurationError {
        ConfigurationError(
            setting,
            isHuman
                ? localized("belongs to the bot's own account")
                : localized("belongs to the human's own account; the bot needs another"))
    }

    /// Stores the zone of the human's clock.
    ///
    /// - Parameters:
    ///   - identifier: Its IANA name.
    ///   - source: The source of a zone that no person set; nil if a person set it.
    ///   - now: Recorded for a new mirror.
    /// - Throws: The store's error.
    package func setTimeZone(_ identifier: String, from source: TimeZoneSource? = nil, now: Date)
        async throws
    {
        try await update(now: now) { record, _ in
            record.timeZone = identifier
            record.timeZoneSource = source
        }
    }

    /// Stores the zone that an archive names, as the proposal if no zone is set.
    func proposeTimeZone(_ identifier: String, now: Date) async throws {
        try await update(now: now) { record, _ in record.archiveTimeZone = identifier }
    }

    /// Stores that the bot's profile was written, or that a person leaves it as it is.
    package func settleProfile(now: Date) async throws {
        try await update(now: now) { record, _ in
            record.profileSettled = record.profileSettled ?? now
        }
    }

    /// Stores the first start, once; a stored time in the future, from a clock that was ahead, is
    /// replaced.
    package func activate(now: Date) async throws -> Date {
        if let activated = try await record().activated, activated <= now { return activated }
        try await update(now: now) { record, _ in
            record.activated = min(record.activated ?? now, now)
        }
        return try await record().activated ?? now
    }

    /// - Parameters:
    ///   - now: Recorded for a new mirror.
    ///   - writesOtherTables: Whether `change` writes other tables; if not, and it changes nothing,
    ///     nothing is written.
    ///   - change: Changes the record, or throws.
    /// - Throws: The error of `change`; the store's error.
    func update(
        now: Date, writesOtherTables: Bool = false,
        _ change: @escaping @Sendable (inout MirrorRecord, any StorageConnection) throws -> Void
    ) async throws {
        let mirror = mirror
        // Nearly every start finds the values that it would store.
        let isUnchanged = try await storage.read { connection in
            guard !writesOtherTables, let stored = try Self.record(mirror, connection) else {
                return false
            }
            var changed = stored
            try change(&changed, connection)
            return changed == stored
        }
        if isUnchanged { return }
        try await storage.transaction { connection in
            try connection.execute(
                """
                INSERT INTO mirrors (mirror, created_ms) VALUES (\(mirror), \(now.milliseconds))
                ON CONFLICT (mirror) DO NOTHING
                """)
            var record = try Self.record(mirror, connection) ?? MirrorRecord()
            try change(&record, connection)
            try connection.execute(
                """
                UPDATE mirrors SET human_account = \(Self.stored(record.human)), human_handle = \(record.humanHandle),
                    bot_account = \(Self.stored(record.bot)), bot_handle = \(record.botHandle),
                    human_verified = \(record.verified[.human]), bot_verified = \(record.verified[.bot]),
                    time_zone = \(record.timeZone), time_zone_source = \(record.timeZoneSource?.rawValue),
                    archive_time_zone = \(record.archiveTimeZone),
                    activated_ms = \(record.activated?.milliseconds), profile_ms = \(record.profileSettled?.milliseconds),
                    consent = \(record.consent?.ground.rawValue), consent_ms = \(record.consent?.since.milliseconds),
                    consent_words = \(record.consent?.wording), stopped_ms = \(record.stopped?.milliseconds),
                    version = version + 1
                WHERE mirror = \(mirror)
                """)
        }
    }

    /// Fails if a found account differs from the one that the mirror is bound to.
    private static func requireSame(
        bound: BoundAccount?, found: BoundAccount?, setting: String
    ) throws {
        guard let bound, let found, bound.id != found.id else { return }
        let isElsewhere = bound.id.network != found.id.network
        let foundName = found.name(withNetwork: isElsewhere)
        let boundName = bound.name(withNetwork: isElsewhere)
        throw ConfigurationError(
            setting,
            localized(
                """
                belongs to \(foundName), but this mirror belongs to \(boundName); \
                set \(Setting.mirror.name) to another name for it, or let this mirror change accounts with mirror-bot rebind
                """))
    }

    /// Whether anything was learned of the account of a role, or sent by it; then another account
    /// replaces it only on a person's explicit request.
    ///
    /// - Throws: The store's error.
    package func isBound(_ role: AccountRole) async throws -> Bool {
        try await storage.read { [mirror] in
            guard let record = try Self.record(mirror, $0) else { return false }
            if record.activated != nil { return true }
            guard role == .human else { return false }
            return try record.past != nil
                || !$0.query(
                    """
                    SELECT 1 AS found WHERE EXISTS (SELECT 1 FROM posts WHERE mirror = \(mirror))
                        OR EXISTS (SELECT 1 FROM examples WHERE mirror = \(mirror))
                    """
                ).isEmpty
        }
    }

    /// `network:value`, so that one column holds an identity.
    private static func stored(_ account: AccountID?) -> String? {
        account.map { "\($0.network.rawValue):\($0.value)" }
    }

    static func account(_ text: String?) -> AccountID? {
        guard let text, let colon = text.firstIndex(of: ":"),
            let network = NetworkName(rawValue: String(text[..<colon]))
        else { return nil }
        return AccountID(network: network, value: String(text[text.index(after: colon)...]))
    }

    /// The consent in a row; a ground that only a newer version knows counts as `.earlier`.
    private static func consent(in row: SQLRow) throws -> HumanConsent? {
        guard let ground = try row.optionalText("consent") else { return nil }
        return HumanConsent(
            HumanConsent.Ground(rawValue: ground) ?? .earlier,
            since: try row.optionalDate("consent_ms") ?? Date(milliseconds: 0),
            wording: try row.optionalText("consent_words"))
    }

    static func record(_ mirror: String, _ connection: any StorageConnection) throws
        -> MirrorRecord?
    {
        try record(in: try connection.query(selection(of: mirror)))
    }

    private static func selection(of mirror: String) -> SQL {
        "SELECT \(columns) FROM mirrors WHERE mirror = \(mirror)"
    }

    private static let columns: SQL = """
        human_account, human_handle, human_verified, bot_account, bot_handle, bot_verified,
            time_zone, time_zone_source, archive_time_zone, activated_ms, move_id, move_state, move_place, move_ms,
            paused_ms, paused_until_ms, pause_reason, pause_code, past, profile_ms,
            consent, consent_ms, consent_words, stopped_ms, \(HumanStanding.columns), \(Retirement.columns)
        """

    private static func record(in rows: [SQLRow]) throws -> MirrorRecord? {
        try rows.first.map { row in
            let verified = [
                AccountRole.human: try row.optionalText("human_verified"),
                .bot: try row.optionalText("bot_verified"),
            ]
            return MirrorRecord(
                human: Self.account(try row.optionalText("human_account")),
                bot: Self.account(try row.optionalText("bot_account")),
                humanHandle: try row.optionalText("human_handle"),
                botHandle: try row.optionalText("bot_handle"),
                timeZone: try row.optionalText("time_zone"),
                timeZoneSource: try row.optionalText("time_zone_source").flatMap(
                    TimeZoneSource.init(rawValue:)),
                archiveTimeZone: try row.optionalText("archive_time_zone"),
                activated: try row.optionalDate("activated_ms"),
                verified: verified.compactMapValues(\.self),
                past: try row.optionalText("past").flatMap(KnownPast.init(rawValue:)),
                profileSettled: try row.optionalDate("profile_ms"),
                consent: try consent(in: row), stopped: try row.optionalDate("stopped_ms"),
                standing: try HumanStanding(row: row),
                standingLook: try row.optionalDate("standing_look_ms"),
                retirement: try Retirement(row: row),
                move: try moveMark(in: row), pause: try pause(in: row))
        }
    }

    private static func pause(in row: SQLRow) throws -> Pause? {
        guard let since = try row.optionalDate("paused_ms") else { return nil }
        return Pause(
            since: since, until: try row.optionalDate("paused_until_ms"),
            reason: try row.optionalText("pause_reason"),
            code: try row.optionalText("pause_code").flatMap(Pause.Code.init(rawValue:)))
    }

    /// The mark of a move in a row of `mirrors`; nil without a row.
    package static func moveMark(of row: SQLRow?) throws -> MoveMark? { try row.flatMap(moveMark) }

    private static func moveMark(in row: SQLRow) throws -> MoveMark? {
        guard let id = try row.optionalText("move_id") else { return nil }
        return MoveMark(
            id: id,
            state: try row.optionalText("move_state").flatMap(MoveMark.State.init(rawValue:)),
            place: try row.optionalText("move_place") ?? localized("another database"),
            since: try row.optionalDate("move_ms"))
    }
}

/// The stored part of a mirror's configuration, which one statement reads when the mirror is
/// opened.
struct StoredConfiguration {
    /// Whether anything is stored under the mirror's name.
    private(set) var isKnown = false
    /// The stored settings of the mirror, by variable name.
    private(set) var settings: [String: String] = [:]
    /// The sealed logins.
    private(set) var logins: [AccountRole: String] = [:]
    /// The handle of the bot's account; nil before it was verified.
    private(set) var botHandle: String?

    init(of mirror: String, in storage: any StorageEngine) async throws {
        let roles = AccountRole.allCases.map(\.rawValue)
        let rows = try await storage.query(
            """
            SELECT 'mirror' AS kind, '' AS name, '' AS value WHERE \(MirrorTable.isKnown(mirror))
            UNION ALL SELECT 'bot', '', bot_handle FROM mirrors WHERE mirror = \(mirror) AND bot_handle IS NOT NULL
            UNION ALL SELECT 'setting', name, value FROM settings WHERE mirror = \(mirror)
            UNION ALL SELECT 'login', role, sealed FROM credentials WHERE mirror = \(mirror) AND role IN \(list: roles)
            """)
        for row in rows {
            let name = try row.text("name")
            let value = try row.text("value")
            switch try row.text("kind") {
            case "mirror": isKnown = true
            case "bot": botHandle = value
            case "setting": settings[name] = value
            default: if let role = AccountRole(rawValue: name) { logins[role] = value }
            }
        }
    }
}

/// An account that a mirror is bound to, or that a login opens.
package struct BoundAccount: Equatable, Sendable {
    package let id: AccountID
    /// The account's handle on its network, without `@`; `nil` if it is not known.
    package let handle: String?

    package init(_ account: Account) {
        id = account.id.canonical
        handle = account.handle
    }

    /// Nil if no account is known.
    package init?(_ id: AccountID?, called handle: String?) {
        guard let id else { return nil }
        self.id = id.canonical
        self.handle = handle
    }

    /// Returns the name by which the account is shown, without `@`: `ann@social.example` if names
    /// include the server, else the handle.
    package func name(withNetwork: Bool = false) -> String {
        let name = id.network.traits.namesAreIdentities ? id.value : handle ?? id.value
        return withNetwork ? localized("\(name) on \(id.network.displayName)") : name
    }
}
