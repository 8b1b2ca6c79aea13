import Foundation
import Outbox
import Posts

/// One answer of those that a decision about mentions reads at once.
extension OutboxStore {
    private func earlier(
        since time: Date, _ ask: @Sendable (inout Question) -> Void
    ) async throws -> EarlierReplies {
        var question = Question(midnight: time, threadsSince: time)
        ask(&question)
        return try await write { [question] in try earlierReplies(question, on: $0) }
    }

    func repliesSince(_ since: Date, to accounts: [AccountID]) async throws -> Int {
        try await earlier(since: since) { $0.accounts = accounts }.repliesToday(to: accounts)
    }

    func repliesInThread(_ thread: String, since: Date) async throws -> Int {
        try await earlier(since: since) { $0.threads = [thread] }.replies(inThread: thread)
    }

    func usesOfReplies(to accounts: [AccountID]) async throws -> [PostID: ReplyUse] {
        try await earlier(since: .distantPast) { $0.accounts = accounts }.uses(for: accounts)
    }

    func known(_ kind: ActionKind, among subjects: [String]) async throws -> Set<String> {
        try await decisionFacts(kind, among: subjects, since: .distantPast) { _ in }.decided
    }
}
