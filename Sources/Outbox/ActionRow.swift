import Foundation
import Posts
import Storage

/// The mapping between `Action` and a row of `actions`.
extension Action {
    static let columns: SQL = """
        id, kind, subject, state, due_ms, expires_ms, pinned, source_network, source_post_id, target_post_id,
        target_network, target_author, target_address, bystanders, thread, visibility, language, text, key, sending_ms,
        server_sending_ms, remote_id, remote_address, attempts, sends, next_attempt_ms, reason, explanation, created_ms, updated_ms
        """

    init(row: SQLRow) throws {
        id = try row.text("id")
        kind = ActionKind(rawValue: try row.text("kind")) ?? .post
        subject = try row.text("subject")
        state = ActionState(rawValue: try row.text("state")) ?? .failed
        due = try row.date("due_ms")
        expires = try row.date("expires_ms")
        isPinned = try row.boolean("pinned")
        sourcePost = try Self.identifier(row, "source_network", "source_post_id").map(PostID.init)
        targetPost = try row.optionalText("target_post_id")
        targetAuthor = try Self.identifier(row, "target_network", "target_author").map(AccountID.init)
        targetAddress = try row.optionalText("target_address")
        bystanders = Self.bystanders(try row.optionalText("bystanders"), on: targetAuthor?.network)
        thread = try row.optionalText("thread")
        visibility = try row.optionalText("visibility").flatMap(Visibility.init(rawValue:))
        language = try row.optionalText("language")
        text = try row.optionalText("text")
        key = try row.optionalText("key") ?? ""
        sending = try row.optionalDate("sending_ms")
        serverSending = try row.optionalDate("server_sending_ms")
        remoteID = try row.optionalText("remote_id")
        remoteAddress = try row.optionalText("remote_address")
        attempts = try row.int("attempts")
        sends = try row.int("sends")
        nextAttempt = try row.optionalDate("next_attempt_ms")
        reason = try row.optionalText("reason")
        explanation = try row.optionalText("explanation")
        created = try row.date("created_ms")
        updated = try row.date("updated_ms")
    }

    private static func bystanders(_ stored: String?, on network: NetworkName?) -> [AccountID] {
        guard let stored, let network else { return [] }
        return stored.split(separator: " ").map { AccountID(network: network, value: String($0)) }
    }

    private static func identifier(
        _ row: SQLRow, _ network: String, _ value: String
    ) throws -> (network: NetworkName, value: String)? {
        guard let name = try row.optionalText(network).flatMap(NetworkName.init(rawValue:)),
            let text = try row.optionalText(value)
        else { return nil }
        return (name, text)
    }
}

extension Intent {
    /// The bystanders as they are stored: no identifier of any network has a space.
    var storedBystanders: String? {
        guard let network = targetAuthor?.network else { return nil }
        let names = bystanders.filter { $0.network == network }.map(\.value)
            .filter { !$0.isEmpty && !$0.contains(where: \.isWhitespace) && !$0.utf8.contains(0) }
        return names.isEmpty ? nil : names.joined(separator: " ")
    }
}
