import Blocking
import Hummingbird

/// Lets everything that takes long be made on one thread, which waits where the system has too few processors.
///
/// On the threads that all tasks of the process share, two pages would hold up whatever a worker is about to send. Files and
/// probes do not wait for pages.
struct PageThread: RouterMiddleware {
    typealias Context = WebContext

    private let executor = ThreadExecutor(name: "web-pages", isPatient: true)

    func handle(
        _ request: Request, context: WebContext, next: (Request, WebContext) async throws -> Response
    ) async throws -> Response {
        guard !WebSite.isQuick(request.uri.path) else { return try await next(request, context) }
        return try await withTaskExecutorPreference(executor) { try await next(request, context) }
    }
}
