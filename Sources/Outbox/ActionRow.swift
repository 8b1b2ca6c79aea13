import Foundation
import Localization
import Posts
import Storage

/// The row of an action in `actions`.
extension Action {
    static let columns: SQL = """
        id, kind, subject, state, due_ms, expires_ms, pinned, source_network, source_post_id, target_post_id,
        target_network, target_author, target_address, target_name, target_text, bystanders, thread, visibility, language, text, warning, note, pictures,
        uploads, rest, parent_id, parent_address, key, sending_ms, server_sending_ms, remote_id, remote_address, attempts, sends, next_attempt_ms, reason, explanation,
        undo_reason, undo_asked_ms, undo_attempts, undo_next_ms, undo_outcome, created_ms, updated_ms, revision
        """

    /// The stored values, in the order of ``columns``.
    var values: SQL {
        """
        \(id), \(kind.rawValue), \(subject), \(state.rawValue), \(due.milliseconds), \(expires.milliseconds), \(isPinned),
        \(wording?.source.network.rawValue), \(wording?.source.value), \(target?.post),
        \(target?.author.network.rawValue), \(target?.author.value), \(target?.address),
        \(target?.name), \(state == .suggested ? target?.text : nil), \(payload.reply?.storedBystanders), \(payload.reply?.thread), \(wording?.visibility.rawValue),
        \(wording?.language), \(text), \(wording?.warning), \(wording?.note), \(wording?.pictures.stored), \(Self.stored(uploads)), \(payload.storedRest), \(parent?.post),
        \(parent?.address), \(key), \(sending?.milliseconds),
        \(serverSending?.milliseconds), \(remoteID),
        \(remoteAddress), \(attempts), \(sends), \(nextAttempt?.milliseconds), \(reason), \(explanation?.json),
        \(undo?.reason), \(undo?.asked.milliseconds), \(undo?.attempts), \(undo?.next?.milliseconds),
        \(isOfAnotherAccount ? Undo.rebound : undo?.outcome), \(created.milliseconds), \(updated.milliseconds), \(revision)
        """
    }

    /// Reads a row.
    ///
    /// - Throws: ``OutboxError`` with code `.unfitting` if this version cannot have written the
    ///   row.
    init(row: SQLRow) throws {
        let fields = ActionFields(row: row, id: try row.text("id"))
        id = fields.id
        payload = try fields.payload()
        state = try fields.word("state")
        due = try row.date("due_ms")
        expires = try row.date("expires_ms")
        key = try row.optionalText("key") ?? ""
        sending = try row.optionalDate("sending_ms")
        serverSending = try row.optionalDate("server_sending_ms")
        remoteID = try row.optionalText("remote_id")
        remoteAddress = try row.optionalText("remote_address")
        attempts = try row.int("attempts")
        sends = try row.int("sends")
        nextAttempt = try row.optionalDate("next_attempt_ms")
        reason = try row.optionalText("reason").map(ReasonCode.init(rawValue:))
        explanation = Explanation(json: try row.optionalText("explanation"))
        isPinned = try row.boolean("pinned")
        uploads = Self.uploads(stored: try row.optionalText("uploads"))
        if let post = try row.optionalText("parent_id"),
            let address = try row.optionalText("parent_address")
        {
            parent = Parent(post: post, address: address)
        }
        let outcome = try row.optionalText("undo_outcome")
        isOfAnotherAccount = outcome == Undo.rebound
        undo = try Undo(row: row, outcome: outcome)
        created = try row.date("created_ms")
        updated = try row.date("updated_ms")
        revision = try row.integer("revision")
    }
}

extension Action.Wording {
    /// The later parts of the thread as stored; nil for none.
    var storedRest: String? { rest.isEmpty ? nil : rest.stored }
}

extension Action.Payload {
    /// The later parts of the thread as stored; an empty list for the last part, because its end
    /// affects the earlier ones.
    var storedRest: String? {
        if case .post(let slot, let wording?) = self, slot.part > 1 {
            wording.rest.stored
        } else {
            wording?.storedRest
        }
    }
}

extension [Action.Part] {
    fileprivate var stored: String? { StoredJSON.text(of: self) }
}

extension Action {
    /// The uploads as stored; nil for none.
    static func stored(_ uploads: [Upload]) -> String? {
        // Every upload can be encoded.
        guard !uploads.isEmpty, let json = try? JSONEncoder().encode(uploads) else { return nil }
        return String(decoding: json, as: UTF8.self)
    }

