import Control
import Cryptography
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

/// The state that all requests share, and the routes that belong to no mirror.
final class WebSite: Sendable {
    let installation: Installation
    let settings: WebSettings
    let isReadOnly: Bool
    let build: MetricsReport.Build
    /// Returns the progress of the shown demo; nil for no demo.
    private let demo: (@Sendable () -> DemoMoment)?
    let sessions: WebSessions
    private let endedSessions: EndedSessions
    let proofShares = ProofShares()
    let resultSentences = SaidSentences()
    let events: EventHub
    let connections: ConnectionBook
    let keptReports = KeptReports()
    let setup: SetupWork
    let uploads: UploadFolder
    private let pages = PageCache()
    /// The placeholder for form tokens in cached ``pages``; random, so that no stored text contains
    /// it.
    private let tokenPlaceholder = WebSession.new().csrf
    /// Checks the password of the page; nil if none is set.
    private let gate: LoginGate?

    init(
        _ installation: Installation, _ settings: WebSettings, isReadOnly: Bool,
        build: MetricsReport.Build,
        demo: (@Sendable () -> DemoMoment)? = nil, setup: SetupWork = SetupWork(),
        connections: ConnectionBook = ConnectionBook()
    ) async throws {
        self.installation = installation
        self.settings = settings
        self.isReadOnly = isReadOnly
        self.build = build
        self.demo = demo
        self.setup = setup
        uploads = UploadFolder(installation.process.storage)
        self.connections = connections
        endedSessions = EndedSessions(storage: installation.storage)
        if let password = settings.password {
            do {
                let gate = try await LoginGate(password: password)
                self.gate = gate
                sessions = WebSessions(key: gate.sessionKey)
            } catch let error as Scrypt.Unavailable {
                throw ConfigurationError(Setting.webPassword.name, "cannot be checked: \(error)")
            }
        } else {
            gate = nil
            sessions = WebSessions(key: nil)
        }
        if let demo {
            events = EventHub(
                installation.storage, clock: installation.clock, interval: .seconds(1)
            ) { demo().isFast }
        } else {
            events = EventHub(installation.storage, clock: installation.clock)
        }
    }

    var logger: Logger { installation.logger }
    var now: Date { installation.clock.now }

    /// Returns the demo's state for the band of every page; `nil` if no demo is shown.
    ///
    /// - Parameter tellsMore: Whether to describe also what a mirror does.
    func band(tellsMore: Bool = false) -> PageContext? {
        demo.map { ["state": .text($0().sentence), "tellsMore": .flag(tellsMore)] }
    }

    /// Whether a path is that of a file or a probe, whose answer is made at once.
    static func isQuick(_ path: String) -> Bool {
        probes.contains(path) || WebAsset.all.contains { $0.path == path }
    }

    private static let probes = ["/healthz", "/readyz"]
    private static let metricsPath = "/metrics"

    /// Whether a path needs no session.
    static func isOpen(_ path: String) -> Bool {
        probes.contains(path) || WebAsset.withoutSession.contains { $0.path == path }
            || path == metricsPath
    }

    /// Whether a request is answered under any host name: one of a probe, or one of a program that
    /// collects metrics.
    ///
    /// A browser gets no metrics this way: it sends a Host with every request, and if DNS rebinding
    /// led it here by another name, it has no password for that name.
    func isForAnyName(_ request: Request) -> Bool {
        let path = request.uri.path
        if Self.probes.contains(path) { return true }
        guard path == Self.metricsPath else { return false }
        if (request.head.authority ?? "").isEmpty { return true }
        return gate != nil && request.headers[.authorization] != nil
    }

    func router() -> Router<WebContext> {
        let router = Router(context: WebContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: PageLanguage())
        router.add(middleware: PageThread(site: self))
        router.add(middleware: Compression())
        router.add(middleware: Guard(site: self))
        for asset in WebAsset.all {
            router.get(RouterPath(asset.path)) { request, _ in asset.response(to: request) }
        }
        router.get("/") { request, context in try await self.index(request, context) }
        router.post("/setup") { _, context in try await self.makeMirror(context) }
        router.get("/login") { request, context in try await self.showLogin(request, context) }
        router.post("/login") { request, context in try await self.logIn(request, context) }
        router.post("/logout") { _, context in try await self.logOut(context) }
        router.post("/look") { request, context in self.setTheme(request, context) }
        router.get("/healthz") { _, _ in Self.plain("ok\n") }
        router.get("/readyz") { _, _ in try await self.ready() }
        router.get(RouterPath(Self.metricsPath)) { request, context in
            try await self.metrics(request, context)
        }
        addMirrorRoutes(to: router)
        addUploadRoutes(to: router)
        addPublicRoutes(to: router)
        addOnceRoutes(to: router)
        return router
    }

