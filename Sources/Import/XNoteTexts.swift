import Formats
import Foundation
import Posts

/// The full texts of long posts.
///
/// An archive shortens a long post in its list of posts (`tweets.js`) and keeps the text in
/// `note-tweet.js`, without the id of the post. Text and post are created in the same second, and
/// one begins like the other, except that the list of posts writes `&`, `<` and `>` as entities and
/// the long texts do not.
struct XNoteTexts {
    private struct Note {
        /// With shortened addresses, as a post's text begins.
        var comparable: String
        var plain: String
    }

    /// Shorter beginnings agree by chance.
    private static let minimumPrefix = 12
    /// Limited, because each post is compared with all texts of its second.
    private static let maximumPerSecond = 16

    private var notes: [Int64: [Note]] = [:]
    private var bytes = 0
    private let maximumBytes: Int

    init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

    /// Remembers a text.
    ///
    /// - Parameter wire: `{"noteTweet":{"createdAt":…,"core":{"text":…}}}`.
    /// - Throws: ``ItemFault`` if it is no such text, or if there are too many.
    mutating func insert(_ wire: JSON) throws(ItemFault) {
        let core = try wire.object("noteTweet", "core")
        guard let raw = core["text"]?.nonEmptyText else { throw ItemFault("text is missing") }
        guard let written = wire["noteTweet"]?["createdAt"]?.nonEmptyText,
            let date = Date(rfc3339: written) ?? Date(xTimestamp: written)
        else { throw ItemFault("createdAt is not a date") }
        // An `&` here is literal, even if it looks like an entity.
        let text = raw.replacing("&", with: "&amp;")
        let note = Note(
            comparable: PlainText.fromX(text),
            plain: PlainText.fromX(
                text,
                links: XLinkEntity.replacements(of: XPostConverter.links(core["urls"]), quoting: [])
            ))
        bytes += note.comparable.utf8.count + note.plain.utf8.count
        guard bytes <= maximumBytes else {
            throw ItemFault("there are more long texts than fit into memory")
        }
        let second = Self.second(date)
        guard notes[second, default: []].count < Self.maximumPerSecond else {
            throw ItemFault("there are too many long texts of one second")
        }
        notes[second, default: []].append(note)
    }

    /// The full text of a post, or nil if the post is whole.
    ///
    /// - Parameters:
    ///   - cut: The post's text in the archive's list.
    ///   - createdAt: When the post was made, to the second or more precisely.
    func text(of cut: String, createdAt: Date) -> String? {
        guard !notes.isEmpty else { return nil }
        let second = Self.second(createdAt)
        let candidates = [second, second - 1, second + 1].flatMap { notes[$0] ?? [] }
        guard !candidates.isEmpty else { return nil }
        let text = PlainText.fromX(cut)
        let beginnings = [text, Self.withoutNames(text)].flatMap(Self.beginnings)
            .filter { $0.unicodeScalars.count >= Self.minimumPrefix }
        return candidates.first { note in
            // Compared by bytes: the last character of a shortened text may be the first half of
            // one in the full text.
            beginnings.contains { note.comparable.utf8.starts(with: $0.utf8) }
        }?.plain
    }

    private static func second(_ date: Date) -> Int64 {
        Int64(date.timeIntervalSince1970.rounded(.down))
    }

    /// The parts of a shortened text that the full one may begin with: all up to the ellipsis and
    /// the post's own address after it, and all up to the first address.
    private static func beginnings(of cut: String) -> [String] {
        var withoutAddress = cut[...]
        if let last = withoutAddress.split(whereSeparator: \.isWhitespace).last,
            last.hasPrefix("https://t.co/")
        {
            withoutAddress = withoutAddress[..<last.startIndex]
        }
        let first = cut.range(of: "http").map { cut[..<$0.lowerBound] }
        return [cut[...], withoutAddress, first].compactMap { $0.map(withoutEnd) }
    }

    /// The text without an ellipsis at its end and without an incomplete character or entity before
    /// it.
    private static func withoutEnd(_ cut: Substring) -> String {
        var scalars = cut.unicodeScalars
        func trim() {
            while let last = scalars.last,
                last.properties.isWhitespace || last == "…" || last == "\u{FFFD}"
            {
                scalars.removeLast()
            }
        }
        trim()
        if let start = scalars.suffix(4).lastIndex(of: "&"),
            scalars[start...].dropFirst().allSatisfy({ ("a"..."z").contains($0) })
        {
            scalars = scalars[..<start]
            trim()
        }
        return String(scalars)
    }

    /// The text without the names at the start of a reply, which the full text may lack.
    private static func withoutNames(_ cut: String) -> String {
        var text = Substring(cut)
        while text.first == "@", let space = text.firstIndex(of: " ") {
            text = text[text.index(after: space)...]
        }
        return String(text)
    }
}