    /// Parses stored uploads; empty if they cannot be parsed, so that the pictures are uploaded
    /// again.
    fileprivate static func uploads(stored: String?) -> [Upload] {
        stored.flatMap { try? JSONDecoder().decode([Upload].self, from: Data($0.utf8)) } ?? []
    }
}

extension Undo {
    /// Reads the request to undo; nil if there is none.
    fileprivate init?(row: SQLRow, outcome: String?) throws {
        guard let asked = try row.optionalDate("undo_asked_ms") else { return nil }
        self.init(
            reason: try row.optionalText("undo_reason").map(ReasonCode.init(rawValue:))
                ?? .outbox(.byPerson),
            asked: asked,
            attempts: Int(try row.optionalInteger("undo_attempts") ?? 0),
            next: try row.optionalDate("undo_next_ms"),
            outcome: outcome)
    }
}

/// Reads the columns that only some kinds of actions have.
private struct ActionFields {
    private static let wordingColumns = [
        "source_network", "source_post_id", "text", "visibility", "language", "warning", "note",
        "pictures", "rest",
    ]
    private static let targetColumns = [
        "target_post_id", "target_network", "target_author", "target_address",
    ]
    private static let replyColumns = ["bystanders", "thread"]

    let row: SQLRow
    let id: String

    func payload() throws -> Action.Payload {
        let subject = try row.text("subject")
        switch try word("kind") as ActionKind {
        case .post:
            try requireEmpty(Self.targetColumns + Self.replyColumns)
            guard let slot = Slot.Name(subject) else {
                throw unfittingError(localized("subject names no slot"))
            }
            return .post(slot, try wording())
        case .reply:
            if try row.text("state") == ActionState.skipped.rawValue,
                try Self.targetColumns.allSatisfy(isEmpty)
            {
                try requireEmpty(Self.wordingColumns + Self.replyColumns)
                return .undecidable(mention: subject)
            }
            let target = try target(subject)
            return .reply(
                Action.Reply(
                    to: target, bystanders: try bystanders(on: target.author.network),
                    thread: try requiredText("thread"),
                    wording: try wording()))
        case .favorite:
            try requireEmpty(Self.wordingColumns + Self.replyColumns)
            return .favorite(try target(subject))
        }
    }

    private func wording() throws -> Action.Wording? {
        if try Self.wordingColumns.allSatisfy(isEmpty) { return nil }
        var wording = Action.Wording(
            source: PostID(
                network: try word("source_network"), value: try requiredText("source_post_id")),
            text: try requiredText("text"), language: try row.optionalText("language"),
            visibility: try word("visibility"),
            warning: try row.optionalText("warning"),
            pictures: [Picture](stored: try row.optionalText("pictures")))
        wording.rest = try rest()
        wording.note = try row.optionalText("note")
        return wording
    }

    /// Returns the later parts of the thread.
    ///
    /// Throws if they cannot be parsed, so that they are not lost silently.
    private func rest() throws -> [Action.Part] {
        guard let stored = try row.optionalText("rest") else { return [] }
        // The error names the column and not the decoder's problem.
        guard let rest = try? JSONDecoder().decode([Action.Part].self, from: Data(stored.utf8))
        else {
            throw unfittingError(localized("rest is no list of texts"))
        }
        return rest
    }

    private func target(_ subject: String) throws -> Action.Target {
        let post = try requiredText("target_post_id")
        guard post == subject else {
            throw unfittingError(localized("target_post_id is another post than subject"))
        }
        return Action.Target(
            post: post,
            author: AccountID(
                network: try word("target_network"), value: try requiredText("target_author")),
            address: try requiredText("target_address"), name: try row.optionalText("target_name"),
            text: try row.optionalText("target_text"))
    }

    private func bystanders(on network: NetworkName) throws -> [AccountID] {
        let stored = try row.optionalText("bystanders") ?? ""
        return stored.split(separator: " ").map { AccountID(network: network, value: String($0)) }
    }

    // MARK: One column

    /// Parses a column that contains one of the words of an enumeration.
    func word<Word: RawRepresentable<String>>(_ column: String) throws -> Word {
        guard let word = Word(rawValue: try requiredText(column)) else {
            throw unfittingError(localized("\(column) is an unknown word"))
        }
        return word
    }

    private func requiredText(_ column: String) throws -> String {
        guard let text = try row.optionalText(column) else {
            throw unfittingError(localized("\(column) is missing"))
        }
        return text
    }

