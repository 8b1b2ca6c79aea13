import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// A cache of the pages made in the present second from the present state of the database.
///
/// A page depends on the database, the clock, the settings and the request. So it is made once for
/// all requests within one second without a commit, as when many browsers reload it after one
/// change. A cached page is never older than the last commit before the request, and at most one
/// second old in other respects, such as the time or a fault that only the process knows.
final class PageCache: @unchecked Sendable {
    /// The time of a page, and the state that it was made from.
    struct Moment: Equatable, Sendable {
        /// The time of the page, in seconds since 1970.
        let second: Int
        /// The state of the database, read before the page.
        let state: String
    }

    /// The most pages that are cached.
    static let mostPages = 64

    // Sendable because the properties are only touched under `lock`.
    private let lock = NSLock()
    private var moment: Moment?
    private var pages: [String: CachedPage] = [:]
    /// The requests that wait for another one to make the same page, by the key of the page.
    private var waiting: [String: [CheckedContinuation<Void, Never>]] = [:]

    private enum Turn {
        case page(CachedPage)
        case make
        case wait
    }

    /// Returns the cached page for this key, or makes it.
    ///
    /// Of several concurrent requests for a page one makes it, and the others wait for the result.
    ///
    /// - Parameter make: Makes the response; only pages are cached.
    /// - Throws: The error of `make`; the next request then calls its `make` again.
    func answer(
        _ key: String, at now: Moment, make: () async throws -> PageAnswer
    ) async throws -> PageAnswer {
        while true {
            switch turn(key, at: now) {
            case .page(let page): return .page(page)
            case .wait: await wait(for: key)
            case .make:
                defer { end(key) }
                let answer = try await make()
                if case .page(let page) = answer { keep(page, key, at: now) }
                return answer
            }
        }
    }

    /// Decides whether a request uses the cached page, makes it or waits; one that makes it calls
    /// ``end(_:)`` afterwards.
    private func turn(_ key: String, at now: Moment) -> Turn {
        lock.withLock {
            if moment == now, let page = pages[key] { return .page(page) }
            if waiting[key] != nil { return .wait }
            waiting[key] = []
            return .make
        }
    }

    private func wait(for key: String) async {
        await withCheckedContinuation { continuation in
            let isReady = lock.withLock {
                guard waiting[key] != nil else { return true }
                waiting[key]?.append(continuation)
                return false
            }
            if isReady { continuation.resume() }
        }
    }

    private func end(_ key: String) {
        for continuation in lock.withLock({ waiting.removeValue(forKey: key) ?? [] }) {
            continuation.resume()
        }
    }

    /// Caches a page, and drops the pages of other moments.
    private func keep(_ page: CachedPage, _ key: String, at now: Moment) {
        lock.withLock {
            if moment != now {
                moment = now
                pages = [:]
            }
            if pages.count < Self.mostPages { pages[key] = page }
        }
    }
}

/// The answer to a GET.
enum PageAnswer: Sendable {
    /// A page with status 200.
    case page(CachedPage)
    /// Any other response; it contains no forms.
    case other(Response)

    func response(token: String) -> Response {
        switch self {
        case .page(let page): page.response(token: token)
        case .other(let response): response
        }
    }
}

/// The HTML of a page, without the tokens of its forms, which differ by session.
struct CachedPage: Sendable {
    /// The text before, between and after the tokens.
    private let parts: [String]

    /// - Parameters:
    ///   - markup: The page.
    ///   - placeholder: The placeholder for the token.
    init(_ markup: Markup, tokenAt placeholder: String) {
        parts = markup.text.components(separatedBy: placeholder)
    }

    /// The page as a response for the session with this token.
    func response(token: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: "text/html; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: parts.joined(separator: token))))
    }
}
