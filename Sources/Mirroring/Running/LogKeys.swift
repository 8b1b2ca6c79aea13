package import Archive
package import Logging
package import Outbox
import Posts

/// The names under which values appear in the log.
package enum LogKeys {
    package static let account = "account"
    package static let action = "action.id"
    package static let attempt = "retry.attempt"
    package static let count = "count"
    package static let day = "plan.day"
    package static let effect = "effect.kind"
    package static let error = "error"
    package static let feed = "feed"
    package static let kind = "action.kind"
    package static let mirror = "mirror"
    package static let network = "network.name"
    package static let person = "person"
    package static let reason = "reason"
    package static let state = "action.state"
    package static let until = "until"
    package static let zone = "zone"
}

extension People {
    /// Returns the metadata of every log line about an action: its identity, its state and the
    /// person it is about.
    package func metadata(of action: Action) async -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            LogKeys.action: "\(action.id)", LogKeys.kind: "\(action.kind.rawValue)",
            LogKeys.state: "\(action.state.rawValue)",
            LogKeys.reason: "\(action.reason?.rawValue ?? "-")",
        ]
        if let name = await name(of: action) { metadata[LogKeys.person] = "\(name)" }
        return metadata
    }

    /// The handle of the person an action is about, for the log.
    ///
    /// - Parameter action: The action that was decided or done.
    /// - Returns: The handle, or the identity if no handle is known; nil if the action is about
    ///   nobody.
    package func name(of action: Action) async -> String? {
        guard let target = action.target else { return nil }
        if let name = target.name { return "@\(name)" }
        let id = target.author
        if id.network.traits.namesAreIdentities { return "@\(id.value)" }
        // Nil if the store cannot be read; then the identity is used as if no handle were known.
        let handle = try? await person(id)?.handle
        return handle.map { "@\($0)" } ?? id.value
    }
}
