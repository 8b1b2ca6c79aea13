import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The pages that were made in the present second from the present state of the database.
///
/// A page follows from the database, the clock, the settings and the request. So it is made once
/// for all requests that fall into one second while nothing is committed, as when many browsers
/// load it again after one change. A page is therefore never older than the last commit before the
/// request, and in everything else, such as the time or a fault that only the process knows, at
/// most one second old.
final class PageCache: @unchecked Sendable {
    /// When a page was made, and from what.
    struct Moment: Equatable, Sendable {
        /// Seconds since 1970.
        let second: Int
        /// Of the database, read before the page.
        let state: String
    }

    /// Pages that are kept at once, at most.
    static let most = 64

    // Sendable because the properties are only touched under `lock`.
    private let lock = NSLock()
    private var moment: Moment?
    private var pages: [String: CachedPage] = [:]
    /// The requests that wait for a page which another one makes, by the key of the page.
    private var waiting: [String: [CheckedContinuation<Void, Never>]] = [:]

    private enum Turn {
        case page(CachedPage)
        case make
        case wait
    }

    /// Answers with the page that has this key now, or makes it.
    ///
    /// Of several requests for one page one makes it, and the others wait for that.
    ///
    /// - Parameter make: Only a page is kept.
    /// - Throws: What `make` throws; it is called again for the next request then.
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

    /// Decides whether a request takes the kept page, makes it or waits; one that makes it calls
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
            let isMade = lock.withLock {
                guard waiting[key] != nil else { return true }
                waiting[key]?.append(continuation)
                return false
            }
            if isMade { continuation.resume() }
        }
    }

    private func end(_ key: String) {
        for continuation in lock.withLock({ waiting.removeValue(forKey: key) ?? [] }) {
            continuation.resume()
        }
    }

    /// Keeps a page, and lets go of those of other moments.
    private func keep(_ page: CachedPage, _ key: String, at now: Moment) {
        lock.withLock {
            if moment != now {
                moment = now
                pages = [:]
            }
            if pages.count < Self.most { pages[key] = page }
        }
    }
}

/// The answer to a GET.
enum PageAnswer: Sendable {
    /// A page with status 200.
    case page(CachedPage)
    /// Anything else; no answer to a GET has forms then.
    case other(Response)

    func response(token: String) -> Response {
        switch self {
        case .page(let page): page.response(token: token)
        case .other(let response): response
        }
    }
}

/// The HTML of a page, without the tokens of its forms, which are those of each session.
struct CachedPage: Sendable {
    /// The text before, between and behind the tokens.
    private let parts: [String]

    /// - Parameters:
    ///   - markup: The page.
    ///   - place: What stands in it where the token belongs.
    init(_ markup: Markup, tokenAt place: String) {
        parts = markup.text.components(separatedBy: place)
    }

    /// The page as an answer for the session with this token.
    func response(token: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: "text/html; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: parts.joined(separator: token))))
    }
}
