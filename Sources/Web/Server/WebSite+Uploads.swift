import Control
import Foundation
import HTTPTypes
import Hummingbird
import Localization
import Logging
import Mirroring
import NIOCore
import Posts
import Settings
import Storage

/// Archives that a browser uploads for the set-up of a mirror.
///
/// `upload.js` sends a file in pieces. The response to each piece is the number of bytes received
/// so far, from which the script continues, or `done`. A browser without scripts sends the file as
/// part of a form.
extension WebSite {
    /// The path of uploads in pieces after `/m/NAME`.
    static let uploadPath = SetupPage.path + "/upload"
    /// The path of the form with a file after `/m/NAME`.
    static let filePath = SetupPage.path + "/file"
    /// The most bytes of a field before the file.
    private static let longestField = 1_024
    /// The number of fields that may precede the file.
    private static let mostFields = 8
    /// The bytes of a form's file that are written at once.
    private static let sizeOfWrite = 1 << 20

    /// Whether the body of a request is a piece of a file instead of a form.
    static func isUpload(_ request: Request) -> Bool {
        request.method == .post && request.uri.path.hasPrefix("/m/")
            && request.uri.path.hasSuffix(uploadPath)
    }

    /// Whether the body of a request is the form with a file, whose token is read with it.
    static func isFileForm(_ request: Request) -> Bool {
        request.method == .post && request.uri.path.hasPrefix("/m/")
            && request.uri.path.hasSuffix(filePath)
    }