    // MARK: Hosts and sessions

    /// Whether browsers may use this host name: a listed one, `localhost`, or an IP address, which
    /// cannot be faked by name resolution.
    func knows(host: String) -> Bool {
        if host == "localhost" || settings.hosts.contains(host)
            || host == settings.listening.host.lowercased()
        {
            return true
        }
        // A host that is no IP address is unknown.
        return (try? SocketAddress(ipAddress: host, port: 0)) != nil
    }

    /// The session of a request; a new one if no login is required, nil if one is.
    ///
    /// - Throws: The store's error if the ended sessions cannot be read.
    func session(of request: Request, _ context: WebContext) async throws -> WebSession? {
        let openSession = try await openSession(of: request)
        if settings.userHeader != nil {
            if hasProxyUser(request, context) { return openSession ?? .new() }
            guard gate != nil else { return nil }
        }
        return gate == nil ? openSession ?? .new() : openSession
    }

    /// Whether a request counts as one without a session: it has none, or needs none.
    func isStranger(_ request: Request, _ context: WebContext) -> Bool {
        let path = request.uri.path
        if Self.isPublic(path) || Self.isOnce(path) || path == "/login" { return true }
        // Without a login nobody is a stranger, and neither is a user whom a proxy reports.
        guard gate != nil || settings.userHeader != nil, !hasProxyUser(request, context) else {
            return false
        }
        return gate == nil || sessions.sessions(of: request.headers, now: now).isEmpty
    }

    private func openSession(of request: Request) async throws -> WebSession? {
        for session in sessions.sessions(of: request.headers, now: now) {
            // Without a password a cookie gives no access, so there is no logout.
            guard gate != nil else { return session }
            if try await !endedSessions.has(session) { return session }
        }
        return nil
    }

    /// Whether a trusted proxy reports a logged-in user.
    private func hasProxyUser(_ request: Request, _ context: WebContext) -> Bool {
        guard let name = settings.userHeader.flatMap({ HTTPField.Name($0) }) else { return false }
        return settings.isLoggedIn(request.headers[values: name], by: context.peer)
    }

    func caller(of request: Request, _ context: WebContext) -> Caller {
        Caller(of: request, peer: context.peer, settings)
    }

    func accepts(_ token: String?, of session: WebSession) -> Bool {
        guard let token else { return false }
        return ConstantTime.areEqual(token.utf8, session.csrf.utf8)
    }

    func cookie(_ session: WebSession, isLong: Bool, _ request: Request) -> HTTPField {
        HTTPField(
            name: .setCookie,
            value: sessions.cookie(
                session, isLong: isLong, isSecure: Self.isSecure(request), now: now))
    }

    /// The scheme that the browser used: `https` only if a proxy reports it.
    ///
    /// With several proxies, the first value of the header is about the browser's connection.
    static func scheme(of request: Request) -> String {
        let forwarded = request.headers[.forwardedProtocol]?.split(separator: ",").first ?? ""
        return forwarded.trimmingCharacters(in: .whitespaces).lowercased() == "https"
            ? "https" : "http"
    }

    static func isSecure(_ request: Request) -> Bool { scheme(of: request) == "https" }

    /// Whether typed text is sent to this page over an unencrypted connection.
    private static func isUnencrypted(_ request: Request) -> Bool {
        let host = Guard.hostName(request.head.authority ?? "")
        return !isSecure(request) && !WebSettings.Listening.isLoopback(host)
    }

    func access(token: String, _ request: Request) async throws -> Access {
        Access(
            csrf: token, isReadOnly: isReadOnly, theme: Self.theme(of: request),
            hasLogin: gate != nil,
            hasIndex: try await MirrorTable.names(in: installation.storage, limit: 2).count > 1,
            isUnencrypted: Self.isUnencrypted(request), canNameFiles: isAtMachine(request))
    }

    /// Whether a request comes from this machine itself: no login is needed, the server listens
    /// only on the loopback address, and no proxy passed the request on.
    private func isAtMachine(_ request: Request) -> Bool {
        let host = Guard.hostName(request.head.authority ?? "")
        return !settings.needsLogin && settings.listening.isLoopback
            && WebSettings.Listening.isLoopback(host) && request.headers[.forwardedFor] == nil
    }

    // MARK: Pages

