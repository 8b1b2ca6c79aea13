import Posts

/// The programs in somebody's archive that posted links of one site by themselves.
///
/// A program is one of them if five posts at least name it and 55 in a hundred of them link to its commonest host.
struct MachineClients: Sendable {
    private static let fewest = 5
    private static let percent = 55

    private var posts: [String: Int] = [:]
    private var hosts: [String: [String: Int]] = [:]

    init() {}

    /// Counts one post of the archive.
    ///
    /// - Parameters:
    ///   - client: What the archive says it was written with.
    ///   - text: With its links.
    mutating func count(_ client: String, _ text: String) {
        posts[client, default: 0] += 1
        for host in Self.hosts(in: text) { hosts[client, default: [:]][host, default: 0] += 1 }
    }

    /// Whether a program posts by itself; never of one that is not known.
    func contains(_ client: String?) -> Bool {
        guard let client, let number = posts[client], number >= Self.fewest,
            let most = hosts[client]?.values.max()
        else { return false }
        return most * 100 >= number * Self.percent
    }

    /// Differs where the programs do; empty for none.
    var version: String {
        let names = posts.keys.filter(contains).sorted()
        return names.isEmpty ? "" : " " + StableHash.digest(of: names).prefix(8).hexadecimal
    }

    private static func hosts(in text: String) -> Set<String> {
        var hosts: Set<String> = []
        for case .link(let link, _) in PlainTokens(text).tokens {
            let host = link.drop { $0 != "/" }.dropFirst(2).prefix { !["/", "?", "#", ":"].contains($0) }
            let name = String(String.UnicodeScalarView(host)).lowercased()
            hosts.insert(name.hasPrefix("www.") ? String(name.dropFirst(4)) : name)
        }
        return hosts
    }
}
