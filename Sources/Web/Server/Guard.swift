import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Mirroring
import NIOCore
import Settings

/// What stands before every answer: who may ask, from where, and what browsers may do with the answer.
struct Guard: RouterMiddleware {
    typealias Context = WebContext

    /// Bytes of a form, at most.
    private static let formLimit = 64 * 1_024

    /// For every answer.
    private static let policy: HTTPFields = [
        .contentSecurityPolicy: "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
            + "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        .xContentTypeOptions: "nosniff",
        // With no-referrer a browser sends no usable Origin with a form.
        .referrerPolicy: "same-origin",
        .openerPolicy: "same-origin",
        .resourcePolicy: "same-origin",
    ]

    let site: WebSite

    func handle(
        _ request: Request, context: WebContext, next: (Request, WebContext) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            response = try await guarded(request, context, next)
        } catch let error as HTTPError {
            response = site.answer(error.status == .notFound ? .notFound : .badForm, to: request.uri.path)
        } catch {
            let problem = WebProblem(error)
            if problem.status.code >= 500 {
                // Never the text of an error: it may hold what somebody wrote.
                site.logger.error(
                    "Page not made",
                    metadata: ["type": "\(type(of: error))", "status": "\(problem.status.code)"])
            }
            response = site.answer(problem, to: request.uri.path)
        }
        for field in Self.policy { response.headers[field.name] = field.value }
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        return response
    }

    private func guarded(
        _ request: Request, _ context: WebContext, _ next: (Request, WebContext) async throws -> Response
    ) async throws -> Response {
        let path = request.uri.path
        try requireOwnHost(request)
        let isRead = request.method == .get || request.method == .head
        if !isRead { try requireOwnOrigin(request) }
        if isRead, WebSite.isOpen(path) { return try await next(request, context) }
        if WebSite.isPublic(path) { return try await visited(request, context, isRead: isRead, next) }
        var context = context
        let isLogin = path == "/login"
        if !isRead {
            if site.isReadOnly, !isLogin, path != "/logout" { throw WebProblem.readOnly }
            context.form = try await Self.form(of: request)
        }
        guard !isLogin else { return try await next(request, context) }
        guard var session = site.session(of: request) else {
            guard isRead else { throw WebProblem.foreignForm }
            return site.loginPage(next: isRead ? request.uri.string : "/", request, status: .unauthorized)
        }
        if !isRead, !site.accepts(context.form["csrf"], of: session) { throw WebProblem.foreignForm }
        let isNew = session.isNew
        session.isNew = false
        context.session = session
        var response = try await next(request, context)
        if isNew { response.headers.append(site.cookie(session, isLong: false, request)) }
        return response
    }

    /// A request of the public page, which needs no log-in, and whose forms hold the token of its visitor.
    private func visited(
        _ request: Request, _ context: WebContext, isRead: Bool,
        _ next: (Request, WebContext) async throws -> Response
    ) async throws -> Response {
        var (context, visitor) = (context, WebSessions.visitor(of: request.headers))
        if !isRead {
            if site.isReadOnly { throw WebProblem.readOnly }
            context.form = try await Self.form(of: request)
            guard site.accepts(context.form["csrf"], of: visitor) else {
                var problem = WebProblem.foreignForm
                problem.back = WebSite.publicBase(of: request.uri.path)
                throw problem
            }
        }
        let isNew = visitor.isNew
        visitor.isNew = false
        context.visitor = visitor
        var response = try await next(request, context)
        if isNew, response.status == .ok {
            let cookie = WebSessions.visitorCookie(visitor, isSecure: WebSite.isSecure(request))
            response.headers.append(HTTPField(name: .setCookie, value: cookie))
        }
        return response
    }

    // MARK: Host and origin

    /// A page of another name that resolves to this address reads and changes nothing.
    private func requireOwnHost(_ request: Request) throws {
        let host = Self.hostName(request.head.authority ?? "")
        guard !site.knows(host: host) else { return }
        throw WebProblem(
            status: .misdirectedRequest, title: "This server has another name",
            text: "It was called \(host.isEmpty ? "by no name" : host). Whoever runs it adds the name to WEB_HOSTS.")
    }

    /// A form of another site changes nothing.
    private func requireOwnOrigin(_ request: Request) throws {
        guard let origin = request.headers[.origin] else {
            guard request.headers[.fetchSite] == "same-origin" else { throw WebProblem.foreignForm }
            return
        }
        let parts = origin.components(separatedBy: "://")
        guard parts.count == 2, ["http", "https"].contains(parts[0]) else { throw WebProblem.foreignForm }
        // A proxy may have changed the name that the browser called; then the name is listed.
        let isOwn =
            parts[1].lowercased() == request.head.authority?.lowercased()
            || site.settings.hosts.contains(Self.hostName(parts[1]))
        guard isOwn else { throw WebProblem.foreignForm }
    }

    /// The name in `name:port`, in lower case, without the brackets of IPv6 and a point at the end.
    static func hostName(_ authority: String) -> String {
        var name = authority.lowercased()
        if name.hasPrefix("[") {
            guard let end = name.firstIndex(of: "]") else { return "" }
            return String(name[name.index(after: name.startIndex)..<end])
        }
        if let colon = name.firstIndex(of: ":") { name = String(name[..<colon]) }
        if name.hasSuffix(".") { name.removeLast() }
        return name
    }

    // MARK: Forms

    private static func form(of request: Request) async throws -> WebFields {
        let type = request.headers[.contentType]?.lowercased() ?? ""
        guard type.hasPrefix("application/x-www-form-urlencoded") || type.isEmpty else { throw WebProblem.badForm }
        let body: ByteBuffer
        do {
            body = try await request.body.collect(upTo: formLimit)
        } catch {
            throw WebProblem(
                status: .contentTooLarge, title: "That is too much",
                text: "Nothing was done. A form holds 64 KiB at most.")
        }
        guard let text = String(validating: body.readableBytesView, as: UTF8.self),
            let form = WebFields(encoded: text)
        else { throw WebProblem.badForm }
        return form
    }
}

extension HTTPField.Name {
    static let referrerPolicy = named("Referrer-Policy")
    static let openerPolicy = named("Cross-Origin-Opener-Policy")
    static let resourcePolicy = named("Cross-Origin-Resource-Policy")
    static let fetchSite = named("Sec-Fetch-Site")
    static let forwardedProtocol = named("X-Forwarded-Proto")

    static func named(_ name: String) -> HTTPField.Name {
        guard let field = HTTPField.Name(name) else { preconditionFailure("\(name) is no name of a header") }
        return field
    }
}
