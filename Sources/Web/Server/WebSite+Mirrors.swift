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
            let query = WebFields(encoded: request.uri.query ?? "")
            let known = request.headers[.lastEventID] ?? query?["since"]
            return try await self.events.response(of: mirror.name, since: known)
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
        // Read before the page: what changes meanwhile is told twice rather than never.
        let stamps = isChange ? nil : try await MirrorStamps(of: [mirror.name], in: installation.storage, now: now)
        let visit = Visit(
            session: session, isGet: !isChange,
            isSeen: request.headers[.fetchMode].map { $0 == "navigate" } ?? true, stamp: stamps?.digest(of: mirror.name)
        )
        return try await respond(try await handler(mirrorRequest), to: mirrorRequest, visit)
    }

    /// What an answer depends on besides the reply.
    private struct Visit {
        let session: WebSession
        let isGet: Bool
        /// Whether a person sees the answer: the script asks for pages too, and shows parts of them.
        let isSeen: Bool
        /// The digest of the mirror's stamps; `nil` where no stream is opened.
        let stamp: String?
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
        _ reply: WebReply, to request: MirrorRequest, _ visit: Visit
    ) async throws -> Response {
        switch reply {
        case .page(let content): return try await page(content, of: request, visit)
        case .confirm(let confirmation):
            return try await page(confirmation.page(of: request), of: request, visit)
        case .seeOther(let path, let sentence):
            if let sentence { said.keep(sentence, for: visit.session.id) }
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
        _ content: PageContent, of request: MirrorRequest, _ visit: Visit
    ) async throws -> Response {
        let refusal = content.refusal
        let frame = try await Frame(
            content, of: request, said: visit.isGet && visit.isSeen ? said.take(for: visit.session.id) : nil,
            isGet: visit.isGet, stamp: visit.stamp, version: build.version)
        let status: HTTPResponse.Status = refusal.map { $0.isMisuse ? .badRequest : .conflict } ?? .ok
        let context = frame.context.merging([
            "band": .fields(band(tellsMore: content.section == .today && content.showsVerdict))
        ]) { $1 }
        return Self.html(TemplateLibrary.standard.render(.frame, context), status: status)
    }
}

extension HTTPField.Name {
    fileprivate static let lastEventID = named("Last-Event-ID")
    fileprivate static let fetchMode = named("Sec-Fetch-Mode")
}
