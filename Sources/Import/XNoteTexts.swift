import Foundation
import Posts

/// The full texts of long posts.
///
/// An archive cuts a long post in its list of posts and keeps the text elsewhere
/// without saying which post it belongs to. Text and post are made in the same
/// second, and one begins like the other.
struct XNoteTexts {
    private struct Note {
        /// As the archive writes it.
        var raw: String
        var plain: String
    }

    /// Shorter beginnings agree by chance.
    private static let minimumPrefix = 12
    /// Each post is compared with all texts of its second.
    private static let maximumPerSecond = 16

    private var notes: [Int64: [Note]] = [:]
    private var bytes = 0
    private let maximumBytes: Int

    init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

    /// Remembers a text.
    mutating func insert(_ wire: XWireNote) throws(ItemFault) {
        guard let raw = wire.text else { throw ItemFault("text is missing") }
        guard let written = wire.createdAt, let date = Date(rfc3339: written) ?? Date(xTimestamp: written) else {
            throw ItemFault("createdAt is not a date")
        }
        let note = Note(raw: raw, plain: PlainText.fromX(raw, links: XPostConverter.links(wire.links)))
        bytes += note.raw.utf8.count + note.plain.utf8.count
        guard bytes <= maximumBytes else { throw ItemFault("there are more long texts than fit into memory") }
        let second = Self.second(date)
        guard notes[second, default: []].count < Self.maximumPerSecond else {
            throw ItemFault("there are too many long texts of one second")
        }
        notes[second, default: []].append(note)
    }

    /// The full text of a post, or nil if the post is whole.
    ///
    /// - Parameters:
    ///   - cut: The post's text as the archive writes it.
    ///   - createdAt: When the post was made, to the second or exactly.
    /// - Returns: Plain text.
    func text(of cut: String, createdAt: Date) -> String? {
        guard !notes.isEmpty else { return nil }
        let second = Self.second(createdAt)
        let candidates = [second, second - 1, second + 1].flatMap { notes[$0] ?? [] }
        guard !candidates.isEmpty else { return nil }
        let beginnings = [Self.beginning(of: cut), Self.beginning(of: Self.withoutNames(cut))]
        return candidates.first { note in
            beginnings.contains { $0.count >= Self.minimumPrefix && note.raw.hasPrefix($0) }
        }?.plain
    }

    private static func second(_ date: Date) -> Int64 { Int64(date.timeIntervalSince1970.rounded(.down)) }

    /// The part of a cut text that also stands in the full one: up to the ellipsis and the first address.
    private static func beginning(of cut: String) -> String {
        var text = Substring(cut)
        if let address = text.range(of: "http") { text = text[..<address.lowerBound] }
        while let last = text.last, last.isWhitespace || last == "…" { text.removeLast() }
        return String(text)
    }

    /// Without the names at the start of a reply, which the full text may lack.
    private static func withoutNames(_ cut: String) -> String {
        var text = Substring(cut)
        while text.first == "@", let space = text.firstIndex(of: " ") {
            text = text[text.index(after: space)...]
        }
        return String(text)
    }
}
