import Foundation
import TestSupport

/// What a server does wrong, with the credentials of the request in all that it still says.
struct SecretTrouble: Sendable {
    let name: String
    /// Whether the server behind acts on the request first.
    let acts: Bool
    let answer: SecretTap.Answer

    init(_ name: String, acts: Bool, _ answer: @escaping SecretTap.Answer) {
        self.name = name
        self.acts = acts
        self.answer = answer
    }

    /// Nothing but errors, as of a server whose own servers are gone.
    static let unavailable = SecretTrouble("503", acts: false, SecretEcho(status: 503).answer)
    static let resetBeforeActing = SecretTrouble("reset before it acts", acts: false) {
        _, connection in
        connection.reset()
    }

    /// Everything that a server does wrong with one request.
    static let all = [
        resetBeforeActing,
        SecretTrouble("reset after it acted", acts: true) { _, connection in connection.reset() },
        SecretTrouble("half an answer", acts: true) { request, connection in
            try connection.send(
                "HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n" + errorText(request))
            connection.close()
        },
        SecretTrouble("an answer without end", acts: true) { request, connection in
            try connection.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
            try connection.perform(
                .flood(Array(String(repeating: errorText(request), count: 300).utf8)))
        },
        SecretTrouble("an answer that drips", acts: true) { request, connection in
            let body = Array(errorText(request).utf8)
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n")
            for byte in body {
                try connection.send([byte])
                _ = poll(nil, 0, 1)
            }
        },
        SecretTrouble("a page with 200", acts: false, SecretEcho(status: 200, form: .html).answer),
        SecretTrouble("500", acts: false, SecretEcho(status: 500).answer), unavailable,
        SecretTrouble("a redirect", acts: false, SecretEcho(status: 307).answer),
        SecretTrouble("401 in the middle", acts: false, SecretEcho(status: 401).answer),
        SecretTrouble("a refusal for good", acts: false, SecretEcho(status: 422).answer),
        tooMany("429 that says when", ["Retry-After": "20", "RateLimit-Reset": "20"]),
        tooMany("429 without a word", [:]),
    ]

    private static func tooMany(_ name: String, _ headers: [String: String]) -> SecretTrouble {
        SecretTrouble(name, acts: false) { request, connection in
            try connection.respond(
                status: 429, headers: headers.map { ($0.key, $0.value) },
                body: Array(errorText(request).utf8))
        }
    }

    private static func errorText(_ request: LoopbackServer.Request) -> String {
        let words = SecretEcho.credentials(of: request).joined(separator: " and ")
        return #"{"error":"no: \#(words.replacing("\"", with: "'"))"} "#
    }
}

/// What is to go wrong with the next requests of a server.
final class SecretTroubles: @unchecked Sendable {
    // Sendable because everything that changes is only touched under `lock`.
    private struct Planned {
        let trouble: SecretTrouble
        /// True for a request that publishes or favorites, false for any other; nil for all.
        let isWrite: Bool?
        var left: Int
    }

    private let lock = NSLock()
    private var planned: [Planned] = []
    private var met: [String] = []

    /// Lets requests fail, after those that are to fail already.
    func plan(_ trouble: SecretTrouble, count: Int = 1, writes isWrite: Bool? = nil) {
        lock.withLock { planned.append(Planned(trouble: trouble, isWrite: isWrite, left: count)) }
    }

    /// Lets the next requests succeed.
    func clear() { lock.withLock { planned = [] } }

    /// Whether all has happened that was planned.
    var areOver: Bool { lock.withLock { planned.isEmpty } }

    /// What has happened, in the order of time.
    var names: [String] { lock.withLock { met } }

    /// What happens to a request; nil for nothing.
    func next(for request: LoopbackServer.Request) -> SecretTrouble? {
        let isWrite =
            request.method == "POST"
            && ["/api/v1/statuses", "/2/tweets", "/2/users/", "/xrpc/com.atproto.repo."]
                .contains { request.target.hasPrefix($0) }
        return lock.withLock {
            guard let index = planned.firstIndex(where: { ($0.isWrite ?? isWrite) == isWrite })
            else { return nil }
            let trouble = planned[index].trouble
            planned[index].left -= 1
            if planned[index].left == 0 { planned.remove(at: index) }
            met.append(trouble.name)
            return trouble
        }
    }
}