    func addUploadRoutes(to router: Router<WebContext>) {
        let path = RouterPath("/m/:mirror" + Self.uploadPath)
        router.get(path) { request, context in
            let upload = try await self.upload(request, context)
            return Self.plain("\(try await self.uploads.received(upload.file))")
        }
        router.post(path) { request, context in try await self.receive(request, context) }
        router.post(RouterPath("/m/:mirror" + Self.filePath)) { request, context in
            do {
                return try await self.receiveForm(request, context)
            } catch is FormParts<RequestBody>.Malformed {
                throw WebProblem.badForm
            }
        }
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
                status: .contentTooLarge, title: localized("That is too much"),
                text: localized("A piece of a file holds 8 MiB at most."))
        }
        switch await add(Array(piece.readableBytesView), at: offset, to: upload.file) {
        case .partial(let received): return Self.plain("\(received)")
        case .diskFull:
            return Self.plain(
                localized("the disk of this machine has no room for the file"), status: .noRoom)
        case nil:
            return Self.plain(
                localized("the file could not be stored; the log of this machine says why"),
                status: .noRoom)
        case .whole(let path):
            return read(upload.file, at: path, as: subject, for: upload.mirror)
                ? Self.plain("done")
                : Self.plain(localized("something is being read already"), status: .conflict)
        }
    }

    /// Adds bytes to a file; nil after an error of the disk, which is logged.
    private func add(_ bytes: [UInt8], at offset: Int64, to file: UploadFolder.File) async
        -> UploadFolder.Outcome?
    {
        do {
            return try await uploads.add(bytes, at: offset, to: file, now: now)
        } catch {
            logger.error("Upload not stored", metadata: ["error": "\(error)"])
            return nil
        }
    }

    /// Begins to read a received file, which is removed afterwards; false if another one is being
    /// read.
    private func read(
        _ file: UploadFolder.File, at path: String, as subject: SetupWork.Subject,
        for mirror: HumanMirror
    ) -> Bool {
        setup.train(
            subject, from: .archive(path: path), for: mirror,
            afterwards: { [uploads] in await uploads.remove(file) })
    }

    // MARK: The form

    /// Receives a form whose last field is the file.
    ///
    /// The fields before it contain the token, so that no byte of a file is stored for another
    /// page's form.
    private func receiveForm(_ request: Request, _ context: WebContext) async throws -> Response {
        guard let session = context.session else { throw WebProblem.foreignForm }
        var parts = try FormParts(
            request.body, contentType: request.headers[.contentType])
        var fields: [(String, String)] = []
        while let part = try await parts.next() {
            guard part.name == "file" else {
                guard fields.count < Self.mostFields,
                    let value = try await parts.text(upTo: Self.longestField)
                else { throw WebProblem.badForm }
                fields.append((part.name, value))
                continue
            }
            let form = WebFields(fields)
            guard accepts(form["csrf"], of: session) else { throw WebProblem.foreignForm }
            let mirror = try await installation.mirror(named: try context.parameter("mirror"))
            guard let subject = form["what"].flatMap(SetupWork.Subject.init(rawValue:)) else {
                throw WebProblem.badForm
            }
            guard let name = part.file, !name.isEmpty else { throw WebProblem.noFile }
            // The form is a little longer than its file, whose own size it does not state.
            guard
                let file = UploadFolder.File(
                    mirror: mirror.name, name: name, size: request.headers[.contentLength],
                    modified: "0")
            else { throw WebProblem.unusableFile }
            let path = try await store(&parts, as: file)
            guard read(file, at: path, as: subject, for: mirror) else {
                await uploads.remove(file)
                throw WebProblem.isReading
            }
            return Self.seeOther(
                MirrorRequest.base(of: mirror.name) + SetupPage.path
                    + WebFields.query([("step", subject.step.rawValue)]))
        }
        throw WebProblem.badForm
    }

    /// Writes the content of a form's file to the disk; returns its path.
    private func store(_ parts: inout FormParts<RequestBody>, as file: UploadFolder.File)
        async throws -> String
    {
        // An interrupted form may have left a part of a file, to which nothing must be added.
        await uploads.remove(file)
        do {
            var offset: Int64 = 0
            var block: [UInt8] = []
            var isComplete = false
            while !isComplete {
                if let more = try await parts.content() {
                    block += more
                } else {
                    isComplete = true
                }
                guard isComplete || block.count >= Self.sizeOfWrite else { continue }
                offset += Int64(block.count)
                let outcome = await add(block, at: offset - Int64(block.count), to: file)
                // The stated size is that of the form, so the file alone never reaches it.
                guard case .partial(offset) = outcome else {
                    throw outcome == .diskFull ? WebProblem.noRoom : WebProblem.notStored
                }
                block = []
            }
            guard offset > 0 else { throw WebProblem.noFile }
            return uploads.filePath(of: file)
        } catch {
            await uploads.remove(file)
            throw error
        }
    }
}

extension WebProblem {
    fileprivate static var noFile: WebProblem {
        WebProblem(
            status: .badRequest, title: localized("No file was chosen"),
            text: localized("Nothing was done. Go back and choose the downloaded archive."))
    }

    fileprivate static var unusableFile: WebProblem {
        WebProblem(
            status: .contentTooLarge, title: localized("That is no archive"),
            text: localized(
                "Nothing was done. A file holds 16 GiB at most, and the browser has to state its size."
            ))
    }

    fileprivate static var isReading: WebProblem {
        WebProblem(
            status: .conflict, title: localized("Something is being read already"),
            text: localized("Nothing was done. Wait for its end, and send the file then."))
    }

    fileprivate static var noRoom: WebProblem {
        WebProblem(
            status: .noRoom, title: localized("The file could not be stored"),
            text: localized("Nothing was done. The disk of the machine has no room for it."))
    }

    fileprivate static var notStored: WebProblem {
        WebProblem(
            status: .noRoom, title: localized("The file could not be stored"),
            text: localized(
                "Nothing was done. Send it again; if that fails too, the log of the machine says why."
            ))
    }
}

extension HTTPResponse.Status {
    /// Insufficient Storage (RFC 4918, section 11.5).
    fileprivate static let noRoom = HTTPResponse.Status(
        code: 507, reasonPhrase: "Insufficient Storage")
}
