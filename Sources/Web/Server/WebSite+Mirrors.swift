import Control
import Foundation
import HTTPTypes
import Hummingbird
import Mirroring
import NIOCore
import Outbox
import Posts
import Settings

/// The routes of mirrors.
extension WebSite {
    func addMirrorRoutes(to router: Router<WebContext>) {
        for page in MirrorPages.all {
            for route in page.routes {
                router.on(RouterPath("/m/:mirror" + route.pattern), method: route.method) { request, context in
                    try await self.answer(request, context, pattern: route.pattern, route.answer)
                }
            }
        }
        let confirmations = MirrorPages.all.reduce(into: [:]) { all, page in
            all.merge(page.confirmations) { first, _ in first }
        }
        router.get("/m/:mirror/confirm/:operation") { request, context in
            guard let make = confirmations[try context.parameter("operation")] else { throw WebProblem.notFound }
            guard !self.isReadOnly else { throw WebProblem.readOnly }
            return try await self.answer(request, context, pattern: "/confirm/:operation") {
                .confirm(try await make($0))
            }
        }
        router.get("/m/:mirror/events") { request, context in
            let mirror = try await self.installation.mirror(named: try context.parameter("mirror"))
            return try await self.events.response(of: mirror.name, isAgain: request.headers[.lastEventID] != nil)
        }
    }

    private func answer(
        _ request: Request, _ context: WebContext, pattern: String, _ handler: MirrorRoute.Handler
    ) async throws -> Response {
        guard let session = context.session else { throw WebProblem.foreignForm }
        let name = try context.parameter("mirror")
        let mirror = try await installation.mirror(named: name)
        let now = mirror.clock.now
        let isChange = request.method == .post
        // Looking changes nothing, not even how times are kept.
        let record = isChange ? try await mirror.table.requireHere() : try await mirror.table.record()
        let zone =
            isChange ? try await mirror.recordedTimeZone(record, now: now) : mirror.knownTimeZone(record)
        guard let query = WebFields(encoded: request.uri.query ?? "") else { throw WebProblem.badForm }
        let mirrorRequest = MirrorRequest(
            mirror: mirror, record: record, zone: zone, now: now, path: Self.rest(of: request.uri.path),
            parameters: try Self.parameters(of: pattern, context), query: query, form: context.form,
            access: try await access(session, request), kept: kept)
        let reply = try await handler(mirrorRequest)
        return try await respond(reply, to: mirrorRequest, session, isGet: !isChange)
    }

    /// The path behind `/m/NAME`.
    private static func rest(of path: String) -> String {
        let parts = path.split(separator: "/", maxSplits: 2)
        return parts.count > 2 ? "/" + parts[2] : ""
    }

    private static func parameters(of pattern: String, _ context: WebContext) throws -> [String: String] {
        let names = pattern.split(separator: "/").filter { $0.hasPrefix(":") }.map { String($0.dropFirst()) }
        return Dictionary(uniqueKeysWithValues: try names.map { ($0, try context.parameter($0)) })
    }

    private func respond(
        _ reply: WebReply, to request: MirrorRequest, _ session: WebSession, isGet: Bool
    ) async throws -> Response {
        switch reply {
        case .page(let content): return try await page(content, of: request, session, isGet: isGet)
        case .confirm(let confirmation):
            return try await page(confirmation.page(of: request), of: request, session, isGet: isGet)
        case .seeOther(let path, let sentence):
            if let sentence { said.keep(sentence, for: session.id) }
            return Self.seeOther(path)
        case .file(let text, let type, let name):
            return Response(
                status: .ok,
                headers: [
                    .contentType: type,
                    .contentDisposition: "attachment; filename=\"\(Self.fileName(name))\"",
                ],
                body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
        case .missing(let text):
            throw WebProblem(status: .notFound, title: "It is not there", text: text, back: request.base)
        }
    }

    private static func fileName(_ name: String) -> String {
        name.filter { $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }
    }

    // MARK: The frame

    private func page(
        _ content: PageContent, of request: MirrorRequest, _ session: WebSession, isGet: Bool
    ) async throws -> Response {
        let refusal = content.refusal
        let frame = try await Frame(
            content, of: request, said: isGet ? said.take(for: session.id) : nil, isGet: isGet, version: build.version)
        let status: HTTPResponse.Status = refusal.map { $0.isMisuse ? .badRequest : .conflict } ?? .ok
        let context = frame.context.merging([
            "band": .fields(band(tellsMore: content.section == .today && content.showsVerdict))
        ]) { $1 }
        return Self.html(TemplateLibrary.standard.render(.frame, context), status: status)
    }
}

extension HTTPField.Name {
    fileprivate static let lastEventID = named("Last-Event-ID")
}
