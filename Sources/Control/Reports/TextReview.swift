import Archive
import Conduct
import Favorites
import Foundation
package import Mirroring
import Posts

/// Texts of which a person is asked whether the bot may post them: what it learns first.
///
/// They are those that are posted first, in an order that differs from mirror to mirror and not
/// from call to call. A text of which somebody has said something is not asked for, so that a
/// review goes on where the last one ended.
package struct TextReview: Codable, Equatable, Sendable {
    /// How many texts a first review has.
    package static let first = 20

    package private(set) var schema = "mirror-bot/text-review/1"
    /// The texts that are asked for.
    package let texts: [TextList.Text]
    /// The number of texts with a label.
    package let labels: Int
    /// How many it must be before the bot goes by them.
    package let needed: Int

    /// How many texts are left of the first review.
    package var leftOfFirst: Int { max(0, Self.first - labels) }

    /// - Parameter number: How many texts are asked for at most.
    /// - Throws: The store's error.
    package init(of mirror: HumanMirror, atMost number: Int) async throws {
        let labels = try await mirror.labels.labels()
        var filter = mirror.textFilter()
        filter.windows = []
        let usual = filter.grade
        var ids: [PostID] = []
        // Plain texts are posted first; with few of them the others are, too.
        for grade in [min(Fitness.Grade.plain.rawValue, usual), usual] where ids.count < number {
            filter.grade = grade
            ids = try await Self.ids(of: mirror, filter).filter { labels[$0] == nil }
        }
        var kept: [Archive.Kept] = []
        for id in ids where kept.count < number {
            let text = try await mirror.archive.kept(id, by: mirror.textFilter())
            if let text, text.use == .fit { kept.append(text) }
        }
        texts = try await TextList.Text.all(kept, of: mirror)
        self.labels = labels.count
        needed = TextTaste.fewest
    }

    /// The posts whose texts may be posted, each text once, in the order of a review.
    private static func ids(of mirror: HumanMirror, _ filter: Archive.TextFilter) async throws
        -> [PostID]
    {
        let texts = try await mirror.archive.texts(in: [0...MinuteOfDay.count - 1], filter)
        func place(_ text: Archive.StoredText) -> UInt64 {
            StableHash.fnv1a("review/1 \(mirror.name) \(text.textKey)")
        }
        var known: Set<String> = []
        return texts.map { (place: place($0), text: $0) }
            .sorted { ($0.place, $0.text.id.value) < ($1.place, $1.text.id.value) }
            .filter { known.insert($0.text.textKey).inserted }.map(\.text.id)
    }
}
