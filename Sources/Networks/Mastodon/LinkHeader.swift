import Foundation

/// The cursors that a `Link` header names (RFC 8288).
///
/// Only the values of the known query parameters are taken. Host and path of a
/// link are never used: a hostile or badly configured server must not send the
/// token elsewhere.
struct LinkHeader: Equatable {
    /// `max_id` of the link to older items; nil where there is none.
    private(set) var older: String?
    /// `min_id` of the link to newer items, or `since_id` on servers that have no other.
    private(set) var newer: String?

    /// A longer header is not looked at, in bytes.
    private static let maximumLength = 16_384

    /// Nil unless some value holds a link with a relation that we know.
    init?(_ values: [String]) {
        var isKnown = false
        for value in values where value.utf8.count <= Self.maximumLength {
            for link in Self.links(in: value) {
                let parameters = Self.query(of: link.target)
                if link.relations.contains("next") {
                    isKnown = true
                    older = older ?? parameters["max_id"]
                }
                if link.relations.contains("prev") || link.relations.contains("previous") {
                    isKnown = true
                    newer = newer ?? parameters["min_id"] ?? parameters["since_id"]
                }
            }
        }
        guard isKnown else { return nil }
    }

    private static func links(in value: String) -> [(target: Substring, relations: Set<String>)] {
        var links: [(target: Substring, relations: Set<String>)] = []
        var rest = value[...]
        while let start = rest.firstIndex(of: "<"), let end = rest[start...].firstIndex(of: ">") {
            let target = rest[rest.index(after: start)..<end]
            rest = rest[rest.index(after: end)...]
            let parameters = rest.prefix { $0 != "<" }
            rest = rest[parameters.endIndex...]
            links.append((target, relations(in: parameters)))
        }
        return links
    }

    /// The words of the parameter `rel`, in lower case.
    private static func relations(in parameters: Substring) -> Set<String> {
        for parameter in parameters.split(whereSeparator: { $0 == ";" || $0 == "," }) {
            let pair = parameter.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, pair[0].trimmingCharacters(in: .whitespaces).lowercased() == "rel" else { continue }
            let value = pair[1].trimmingCharacters(in: .whitespaces.union(CharacterSet(charactersIn: "\"")))
            return Set(value.split(separator: " ").map { $0.lowercased() })
        }
        return []
    }

    private static func query(of target: Substring) -> [String: String] {
        guard let mark = target.firstIndex(of: "?") else { return [:] }
        let query = target[target.index(after: mark)...].prefix { $0 != "#" }
        var parameters: [String: String] = [:]
        for part in query.split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1).map { String($0).removingPercentEncoding }
            guard pair.count == 2, let name = pair[0], let value = pair[1], MastodonID.isUsable(value),
                parameters[name] == nil
            else { continue }
            parameters[name] = value
        }
        return parameters
    }
}
