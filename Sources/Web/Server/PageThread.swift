import Blocking
import Hummingbird

/// Lets everything that takes long be made on one thread, which waits where the system has too few
/// processors.
///
/// On the threads that all tasks of the process share, two pages would hold up whatever a worker is
/// about to send. Files and probes do not wait for pages; nor does OPTIONS, for which nothing is
/// read.
struct PageThread: RouterMiddleware {
    typealias Context = WebContext

    let site: WebSite
    private let shares = RequestShares()
    private let executor = ThreadExecutor(name: "web-pages", isPatient: true)

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
        // Before they wait for the thread, so that only few of them wait there.
        let share = site.caller(of: request, context).share
        guard shares.enter(share) else { return Guard.secured(Self.busy) }
        defer { shares.leave(share) }
        return try await withTaskExecutorPreference(executor) { try await next(request, context) }
    }

    /// A page would take the time of the threads that all share.
    private static var busy: Response {
        var response = WebSite.plain("too many requests at once\n", status: .tooManyRequests)
        response.headers[.retryAfter] = "2"
        return response
    }
}
