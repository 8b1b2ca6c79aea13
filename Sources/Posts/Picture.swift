import Foundation

/// A picture of a post: its address, and its description.
package struct Picture: Codable, Equatable, Sendable {
    /// The picture's web address; nil if only an archive's file is known.
    package var url: String?
    /// The alternative text; empty if the author gave none.
    package var alt: String
    /// The size of the picture, in pixels; nil if unknown.
    package var width: Int?
    package var height: Int?
    /// Whether the author wants it hidden until a reader asks for it.
    package var isSensitive: Bool?

    package init(url: String? = nil, alt: String = "", width: Int? = nil, height: Int? = nil) {
        self.url = url
        self.alt = alt
        // Networks use the size for the layout of the post; a wrong size is worse than none.
        let isPlausible = [width, height].allSatisfy { length in
            length.map((1...100_000).contains) == true
        }
        self.width = isPlausible ? width : nil
        self.height = isPlausible ? height : nil
    }

    /// The maximum number of pictures that any network accepts with one post.
    package static let maximumPerPost = 4
    /// The largest picture that is kept or sent, in bytes; some networks accept less.
    package static let maximumBytes = 8 << 20
    /// The longest accepted address, in bytes; addresses in use are shorter.
    private static let maximumURL = 4_096
    /// The longest description that is kept, in code points; no network allows more.
    private static let maximumAlt = 10_000

    /// The pictures of a post if all its attachments are pictures; else none.
    ///
    /// - Parameters:
    ///   - pictures: The attachments, nil for each that is not a picture.
    ///   - hasMore: Whether there are other attachments, such as a poll.
    /// - Returns: The pictures, in their order.
    package static func all(_ pictures: [Picture?], besides hasMore: Bool = false) -> [Picture] {
        let present = pictures.compactMap(\.self)
        let hasOtherMedia = hasMore || present.count < pictures.count
        return hasOtherMedia || present.count > maximumPerPost ? [] : present
    }

    /// The picture with invalid values removed, which a server may have sent.
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
    /// The pictures in their stored form; nil for none.
    package var stored: String? { isEmpty ? nil : StoredJSON.text(of: self) }

    /// Parses ``stored``; none if the text is invalid.
    package init(stored: String?) {
        let pictures = stored.flatMap {
            try? JSONDecoder().decode([Picture].self, from: Data($0.utf8))
        }
        self = pictures ?? []
    }
}

/// The format of a picture, detected from its bytes, because a server's media type may be wrong.
package enum PictureFormat: String, CaseIterable, Sendable {
    case jpeg, png, webp

    /// Detects the format; `nil` unless the bytes are a still picture that every network accepts.
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

    /// The value for `Content-Type`.
    package var mediaType: String { "image/\(rawValue)" }

    /// The extension of a file name, without the dot.
    package var suffix: String { self == .jpeg ? "jpg" : rawValue }
}