    /// Returns the page that was made in the same second from the same state of the database, or
    /// makes it.
    ///
    /// Pages of a demo are not cached, because each shows the demo's progress.
    ///
    /// - Parameters:
    ///   - key: The cache key, one for each page: ``pageKey(_:)``.
    ///   - make: Makes the response, with `token` in its forms. Only pages are cached.
    /// - Throws: The store's error, and the errors of `make`.
    func page(
        for session: WebSession, key: String, make: (_ token: String) async throws -> PageAnswer
    ) async throws -> Response {
        guard demo == nil else { return try await make(session.csrf).response(token: session.csrf) }
        let moment = PageCache.Moment(
            second: Int(now.timeIntervalSince1970.rounded(.down)),
            state: try await installation.storage.state())
        let answer = try await pages.answer(key, at: moment) { try await make(tokenPlaceholder) }
        return answer.response(token: session.csrf)
    }

    /// Returns the cache key of a page: its language, theme and URI.
    ///
    /// Apart from these, a page depends only on the database, the clock, the settings and the
    /// token.
    static func pageKey(_ request: Request) -> String {
        "\(Language.current) \(theme(of: request)?.rawValue ?? "") \(request.uri.string)"
    }

    // MARK: Log-in

    private func showLogin(_ request: Request, _ context: WebContext) async throws -> Response {
        let query = WebFields(encoded: request.uri.query ?? "") ?? .none
        let nextPath = Self.ownPath(query["next"])
        guard try await session(of: request, context) == nil else { return Self.seeOther(nextPath) }
        return loginPage(next: nextPath, request, status: .ok)
    }

    private func logIn(_ request: Request, _ context: WebContext) async throws -> Response {
        let nextPath = Self.ownPath(context.form["next"])
        guard let gate else { return Self.seeOther(nextPath) }
        let caller = caller(of: request, context)
        let outcome = await gate.attempt(
            context.form["password"] ?? "", from: caller.share, now: now)
        switch outcome {
        case .right:
            let session = WebSession.new()
            var response = Self.seeOther(nextPath)
            response.headers.append(cookie(session, isLong: context.form["stay"] == "yes", request))
            return response
        case .wrong(let triesLeft):
            logger.notice(
                "Wrong password for the web page", metadata: ["address": "\(caller.shownAddress)"])
            let sentence = localized(
                "That is not the password. \(Self.capitalizedCount(triesLeft)) more, then one a minute."
            )
            return loginPage(next: nextPath, request, status: .unauthorized, wrong: sentence)
        case .tooMany(let seconds):
            logger.notice(
                "Too many wrong passwords for the web page",
                metadata: ["address": "\(caller.shownAddress)"])
            var response = loginPage(
                next: nextPath, request, status: .tooManyRequests,
                wrong: localized(
                    "Too many tries from this address. The next one counts in \(Words.span(TimeInterval(seconds)))."
                ))
            response.headers[.retryAfter] = "\(seconds)"
            return response
        }
    }

    private static func capitalizedCount(_ count: Int) -> String {
        switch count {
        case 0: localized("No tries")
        case 1: localized("One try")
        case 2: localized("Two tries")
        case 3: localized("Three tries")
        case 4: localized("Four tries")
        case 5: localized("Five tries")
        default: localized("\(count) tries")
        }
    }

    /// The page with the form for the password, or with the sentence that names the proxy's login.
    func loginPage(
        next: String, _ request: Request, status: HTTPResponse.Status, wrong: String? = nil
    ) -> Response {
        let content = TemplateLibrary.standard.render(
            .login,
            [
                "host": .text(request.head.authority ?? ""), "next": .text(Self.ownPath(next)),
                "wrong": .text(wrong),
                "hasPassword": .flag(gate != nil), "header": .text(settings.userHeader),
                "isUnencrypted": .flag(Self.isUnencrypted(request) && gate != nil),
            ])
        return standalonePage(
            content, title: localized("Log in"), status: status, theme: Self.theme(of: request))
    }

    private func logOut(_ context: WebContext) async throws -> Response {
        if let session = context.session, gate != nil {
            try await endedSessions.add(session, now: now)
        }
        var response = Self.seeOther("/login")
        for isSecure in [true, false] {
            response.headers.append(
                HTTPField(name: .setCookie, value: sessions.endingCookie(isSecure: isSecure)))
        }
        return response
    }

    // MARK: Colors

    private static let themeCookie = "mirror-bot-theme"

    /// The theme in the browser's cookie.
    static func theme(of request: Request) -> Access.Theme? {
        Cookies(request.headers).all(themeCookie).first.flatMap(Access.Theme.init)
    }

    private func setTheme(_ request: Request, _ context: WebContext) -> Response {
        var response = Self.seeOther(Self.ownPath(context.form["back"]))
        let theme = context.form["theme"].flatMap(Access.Theme.init)
        let end = theme == nil ? "; Max-Age=0" : "; Max-Age=31536000"
        response.headers.append(
            HTTPField(
                name: .setCookie,
                value:
                    "\(Self.themeCookie)=\(theme?.rawValue ?? ""); Path=/; HttpOnly; SameSite=Strict"
                    + end
                    + (Self.isSecure(request) ? "; Secure" : "")))
        return response
    }

