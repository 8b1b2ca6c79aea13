/// The HTML that Mastodon makes of a plain text.
///
/// Paragraphs, line breaks, links with their invisible parts, mentions as
/// h-cards without the host, and hashtags as anchors; all else is escaped.
struct StatusHTML {
    private(set) var html = ""
    /// The indices of the people mentioned, each once, in order.
    private(set) var mentions: [Int] = []
    /// The hashtags in lower case, each once, in order.
    private(set) var tags: [String] = []

    private static let visibleLinkCharacters = 30

    init(_ text: String, population: SandboxPopulation) {
        for piece in StatusText.pieces(of: text) {
            switch piece {
            case .plain(let text): html += Self.escaped(text)
            case .link(let link): html += Self.anchor(link)
            case .hashtag(let tag): append(tag: tag)
            case .mention(let user, let host): append(user: user, host: host, population: population)
            }
        }
        html = html.isEmpty ? "" : "<p>" + Self.broken(html) + "</p>"
    }

    private mutating func append(tag: String) {
        let lower = tag.lowercased()
        if !tags.contains(lower) { tags.append(lower) }
        let address = "https://\(SamplePeople.host)/tags/\(Self.escaped(lower))"
        html += "<a href=\"\(address)\" class=\"mention hashtag\" rel=\"tag\">#<span>\(Self.escaped(tag))</span></a>"
    }

    private mutating func append(user: String, host: String?, population: SandboxPopulation) {
        let name = host.map { "\(user)@\($0)" } ?? user
        guard let index = population.index(of: name) else {
            html += Self.escaped("@" + name)
            return
        }
        if !mentions.contains(index) { mentions.append(index) }
        let person = population.people[index]
        html += "<span class=\"h-card\" translate=\"no\"><a href=\"\(person.profileAddress)\""
        html += " class=\"u-url mention\">@<span>\(person.userName)</span></a></span>"
    }

    private static func anchor(_ link: String) -> String {
        let scheme = link.hasPrefix("https://") ? "https://" : "http://"
        let rest = link.dropFirst(scheme.count)
        let shown = rest.prefix(visibleLinkCharacters)
        let hidden = rest.dropFirst(visibleLinkCharacters)
        return "<a href=\"\(escaped(link))\" target=\"_blank\" rel=\"nofollow noopener noreferrer\" translate=\"no\">"
            + "<span class=\"invisible\">\(scheme)</span>"
            + "<span class=\"\(hidden.isEmpty ? "" : "ellipsis")\">\(escaped(String(shown)))</span>"
            + "<span class=\"invisible\">\(escaped(String(hidden)))</span></a>"
    }

    /// Empty lines end a paragraph, other line ends are breaks.
    private static func broken(_ html: String) -> String {
        let lines = html.split(separator: "\n", omittingEmptySubsequences: false)
        var result = ""
        var isFirst = true
        for paragraph in lines.split(whereSeparator: \.isEmpty) {
            if !isFirst { result += "</p><p>" }
            result += paragraph.joined(separator: "<br />")
            isFirst = false
        }
        return result
    }

    static func escaped(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}

extension SandboxPerson {
    /// The address of the profile page.
    var profileAddress: String { "https://\(host)/@\(userName)" }

    /// The ActivityPub identity.
    var uri: String { "https://\(host)/users/\(userName)" }
}
