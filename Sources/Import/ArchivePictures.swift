import Foundation
import Posts

/// The wanted picture files of an archive, and their posts.
///
/// The files are read in a separate pass after the posts. Only pictures of posts are read: an
/// archive also holds the pictures of private messages.
final class ArchivePictures {
    /// The maximum number of files that are tracked.
    private static let maximumFiles = 100_000

    private let isWanted: (@Sendable (Post) -> Bool)?
    /// For each wanted file, the post and the position of the picture in it.
    private var picturesByFile: [String: (post: PostID, place: Int)] = [:]

    /// - Parameter isWanted: Whether to read the pictures of a post; nil to read none.
    init(_ isWanted: (@Sendable (Post) -> Bool)?) { self.isWanted = isWanted }

    /// Notes the files of a post's pictures.
    ///
    /// - Parameters:
    ///   - names: For each picture, the possible names of its file.
    ///   - post: The post; files are only noted if it has as many pictures as there are lists of
    ///     names.
    func noteFiles(_ names: [[String]], of post: Post) {
        guard let isWanted, names.count == post.pictures.count, !names.isEmpty, isWanted(post)
        else { return }
        for (index, alternatives) in names.enumerated()
        where picturesByFile.count < Self.maximumFiles {
            for name in alternatives where !MemberName.isUnsafe(name) {
                picturesByFile[name] = (post: post.id, place: index)
            }
        }
    }

    /// Reads the wanted files.
    ///
    /// - Parameters:
    ///   - source: The archive; pictures that are not in it are fetched from their network later.
    /// - Throws: ``ImportError``, or what `body` throws.
    func read(_ source: any MemberSource, _ body: @escaping (ArchiveItem) throws -> Void) throws {
        guard !picturesByFile.isEmpty else { return }
        try source.read(files: Set(picturesByFile.keys)) { [self] name in
            guard let picture = picturesByFile[name] else { return nil }
            return PictureSink { bytes in
                guard PictureFormat(bytes) != nil else { return }
                try body(.picture(picture.post, place: picture.place, bytes))
            }
        }
    }
}

/// Receives one file, unless it is too large for a picture.
private final class PictureSink: MemberSink {
    private let body: ([UInt8]) throws -> Void
    private var bytes: [UInt8] = []

    init(_ body: @escaping ([UInt8]) throws -> Void) { self.body = body }

    func feed(_ chunk: UnsafeRawBufferPointer) {
        if bytes.count <= Picture.maximumBytes { bytes.append(contentsOf: chunk) }
    }

    func finish() throws {
        if bytes.count <= Picture.maximumBytes { try body(bytes) }
    }
}

// MARK: Pictures in archives

/// Reads the media of a post in an X archive.
///
/// `extended_entities` has all media, `entities` only the first.
enum XArchivePictures {
    /// The pictures, if all media are still pictures; else none.
    static func pictures(_ media: [JSON]) -> [Picture] {
        Picture.all(
            distinct(media).map { medium in
                guard medium["type"]?.text == "photo" else { return nil }
                let size = medium["sizes"]?["large"]
                return Picture(
                    url: address(medium), alt: medium["ext_alt_text"]?.text ?? "",
                    width: number(size?["w"]),
                    height: number(size?["h"])
                ).cleaned
            })
    }

    /// The possible names of the files; there are several, because the folder had another name
    /// until 2020.
    static func files(_ media: [JSON], of id: UInt64) -> [[String]] {
        distinct(media).map { medium in
            guard let file = address(medium)?.split(separator: "/").last, file.utf8.count < 200
            else { return [] }
            return ["tweets_media", "tweet_media", "community_tweet_media"].map {
                "data/\($0)/\(id)-\(file)"
            }
        }
    }

    private static func address(_ medium: JSON) -> String? {
        medium["media_url_https"]?.text ?? medium["media_url"]?.text
    }

    /// The media without repetitions: the first medium is in both lists.
    private static func distinct(_ media: [JSON]) -> [JSON] {
        var includedKeys: Set<String> = []
        return media.filter { medium in
            guard let key = medium["id_str"]?.text ?? address(medium) else { return true }
            return includedKeys.insert(key).inserted
        }
    }

    private static func number(_ value: JSON?) -> Int? {
        guard let value else { return nil }
        if let number = value.text.flatMap({ Int($0) }) { return number }
        return value.integer
    }
}

/// An attachment of a post in the form of ActivityPub.
struct WireAttachment {
    /// Nil unless the file is a still image.
    let picture: Picture?
    /// The possible names of its file.
    let files: [String]
    /// Whether the attachment is only the preview card of a link in the text, which Mastodon
    /// attaches since version 4.5.
    let isCard: Bool

    private static let pictureTypes: Set = ["image/jpeg", "image/png", "image/webp"]
    private static let folder = "media_attachments/"

    init(_ fields: JSON) {
        let url = fields["url"]?.text ?? fields["url"]?["href"]?.text ?? fields["href"]?.text
        let type = fields["mediaType"]?.text
        let isMedia = ["image/", "video/", "audio/"].contains { type?.hasPrefix($0) == true }
        isCard = fields["type"]?.text == "Link" && !isMedia
        guard let url, let type, Self.pictureTypes.contains(type) else {
            picture = nil
            files = []
            return
        }
        func number(_ value: JSON?) -> Int? { value?.integer.flatMap { Int(exactly: $0) } }
        picture =
            Picture(
                url: url, alt: fields["name"]?.text ?? "", width: number(fields["width"]),
                height: number(fields["height"])
            ).cleaned
        guard let start = url.range(of: Self.folder) else {
            files = []
            return
        }
        // The second name lacks the outermost folder: `MemberName` drops it if the archive is not
        // inside a folder.
        files = [String(url[start.lowerBound...]), String(url[start.upperBound...])]
    }
}
