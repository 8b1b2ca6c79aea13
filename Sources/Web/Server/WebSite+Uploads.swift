import Control
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Mirroring
import NIOCore
import Posts
import Settings
import Storage

/// Archives that a browser uploads for the set-up of a mirror.
///
/// `upload.js` sends a file in pieces. The response to each contains the number of received bytes,
/// from which it continues, or `done`.
extension WebSite {
    /// The path of uploads after `/m/NAME`.
    static let uploadPath = SetupPage.path + "/upload"

    /// Whether the body of a request may be a piece of a file instead of a form.
    static func isUpload(_ request: Request) -> Bool {
        request.method == .post && request.uri.path.hasPrefix("/m/")
            && request.uri.path.hasSuffix(uploadPath)
    }

    func addUploadRoutes(to router: Router<WebContext>) {
        let path = RouterPath("/m/:mirror" + Self.uploadPath)
        router.get(path) { request, context in
            let upload = try await self.upload(request, context)
            return Self.plain("\(try await self.uploads.received(upload.file))")
        }
        router.post(path) { request, context in try await self.receive(request, context) }
    }

    /// The file that a request uploads.
    private struct Upload {
        let mirror: HumanMirror
        let file: UploadFolder.File
        let query: WebFields
    }

    private func upload(_ request: Request, _ context: WebContext) async throws -> Upload {
        let mirror = try await installation.mirror(named: try context.parameter("mirror"))
        guard let query = WebFields(encoded: request.uri.query ?? ""),
            let file = UploadFolder.File(
                mirror: mirror.name, name: query["name"], size: query["size"],
                modified: query["modified"])
        else { throw WebProblem.badForm }
        return Upload(mirror: mirror, file: file, query: query)
    }

    private func receive(_ request: Request, _ context: WebContext) async throws -> Response {
        let upload = try await upload(request, context)
        guard let offset = upload.query["offset"].flatMap({ Int64($0) }), offset >= 0,
            let subject = upload.query["what"].flatMap(SetupWork.Subject.init(rawValue:))
        else { throw WebProblem.badForm }
        let piece: ByteBuffer
        do {
            piece = try await request.body.collect(upTo: UploadFolder.mostOfPiece)
        } catch {
            throw WebProblem(
                status: .contentTooLarge, title: "That is too much",
                text: "A piece of a file holds 8 MiB at most.")
        }
        let outcome: UploadFolder.Outcome
        do {
            outcome = try await uploads.add(
                Array(piece.readableBytesView), at: offset, to: upload.file, now: now)
        } catch let fault as FileFault {
            logger.error("Upload not stored", metadata: ["error": "\(fault)"])
            return Self.plain(
                "the file could not be stored: \(fault)", status: .noRoom)
        }
        switch outcome {
        case .partial(let received): return Self.plain("\(received)")
        case .full:
            return Self.plain(
                "the disk of this machine has no room for the file", status: .noRoom)
        case .whole(let path):
            let isRead = setup.train(
                subject, from: .archive(path: path), for: upload.mirror,
                afterwards: { [uploads] in await uploads.remove(upload.file) })
            return isRead
                ? Self.plain("done")
                : Self.plain("something is being read already", status: .conflict)
        }
    }
}

extension HTTPResponse.Status {
    /// Insufficient Storage (RFC 4918, section 11.5).
    fileprivate static let noRoom = HTTPResponse.Status(
        code: 507, reasonPhrase: "Insufficient Storage")
}
