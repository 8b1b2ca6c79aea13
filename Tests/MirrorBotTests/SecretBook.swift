import Foundation
import TestSupport

/// Every secret that a scenario knows of: the planted ones, and those that servers gave out.
final class SecretBook: @unchecked Sendable {
    // Sendable because the set is only touched under `lock`.
    private let lock = NSLock()
    private var known: Set<PlantedSecret> = []

    var all: Set<PlantedSecret> { lock.withLock { known } }

    /// Adds what is long enough to be told from other text.
    func add(_ name: String, _ value: String?) {
        guard let value = value?.secretPart, value.utf8.count >= 8 else { return }
        lock.withLock { _ = known.insert(PlantedSecret(name: name, value: value)) }
    }

    /// Makes a secret and adds it.
    func plant(_ name: String) -> String {
        let secret = PlantedSecret.fresh(name)
        lock.withLock { _ = known.insert(secret) }
        return secret.value
    }

    // MARK: What goes over a wire

    /// Adds what opens an account in a request.
    func note(_ request: LoopbackServer.Request) {
        for header in request.headers where header.name.lowercased() == "authorization" {
            let words = header.value.split(separator: " ", maxSplits: 1).map(String.init)
            if words.first == "Bearer" { add("sent token", words.last) }
            // A signature is none: it is good for one request, and of no use without the key and
            // the token.
            for (key, value) in Self.oauth(header.value) where key == "oauth_consumer_key" {
                add("sent \(key)", value)
            }
        }
        let body = String(decoding: request.body, as: UTF8.self)
        let names = [
            "client_secret", "code", "refresh_token", "code_verifier", "password", "token",
        ]
        for (key, value) in Self.form(body) + Self.strings(request.body) where names.contains(key) {
            add("sent \(key)", value)
        }
    }

    /// Adds what an answer gives out.
    func note(answer body: [UInt8], to request: LoopbackServer.Request) {
        let names = [
            "access_token", "refresh_token", "client_secret", "accessJwt", "refreshJwt",
            "oauth_token_secret",
        ]
        // The request token of X stands in the address that a person opens.
        let isGrant = request.target.hasPrefix("/oauth/access_token")
        for (key, value) in Self.form(String(decoding: body, as: UTF8.self)) + Self.strings(body)
        where names.contains(key) || isGrant && key == "oauth_token" {
            add("given \(key)", value)
        }
    }

    /// The pairs of a header that begins with `OAuth`.
    private static func oauth(_ header: String) -> [(String, String)] {
        guard header.hasPrefix("OAuth ") else { return [] }
        return header.dropFirst(6).split(separator: ",").compactMap { part in
            let pair = part.split(separator: "=", maxSplits: 1).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            guard pair.count == 2 else { return nil }
            let value = pair[1].trimmingCharacters(in: CharacterSet(charactersIn: "\""))
            return (pair[0], value.removingPercentEncoding ?? value)
        }
    }

    private static func form(_ text: String) -> [(String, String)] {
        guard text.first != "{", text.utf8.count < 10_000 else { return [] }
        return text.split(separator: "&").compactMap { part in
            let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
            guard pair.count == 2 else { return nil }
            return (pair[0], pair[1].removingPercentEncoding ?? pair[1])
        }
    }

    /// The texts in a JSON object.
    private static func strings(_ body: [UInt8]) -> [(String, String)] {
        guard body.first == UInt8(ascii: "{"), body.count < 100_000,
            let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
        else { return [] }
        return object.compactMap { key, value in (value as? String).map { (key, $0) } }
    }
}

extension String {
    /// The token without the number of the account, which X puts before it and which everybody may
    /// know.
    var secretPart: String {
        guard let match = wholeMatch(of: /[0-9]+-(.*)/) else { return self }
        return String(match.1)
    }
}
