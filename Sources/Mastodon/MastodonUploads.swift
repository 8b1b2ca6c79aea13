import Foundation
package import Networks
import Posts
import Transport

/// Uploading pictures before the posts that contain them.
///
/// After a server accepted a picture (202), it may process the picture for some time. Until then it
/// refuses posts with the picture.
extension MastodonNetwork {
    package func upload(_ picture: PictureUpload) async throws -> (name: String, isReady: Bool) {
        let form = Self.form(picture)
        let call = NetworkCall(
            operation: .upload, method: .post, path: ["api", "v2", "media"], body: form.body,
            type: form.type)
        let response = try await session.send(call)
        let media = try client.decode(MastodonMedia.self, from: response, call)
        return (media.id, response.status != 202)
    }

    package func isReady(_ name: String) async throws -> Bool {
        let call = NetworkCall(operation: .upload, path: try path(.upload, "media", name))
        let response = try await session.send(call)
        _ = try client.decode(MastodonMedia.self, from: response, call)
        return response.status != 206
    }

    /// A picture and its description, as a browser would send them (RFC 7578).
    private static func form(_ picture: PictureUpload) -> (body: [UInt8], type: String) {
        // The boundary contains a digest of all bytes, so the bytes cannot contain the boundary.
        let boundary = "part-" + JSONBody.digest(picture.bytes)
        var body: [UInt8] = []
        func appendPart(_ disposition: String, type: String? = nil, content: [UInt8]) {
            body += Array(
                "--\(boundary)\r\nContent-Disposition: form-data; \(disposition)\r\n".utf8)
            if let type { body += Array("Content-Type: \(type)\r\n".utf8) }
            body += Array("\r\n".utf8) + content + Array("\r\n".utf8)
        }
        if !picture.alt.isEmpty {
            appendPart("name=\"description\"", content: Array(picture.alt.utf8))
        }
        let format = picture.format
        appendPart(
            "name=\"file\"; filename=\"picture.\(format.suffix)\"", type: format.mediaType,
            content: picture.bytes)
        body += Array("--\(boundary)--\r\n".utf8)
        return (body, "multipart/form-data; boundary=\(boundary)")
    }
}