    private func isEmpty(_ column: String) throws -> Bool { try row.optionalText(column) == nil }

    private func requireEmpty(_ columns: [String]) throws {
        guard let column = try columns.first(where: { try !isEmpty($0) }) else { return }
        throw unfittingError(localized("\(column) is not empty"))
    }

    private func unfittingError(_ why: String) -> OutboxError {
        // If the kind cannot be read, the message says "action".
        let kind = (try? row.text("kind")).flatMap(ActionKind.init(rawValue:))?.rawValue
        return .unfitting(id, as: kind ?? "action", why)
    }
}

extension Action.Reply {
    /// The bystanders as stored, separated by spaces, which no identifier contains.
    fileprivate var storedBystanders: String? {
        let names = bystanders.filter { $0.network == target.author.network }.map(\.value)
            .filter { !$0.isEmpty && !$0.contains(where: \.isWhitespace) && !$0.utf8.contains(0) }
        return names.isEmpty ? nil : names.joined(separator: " ")
    }
}

/// An error of the outbox itself; errors of the store pass through unchanged.
package struct OutboxError: Error, CustomStringConvertible, Sendable {
    /// The kind of error.
    package enum Code: String, Sendable {
        /// Another worker holds the lease; nothing was changed.
        case leaseLost = "lease-lost"
        /// A newer mirror-bot has migrated the database; this process must not change it any more.
        case outdated
        /// The action is not in the state that the change requires.
        case stateChanged = "state-changed"
        /// A row of `actions` has invalid or missing values for its kind.
        case unfitting
        /// The mirror is paused; nothing is sent, and nothing was changed.
        case paused
        /// There is no consent to the mirror; nothing is sent, and nothing was changed.
        case unagreed
        /// The human's account is not usable any more; nothing is sent, and nothing was changed.
        case humanAway = "human-away"
        /// The mirror has retired; only its last post may be sent, and nothing was changed.
        case retired
        /// The recipient is denied; nothing is sent, and nothing was changed.
        case denied
        /// A person has changed the conditions of sending since the action was checked; nothing was
        /// changed.
        case superseded
    }

    package let code: Code
    package let description: String

    package static var leaseLost: OutboxError {
        OutboxError(
            code: .leaseLost,
            description: localized(
                "could not change an action: another worker holds this mirror now"))
    }

    /// - Parameter cause: The error of the check of the tables.
    static func outdated(_ cause: StorageError) -> OutboxError {
        OutboxError(
            code: .outdated,
            description: localized(
                """
                could not go on: the database was migrated while this process ran, and \(cause.cause); nothing is sent by this \
                one any more
                """))
    }

    static var paused: OutboxError {
        OutboxError(
            code: .paused,
            description: localized(
                "could not send an action: the mirror pauses; mirror-bot resume ends that"))
    }

    static var unagreed: OutboxError {
        OutboxError(
            code: .unagreed,
            description: localized(
                "could not send an action: nobody said that the human agreed; mirror-bot status says how"
            )
        )
    }

    static var humanAway: OutboxError {
        OutboxError(
            code: .humanAway,
            description: localized(
                "could not send an action: the human's account is not as it was; mirror-bot status says more"
            )
        )
    }

    static var retired: OutboxError {
        OutboxError(
            code: .retired,
            description: localized(
                "could not send an action: the mirror has retired; mirror-bot status says since when"
            ))
    }

    static func denied(_ id: String) -> OutboxError {
        OutboxError(
            code: .denied,
            description: localized("could not send action \(id): its person is to be left alone"))
    }

    static func superseded(_ id: String) -> OutboxError {
        OutboxError(
            code: .superseded,
            description: localized(
                "could not send action \(id): a person changed what may be sent since it was prepared"
            )
        )
    }

    static func stateChanged(_ id: String, to state: ActionState) -> OutboxError {
        OutboxError(
            code: .stateChanged,
            description: localized(
                "could not set action \(id) to \(state.rawValue): it was changed meanwhile")
        )
    }

    static func unfitting(_ id: String, as kind: String, _ why: String) -> OutboxError {
        OutboxError(
            code: .unfitting,
            description: localized(
                """
                row \(id) of actions is set aside: as a \(kind), \(why); a newer mirror-bot or something else wrote it, so update \
                mirror-bot, or mend the row, delete it or restore a backup
                """))
    }
}
