package import Foundation
import Posts

/// An uploaded file, for a post that may not exist yet.
struct SandboxMedia: Sendable {
    var id: Int64
    var owner: Int
    var bytes: [UInt8]
    /// The media type, as recognized from the bytes.
    var type: String
    var alt: String
    /// The time when the server has processed the file; before, no post may contain it.
    var ready: Date
    var isAttached = false

    /// Returns the media type of a file by its first bytes; `nil` unless it is JPEG, PNG or WebP.
    static func type(of bytes: [UInt8]) -> String? {
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if bytes.starts(with: [0x89] + Array("PNG\r\n".utf8)) { return "image/png" }
        if bytes.starts(with: Array("RIFF".utf8)),
            bytes.dropFirst(8).starts(with: Array("WEBP".utf8))
        {
            return "image/webp"
        }
        return nil
    }

    /// The picture of a post without an upload: a PNG of one pixel, followed by the post's number.
    static func picture(of post: Int64) -> [UInt8] { pixel + Array(String(post).utf8) }

    private static let pixel = Array(
        Data(
            base64Encoded:
                """
                iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==
                """
        ) ?? Data())
}

extension SandboxLedger {
    /// A picture that the bot uploaded.
    package struct Upload: Equatable, Sendable {
        package var id: String
        package var type: String
        package var size: Int
        package var alt: String
        package var date: Date
    }

    /// A picture of a post.
    package struct Picture: Equatable, Sendable {
        /// The id of the upload; on Bluesky, the content identifier of its bytes.
        package var id: String
        package var alt: String
    }
}

/// Files for posts.
extension SandboxState {
    /// Stores a file.
    mutating func upload(
        _ bytes: [UInt8], type: String, alt: String, by owner: Int, at date: Date,
        takes: TimeInterval
    )
        -> SandboxMedia
    {
        let media = SandboxMedia(
            id: nextID(at: date, wanted: nil), owner: owner, bytes: bytes, type: type, alt: alt,
            ready: date + takes)
        self.media[media.id] = media
        if owner == SandboxPopulation.bot {
            ledger.uploads.append(
                .init(id: String(media.id), type: type, size: bytes.count, alt: alt, date: date))
        }
        return media
    }

    /// Sets the description of a file.
    mutating func describe(_ id: Int64, as alt: String) {
        media[id]?.alt = alt
        if let index = ledger.uploads.firstIndex(where: { $0.id == String(id) }) {
            ledger.uploads[index].alt = alt
        }
    }

    /// The files of a new post; nil if one of them is not the person's, is already in a post, or is
    /// not ready.
    func unattached(_ ids: [Int64], of person: Int, at date: Date) -> [SandboxMedia]? {
        let usableFiles = ids.compactMap { media[$0] }.filter {
            $0.owner == person && !$0.isAttached && $0.ready <= date
        }
        return usableFiles.count == ids.count && Set(ids).count == ids.count && ids.count <= 4
            ? usableFiles : nil
    }

    /// Returns the answer to any request of a picture's path; `nil` if no picture has this path.
    func picture(at path: String) -> WireAnswer? {
        let parts = path.split(separator: "/")
        guard parts.count == 2, parts[0] == "media", let id = Int64(parts[1].prefix { $0 != "." })
        else { return nil }
        if let media = media[id] { return .file(media.bytes, type: media.type) }
        guard let post = posts[id], post.attachment == .image else {
            return WireAnswer(status: 404)
        }
        return .file(SandboxMedia.picture(of: id), type: "image/png")
    }
}

extension WireAnswer {
    static func file(_ bytes: [UInt8], type: String) -> WireAnswer {
        WireAnswer(status: 200, headers: [("content-type", type)], body: bytes)
    }
}

/// A form with files (RFC 7578).
struct WireForm: Sendable {
    /// A file, with the name that the client gave it.
    struct File: Sendable {
        var name: String
        var type: String
        var bytes: [UInt8]
    }

    private(set) var texts: [String: String] = [:]
    private(set) var files: [String: File] = [:]

    /// Nil for a body that is not such a form.
    init?(_ request: WireRequest) {
        guard let header = request.header("content-type"),
            let parameter = header.range(of: "boundary=")
        else { return nil }
        let value = header[parameter.upperBound...].prefix { $0 != ";" }
        let boundary = value.trimmingCharacters(in: ["\""])
        guard !boundary.isEmpty else { return nil }
        let body = Data(request.body)
        let separator = Data("--\(boundary)".utf8)
        guard body.starts(with: separator) else { return nil }
        var position = separator.count
        while true {
            if body[position...].starts(with: Data("--".utf8)) { return }
            guard body[position...].starts(with: Data("\r\n".utf8)),
                let end = body.range(of: Data("\r\n".utf8) + separator, in: position..<body.count),
                let blank = body.range(of: Data("\r\n\r\n".utf8), in: position..<end.lowerBound)
            else { return nil }
            let head = String(decoding: body[position..<blank.lowerBound], as: UTF8.self)
            guard
                readPart(
                    head: head, content: Array(body[blank.upperBound..<end.lowerBound]))
            else { return nil }
            position = end.upperBound
        }
    }

    /// Reads one part; false if its headers are missing.
    private mutating func readPart(head: String, content: [UInt8]) -> Bool {
        func value(_ name: String) -> String? {
            guard let start = head.range(of: " \(name)=\"") else { return nil }
            return String(head[start.upperBound...].prefix { $0 != "\"" })
        }
        guard head.lowercased().contains("content-disposition: form-data"), let name = value("name")
        else {
            return false
        }
        if let file = value("filename") {
            let type = head.range(of: "Content-Type: ").map {
                String(head[$0.upperBound...].prefix { !$0.isNewline })
            }
            files[name] = File(name: file, type: type ?? "application/octet-stream", bytes: content)
        } else {
            texts[name] = String(decoding: content, as: UTF8.self)
        }
        return true
    }
}
