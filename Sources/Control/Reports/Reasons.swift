import Mirroring
import Outbox
package import Posts
import Settings

/// Why something was not done, or ended otherwise than it was meant.
package struct ReportedReason: Codable, Equatable, Sendable {
    /// The stable code, as it is stored with an action.
    package var code: ReasonCode
    /// The reason as a plain sentence without a full stop.
    package var text: String
    /// The setting that decides it; nil where none does.
    package var setting: String?

    /// - Parameters:
    ///   - code: A code; one that this version does not know is its own text.
    ///   - text: What is known more exactly than the code says.
    package init(_ code: ReasonCode, text: String? = nil) {
        let knownReason = KnownReason(code)
        self.code = code
        self.text = text ?? knownReason?.sentence ?? code.rawValue
        setting = knownReason?.setting?.name
    }

    /// - Parameters:
    ///   - code: A code as the archive has it, or one that no action is stored with.
    ///   - text: What is known more exactly than the code says.
    package init(_ code: String, text: String? = nil) {
        self.init(ReasonCode(rawValue: code), text: text)
    }
}

extension Action {
    /// Why it ended or waits, in the most exact words that are stored; nil where nothing is to be
    /// said.
    var told: ReportedReason? {
        guard let reason else { return nil }
        if state == .undone, reason == .outbox(.byPerson) {
            return ReportedReason(reason, text: "a person took it back")
        }
        // What a mention is skipped for is explained where that was decided; what failed, by the
        // network.
        let isSkippedMention = kind == .reply && state == .skipped
        let cause = isSkippedMention ? explanation?.summary : nil
        return ReportedReason(reason, text: explanation?.outcome ?? cause)
    }
}

/// Somebody whom an action is about.
package struct ReportedPerson: Codable, Equatable, Sendable {
    /// As a person types it: `user@host`, `x:12345`, `did:plc:…`.
    package var account: String
    /// The handle on their own network, with `@`.
    package var name: String

    package init(account: String, name: String) {
        self.account = account
        self.name = name
    }
}
