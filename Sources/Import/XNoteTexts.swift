import Formats
import Foundation
import Localization
import Posts

/// The full texts of long posts.
///
/// An archive shortens a long post in its list of posts (`tweets.js`) and keeps the text in
/// `note-tweet.js`, without the id of the post. Text and post are created in the same second and
/// have the same beginning, except that the list of posts writes `&`, `<` and `>` as entities and
/// the long texts do not.
struct XNoteTexts {
    private struct Note {
        /// The text with shortened addresses, like the beginning of the post's text.
        var comparable: String
        /// The text with full addresses.
        var plain: String
    }

    /// The minimum length of an equal beginning, in code points; shorter ones are equal by chance.
    private static let minimumPrefix = 12
    /// The maximum number of texts of one second, because each post is compared with all of them.
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
        guard let original = core["text"]?.nonEmptyText else {
            throw ItemFault(localized("text is missing"))
        }
        guard let writtenTime = wire["noteTweet"]?["createdAt"]?.nonEmptyText,
            let date = Date(rfc3339: writtenTime) ?? Date(xTimestamp: writtenTime)
        else { throw ItemFault(localized("createdAt is not a date")) }
        // `note-tweet.js` has no entities, so an `&` is literal even if it looks like one.
        let text = original.replacing("&", with: "&amp;")
        let note = Note(
            comparable: PlainText.fromX(text),
            plain: PlainText.fromX(
                text,
                links: XLinkEntity.replacements(of: XPostConverter.links(core["urls"]), quoting: [])
            ))
        bytes += note.comparable.utf8.count + note.plain.utf8.count
        guard bytes <= maximumBytes else {
            throw ItemFault(localized("there are more long texts than fit into memory"))
        }
        let second = Self.second(date)
        guard notes[second, default: []].count < Self.maximumPerSecond else {
            throw ItemFault(localized("there are too many long texts of one second"))
        }
        notes[second, default: []].append(note)
    }

    /// The full text of a post; nil if the post was not shortened.
    ///
    /// - Parameters:
    ///   - shortened: The post's text in the archive's list.
    ///   - createdAt: The time of the post, to the second or more precisely.
    func text(of shortened: String, createdAt: Date) -> String? {
        guard !notes.isEmpty else { return nil }
        let second = Self.second(createdAt)
        // The seconds before and after are searched too, in case the two times differ by one.
        let candidates = [second, second - 1, second + 1].flatMap { notes[$0] ?? [] }
        guard !candidates.isEmpty else { return nil }
        let text = PlainText.fromX(shortened)
        let beginnings = [text, Self.withoutNames(text)].flatMap(Self.beginnings)
            .filter { $0.unicodeScalars.count >= Self.minimumPrefix }
        return candidates.first { note in
            // The texts are compared by bytes, because the last character of a shortened text may
            // be the first part of a character in the full text.
            beginnings.contains { note.comparable.utf8.starts(with: $0.utf8) }
        }?.plain
    }

    private static func second(_ date: Date) -> Int64 {
        Int64(date.timeIntervalSince1970.rounded(.down))
    }

    /// The parts of a shortened text that the full text may begin with: the whole text, the text
    /// before the post's own address at its end, and the text before the first address.
    private static func beginnings(of shortened: String) -> [String] {
        var withoutAddress = shortened[...]
        if let last = withoutAddress.split(whereSeparator: \.isWhitespace).last,
            last.hasPrefix("https://t.co/")
        {
            withoutAddress = withoutAddress[..<last.startIndex]
        }
        let beforeAddress = shortened.range(of: "http").map { shortened[..<$0.lowerBound] }
        return [shortened[...], withoutAddress, beforeAddress].compactMap { $0.map(withoutEnd) }
    }

    /// The text without an ellipsis at its end and without an incomplete character or entity before
    /// it.
    private static func withoutEnd(_ shortened: Substring) -> String {
        var scalars = shortened.unicodeScalars
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
    private static func withoutNames(_ shortened: String) -> String {
        var text = Substring(shortened)
        while text.first == "@", let space = text.firstIndex(of: " ") {
            text = text[text.index(after: space)...]
        }
        return String(text)
    }
}
