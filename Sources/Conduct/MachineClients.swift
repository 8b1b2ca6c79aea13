import Posts

/// Finds the posts of an archive that a program wrote by itself.
///
/// Such a program has at least five posts. At least 55 % of them link to the same site, and fewer
/// than 5 % are replies. It wrote the posts with a link to that site; a person wrote the others.
struct MachineClients: Sendable {
    private static let fewestPosts = 5
    private static let minimumLinkPercent = 55
    private static let answerPercentLimit = 5
    /// Hosts whose links lead to any site.
    private static let shorteners: Set<String> = [
        "bit.ly", "buff.ly", "cutt.ly", "goo.gl", "is.gd", "j.mp", "lnkd.in", "ow.ly", "rb.gy",
        "shorturl.at", "t.co",
        "t.ly", "tiny.cc", "tinyurl.com", "tr.im", "v.gd",
    ]

    private struct Client {
        var posts = 0
        var answers = 0
        var hosts: [String: Int] = [:]

        /// The site whose links the program posts automatically; nil for a person's client.
        var site: String? {
            guard posts >= MachineClients.fewestPosts,
                answers * 100 < posts * MachineClients.answerPercentLimit
            else {
                return nil
            }
            // Of two sites with the same number of links, the alphabetically first one counts.
            let mostLinked = hosts.max { left, right in
                left.value == right.value ? left.key > right.key : left.value < right.value
            }
            return mostLinked.flatMap {
                $0.value * 100 >= posts * MachineClients.minimumLinkPercent ? $0.key : nil
            }
        }
    }

    private var clients: [String: Client] = [:]

    init() {}

    /// Counts one post of the archive.
    ///
    /// - Parameters:
    ///   - client: The client program that the archive names.
    ///   - text: The text with its links.
    ///   - isAnswer: Whether it is a reply.
    mutating func include(_ text: String, by client: String, isAnswer: Bool = false) {
        clients[client, default: Client()].posts += 1
        if isAnswer { clients[client]?.answers += 1 }
        for host in Self.hosts(in: text).subtracting(Self.shorteners) {
            clients[client]?.hosts[host, default: 0] += 1
        }
    }

    /// Whether a program wrote a post by itself.
    ///
    /// - Parameters:
    ///   - client: The client program of the post; nil if unknown.
    ///   - text: The text with its links.
    func wrote(_ text: String, by client: String?) -> Bool {
        guard let client, let site = clients[client]?.site else { return false }
        return Self.hosts(in: text).contains(site)
    }

    /// A string that changes with the programs or their sites; empty for none.
    var version: String {
        let names = clients.compactMap { name, client in client.site.map { "\(name) \($0)" } }
            .sorted()
        return names.isEmpty ? "" : " " + StableHash.digest(of: names).prefix(8).hexadecimal
    }

    private static func hosts(in text: String) -> Set<String> {
        var hosts: Set<String> = []
        for case .link(let link, _) in PlainTokens(text).tokens {
            let host = link.drop { $0 != "/" }.dropFirst(2).prefix {
                !["/", "?", "#", ":"].contains($0)
            }
            let name = String(String.UnicodeScalarView(host)).lowercased()
            hosts.insert(name.hasPrefix("www.") ? String(name.dropFirst(4)) : name)
        }
        return hosts
    }
}
