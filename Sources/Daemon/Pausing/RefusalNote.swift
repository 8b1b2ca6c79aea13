import Foundation
import Networks
import Posts

/// Notes in the database that a network refuses an account's credentials, for whoever asks how the mirror is.
///
/// A note that cannot be written is not worth an error.
struct RefusalNote: Sendable {
    let role: AccountRole
    let cursors: CursorTable

    private var name: String { "refused-\(role.rawValue)" }

    func set(_ error: NetworkError, at now: Date) async {
        try? await cursors.set("\(now.rfc3339) \(error)", of: name, now: now)
    }

    func clear() async {
        guard let value = try? await cursors.value(of: name), !value.isEmpty else { return }
        try? await cursors.clear(prefix: name)
    }

    /// Since when, and in what words; nil while the credentials are taken.
    ///
    /// - Throws: The store's error.
    func text() async throws -> (since: String, error: String)? {
        guard let value = try await cursors.value(of: name) else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1).map(String.init)
        return parts.count == 2 ? (parts[0], parts[1]) : nil
    }
}
