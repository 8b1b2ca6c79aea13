import Foundation

/// What the server says about itself.
extension MastodonNetwork {
    /// What the server says about itself, asked once a day.
    ///
    /// A refresh that fails keeps what is known for another hour.
    func instance() async throws -> MastodonInstance {
        let time = client.now()
        if let known = memory.instance(at: time) { return known }
        do {
            let instance = try await MastodonInstance.read { try await session.value(MastodonInstance.self, $0) }
            memory.keep(instance, until: time.addingTimeInterval(86_400))
            return instance
        } catch let error as NetworkError {
            guard let known = memory.lastInstance else { throw error }
            memory.keep(known, until: time.addingTimeInterval(3_600))
            return known
        }
    }

    /// The host of the names of the server's own accounts, as far as it is certain.
    ///
    /// The account's own address tells it, and so does the instance. Where they contradict each other, as they do on
    /// servers whose names have another host than their pages, the server's answer for other servers decides. A server
    /// without an instance is believed what the account's address says.
    ///
    /// - Parameter account: The token's own.
    /// - Returns: The host in lower case, with a port if it has one.
    /// - Throws: ``NetworkError`` with a code that passes if it is not certain; or `CancellationError`.
    func domain(of account: MastodonAccount) async throws -> String {
        let told = try await toldDomain()
        let name = account.acct.split(separator: "@", maxSplits: 1).map(String.init)
        if name.count == 2, name[1].lowercased() != server.host { return name[1].lowercased() }
        guard let claimed = account.hosts.first ?? (name.count == 2 ? name[1].lowercased() : told) else {
            throw uncertain("neither the account nor the instance tells the host of its name")
        }
        if claimed == told { return claimed }
        guard let decided = try await webFingerDomain(of: "\(name[0])@\(claimed)") else {
            guard told == nil else { throw uncertain("the instance and the account's address name different hosts") }
            return claimed
        }
        guard told == nil || decided == told || decided == claimed else {
            throw uncertain("the instance, the account's address and its name name different hosts")
        }
        return decided
    }

    /// What the instance calls itself.
    ///
    /// A server that is reached through another host may take that one for its own; it is not.
    private func toldDomain() async throws -> String? {
        guard let told = try await instance().domain else { return nil }
        let asked = client.server.host
        return asked == server.host || told.prefix(while: { $0 != ":" }) != asked ? told : nil
    }

    /// The host of an account's name as the server tells others (RFC 7033); nil if it does not know.
    private func webFingerDomain(of name: String) async throws -> String? {
        let call = MastodonCall(
            operation: .verifyAccount, path: [".well-known", "webfinger"],
            query: [("resource", "acct:\(name)")])
        let subject: String
        do {
            subject = try await client.value(WebFinger.self, call, token: nil).subject
        } catch var error as NetworkError {
            if [404, 405, 410].contains(error.status) { return nil }
            if error.isPermanent { error.code = .unavailable }
            throw error
        }
        let parts = subject.split(separator: "@", omittingEmptySubsequences: false)
        let user = name.prefix { $0 != "@" }.lowercased()
        guard parts.count == 2, parts[0].lowercased() == "acct:\(user)",
            let host = MastodonInstance.hostName(String(parts[1]))
        else { throw uncertain("what the server tells others is about another account") }
        return host
    }

    func uncertain(_ cause: String) -> NetworkError {
        client.error(.verification, .malformedResponse, outcome: .refused, detail: cause)
    }
}

/// What a server tells others about an account.
private struct WebFinger: Decodable {
    /// As `acct:user@host`.
    let subject: String
}
