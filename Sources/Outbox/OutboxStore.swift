package import Foundation
package import Posts
package import Storage

/// The table of actions of one mirror.
///
/// Every change of a stored action requires the lease, and throws ``OutboxError`` if another worker
/// holds it; reading does not. Every call may throw the store's error. The unique key over mirror,
/// kind and subject prevents duplicates.
package struct OutboxStore: Sendable {
    let storage: any StorageEngine
    let mirror: String
    /// Nil for reading, and for a dry run on a scratch copy, which no other process writes.
    let lease: Lease?
    /// Whether the person whom an action concerns is denied, read in the transaction before a
    /// request to them is sent.
    private let readDenial: @Sendable (Action, any StorageConnection) throws -> Bool

    /// - Parameters:
    ///   - lease: The lease required for changes; nil for reading.
    ///   - isDenied: Whether nothing may be sent to the person whom an action concerns, read on the
    ///     given connection.
    package init(
        storage: any StorageEngine, mirror: String, lease: Lease?,
        isDenied: @escaping @Sendable (Action, any StorageConnection) throws -> Bool = { _, _ in
            false
        }
    ) {
        self.storage = storage
        self.mirror = mirror
        self.lease = lease
        readDenial = isDenied
    }

    /// Whether nothing may be sent to the person whom an action concerns.
    package func isDenied(_ action: Action) async throws -> Bool {
        guard action.target?.author != nil else { return false }
        return try await storage.read { try readDenial(action, $0) }
    }

    /// Throws ``OutboxError`` if nothing may be sent to the person whom an action concerns.
    func requireNoDenial(of action: Action, on connection: any StorageConnection) throws {
        if try readDenial(action, connection) { throw OutboxError.denied(action.id) }
    }

    // In SQLite a plus sign before a column, or an expression in its place, prevents the use of an
    // index that would only help with the order.

    func actions(where condition: SQL, order: SQL, limit: Int) async throws -> [Action] {
        try await storage.query(selection(condition, order, limit)).compactMap(Self.action(of:))
    }

    func actions(
        where condition: SQL, order: SQL, limit: Int, on connection: any StorageConnection
    ) throws -> [Action] {
        try connection.query(selection(condition, order, limit)).compactMap(Self.action(of:))
    }

    /// Returns the action of a row; nil for a row that this version cannot parse.
    ///
    /// Only that row is skipped, because a newer version may have written it. See
    /// ``setAside(limit:)``.
    static func action(of row: SQLRow) throws -> Action? {
        do { return try Action(row: row) } catch let error as OutboxError
            where error.code == .unfitting
        { return nil }
    }

    /// Returns a sentence for each unfinished row that this version cannot parse, with the row's id
    /// and the cause.
    package func setAside(limit: Int) async throws -> [String] {
        // Spelled as in the index `actions_not_ended`, so that it is used.
        let condition: SQL = """
            (state NOT IN ('done', 'skipped', 'expired', 'failed', 'undone')
                OR kind NOT IN ('post', 'reply', 'favorite'))
            """
        let rows = try await storage.query(selection(condition, "id ASC", 10_000))
        var sentences: [String] = []
        for row in rows where sentences.count < limit {
            do { _ = try Action(row: row) } catch let error as OutboxError {
                sentences.append(error.description)
            }
        }
        return sentences
    }

    /// Returns the action with this identifier.
    func action(_ id: String, on connection: any StorageConnection) throws -> Action? {
        try actions(where: "id = \(id)", order: "id ASC", limit: 1, on: connection).first
    }

    private func selection(_ condition: SQL, _ order: SQL, _ limit: Int) -> SQL {
        """
        SELECT \(Action.columns) FROM actions WHERE mirror = \(mirror) AND \(condition)
        ORDER BY \(order) LIMIT \(limit)
        """
    }

    /// Changes rows of `actions` and increases their revision, so that earlier readers notice the
    /// change; see ``Action/revision``.
    ///
    /// Every statement that changes a row begins with this or with ``noting``.
    static let changing: SQL = "UPDATE actions SET revision = revision + 1,"

    /// Records facts about rows of `actions` without a new revision: the time of the next check,
    /// and the state of the copy at the network.
    static let noting: SQL = "UPDATE actions SET"

    /// Runs `work` in one transaction that requires the lease.
    ///
    /// - Throws: ``OutboxError`` if the lease is lost; the error of `work`; the store's error.
    package func write<Value: Sendable>(
        _ work: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value {
        try await storage.transaction { connection in
            try requireLease(on: connection)
            return try work(connection)
        }
    }

    /// Throws unless this worker holds the lease, and keeps others from taking it until the
    /// transaction ends.
    ///
    /// This writes nothing. On Postgres the lock blocks another worker's claim; in SQLite a writing
    /// transaction has exclusive access anyway.
    private func requireLease(on connection: any StorageConnection) throws {
        guard let lease else { return }
        let lock: SQL = storage.kind == .postgres ? " FOR SHARE" : ""
        let rows = try connection.query(
            """
            SELECT 1 AS held FROM leases
            WHERE mirror = \(mirror) AND worker = \(lease.owner) AND fence = \(lease.fence) AND NOT released\(lock)
            """)
        guard rows.count == 1 else { throw OutboxError.leaseLost }
    }
}

// MARK: Plans and actions

extension OutboxStore {
    /// Returns the stored plan of a day; nil if there is none.
    package func plan(for day: LocalDay) async throws -> StoredPlan? {
        let rows = try await storage.query(
            """
            SELECT time_zone, seed, made_ms, model FROM plans
            WHERE mirror = \(mirror) AND local_day = \(day.description)
            """)
        return try rows.first.map { row in
            StoredPlan(
                day: day, timeZone: try row.text("time_zone"), seed: try row.text("seed"),
                made: try row.date("made_ms"), model: try row.int("model"))
        }
    }

    /// Returns the days from `first` on that have a stored plan, in order.
    package func plannedDays(from first: LocalDay) async throws -> [LocalDay] {
        let rows = try await storage.query(
            """
            SELECT local_day FROM plans WHERE mirror = \(mirror) AND local_day >= \(first.description)
            ORDER BY local_day
            """)
        return try rows.compactMap { LocalDay(try $0.text("local_day")) }
    }

    /// Returns the number of planned slots of each day, in any state; days without a plan are
    /// missing.
    ///
    /// - Parameter days: At most some hundred days.
    package func slotCounts(of days: Range<LocalDay>) async throws -> [LocalDay: Int] {
        let rows = try await storage.query(
            """
            SELECT local_day, slots FROM plans
            WHERE mirror = \(mirror) AND local_day >= \(days.lowerBound.description)
                AND local_day < \(days.upperBound.description)
            """)
        let counts = try rows.compactMap { row in
            try LocalDay(row.text("local_day")).map { ($0, max(0, try row.int("slots"))) }
        }
        return Dictionary(counts, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the slots of a day in the order of their times.
    package func slots(of day: LocalDay) async throws -> [Action] {
        try await actions(
            where: "kind = 'post' AND SUBSTR(subject, 1, 10) = \(day.description)",
            order: "+due_ms ASC, subject ASC",
            limit: 10_000)
    }

    /// Returns the newest actions, last changed first.
    ///
    /// - Parameters:
    ///   - since: Earlier changes are excluded.
    ///   - onlyEnded: Whether waiting actions (planned or suggested) are excluded.
    package func recent(_ limit: Int, since: Date? = nil, onlyEnded: Bool = false) async throws
        -> [Action]
    {
        let stateCondition: SQL =
            onlyEnded ? " AND state NOT IN ('planned', 'suggested', 'claimed')" : ""
        return try await actions(
            where: "updated_ms >= \(since?.milliseconds ?? 0)" + stateCondition,
            order: "updated_ms DESC, id ASC", limit: limit)
    }

    /// Returns the actions that match the filter, last changed first.
    ///
    /// - Parameters:
    ///   - limit: The maximum to return.
    ///   - isWanted: Returns whether an action that matches the filter is included.
    package func history(
        _ filter: ActionFilter, limit: Int, where isWanted: (Action) -> Bool = { _ in true }
    ) async throws -> [Action] {
        try await storage.search(limit: limit, behind: filter.place) { place, number in
            selection(filter.condition(behind: place), "updated_ms DESC, id ASC", number)
        } placeOf: {
            try ActionFilter.Place($0)
        } element: { row in
            try Self.action(of: row).flatMap { isWanted($0) ? $0 : nil }
        }
    }

    /// Returns unconfirmed actions that changed since a time, each as `post ID`, newest first.
    package func unconfirmed(since: Date, limit: Int) async throws -> [String] {
        try await storage.query(
            """
            SELECT id, kind FROM actions WHERE mirror = \(mirror) AND \(Self.isUnconfirmed(since: since))
            ORDER BY updated_ms DESC, id ASC LIMIT \(limit)
            """
        ).map { "\(try $0.text("kind")) \(try $0.text("id"))" }
    }

    /// The condition of a row that may or may not have arrived, and changed since a time.
    package static func isUnconfirmed(since: Date) -> SQL {
        """
        state = 'failed' AND reason = \(Action.Reason.unconfirmed) AND updated_ms >= \(since.milliseconds)
        """
    }

    /// Returns the action of this kind and subject.
    package func action(_ kind: ActionKind, subject: String) async throws -> Action? {
        try await actions(
            where: "kind = \(kind.rawValue) AND subject = \(subject)", order: "id ASC", limit: 1
        ).first
    }

    /// Returns at most `limit` actions whose identifiers begin with these hexadecimal digits.
    package func actions(identifiedBy digits: String, limit: Int) async throws -> [Action] {
        guard !digits.isEmpty, digits.allSatisfy({ "0123456789abcdef".contains($0) }) else {
            return []
        }
        return try await actions(where: "id LIKE \(digits + "%")", order: "id ASC", limit: limit)
    }

    /// Returns the existing actions among these identifiers.
    package func actions(withIDs ids: [String]) async throws -> [String: Action] {
        var actionsByID: [String: Action] = [:]
        for portion in ids.portions {
            for action in try await actions(
                where: "id IN \(list: portion)", order: "id ASC", limit: portion.count)
            {
                actionsByID[action.id] = action
            }
        }
        return actionsByID
    }

    /// A position in the list of suggestions, which remains valid after the suggestion there was
    /// decided.
    package struct SuggestionPlace: Equatable, Sendable {
        /// The orders of suggestions.
        package enum Order: String, CaseIterable, Codable, Sendable {
            case newest
            /// Ordered by expiry, the earliest first.
            case urgent
        }

        private let time: Int64
        private let id: String

        package init(_ action: Action, in order: Order) {
            time = (order == .newest ? action.created : action.expires).milliseconds
            id = action.id
        }

        fileprivate init(_ row: SQLRow, in order: Order) throws {
            time = try row.integer(order == .newest ? "created_ms" : "expires_ms")
            id = try row.text("id")
        }

        /// Parses a stored position; nil if it is invalid.
        package init?(_ text: String) {
            let parts = text.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 2, let time = Int64(parts[0]), !parts[1].isEmpty,
                parts[1].allSatisfy(\.isHexDigit)
            else { return nil }
            self.time = time
            id = String(parts[1])
        }

        package var text: String { "\(time)-\(id)" }

        fileprivate func condition(in order: Order) -> SQL {
            switch order {
            case .newest: "(created_ms < \(time) OR (created_ms = \(time) AND id > \(id)))"
            case .urgent: "(expires_ms > \(time) OR (expires_ms = \(time) AND id > \(id)))"
            }
        }
    }

    /// Returns the undecided suggestions of the given kinds for which `isWanted` holds.
    ///
    /// - Parameters:
    ///   - kinds: The kinds to return; empty for all.
    ///   - place: The position after which to begin; nil for the first.
    ///   - limit: The maximum to return.
    package func suggestions(
        _ order: SuggestionPlace.Order = .newest, kinds: [ActionKind] = [],
        behind place: SuggestionPlace? = nil,
        limit: Int, where isWanted: (Action) -> Bool = { _ in true }
    ) async throws -> [Action] {
        var condition: SQL = "state = 'suggested'"
        if !kinds.isEmpty { condition += " AND kind IN \(list: kinds.map(\.rawValue))" }
        return try await storage.search(limit: limit, behind: place) { [condition] place, number in
            let isBehindPlace: SQL = place.map { " AND " + $0.condition(in: order) } ?? ""
            return selection(
                condition + isBehindPlace,
                order == .newest ? "created_ms DESC, id ASC" : "expires_ms ASC, id ASC", number)
        } placeOf: {
            try SuggestionPlace($0, in: order)
        } element: { row in
            try Self.action(of: row).flatMap { isWanted($0) ? $0 : nil }
        }
    }

    /// Returns the number of undecided suggestions.
    package func suggestionCount() async throws -> Int {
        let rows = try await storage.query(
            "SELECT COUNT(*) AS number FROM actions WHERE mirror = \(mirror) AND state = 'suggested'"
        )
        return try rows.first?.int("number") ?? 0
    }

    /// Reads the facts for decisions about a page of posts, in one transaction.
    ///
    /// - Parameters:
    ///   - since: The start of the period of the cap.
    /// - Returns: The subjects that have an action, the number of actions that count for the cap,
    ///   and the result of `read`.
    /// - Throws: The store's error, or what `read` throws.
    package func decisionFacts<Value: Sendable>(
        _ kind: ActionKind, among subjects: [String], since: Date,
        and read: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> (decided: Set<String>, count: Int, Value) {
        try await storage.read { connection in
            let counted = try connection.query(countQuery(where: Self.isCapped(kind, since: since)))
            return (
                try decided(kind, among: subjects, on: connection),
                try counted.first?.int("number") ?? 0,
                try read(connection)
            )
        }
    }

    private func decided(
        _ kind: ActionKind, among subjects: [String], on connection: any StorageConnection
    ) throws -> Set<String> {
        var decided: Set<String> = []
        // Decisions about forgotten people are stored under digests.
        let names = Dictionary(subjects.flatMap { [($0, $0), (Self.forgotten($0), $0)] }) {
            first, _ in first
        }
        for portion in Array(names.keys).portions {
            let rows = try connection.query(
                """
                SELECT subject FROM actions
                WHERE mirror = \(mirror) AND kind = \(kind.rawValue) AND subject IN \(list: portion)
                """)
            decided.formUnion(try rows.compactMap { names[try $0.text("subject")] })
        }
        return decided
    }

    /// A position in the list of published posts and replies, for reading the next page.
    package struct PublishedPlace: Equatable, Sendable {
        package var due: Date
        package var id: String

        package init(due: Date, id: String) {
            self.due = due
            self.id = id
        }
    }

    /// Returns the addresses of published posts and replies, in the order of their times.
    ///
    /// - Parameters:
    ///   - place: The position after which to read.
    package func published(
        after place: PublishedPlace, until end: Date, limit: Int
    ) async throws -> [(place: PublishedPlace, address: String)] {
        let rows = try await storage.query(
            """
            SELECT id, due_ms, remote_address FROM actions
            WHERE mirror = \(mirror) AND kind IN ('post', 'reply') AND due_ms >= \(place.due.milliseconds)
                AND due_ms <= \(end.milliseconds) AND (due_ms > \(place.due.milliseconds) OR id > \(place.id))
                AND state = 'done' AND remote_address IS NOT NULL
            ORDER BY due_ms, id LIMIT \(limit)
            """)
        return try rows.map { row in
            (
                PublishedPlace(due: try row.date("due_ms"), id: try row.text("id")),
                try row.text("remote_address")
            )
        }
    }
}

extension Action {
    /// Whether this is a post that is still to be sent; the same condition as
    /// ``OutboxStore/comes(after:)``.
    package func comes(after now: Date) -> Bool {
        payload.kind == .post && due > now && text != nil && [.planned, .claimed].contains(state)
    }
}

// MARK: Several mirrors

extension OutboxStore {
    /// Condition: a post that is still to be sent.
    package static func comes(after now: Date) -> SQL {
        "kind = 'post' AND state IN ('planned', 'claimed') AND text IS NOT NULL AND due_ms > \(now.milliseconds)"
    }

    /// Returns the number of waiting suggestions and the time of the next planned post of some
    /// mirrors, by name.
    ///
    /// - Throws: The store's error.
    package static func waiting(
        of mirrors: [String], in storage: any StorageEngine, now: Date
    ) async throws -> [String: (suggestions: Int, nextSlot: Date?)] {
        var waiting: [String: (suggestions: Int, nextSlot: Date?)] = [:]
        for portion in mirrors.portions {
            let rows = try await storage.query(
                """
                SELECT mirror, SUM(CASE WHEN state = 'suggested' THEN 1 ELSE 0 END) AS suggestions,
                    MIN(CASE WHEN \(comes(after: now)) THEN due_ms END) AS next_ms
                FROM actions WHERE mirror IN \(list: portion) AND state IN ('planned', 'claimed', 'suggested')
                GROUP BY mirror
                """)
            for row in rows {
                waiting[try row.text("mirror")] = (
                    try row.int("suggestions"), try row.optionalDate("next_ms")
                )
            }
        }
        return waiting
    }

    /// Counts the ended actions of some mirrors by kind, state and reason, in one statement.
    ///
    /// - Parameter mirrors: The names, some hundred at most.
    /// - Returns: The counts of each mirror, by its name; mirrors without any are missing.
    package static func endings(
        of mirrors: [String], in storage: any StorageEngine
    ) async throws -> [String: [ActionTally]] {
        let rows = try await storage.query(
            """
            SELECT mirror, kind, state, COALESCE(reason, '') AS reason, COUNT(*) AS number FROM actions
            WHERE mirror IN \(list: mirrors) AND state IN \(list: ActionTally.endStates.map(\.rawValue))
            GROUP BY mirror, kind, state, COALESCE(reason, '')
            """)
        return try rows.reduce(into: [:]) { endings, row in
            guard let tally = try ActionTally(row) else { return }
            endings[try row.text("mirror"), default: []].append(tally)
        }
    }

    /// The ended actions of a mirror with the same kind and state, and for replies the same reason.
    package struct Ending: Sendable {
        package let mirror: String
        /// The kind, state, reason and number; only replies have a reason.
        package let tally: ActionTally
        /// When the last of them was sent; for unsent actions, when the last was due.
        package let last: Date

        /// Whether they were sent, even if they were undone later.
        package var isDone: Bool { [.done, .undone].contains(tally.state) }
    }

    /// Counts the ended actions of all mirrors of a database, in one statement.
    ///
    /// - Throws: The store's error.
    package static func allEndings(in storage: any StorageEngine) async throws -> [Ending] {
        let rows = try await storage.query(
            """
            SELECT mirror, kind, state, CASE WHEN kind = 'reply' THEN COALESCE(reason, '') ELSE '' END AS reason,
                COUNT(*) AS number, MAX(COALESCE(sending_ms, due_ms)) AS last_ms
            FROM actions WHERE state IN \(list: ActionTally.endStates.map(\.rawValue)) GROUP BY 1, 2, 3, 4
            """)
        return try rows.compactMap { row in
            guard let tally = try ActionTally(row) else { return nil }
            return Ending(
                mirror: try row.text("mirror"), tally: tally, last: try row.date("last_ms"))
        }
    }

    /// Returns when some mirrors last completed an action of each kind, in one statement.
    ///
    /// - Parameter mirrors: The names, some hundred at most.
    /// - Returns: The times of each mirror, by its name; kinds without a completed action are
    ///   missing.
    package static func lastDone(
        of mirrors: [String], in storage: any StorageEngine
    ) async throws -> [String: [ActionKind: Date]] {
        let rows = try await storage.query(
            """
            SELECT mirror, kind, MAX(COALESCE(sending_ms, due_ms)) AS last_ms FROM actions
            WHERE mirror IN \(list: mirrors) AND state IN ('done', 'undone') GROUP BY mirror, kind
            """)
        return try rows.reduce(into: [:]) { times, row in
            guard let kind = ActionKind(rawValue: try row.text("kind")) else { return }
            times[try row.text("mirror"), default: [:]][kind] = try row.optionalDate("last_ms")
        }
    }

    /// Counts the slots of one day of each of some mirrors by state, in one statement.
    ///
    /// - Parameter days: The day of each mirror, by name; some hundred at most.
    /// - Returns: The counts of each mirror, by its name; mirrors without slots on their day are
    ///   missing.
    package static func slotStates(
        of days: [String: LocalDay], in storage: any StorageEngine
    ) async throws -> [String: [ActionState: Int]] {
        try await slotStates(of: "\(list: days.keys.sorted())", on: days, in: storage)
    }

    /// Counts the slots for any number of mirrors.
    ///
    /// - Parameter days: The day of each mirror that has a row, by name.
    /// - Throws: The store's error.
    package static func allSlotStates(
        on days: [String: LocalDay], in storage: any StorageEngine
    ) async throws -> [String: [ActionState: Int]] {
        // The index of the days begins with the mirror.
        try await slotStates(of: "(SELECT mirror FROM mirrors)", on: days, in: storage)
    }

    private static func slotStates(
        of mirrors: SQL, on days: [String: LocalDay], in storage: any StorageEngine
    ) async throws -> [String: [ActionState: Int]] {
        let rows = try await storage.query(
            """
            SELECT mirror, SUBSTR(subject, 1, 10) AS local_day, state, COUNT(*) AS number FROM actions
            WHERE mirror IN \(mirrors) AND kind = 'post'
                AND SUBSTR(subject, 1, 10) IN \(list: Set(days.values.map(\.description)).sorted())
            GROUP BY mirror, SUBSTR(subject, 1, 10), state
            """)
        return try rows.reduce(into: [:]) { states, row in
            let name = try row.text("mirror")
            guard let state = ActionState(rawValue: try row.text("state")),
                days[name]?.description == (try row.text("local_day"))
            else { return }
            states[name, default: [:]][state] = try row.int("number")
        }
    }
}

// MARK: Reports

/// The number of actions with one kind, state and reason.
package struct ActionTally: Equatable, Sendable {
    package let kind: ActionKind
    package let state: ActionState
    package let reason: ReasonCode?
    package let count: Int

    /// The states in which an action has ended.
    fileprivate static let endStates: [ActionState] = [.done, .skipped, .expired, .failed, .undone]

    /// Reads the columns `kind`, `state`, `reason` and `number`; nil for a kind or state that this
    /// version does not know.
    fileprivate init?(_ row: SQLRow) throws {
        guard let kind = ActionKind(rawValue: try row.text("kind")),
            let state = ActionState(rawValue: try row.text("state"))
        else { return nil }
        self.kind = kind
        self.state = state
        count = try row.int("number")
        let reason = try row.text("reason")
        self.reason = reason.isEmpty ? nil : ReasonCode(rawValue: reason)
    }
}

/// Queries over the whole history, for reports; the worker does not use them.
extension OutboxStore {
    /// Returns the number of actions of each kind, state and reason, in no order.
    package func tallies() async throws -> [ActionTally] {
        try await storage.query(
            """
            SELECT kind, state, COALESCE(reason, '') AS reason, COUNT(*) AS number FROM actions
            WHERE mirror = \(mirror) GROUP BY 1, 2, 3
            """
        ).compactMap { try ActionTally($0) }
    }

    /// Returns the number of all actions that match a filter by kind and state, in no order and
    /// without reasons.
    package func tallies(of filter: ActionFilter) async throws -> [ActionTally] {
        try await storage.query(
            """
            SELECT kind, state, '' AS reason, COUNT(*) AS number FROM actions
            WHERE mirror = \(mirror) AND \(filter.condition) GROUP BY 1, 2
            """
        ).compactMap { try ActionTally($0) }
    }

    /// Returns the number of actions that ended within a span of time, by kind, state and reason,
    /// in no order.
    package func tallies(of span: Range<Date>) async throws -> [ActionTally] {
        try await storage.query(
            """
            SELECT kind, state, COALESCE(reason, '') AS reason, COUNT(*) AS number FROM actions
            WHERE mirror = \(mirror) AND updated_ms >= \(span.lowerBound.milliseconds)
                AND updated_ms < \(span.upperBound.milliseconds) AND state IN \(list: ActionTally.endStates.map(\.rawValue))
            GROUP BY 1, 2, 3
            """
        ).compactMap { try ActionTally($0) }
    }

    /// Returns the replies and favorites that were sent and were due within a span of time, the
    /// latest first.
    package func sentRepliesAndFavorites(_ span: Range<Date>, limit: Int) async throws -> [Action] {
        try await actions(
            where: """
                kind IN ('reply', 'favorite') AND state IN ('done', 'undone') AND due_ms >= \(span.lowerBound.milliseconds)
                AND due_ms < \(span.upperBound.milliseconds)
                """, order: "due_ms DESC, id ASC", limit: limit)
    }

    /// Returns the number of answers to each reply that was sent since a time, by the reply's id:
    /// the mentions in its conversation that were decided after it, before the next reply there.
    package func answers(toRepliesSince start: Date) async throws -> [String: Int] {
        let rows = try await storage.query(
            """
            SELECT id, COALESCE(thread, '') AS thread, state, created_ms, sending_ms FROM actions
            WHERE mirror = \(mirror) AND kind = 'reply' AND due_ms >= \(start.milliseconds)
            LIMIT 100000
            """)
        // For a decided mention, `sentReply` is nil.
        var events: [(at: Date, thread: String, sentReply: String?)] = []
        for row in rows {
            let thread = try row.text("thread")
            guard !thread.isEmpty else { continue }
            events.append((try row.date("created_ms"), thread, nil))
            if try row.text("state") == ActionState.done.rawValue,
                let sent = try row.optionalDate("sending_ms")
            {
                events.append((sent, thread, try row.text("id")))
            }
        }
        // A mention that is decided at the instant of a reply is not an answer to it.
        events.sort { left, right in
            guard left.at == right.at else { return left.at < right.at }
            return left.sentReply == nil && right.sentReply != nil
        }
        var lastReplies: [String: String] = [:]
        var counts: [String: Int] = [:]
        for event in events {
            if let reply = event.sentReply {
                lastReplies[event.thread] = reply
            } else if let reply = lastReplies[event.thread] {
                counts[reply, default: 0] += 1
            }
        }
        return counts
    }

    /// Returns the earliest expiry of the undecided suggestions; nil without any.
    package func firstDeadline() async throws -> Date? {
        try await storage.query(
            """
            SELECT MIN(expires_ms) AS first_ms FROM actions WHERE mirror = \(mirror) AND state = 'suggested'
            """
        ).first?.optionalDate("first_ms")
    }

    /// Returns a text that differs after every change of an action, except for clock errors and
    /// deletions: the times of the newest and the oldest change, and the mirror's version.
    package func changeStamp() async throws -> String {
        let rows = try await storage.query(
            """
            SELECT (SELECT MAX(updated_ms) FROM actions WHERE mirror = \(mirror)) AS newest_ms,
                (SELECT MIN(updated_ms) FROM actions WHERE mirror = \(mirror)) AS oldest_ms,
                (SELECT version FROM mirrors WHERE mirror = \(mirror)) AS version
            """)
        let values = try ["newest_ms", "oldest_ms", "version"].map {
            try rows.first?.optionalInteger($0) ?? 0
        }
        return values.map(String.init).joined(separator: " ")
    }

    /// Returns the times of all completed posts, and of completed actions of other kinds that were
    /// due from a time on, by kind and in no order.
    package func timesDone(since start: Date) async throws -> [ActionKind: [Date]] {
        let mirror = mirror
        return try await storage.read { connection in
            var times: [ActionKind: [Date]] = [:]
            try connection.forEach(
                """
                SELECT kind, COALESCE(sending_ms, due_ms) AS at_ms FROM actions
                WHERE mirror = \(mirror) AND state = 'done' AND kind = 'post'
                UNION ALL
                SELECT kind, COALESCE(sending_ms, due_ms) FROM actions
                WHERE mirror = \(mirror) AND state = 'done' AND kind IN ('reply', 'favorite')
                    AND due_ms >= \(start.milliseconds)
                """
            ) { row in
                guard let kind = ActionKind(rawValue: try row.text("kind")) else { return }
                times[kind, default: []].append(try row.date("at_ms"))
            }
            return times
        }
    }

    /// Returns the number of posts of each known person that the bot favorited.
    package func favoritesGiven() async throws -> [AccountID: Int] {
        let rows = try await storage.query(
            """
            SELECT COALESCE(target_network, '') AS network, COALESCE(target_author, '') AS author, COUNT(*) AS number
            FROM actions WHERE mirror = \(mirror) AND kind = 'favorite' AND state = 'done' GROUP BY 1, 2
            """)
        return try rows.reduce(into: [:]) { counts, row in
            guard let network = NetworkName(rawValue: try row.text("network")) else { return }
            counts[AccountID(network: network, value: try row.text("author"))] = try row.int(
                "number")
        }
    }
}

// MARK: Caps and uses

/// The uses of an old reply for one person.
package struct ReplyUse: Equatable, Sendable {
    /// The time of the last use, which may be in the future.
    package let last: Date
    /// Whether a use is in flight or unconfirmed.
    package let isInFlight: Bool
}

/// Counts for caps, made by the database.
extension OutboxStore {
    /// The states that count for a cap: sent, possibly sent, or still to be sent.
    static let countsForCap: SQL = """
        (state IN ('planned', 'claimed', 'sending', 'done', 'undone', 'suggested')
            OR (state = 'failed' AND reason = \(Action.Reason.unconfirmed)))
        """

    /// The states that count as a use of a text: sent, possibly sent, or still to be sent.
    ///
    /// A text that the server found too long does not count; one that it refused for another reason
    /// counts, so that it is not tried again soon.
    static let countsAsUse: SQL = """
        (state IN ('planned', 'claimed', 'sending', 'done')
            OR (sending_ms IS NOT NULL AND COALESCE(reason, '') <> \(Action.Reason.tooLong)))
        """

    private static func isCapped(_ kind: ActionKind, since: Date) -> SQL {
        "kind = \(kind.rawValue) AND \(countsForCap) AND due_ms >= \(since.milliseconds)"
    }

    private func countQuery(where condition: SQL) -> SQL {
        "SELECT COUNT(*) AS number FROM actions WHERE mirror = \(mirror) AND \(condition)"
    }

    /// Returns the times of the actions of one kind that count for a cap, due since `since`, latest
    /// first.
    package func times(_ kind: ActionKind, since: Date) async throws -> [Date] {
        let rows = try await storage.query(
            """
            SELECT due_ms FROM actions WHERE mirror = \(mirror) AND \(Self.isCapped(kind, since: since))
            ORDER BY due_ms DESC LIMIT 100000
            """)
        return try rows.map { try $0.date("due_ms") }
    }

    /// The current use of the limits.
    package struct LimitUses: Equatable, Sendable {
        /// The number of favorites that count for the cap of the day.
        package var favorites = 0
        /// The highest number of replies to one person.
        package var repliesToOnePerson = 0
        /// The person with that number of replies.
        package var mostAnswered: AccountID?
        /// The number of deleted posts and replies in their period.
        package var deletions = 0
        /// The number of withdrawn favorites in their period.
        package var withdrawals = 0
    }

    /// Returns the current use of the limits, in one statement.
    ///
    /// - Parameters:
    ///   - midnight: The beginning of the day of the caps.
    ///   - deleted: The beginning of the period of the deletions.
    ///   - withdrawn: The beginning of the period for withdrawn favorites.
    package func limitUses(
        since midnight: Date, deletedSince deleted: Date, withdrawnSince withdrawn: Date
    )
        async throws
        -> LimitUses
    {
        func undone(_ kinds: SQL, since time: Date) -> SQL {
            """
            (SELECT COUNT(*) FROM actions WHERE mirror = \(mirror) AND state = 'undone' AND kind IN \(kinds)
                AND updated_ms > \(time.milliseconds))
            """
        }
        let rows = try await storage.query(
            """
            SELECT numbers.favorites, numbers.deletions, numbers.withdrawals, most_answered.network, most_answered.author, most_answered.number
            FROM (SELECT (\(countQuery(where: Self.isCapped(.favorite, since: midnight)))) AS favorites,
                    \(undone("('post', 'reply')", since: deleted)) AS deletions,
                    \(undone("('favorite')", since: withdrawn)) AS withdrawals) AS numbers
                LEFT JOIN (SELECT target_network AS network, target_author AS author, COUNT(*) AS number FROM actions
                    WHERE mirror = \(mirror) AND \(Self.isCapped(.reply, since: midnight)) AND target_author IS NOT NULL
                    GROUP BY target_network, target_author ORDER BY 3 DESC, 2 LIMIT 1) AS most_answered ON 1 = 1
            """)
        var uses = LimitUses()
        guard let row = rows.first else { return uses }
        uses.favorites = try row.int("favorites")
        uses.deletions = try row.int("deletions")
        uses.withdrawals = try row.int("withdrawals")
        if let network = try row.optionalText("network").flatMap(NetworkName.init(rawValue:)),
            let author = try row.optionalText("author")
        {
            uses.mostAnswered = AccountID(network: network, value: author)
            uses.repliesToOnePerson = try row.int("number")
        }
        return uses
    }

    /// Returns the last known handles of people from the actions about them.
    ///
    /// - Throws: The store's error.
    package func handles(of people: [AccountID]) async throws -> [AccountID: String] {
        var handles: [AccountID: String] = [:]
        for target in Array(Set(people)).portions.flatMap(Self.targets) {
            let rows = try await storage.query(
                """
                SELECT target_network, target_author, target_name, MAX(due_ms) AS latest_ms FROM actions
                WHERE mirror = \(mirror) AND kind IN ('reply', 'favorite') AND \(target) AND target_name IS NOT NULL
                GROUP BY target_network, target_author, target_name ORDER BY latest_ms
                """)
            for row in rows {
                guard let network = NetworkName(rawValue: try row.text("target_network")) else {
                    continue
                }
                let person = AccountID(network: network, value: try row.text("target_author"))
                handles[person] = try row.text("target_name")
            }
        }
        return handles
    }

    /// Returns the people who have mentioned the bot before.
    ///
    /// - Parameter reasons: At least one; a mention that was skipped for one of them does not
    ///   count.
    package func acquaintances(
        among people: [AccountID], unlessFor reasons: [ReasonCode]
    ) async throws -> Set<AccountID> {
        var acquaintances: Set<AccountID> = []
        for (network, group) in Dictionary(grouping: Set(people), by: \.network) {
            for portion in group.map(\.value).portions {
                let rows = try await storage.query(
                    """
                    SELECT DISTINCT target_author FROM actions
                    WHERE mirror = \(mirror) AND kind = 'reply' AND target_network = \(network.rawValue)
                        AND target_author IN \(list: portion)
                        AND COALESCE(reason, '') NOT IN \(list: reasons)
                    """)
                for row in rows {
                    let author = try row.text("target_author")
                    acquaintances.insert(AccountID(network: network, value: author))
                }
            }
        }
        return acquaintances
    }

    /// Returns a condition on the target of an action for each network.
    static func targets(_ accounts: [AccountID]) -> [SQL] {
        // The order is fixed, so that equal questions make equal statements.
        Dictionary(grouping: Set(accounts), by: \.network).sorted {
            $0.key.rawValue < $1.key.rawValue
        }.map {
            network, group in
            "target_network = \(network.rawValue) AND target_author IN \(list: group.map(\.value))"
        }
    }
}
