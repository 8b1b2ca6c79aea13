import Localization
import Mirroring
import Outbox
package import Posts
import Settings

/// The reason why something was not done, or ended in another way than intended.
package struct ReportedReason: Codable, Equatable, Sendable {
    /// The stable code, as it is stored with an action.
    package var code: ReasonCode
    /// The reason as a plain sentence without a full stop.
    package var text: String
    /// The setting that decides whether the reason applies; nil if none does.
    package var setting: String?

    /// - Parameters:
    ///   - code: The code; if this version does not know it, the code itself is the text.
    ///   - text: A more exact reason than that of the code; nil if none is known.
    package init(_ code: ReasonCode, text: String? = nil) {
        let knownReason = KnownReason(code)
        self.code = code
        self.text = text ?? knownReason?.sentence ?? code.rawValue
        setting = knownReason?.setting?.name
    }

    /// - Parameters:
    ///   - code: A code of the archive, or another one with which no action is stored.
    ///   - text: A more exact reason than that of the code; nil if none is known.
    package init(_ code: String, text: String? = nil) {
        self.init(ReasonCode(rawValue: code), text: text)
    }
}

extension Action {
    /// The reason why the action ended or waits, in the most exact words that are stored; nil if it
    /// needs none.
    var reportedReason: ReportedReason? {
        guard let reason else { return nil }
        if state == .undone, reason == .outbox(.byPerson) {
            return ReportedReason(reason, text: localized("a person took it back"))
        }
        // The outcome is the network's answer, if that ended the action. A skipped mention has its
        // exact reason in the summary of the decision.
        let isSkippedMention = kind == .reply && state == .skipped
        let cause = isSkippedMention ? explanation?.summary : nil
        let stored = explanation?.outcome ?? cause
        return ReportedReason(reason, text: stored.map(StoredText.inWords))
    }
}

/// The person whom an action concerns.
package struct ReportedPerson: Codable, Equatable, Sendable {
    /// The account in the form that people type: `user@host`, `x:12345`, `did:plc:…`.
    package var account: String
    /// The handle on their own network, with `@`.
    package var name: String

    package init(account: String, name: String) {
        self.account = account
        self.name = name
    }
}
