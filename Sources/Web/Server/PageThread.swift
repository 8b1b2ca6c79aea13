import Blocking
import Hummingbird
import Localization

/// Makes all slow responses on one thread, which has lower priority if the system has too few
/// processors.
///
/// On the threads that all tasks of the process share, two pages would delay the actions that a
/// worker is about to send. Files, probes and OPTIONS, which read nothing, do not use it.
struct PageThread: RouterMiddleware {
    typealias Context = WebContext

    let site: WebSite
    private let shares = RequestShares()
    private let executor = ThreadExecutor(name: "web-pages", hasLowPriority: true)

    init(site: WebSite) { self.site = site }

    func handle(
        _ request: Request, context: WebContext,
        next: (Request, WebContext) async throws -> Response
    ) async throws -> Response {
        let isQuick = request.method == .options || WebSite.isQuick(request.uri.path)
        guard !isQuick else { return try await next(request, context) }
        guard site.isStranger(request, context) else {
            return try await withTaskExecutorPreference(executor) {
                try await next(request, context)
            }
        }
        // The limit is checked before a request waits for the thread, so that only few can wait
        // there.
        let share = site.caller(of: request, context).share
        guard shares.enter(share) else { return Guard.secured(Self.busy) }
        defer { shares.leave(share) }
        return try await withTaskExecutorPreference(executor) { try await next(request, context) }
    }

    /// The answer if too many requests wait: plain text, because a page would take time of the
    /// shared threads.
    private static var busy: Response {
        var response = WebSite.plain(
            localized("too many requests at once") + "\n", status: .tooManyRequests)
        response.headers[.retryAfter] = "2"
        return response
    }
}
