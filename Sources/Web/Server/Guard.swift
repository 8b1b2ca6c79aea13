import Foundation
import HTTPTypes
import Hummingbird
import Localization
import Logging
import Mirroring
import NIOCore
import Settings

/// Middleware that checks the session, host and origin of each request and sets the security
/// headers of each response.
struct Guard: RouterMiddleware {
    typealias Context = WebContext

    /// The largest accepted form, in bytes.
    private static let formLimit = 64 * 1_024

    /// The header fields that every response gets.
    private static let policy: HTTPFields = [
        .contentSecurityPolicy:
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
            + "manifest-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        .xContentTypeOptions: "nosniff",
        // With no-referrer a browser sends no usable Origin with a form.
        .referrerPolicy: "same-origin",
        .openerPolicy: "same-origin",
        .resourcePolicy: "same-origin",
        // The header is also for responses other than HTML; pages have a meta element too, which a
        // saved copy keeps.
        .robotsTag: "noindex",
    ]

    let site: WebSite

    func handle(
        _ request: Request, context: WebContext,
        next: (Request, WebContext) async throws -> Response
    ) async throws -> Response {
        let response: Response
        do {
            response = try await guarded(request, context, next)
        } catch let error as HTTPError {
            response = site.answer(
                error.status == .notFound ? .notFound : .badForm, to: request.uri.path)
        } catch {
            let problem = WebProblem(error)
            if problem.status.code >= 500 {
                // The text of the error is not logged, because it may contain text of other people.
                site.logger.error(
                    "Page not made",
                    metadata: ["type": "\(type(of: error))", "status": "\(problem.status.code)"])
            }
            response = site.answer(problem, to: request.uri.path)
        }
        var secured = Self.secured(response)
        // The page of the ntfy service may read whether its button worked. Anyone who knows the
        // one-time address may use it, with or without a cookie.
        if WebSite.isOnce(request.uri.path) { secured.headers[.accessControlAllowOrigin] = "*" }
        return secured
    }

    /// The response with the security headers.
    static func secured(_ response: Response) -> Response {
        var response = response
        for field in policy { response.headers[field.name] = field.value }
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        return response
    }

    private func guarded(
        _ request: Request, _ context: WebContext,
        _ next: (Request, WebContext) async throws -> Response
    ) async throws -> Response {
        // A connection that was closed while the request waited for the page thread needs no work.
        guard context.channel.isActive else { throw WebProblem.gone }
        let path = request.uri.path
        try requireOneHost(request)
        // OPTIONS reveals and changes nothing; load balancers probe with it (`OPTIONS / HTTP/1.0`).
        if request.method == .options { return Self.methods(of: path) }
        if !site.isForAnyName(request) {
            try requireOwnHost(request)
            if Self.isBelowAPath(request) { return Self.belowAPath }
        }
        let isRead = request.method == .get || request.method == .head
        // Knowing a one-time address is enough to use it; the apps that do so send no origin.
        if WebSite.isOnce(path) {
            guard isRead || !site.isReadOnly else { throw WebProblem.readOnly }
            return try await next(request, context)
        }
        if !isRead { try requireOwnOrigin(request) }
        if isRead, WebSite.isOpen(path) { return try await next(request, context) }
        if WebSite.isPublic(path) {
            return try await answerVisitor(request, context, isRead: isRead, next)
        }
        var context = context
        if path == "/login" {
            if !isRead { context.form = try await Self.form(of: request) }
            return try await next(request, context)
        }
        if !isRead, site.isReadOnly, path != "/logout" { throw WebProblem.readOnly }
        if isRead, let page = site.reloadPage(for: request) { return page }
        // The form is read only if the request has a session.
        guard var session = try await site.session(of: request, context) else {
            guard isRead else { throw WebProblem.foreignForm }
            return site.loginPage(next: request.uri.string, request, status: .unauthorized)
        }
        site.connections.noteSession(of: context.channel)
        if !isRead {
            let isAccepted: Bool
            if WebSite.isUpload(request) {
                isAccepted = site.accepts(request.headers[.formToken], of: session)
            } else if WebSite.isFileForm(request) {
                // The route reads the token with the form, before the file.
                isAccepted = true
            } else {
                context.form = try await Self.form(of: request)
                isAccepted = site.accepts(context.form["csrf"], of: session)
            }
            guard isAccepted else { throw WebProblem.foreignForm }
        }
        let isNew = session.isNew
        session.isNew = false
        context.session = session
        var response = try await next(request, context)
        if isNew { response.headers.append(site.cookie(session, isLong: false, request)) }
        return response
    }

