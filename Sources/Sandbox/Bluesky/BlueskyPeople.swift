import Posts

/// What everybody is called on Bluesky.
///
/// Kept, since every item of every answer names its author.
struct BlueskyPeople: Sendable {
    private(set) var dids: [String] = []
    private(set) var handles: [String] = []
    private var byName: [String: Int] = [:]
    /// Who asks not to be shown to those who are not logged in: who keeps bots away, and the last of the strangers.
    private(set) var hidden: Set<Int> = []

    /// Nobody.
    init() {}

    init(_ population: SandboxPopulation) {
        let people = population.people
        dids = people.map { $0.id(on: .bluesky).value }
        handles = people.map { $0.handle(on: .bluesky) }
        for (index, did) in dids.enumerated() {
            byName[did] = byName[did] ?? index
            byName[handles[index]] = byName[handles[index]] ?? index
        }
        hidden = Set(population.indices(of: .optedOut) + population.indices(of: .stranger).suffix(1))
    }

    var isEmpty: Bool { dids.isEmpty }

    /// The index of the person with the DID or the handle.
    func index(of actor: String) -> Int? { byName[actor] ?? byName[actor.lowercased()] }

    /// The person's DID document, on a server at `url`.
    func document(of person: Int, at url: String) -> WireJSON {
        let did = dids[person]
        return [
            "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/multikey/v1"],
            "id": .string(did), "alsoKnownAs": [.string("at://\(handles[person])")],
            // Nothing is signed here, so there is no key.
            "verificationMethod": [],
            "service": Self.service(at: url),
        ]
    }

    /// The DID document of the server itself.
    static func serverDocument(host: String, at url: String) -> WireJSON {
        [
            "@context": ["https://www.w3.org/ns/did/v1"],
            "id": .string("did:web:" + host.split(separator: ":").joined(separator: "%3A")),
            "service": service(at: url),
        ]
    }

    private static func service(at url: String) -> WireJSON {
        [["id": "#atproto_pds", "type": "AtprotoPersonalDataServer", "serviceEndpoint": .string(url)]]
    }
}
