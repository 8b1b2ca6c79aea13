package import Archive
import Conduct
package import Foundation
import Outbox
package import Posts

/// A person's exclusions: texts that are never sent, muted words and muted days.
package struct Unwanted: Sendable {
    /// The keys of texts that are never sent.
    let never: Set<String>
    let muted: Muted
    /// The number of labelled texts, from which it may be learned which other texts are not wanted.
    let labelCount: Int
    /// The human's time zones, in which days are counted.
    let zones: ZoneHistory
    /// Changes with the muted words and days; empty if nothing is muted.
    let version: String

    package init(_ circumstances: Archive.Circumstances) {
        let notes = circumstances.muted
        let zones = circumstances.zones
        let names = notes.map { "\($0.kind) \($0.value)" }.sorted()
        // The zone decides which posts belong to a muted day.
        let zoneNames =
            [zones.home.identifier] + zones.spans.map { "\($0.days) \($0.zone.identifier)" }
        version =
            names.isEmpty
            ? "" : " " + StableHash.digest(of: names + zoneNames).prefix(8).hexadecimal
        never = circumstances.never
        muted = Muted(notes)
        labelCount = circumstances.labels
        self.zones = zones
    }

    /// The reason why a person excluded the text of a post; nil if nobody did.
    ///
    /// - Parameters:
    ///   - post: A post of the human's.
    ///   - key: The key of its text.
    package func reason(against post: Post, key: String) -> ReasonCode? {
        if never.contains(key) { return .outbox(.never) }
        guard !muted.isEmpty else { return nil }
        return muted.reason(against: post.visibleText, of: zones.time(of: post).day).map(
            ReasonCode.rule)
    }
}

extension Archive {
    /// Reads the exclusions that hold now.
    ///
    /// - Throws: The store's error.
    func unwanted(in zone: TimeZone) async throws -> Unwanted {
        Unwanted(try await circumstances(home: zone))
    }

    /// Stores posts, except those with a muted word.
    ///
    /// - Parameters: As ``store(_:timeZone:limit:)`` takes them.
    /// - Returns: The outcome for the posts.
    /// - Throws: The store's error.
    package func keep(_ posts: [Post], timeZone: TimeZone, limit: Int?) async throws -> StoreSummary
    {
        let muted = Muted(try await muted())
        let unmuted = posts.filter { !muted.hasWord($0.visibleText) }
        var summary = try await store(unmuted, timeZone: timeZone, limit: limit)
        summary.unwanted += posts.count - unmuted.count
        return summary
    }
}

extension Post {
    /// All text of the post that a reader sees.
    fileprivate var visibleText: String {
        ([warning, text].compactMap(\.self) + pictures.map(\.alt)).joined(separator: "\n")
    }
}

extension Muted {
    /// Reads the stored entries; skips those that this version does not know.
    fileprivate init(_ notes: [Archive.Note]) {
        self.init(notes.compactMap { Entry(kind: $0.kind, value: $0.value) })
    }
}
