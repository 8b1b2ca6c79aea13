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
            let instance = try await readInstance()
            memory.keep(instance, until: time.addingTimeInterval(86_400))
            return instance
        } catch let error as NetworkError {
            guard let known = memory.lastInstance else { throw error }
            memory.keep(known, until: time.addingTimeInterval(3_600))
            return known
        }
    }

    /// Version 2 of the answer, or version 1, or nothing where a server has neither.
    ///
    /// A server that is only out of order is an error: its domain completes local names, and a wrong domain would make
    /// other people of them.
    private func readInstance() async throws -> MastodonInstance {
        let problem: NetworkError
        do {
            return try await instance(version: "v2")
        } catch let error as NetworkError where error.code != .transport && error.code != .rateLimited {
            problem = error
        }
        do {
            return try await instance(version: "v1")
        } catch let error as NetworkError {
            guard Self.saysAbsent(problem) else { throw problem }
            guard Self.saysAbsent(error) else { throw error }
            return .unknown
        }
    }

    private func instance(version: String) async throws -> MastodonInstance {
        try await client.value(
            MastodonInstance.self, MastodonCall(operation: .readLimits, path: ["api", version, "instance"]))
    }

    /// Whether an error means that the server does not have what was asked for, today or tomorrow.
    private static func saysAbsent(_ error: NetworkError) -> Bool {
        error.isPermanent && !error.stopsActor || error.code == .malformedResponse
    }
}
