import Archive
import Conduct
import Favorites
import Foundation
package import Mirroring
import Posts

/// The texts about which a person is asked whether the bot may post them; the answers train the
/// bot's judgement of texts.
///
/// These are the texts that are posted first, in an order that differs by mirror but is stable. A
/// text with a label is not shown again, so that a review continues where the last one ended.
package struct TextReview: Codable, Equatable, Sendable {
    /// The number of texts in a first review.
    package static let firstReviewSize = 20

    package private(set) var schema = "mirror-bot/text-review/1"
    /// The texts about which the person is asked.
    package let texts: [TextList.Text]
    /// The number of texts with a label.
    package let labels: Int
    /// The number of labels from which on the bot uses them.
    package let needed: Int

    /// The number of texts that are left in the first review.
    package var leftOfFirst: Int { max(0, Self.firstReviewSize - labels) }

    /// - Parameter number: The most texts to ask for.
    /// - Throws: The store's error.
    package init(of mirror: HumanMirror, atMost number: Int) async throws {
        let labels = try await mirror.labels.labels()
        var filter = mirror.textFilter()
        filter.windows = []
        let highestGrade = filter.grade
        var ids: [PostID] = []
        // Plain texts are posted first; if there are few, the other texts are posted, too.
        for grade in [min(Fitness.Grade.plain.rawValue, highestGrade), highestGrade]
        where ids.count < number {
            filter.grade = grade
            ids = try await Self.ids(of: mirror, filter).filter { labels[$0] == nil }
        }
        var shown: [Archive.Kept] = []
        for id in ids where shown.count < number {
            let text = try await mirror.archive.kept(id, by: mirror.textFilter())
            if let text, text.use == .fit { shown.append(text) }
        }
        texts = try await TextList.Text.all(shown, of: mirror)
        self.labels = labels.count
        needed = TextTaste.fewestLabels
    }

    /// The posts whose texts may be posted, each text once, in the order of a review.
    private static func ids(of mirror: HumanMirror, _ filter: Archive.TextFilter) async throws
        -> [PostID]
    {
        let texts = try await mirror.archive.texts(in: [0...MinuteOfDay.count - 1], filter)
        func position(_ text: Archive.StoredText) -> UInt64 {
            StableHash.fnv1a("review/1 \(mirror.name) \(text.textKey)")
        }
        var listedKeys: Set<String> = []
        return texts.map { (position: position($0), text: $0) }
            .sorted { ($0.position, $0.text.id.value) < ($1.position, $1.text.id.value) }
            .filter { listedKeys.insert($0.text.textKey).inserted }.map(\.text.id)
    }
}
