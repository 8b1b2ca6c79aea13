import Foundation

/// A picture of a post: where it is, and what it shows in words.
package struct Picture: Codable, Equatable, Sendable {
    /// Where its network shows it; nil where only an archive's file is known.
    package var url: String?
    /// The alternative text; empty if the author gave none.
    package var alt: String
    /// In pixels; nil where that is not known.
    package var width: Int?
    package var height: Int?
    /// The author wants nobody to see it unasked.
    package var isSensitive: Bool?

    package init(url: String? = nil, alt: String = "", width: Int? = nil, height: Int? = nil) {
        self.url = url
        self.alt = alt
        // A size is for a network to lay out the post with; a wrong one does more harm than none.
        let isSize = [width, height].allSatisfy { $0.map { (1...100_000).contains($0) } ?? false }
        (self.width, self.height) = isSize ? (width, height) : (nil, nil)
    }

    /// No network takes more with one post.
    package static let mostOfAPost = 4
    /// Larger pictures are neither kept nor sent, in bytes; some networks take less.
    package static let maximumBytes = 8 << 20
    /// Longer addresses are not in use, in bytes.
    private static let maximumURL = 4_096
    /// Longer descriptions than any network has are cut, in code points.
    private static let maximumAlt = 10_000

    /// The pictures of a post as far as all of what is attached to it are some; else none.
    ///
    /// - Parameters:
    ///   - pictures: What is attached, nil for each that is no picture.
    ///   - hasMore: Whether something is attached besides, such as a poll.
    /// - Returns: What is attached, in its order.
    package static func all(_ pictures: [Picture?], besides hasMore: Bool = false) -> [Picture] {
        let found = pictures.compactMap(\.self)
        return hasMore || found.count < pictures.count || found.count > mostOfAPost ? [] : found
    }

    /// The picture with nothing that a server may have put there to do harm.
    package var cleaned: Picture {
        var picture = self
        let alt = PlainText.cleaned(alt).trimmingCharacters(in: .whitespacesAndNewlines)
        picture.alt = String(String.UnicodeScalarView(alt.unicodeScalars.prefix(Self.maximumAlt)))
        picture.url = url.flatMap { url in
            let isAddress = url.hasPrefix("https://") || url.hasPrefix("http://")
            let isPlain = url.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            return isAddress && isPlain && url.utf8.count <= Self.maximumURL ? url : nil
        }
        return picture
    }
}

extension [Picture] {
    /// The pictures as a database keeps them; nil for none.
    package var stored: String? { isEmpty ? nil : StoredJSON.text(of: self) }

    /// Reads ``stored``; none from anything else.
    package init(stored: String?) {
        let pictures = stored.flatMap {
            try? JSONDecoder().decode([Picture].self, from: Data($0.utf8))
        }
        self = pictures ?? []
    }
}

/// The format of a picture, read from its bytes: the type that a server names is not believed.
package enum PictureFormat: String, CaseIterable, Sendable {
    case jpeg, png, webp

    /// Reads the format; `nil` unless the bytes are a still picture that every network takes.
    package init?(_ bytes: some Collection<UInt8>) {
        let head = Array(bytes.prefix(12))
        if head.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if head.count == 12, head.starts(with: Array("RIFF".utf8)),
            head[8...].elementsEqual("WEBP".utf8)
        {
            self = .webp
        } else {
            return nil
        }
    }

    /// As `Content-Type` has it.
    package var mediaType: String { "image/\(rawValue)" }

    /// The extension of a file's name, without the dot.
    package var suffix: String { self == .jpeg ? "jpg" : rawValue }
}