    // MARK: For programs

    private func ready() async throws -> Response {
        do {
            _ = try await installation.storage.query("SELECT 1 AS one")
            return Self.plain("ready\n")
        } catch {
            return Self.plain("the database does not answer\n", status: .serviceUnavailable)
        }
    }

    private func metrics(_ request: Request, _ context: WebContext) async throws -> Response {
        // A program sends the password with each request; checking it needs no database.
        let isProgram = gate != nil && request.headers[.authorization] != nil
        let hasSession = isProgram ? false : try await session(of: request, context) != nil
        if !hasSession {
            switch await checkBearerToken(request, context) {
            case .right: break
            case .wrong:
                var response = Self.plain(
                    "send \(Setting.webPassword.name) as a bearer token\n", status: .unauthorized)
                response.headers[.wwwAuthenticate] = "Bearer realm=\"mirror-bot\""
                return response
            case .tooMany(let seconds):
                var response = Self.plain("too many tries\n", status: .tooManyRequests)
                response.headers[.retryAfter] = "\(seconds)"
                return response
            }
        }
        guard let scope = Self.metricsScope(of: request.uri.query ?? "") else {
            return Self.plain(
                "expected ?mirror=NAME, ?mirrors=all, or no query for totals\n",
                status: .badRequest)
        }
        let text: String
        do {
            text = try await MetricsReport(of: installation, scope, build: build, now: now)
                .exposition.text
        } catch let error as ConfigurationError where error.part == .mirror {
            return Self.plain("there is no such mirror\n", status: .notFound)
        } catch {
            logger.error("Metrics not read", metadata: ["type": "\(type(of: error))"])
            text = MetricsReport.down(build).text
        }
        var response = Self.plain(text)
        response.headers[.contentType] = "text/plain; version=0.0.4; charset=utf-8"
        return response
    }

    /// The mirrors for which metrics are requested; nil for an invalid query.
    ///
    /// Fields of other names are ignored.
    private static func metricsScope(of query: String) -> MetricsReport.Scope? {
        guard let fields = WebFields(encoded: query) else { return nil }
        switch (fields["mirror"], fields["mirrors"]) {
        case (nil, nil): return .together
        case (nil, "all"): return .each
        case (let name?, nil): return .one(name)
        default: return nil
        }
    }

    private func checkBearerToken(_ request: Request, _ context: WebContext) async
        -> LoginGate.Outcome
    {
        let scheme = "Bearer "
        guard let gate, let credentials = request.headers[.authorization],
            credentials.hasPrefix(scheme)
        else {
            return .wrong(left: 0)
        }
        let caller = caller(of: request, context)
        return await gate.attempt(
            String(credentials.dropFirst(scheme.count)), from: caller.share, now: now)
    }

    // MARK: Answers

    static func plain(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "text/plain; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    static func html(_ markup: Markup, status: HTTPResponse.Status) -> Response {
        Response(
            status: status, headers: [.contentType: "text/html; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: markup.text)))
    }

    static func seeOther(_ path: String) -> Response {
        Response(status: .seeOther, headers: [.location: path])
    }

    /// A path of this server; `/` for any other text.
    static func ownPath(_ path: String?) -> String {
        // Browsers read `//host` and `/\host` as the address of another server.
        guard let path, path.hasPrefix("/"), !path.hasPrefix("//"),
            path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") })
        else { return "/" }
        return path
    }

    /// A page with one narrow column, outside the frame of a mirror.
    func standalonePage(
        _ content: Markup, title: String, status: HTTPResponse.Status, theme: Access.Theme? = nil,
        isPublic: Bool = false
    ) -> Response {
        Self.html(
            TemplateLibrary.standard.render(
                .plain,
                [
                    "pageLanguage": .text(Language.current.rawValue),
                    "title": .text(title), "theme": .text(theme?.rawValue),
                    "content": .markup(content),
                    "style": .text(WebAsset.style.address), "isPublic": .flag(isPublic),
                    "band": .fields(band()),
                ]),
            status: status)
    }

    /// Creates the response for a problem.
    ///
    /// - Parameter path: The path of the request. The public page has no link to the login, which
    ///   is not for its visitors.
    func answer(_ problem: WebProblem, to path: String) -> Response {
        let content = TemplateLibrary.standard.render(
            .problem,
            [
                "title": .text(problem.title), "text": .sentence(problem.text),
                "state": .text(problem.state),
                "back": .text(problem.back ?? (Self.isPublic(path) ? nil : "/")),
            ])
        var response = standalonePage(content, title: problem.title, status: problem.status)
        response.headers[.retryAfter] = problem.retryAfter.map { "\($0)" }
        return response
    }
}
