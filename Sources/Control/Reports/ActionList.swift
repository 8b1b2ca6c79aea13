import Settings
import Archive
package import Foundation
package import Mirroring
package import Outbox
package import Posts

/// What a mirror did, decided and plans, the last change first: a page of all actions, or of those that a person looks for.
package struct ActionList: Codable, Equatable, Sendable {
    package private(set) var schema = "mirror-bot/actions/1"
    package let actions: [ReportedAction]
    /// Where the next page begins; nil where nothing follows.
    package let next: String?
}

extension ActionList {
    /// What a person looks for; every part that is given must hold.
    package struct Search: Codable, Equatable, Sendable {
        /// None for all.
        package var kinds: [ActionKind] = []
        /// None for all.
        package var states: [ActionState] = []
        /// As a person types an account.
        package var person: String?
        /// Words in the text, or in the post that is answered or favorited; case, width and accents make no difference.
        package var words: String?
        /// The first instant of the last change.
        package var since: Date?
        /// Where the page begins; nil for the newest.
        package var cursor: String?
        /// The most to list.
        package var limit = 20

        package init() {}
    }

    /// Looks for actions.
    ///
    /// - Throws: `ChangeRefusal` for a person or a cursor that is none; the store's error.
    package init(of mirror: HumanMirror, _ search: Search) async throws {
        var filter = ActionFilter(kinds: search.kinds, states: search.states, since: search.since)
        if let person = search.person {
            filter.people = try await mirror.people.linked(to: PeopleBook(mirror: mirror).account(person))
        }
        if let cursor = search.cursor {
            guard let place = ActionFilter.Place(cursor) else {
                throw ChangeRefusal(.unusable, "\"\(cursor.prefix(60))\" is no place in the list of actions")
            }
            filter.place = place
        }
        let wanted = search.words.map(SearchWords.init)
        let found = try await mirror.outbox(lease: nil).history(filter, limit: search.limit + 1) { action in
            wanted?.occur(in: action.texts + [action.target?.text, action.target?.name].compactMap(\.self)) ?? true
        }
        let shown = Array(found.prefix(search.limit))
        let persons = try await mirror.persons(of: shown)
        let network = mirror.configuration.botNetwork
        actions = shown.map { ReportedAction($0, persons[$0.id], on: network) }
        next = found.count > shown.count ? shown.last.map { ActionFilter.Place($0).text } : nil
    }
}

/// An action as reports tell of it.
package struct ReportedAction: Codable, Equatable, Sendable {
    package let id: String
    package let kind: ActionKind
    package let state: ActionState
    /// When it changed last.
    package let at: Date
    /// When it is, or was, to happen.
    package let due: Date
    /// The name of the slot of a post, as `2026-11-24#2`; nil for a reply or a favorite.
    package let slot: String?
    /// Whom it is about; nil for a post, and for what has no target.
    package let person: ReportedPerson?
    /// Where a browser shows the post that is answered or favorited.
    package let target: String?
    /// What that post says, as far as it is kept.
    package let about: String?
    package let reason: String?
    /// The same in plain words.
    package let reasonText: String?
    package let text: String?
    /// How many pictures go along; nil for none.
    package let pictures: Int?
    /// A BCP 47 language tag of the text, if it is known.
    package let language: String?
    package let why: String?
    /// P(favorite)/P(normal) of a favorite, as it was when it was decided.
    package let rate: Double?
    /// The words, and the author, that spoke most for a favorite.
    package let words: [String]?
    /// Where a browser shows what was published; nil while it is not.
    package let address: String?
    /// The digest of what is shown here, for who changes it.
    package let seen: Seen

    /// How many words of a favorite are named.
    private static let wordsShown = 3

    /// - Parameters:
    ///   - person: Whom it is about.
    ///   - network: The bot's.
    init(_ action: Action, _ person: ReportedPerson?, on network: NetworkName) {
        (id, kind, state, at, due) = (action.id, action.kind, action.state, action.updated, action.due)
        slot = action.kind == .post ? action.subject : nil
        self.person = person
        (target, about) = (action.targetPost?.webAddress, action.target?.text)
        (reason, reasonText, text) = (action.reason, action.told?.text, action.text)
        (pictures, language) = (action.pictureCount, action.wording?.language)
        (why, rate) = (action.explanation?.summary, action.explanation?.favoriteRate)
        words =
            action.explanation?.features == nil
            ? nil
            : action.explanation?.tellingFeatures.filter { $0.logOdds > 0 }.prefix(Self.wordsShown).map(\.name)
        let published = action.kind == .favorite ? nil : action.remoteID
        address = published.flatMap { PostID(network: network, value: $0).webAddress }
        seen = action.seen
    }
}
