import Conduct
package import Foundation
import Mirroring
package import Outbox
package import Posts

/// An action in reports.
package struct ReportedAction: Codable, Equatable, Sendable {
    package var id: String
    package var kind: ActionKind
    package var state: ActionState
    /// The time of the action's last change.
    package var at: Date
    /// The planned time; nil in reports of earlier versions.
    package var due: Date?
    /// The name of the slot of a post, as `2026-11-24#2`; nil for a reply or a favorite.
    package var slot: String?
    /// The person whom the action concerns; `nil` for a post, and for an action without a target.
    package var person: ReportedPerson?
    /// The web page of the answered or favorited post.
    package var target: String?
    /// The text of the answered or favorited post, as far as it is stored.
    package var about: String?
    package var reason: ReasonCode?
    /// The reason in plain words.
    package var reasonText: String?
    package var text: String?
    /// The time at which the human's post with the text was written; nil unless it was looked up.
    package var written: Date?
    /// The note published below the human's text; nil for none.
    package var note: String?
    /// The number of pictures; nil for none.
    package var pictures: Int?
    /// A BCP 47 language tag of the text, if known.
    package var language: String?
    package var why: String?
    /// The odds P(favorite)/P(normal) of a favorite at the time of the decision.
    package var rate: Double?
    /// The words, and the author, with the most weight for a favorite.
    package var words: [String]?
    /// The web page of the bot's post; nil until it is published.
    package var address: String?
    /// The digest of the displayed facts, to be sent with a change; nil in reports of earlier
    /// versions.
    package var seen: Seen?
    /// The command that reverts a denial of the person; nil unless they asked the bot to stop.
    package var revert: String?

    /// The most words to report for a favorite.
    private static let wordsShown = 3
}

extension ReportedAction {
    /// - Parameters:
    ///   - person: The person that it concerns.
    ///   - network: The bot's network.
    init(_ action: Action, _ person: ReportedPerson?, on network: NetworkName) {
        let published = action.kind == .favorite ? nil : action.remoteID
        let telling =
            action.explanation?.features == nil ? nil : action.explanation?.tellingFeatures
        self.init(
            id: action.id, kind: action.kind, state: action.state, at: action.updated,
            due: action.due,
            slot: action.kind == .post ? action.subject : nil, person: person,
            target: action.targetPost?.webAddress,
            about: action.target?.text, reason: action.reason,
            reasonText: action.reportedReason?.text,
            text: action.text,
            note: action.wording?.note, pictures: action.pictureCount,
            language: action.wording?.language,
            why: (action.explanation?.summary).map(StoredText.inWords),
            rate: action.explanation?.favoriteRate,
            words: telling?.filter { $0.logOdds > 0 }.prefix(Self.wordsShown).map(\.shownName),
            address: published.flatMap { PostID(network: network, value: $0).webAddress },
            seen: action.seen,
            revert: action.reason == .rule(.askedToStop)
                ? person.map { "mirror-bot people allow \($0.account)" } : nil)
    }
}