    /// Answers a request of the public page, which needs no login, and whose forms contain the
    /// token of its visitor.
    private func answerVisitor(
        _ request: Request, _ context: WebContext, isRead: Bool,
        _ next: (Request, WebContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        var visitor = WebSessions.visitor(of: request.headers)
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

    /// Refuses a request with two hosts, because a proxy in front of this server may have used
    /// another one than this server does.
    private func requireOneHost(_ request: Request) throws {
        // The server has moved the first Host into the authority; another one is left here.
        guard request.headers[.host] == nil else { throw WebProblem.ambiguousHost }
    }

    /// Protects against DNS rebinding: refuses a host name that was not configured, although it
    /// resolves to this machine.
    private func requireOwnHost(_ request: Request) throws {
        let host = Self.hostName(request.head.authority ?? "")
        guard !site.knows(host: host) else { return }
        guard !host.isEmpty else { throw WebProblem.noHost }
        throw WebProblem(
            status: .misdirectedRequest, title: localized("This server has another name"),
            text: localized(
                "It was called \(host). Whoever runs it adds the name to \(Setting.webHosts.name).")
        )
    }

    /// Refuses forms of other sites, by the Origin that the browser sends.
    private func requireOwnOrigin(_ request: Request) throws {
        guard let origin = request.headers[.origin] else {
            guard request.headers[.fetchSite] == "same-origin" else { throw WebProblem.noOrigin }
            return
        }
        let scheme = WebSite.scheme(of: request)
        let authority = request.head.authority ?? ""
        let page = "\(scheme)://\(authority)"
        let parts = origin.lowercased().components(separatedBy: "://")
        guard parts.count == 2, ["http", "https"].contains(parts[0]) else {
            throw WebProblem.foreignOrigin(origin, of: page)
        }
        let originHost = Self.hostName(parts[1])
        let ownHost = Self.hostName(authority)
        let originPort = Self.port(of: parts[1], scheme: parts[0])
        let ownPort = Self.port(of: authority, scheme: scheme)
        let defaultPort = Self.port(of: "", scheme: parts[0])
        // If a proxy replaces the Host that the browser sent, the origin's host must be a listed
        // one, with the default port of its scheme.
        let isRenamed =
            site.settings.hosts.contains(originHost) && !site.settings.hosts.contains(ownHost)
        let isOwn =
            originHost == ownHost && originPort == ownPort
            || isRenamed && originPort == defaultPort
        let isOtherScheme = originHost == ownHost && parts[0] != scheme
        guard isOwn || isOtherScheme else { throw WebProblem.foreignOrigin(origin, of: page) }
        guard parts[0] == scheme else { throw WebProblem.foreignScheme(origin, of: page) }
    }

    /// The port in `name:port`, or else the scheme's default; nil if it is not a number.
    private static func port(of authority: String, scheme: String) -> UInt16? {
        let afterHost = authority.hasPrefix("[") ? authority.drop { $0 != "]" } : authority[...]
        guard let colon = afterHost.firstIndex(of: ":") else { return scheme == "https" ? 443 : 80 }
        return UInt16(afterHost[afterHost.index(after: colon)...])
    }

    /// The name in `name:port`, in lower case, without the brackets of IPv6 and without a final
    /// dot.
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

    // MARK: Probes and proxies

    /// The answer to OPTIONS.
    ///
    /// It has no CORS headers, so browsers do not let other sites send the actual request.
    private static func methods(of path: String) -> Response {
        let allowed = WebSite.isOpen(path) ? "GET, HEAD, OPTIONS" : "GET, HEAD, POST, OPTIONS"
        return Response(status: .noContent, headers: [.allow: allowed])
    }

    /// Whether a proxy serves the page below a path prefix, which the links of the pages lack.
    private static func isBelowAPath(_ request: Request) -> Bool {
        request.headers[values: .forwardedPrefix].contains { prefix in
            !prefix.allSatisfy { "/ ,".contains($0) }
        }
    }

    /// The answer to a request with a path prefix: plain text, because the style sheet and every
    /// link of a page would lead elsewhere.
    private static var belowAPath: Response {
        WebSite.plain(
            localized(
                """
                could not show the page below a path: its addresses begin at /; give it a name of its own in the \
                reverse proxy (this request has X-Forwarded-Prefix)
                """) + "\n",
            status: .notFound)
    }

    // MARK: Forms

    private static func form(of request: Request) async throws -> WebFields {
        let type = request.headers[.contentType]?.lowercased() ?? ""
        guard type.hasPrefix("application/x-www-form-urlencoded") || type.isEmpty else {
            throw WebProblem.badForm
        }
        let body: ByteBuffer
        do {
            body = try await request.body.collect(upTo: formLimit)
        } catch {
            throw WebProblem(
                status: .contentTooLarge, title: localized("That is too much"),
                text: localized("Nothing was done. A form holds 64 KiB at most."))
        }
        guard let text = String(validating: body.readableBytesView, as: UTF8.self),
            let form = WebFields(encoded: text)
        else { throw WebProblem.badForm }
        return form
    }
}

extension HTTPField.Name {
    static let host = named("Host")
    static let referrerPolicy = named("Referrer-Policy")
    static let openerPolicy = named("Cross-Origin-Opener-Policy")
    static let resourcePolicy = named("Cross-Origin-Resource-Policy")
    static let fetchSite = named("Sec-Fetch-Site")
    /// The token of a form, in a request that has no form.
    static let formToken = named("X-Form-Token")
    static let forwardedPrefix = named("X-Forwarded-Prefix")
    static let robotsTag = named("X-Robots-Tag")
    static let forwardedProtocol = named("X-Forwarded-Proto")

    static func named(_ name: String) -> HTTPField.Name {
        guard let field = HTTPField.Name(name) else {
            preconditionFailure("\(name) is no name of a header")
        }
        return field
    }
}
