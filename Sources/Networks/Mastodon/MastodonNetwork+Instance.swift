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

    /// The host of the names of the server's own accounts.
    ///
    /// A server that is reached through another host may take that one for its own; it is not.
    func localHost() async throws -> String {
        let told = try await instance().domain
        let asked = client.server.host
        guard let told, asked == server.host || told.prefix(while: { $0 != ":" }) != asked else { return server.host }
        return told
    }
}
