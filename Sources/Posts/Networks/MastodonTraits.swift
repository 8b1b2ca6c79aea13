extension NetworkTraits {
    /// Servers that speak Mastodon's client API.
    static let mastodon: NetworkTraits = {
        var traits = NetworkTraits(
            name: "mastodon", displayName: "Mastodon", accountForm: .address,
            isHandle: FediverseHandle.isHandle,
            profilePage: { handle in
                let parts = handle.split(separator: "@")
                return parts.count == 2 ? "https://\(parts[1])/@\(parts[0])" : nil
            },
            postPage: { $0.hasPrefix("https://") || $0.hasPrefix("http://") ? $0 : nil },
            // The limits of a server that does not publish its own.
            limits: PublishingLimits(maximumCharacters: 500, charactersPerURL: 23),
            longestAlt: 1_500, warningForm: .words)
        traits.hidesPictures = true
        traits.hasCustomEmoji = true
        traits.verifiesLinks = true
        traits.hasPrivateMentions = true
        return traits
    }()
}

/// The form of names in the fediverse: a name, or a name and a host, which may have a port.
private enum FediverseHandle {
    static func isHandle(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false).map {
            Array($0.unicodeScalars)
        }
        guard let name = parts.first, parts.count <= 2, text.utf8.count <= 320 else { return false }
        return isName(name) && (parts.count == 1 || isHost(parts[1]))
    }

    private static func mayBeAtEdge(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCIIAlphanumeric || scalar == "_"
    }

    private static func isName(_ name: [Unicode.Scalar]) -> Bool {
        guard let first = name.first, let last = name.last, mayBeAtEdge(first), mayBeAtEdge(last)
        else {
            return false
        }
        return name.allSatisfy { mayBeAtEdge($0) || $0 == "." || $0 == "-" }
    }

    /// Labels of letters, digits and hyphens, separated by dots, in any script; optionally a port.
    private static func isHost(_ address: [Unicode.Scalar]) -> Bool {
        let parts = address.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let host = parts.first, parts.count == 1 || isPort(parts[1]) else { return false }
        return host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            guard let first = label.first, let last = label.last, first != "-", last != "-" else {
                return false
            }
            return label.allSatisfy { $0.isWord && $0 != "_" && !$0.isInvisible || $0 == "-" }
        }
    }

    private static func isPort(_ text: ArraySlice<Unicode.Scalar>) -> Bool {
        (1...5).contains(text.count) && text.allSatisfy { ("0"..."9").contains($0) }
    }
}
