import Posts

/// Everybody under the names of X.
struct XDirectory: Sendable {
    let population: SandboxPopulation
    let ids: [String]
    let handles: [String]
    private let byID: [String: Int]
    private let byHandle: [String: Int]

    init(_ population: SandboxPopulation) {
        self.population = population
        ids = population.people.map { $0.id(on: .x).value }
        handles = population.people.map { $0.handle(on: .x) }
        byID = Dictionary(ids.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        byHandle = Dictionary(
            handles.enumerated().map { ($1.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
    }

    func person(id: String) -> Int? { byID[id] }

    func person(handle: String) -> Int? { byHandle[handle.lowercased()] }

    /// Who is meant by `@user` or `@user@host` in a text of the sandbox.
    func person(named user: String, at host: String?) -> Int? {
        if let host { return population.index(of: "\(user)@\(host)") }
        return person(handle: user) ?? population.index(of: user)
    }
}
