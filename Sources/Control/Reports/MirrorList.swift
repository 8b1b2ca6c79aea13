package import Foundation
import Mirroring
import Outbox
import Posts
package import Storage

/// A page of a database's mirrors, sorted by name.
///
/// The pages list all mirrors, or those that match a search.
package struct MirrorList: Codable, Equatable, Sendable {
    /// One mirror.
    package struct Mirror: Codable, Equatable, Sendable {
        package enum State: String, Codable, Sendable {
            case running
            /// No worker holds the mirror.
            case stopped
            case paused
            /// The mirror was moved to another database.
            case left
            /// The mirror is being moved into this database, and its copy is not complete yet.
            case arriving
            /// The removal of the mirror was begun, and must be completed.
            case removing
        }

        package let name: String
        package let human: String?
        package let bot: String?
        package let state: State
        /// The number of suggestions that wait for a person.
        package let suggestions: Int
        /// The time at which the next planned post is due; nil if none is stored.
        package let nextSlot: Date?
    }

    package private(set) var schema = "mirror-bot/mirrors/1"
    package let mirrors: [Mirror]
    /// The cursor of the next page; nil for the last page.
    package let next: String?
}

extension MirrorList {
    /// The search criteria.
    package struct Search: Codable, Equatable, Sendable {
        /// Words in the name or a handle; case, width and accents make no difference.
        package var words: String?
        /// The name after which the page begins; nil for the first page.
        package var cursor: String?
        /// The most mirrors to list.
        package var limit = 10_000

        package init() {}
    }

    /// Searches mirrors, with a fixed number of statements.
    ///
    /// - Throws: The store's error.
    package init(in storage: any StorageEngine, _ search: Search = Search(), now: Date) async throws
    {
        let searchWords = SearchWords(search.words)
        let matches = try await MirrorTable.all(in: storage).filter { name, record in
            name > search.cursor ?? ""
                && searchWords.occur(
                    in: [name, record.humanHandle, record.botHandle].compactMap(\.self))
        }
        let shown = matches.prefix(search.limit)
        let leases = try await LeaseTable.records(of: shown.map(\.name), in: storage)
        let waiting = try await OutboxStore.waiting(of: shown.map(\.name), in: storage, now: now)
        mirrors = shown.map { name, record in
            let isHeld =
                leases[name]?.silence(at: now).map { $0 < HumanMirror.usualSilence } ?? false
            let state: Mirror.State =
                switch record.move?.state {
                case .left: .left
                case .arriving: .arriving
                case nil where record.pause?.code == .removing: .removing
                case nil where record.pause(at: now) != nil: .paused
                case nil: isHeld ? .running : .stopped
                }
            return Mirror(
                name: name, human: record.humanHandle, bot: record.botHandle, state: state,
                suggestions: waiting[name]?.suggestions ?? 0, nextSlot: waiting[name]?.nextSlot)
        }
        let hasMore = matches.count > shown.count
        next = hasMore ? shown.last?.name : nil
    }
}
