import Foundation
import Posts

/// Uploading files for posts, and asking whether they are ready.
extension MastodonCall {
    static let mediaRoutes: [MastodonRoute] = [
        MastodonRoute(
            "POST", "/api/v2/media", .scope(["write:media"]),
            fields: ["file", "description", "focus", "thumbnail"],
            answer: MastodonCall.uploadMedia),
        MastodonRoute(
            "GET", "/api/v1/media/:id", .scope(["write:media"]), answer: MastodonCall.readMedia),
    ]

    private static let largestFile = 16 << 20
    private static let longestDescription = 1_500

    /// Uploads a file; the answer is 202 if the server has to process the file first, which then
    /// has no address yet.
    private func uploadMedia(_ state: inout SandboxState) throws(WireRefusal) -> WireAnswer {
        let person = try account()
        guard let form = WireForm(request), let file = form.files["file"] else {
            throw .invalid("File can't be blank")
        }
        guard let type = SandboxMedia.type(of: file.bytes) else {
            throw .invalid("File content type is invalid")
        }
        guard file.bytes.count <= Self.largestFile else { throw .invalid("File size is too large") }
        let alt = form.texts["description"] ?? ""
        guard alt.unicodeScalars.count <= Self.longestDescription else {
            throw .invalid("Description character limit of \(Self.longestDescription) exceeded")
        }
        let media = state.upload(
            file.bytes, type: type, alt: alt, by: person, at: now, takes: habits.mediaTakes)
        return .json(
            entities(state).media(media, isReady: media.ready <= now),
            status: media.ready <= now ? 200 : 202)
    }

    private func readMedia(_ state: inout SandboxState) throws(WireRefusal) -> WireAnswer {
        let person = try account()
        guard let media = state.media[try id()], media.owner == person, !media.isAttached else {
            throw .notFound
        }
        let isReady = media.ready <= now
        return .json(entities(state).media(media, isReady: isReady), status: isReady ? 200 : 206)
    }

    /// The files that a post names.
    func attachments(_ state: SandboxState, of person: Int) throws(WireRefusal) -> [SandboxMedia] {
        let names = try fields.texts("media_ids")
        guard !names.isEmpty else { return [] }
        let ids = names.compactMap(habits.ids.number)
        guard let media = state.unattached(ids, of: person, at: now), media.count == names.count
        else {
            throw .invalid(
                "Media could not be found, is still being processed, or belongs to another post")
        }
        return media
    }
}
