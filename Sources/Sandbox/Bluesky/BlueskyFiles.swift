import Foundation

/// Files of repositories, which records may refer to and anybody may read.
extension BlueskyCall {
    static let fileRoutes: [String: BlueskyRoute] = [
        "com.atproto.repo.uploadBlob": .upload(.session, answer: BlueskyCall.uploadBlob),
        "com.atproto.sync.getBlob": .query(
            .open, parameters: ["did", "cid"], answer: BlueskyCall.getBlob),
    ]

    private static let largestFile = 50 << 20

    /// A file without a record is deleted after some time; equal bytes are the same file.
    private func uploadBlob(_ wire: inout BlueskyWire, _ state: inout SandboxState)
        throws(BlueskyRefusal)
        -> WireAnswer
    {
        let person = try account()
        guard request.body.count <= Self.largestFile else {
            throw BlueskyRefusal(413, "PayloadTooLarge", "request entity too large")
        }
        // The bytes determine the type, if they are recognized.
        let type =
            SandboxMedia.type(of: request.body) ?? request.mediaType ?? "application/octet-stream"
        let cid = ContentID(ofFile: request.body).text
        let media = state.upload(request.body, type: type, alt: "", by: person, at: now, takes: 0)
        wire.repository.files[cid, default: [:]][person] = media
        return .json([
            "blob": [
                "$type": "blob", "ref": ["$link": .string(cid)], "mimeType": .string(type),
                "size": .integer(request.body.count),
            ]
        ])
    }

    private func getBlob(_ wire: inout BlueskyWire, _ state: inout SandboxState)
        throws(BlueskyRefusal) -> WireAnswer
    {
        let did = try required("did")
        let cid = try required("cid")
        guard let person = wire.repository.people.index(of: did) else {
            throw BlueskyRefusal(400, "RepoNotFound", "Could not find repo: \(did.prefix(80))")
        }
        if let media = wire.repository.files[cid]?[person] {
            return .file(media.bytes, type: media.type)
        }
        let posts = state.postsByAuthor[person].compactMap { state.posts[$0] }
        let imageFiles = posts.lazy.filter { $0.attachment == .image }.map {
            SandboxMedia.picture(of: $0.id)
        }
        guard let picture = imageFiles.first(where: { ContentID(ofFile: $0).text == cid }) else {
            throw BlueskyRefusal(400, "BlobNotFound", "Blob not found", isExpected: true)
        }
        return .file(picture, type: "image/png")
    }
}
