import Conduct
package import Foundation
import Mirroring
package import Outbox
package import Posts

/// An action as reports tell of it.
package struct ReportedAction: Codable, Equatable, Sendable {
    package var id: String
    package var kind: ActionKind
    package var state: ActionState
    /// When it changed last.
    package var at: Date
    /// When it is, or was, to happen; nil in reports of earlier versions.
    package var due: Date?
    /// The name of the slot of a post, as `2026-11-24#2`; nil for a reply or a favorite.
    package var slot: String?
    /// The person that it is about; `nil` for a post, and for an action without a target.
    package var person: ReportedPerson?
    /// Where a browser shows the post that is answered or favorited.
    package var target: String?
    /// The text of that post, as far as it is kept.
    package var about: String?
    package var reason: String?
    /// The same in plain words.
    package var reasonText: String?
    package var text: String?
    /// The note that is published below the human's text; nil for none.
    package var note: String?
    /// How many pictures go along; nil for none.
    package var pictures: Int?
    /// A BCP 47 language tag of the text, if it is known.
    package var language: String?
    package var why: String?
    /// P(favorite)/P(normal) of a favorite, as it was when it was decided.
    package var rate: Double?
    /// The words, and the author, that spoke most for a favorite.
    package var words: [String]?
    /// Where a browser shows what was published; nil while it is not.
    package var address: String?
    /// The digest of what is shown here, for who changes it; nil in reports of earlier versions.
    package var seen: Seen?
    /// The command that reverts a decision about the person; nil unless they asked the bot to stop.
    package var revert: String?

    /// How many words of a favorite are named.
    private static let wordsShown = 3
}

extension ReportedAction {
    /// - Parameters:
    ///   - person: Whom it is about.
    ///   - network: The bot's.
    init(_ action: Action, _ person: ReportedPerson?, on network: NetworkName) {
        let published = action.kind == .favorite ? nil : action.remoteID
        let telling =
            action.explanation?.features == nil ? nil : action.explanation?.tellingFeatures
        self.init(
            id: action.id, kind: action.kind, state: action.state, at: action.updated,
            due: action.due,
            slot: action.kind == .post ? action.subject : nil, person: person,
            target: action.targetPost?.webAddress,
            about: action.target?.text, reason: action.reason, reasonText: action.told?.text,
            text: action.text,
            note: action.wording?.note, pictures: action.pictureCount,
            language: action.wording?.language,
            why: action.explanation?.summary,
            rate: action.explanation?.favoriteRate,
            words: telling?.filter { $0.logOdds > 0 }.prefix(Self.wordsShown).map(\.name),
            address: published.flatMap { PostID(network: network, value: $0).webAddress },
            seen: action.seen,
            revert: action.reason == Refusal.Reason.askedToStop.rawValue
                ? person.map { "mirror-bot people allow \($0.account)" } : nil)
    }
}
