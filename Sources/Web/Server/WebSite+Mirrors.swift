import Control
import Foundation
import HTTPTypes
import Hummingbird
import Localization
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
                router.on(RouterPath("/m/:mirror" + route.pattern), method: route.method) {
                    request, context in
                    try await self.answer(request, context, by: route)
                }
            }
        }
        let confirmations = MirrorPages.all.reduce(into: [:]) { all, page in
            all.merge(page.confirmations) { first, _ in first }
        }
        router.get("/m/:mirror/confirm/:operation") { request, context in
            guard let make = confirmations[try context.parameter("operation")] else {
                throw WebProblem.notFound
            }
            let route = MirrorRoute.get("/confirm/:operation") { .confirm(try await make($0)) }
            return try await self.answer(request, context, by: route)
        }
        router.get("/m/:mirror/events") { request, context in
            let mirror = try await self.installation.mirror(named: try context.parameter("mirror"))
            let query = WebFields(encoded: request.uri.query ?? "")
            let knownDigest = request.headers[.lastEventID] ?? query?["since"]
            guard let session = context.session else { throw WebProblem.foreignForm }
            guard request.method != .head else {
                return Response(status: .ok, headers: EventHub.headers)
            }
            return try await self.events.response(
                of: mirror.name, since: knownDigest,
                owner: StreamOwner(
                    session: session.id, share: self.caller(of: request, context).share),
                on: context.channel)
        }
    }

    private func answer(
        _ request: Request, _ context: WebContext, by route: MirrorRoute
    ) async throws -> Response {
        guard let session = context.session else { throw WebProblem.foreignForm }
        if route.isChange, isReadOnly { throw WebProblem.readOnly }
        if route.isChange, request.method == .head {
            return Response(status: .methodNotAllowed, headers: [.allow: "GET"])
        }
        let fetchMode = request.headers[.fetchMode]
        let isSeen = fetchMode == nil || fetchMode == "navigate"
        // A response is not cached if it has the sentence with a result, which is shown once, or
        // the state of a set-up, which the database does not have.
        guard !route.isChange, route.pattern != SetupPage.path,
            !(isSeen && resultSentences.has(for: session.id))
        else {
            let visit = Visit(
                session: session, token: session.csrf, isGet: !route.isChange, isSeen: isSeen)
            return try await answer(request, context, by: route, visit)
                .response(token: session.csrf)
        }
        return try await page(for: session, key: Self.pageKey(request)) { token in
            let visit = Visit(session: session, token: token, isGet: true, isSeen: false)
            return try await self.answer(request, context, by: route, visit)
        }
    }

    private func answer(
        _ request: Request, _ context: WebContext, by route: MirrorRoute, _ visit: Visit
    ) async throws -> PageAnswer {
        let name = try context.parameter("mirror")
        let mirror = try await installation.mirror(named: name)
        let now = mirror.clock.now
        // Viewing a page changes nothing, not even the stored local times.
        let record =
            visit.isGet ? try await mirror.table.record() : try await mirror.table.requireHere()
        let zone =
            visit.isGet
            ? mirror.knownTimeZone(record) : try await mirror.recordedTimeZone(record, now: now)
        guard let query = WebFields(encoded: request.uri.query ?? "") else {
            throw WebProblem.badForm
        }
        let mirrorRequest = MirrorRequest(
            mirror: mirror, record: record, zone: zone, now: now,
            path: Self.pagePath(of: request.uri.path),
            parameters: try Self.parameters(of: route.pattern, context), query: query,
            form: context.form,
            access: try await access(token: visit.token, request),
            // The guard has checked that the origin is this server's.
            origin: request.method == .post ? request.headers[.origin]?.lowercased() : nil,
            kept: keptReports,
            setup: setup)
        // The stamp is read before the page is made. So if something changes in between, the
        // browser is told of it, even if the page shows it already.
        let stamps =
            visit.isGet
            ? try await MirrorStamps(of: [mirror.name], in: installation.storage, now: now) : nil
        return try await respond(
            try await route.answer(mirrorRequest), to: mirrorRequest, visit,
            stamp: stamps?.digest(of: mirror.name))
    }

    /// The values of a request that determine how the handler's reply becomes a response.
    private struct Visit {
        let session: WebSession
        /// The token of the forms in the response.
        let token: String
        /// Whether the request changes nothing, so that the same page can be requested again.
        let isGet: Bool
        /// Whether a person sees the response: the script requests pages too, and shows parts of
        /// them.
        let isSeen: Bool
    }

    /// The path after `/m/NAME`.
    private static func pagePath(of path: String) -> String {
        let parts = path.split(separator: "/", maxSplits: 2)
        return parts.count > 2 ? "/" + parts[2] : ""
    }

    private static func parameters(of pattern: String, _ context: WebContext) throws -> [String:
        String]
    {
        let names = pattern.split(separator: "/").filter { $0.hasPrefix(":") }.map {
            String($0.dropFirst())
        }
        return Dictionary(uniqueKeysWithValues: try names.map { ($0, try context.parameter($0)) })
    }

    private func respond(
        _ reply: WebReply, to request: MirrorRequest, _ visit: Visit, stamp: String?
    ) async throws -> PageAnswer {
        switch reply {
        case .page(let content): return try await page(content, of: request, visit, stamp: stamp)
        case .confirm(let confirmation):
            guard !isReadOnly else { throw WebProblem.readOnly }
            return try await page(confirmation.page(of: request), of: request, visit, stamp: stamp)
        case .seeOther(let path, let sentence):
            if let sentence { resultSentences.keep(sentence, for: visit.session.id) }
            return .other(Self.seeOther(path))
        case .file(let text, let type, let name):
            return .other(
                Response(
                    status: .ok,
                    headers: [
                        .contentType: type,
                        .contentDisposition: "attachment; filename=\"\(Self.fileName(name))\"",
                    ],
                    body: ResponseBody(byteBuffer: ByteBuffer(string: text))))
        case .missing(let text):
            throw WebProblem(
                status: .notFound, title: localized("It is not there"), text: text,
                back: request.base)
        }
    }

    private static func fileName(_ name: String) -> String {
        name.filter { $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }
    }

    // MARK: The frame

    private func page(
        _ content: PageContent, of request: MirrorRequest, _ visit: Visit, stamp: String?
    ) async throws -> PageAnswer {
        let frame = try await Frame(
            content, of: request,
            said: visit.isGet && visit.isSeen ? resultSentences.take(for: visit.session.id) : nil,
            isGet: visit.isGet, stamp: stamp, version: build.version)
        let context = frame.context.merging([
            "band": .fields(band(tellsMore: content.section == .today && content.showsVerdict))
        ]) { _, new in new }
        let markup = TemplateLibrary.standard.render(.frame, context)
        guard let refusal = content.refusal else {
            return .page(CachedPage(markup, tokenAt: visit.token))
        }
        return .other(Self.html(markup, status: refusal.isMisuse ? .badRequest : .conflict))
    }
}

extension HTTPField.Name {
    fileprivate static let lastEventID = named("Last-Event-ID")
    fileprivate static let fetchMode = named("Sec-Fetch-Mode")
}
