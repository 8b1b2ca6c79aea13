import Localization

extension NetworkTraits {
    /// Bluesky, by the AT protocol.
    static let bluesky: NetworkTraits = {
        var traits = NetworkTraits(
            name: "bluesky", displayName: "Bluesky", site: "bsky.app",
            accountForm: .identifier(beginning: "did:"),
            isHandle: DomainHandle.isHandle, profilePage: { "https://bsky.app/profile/\($0)" },
            postPage: { uri in
                RecordAddress(uri).map {
                    "https://bsky.app/profile/\($0.repository)/post/\($0.key)"
                }
            },
            // The limits of a post's record.
            limits: PublishingLimits(
                maximumCharacters: 300, charactersPerURL: nil, maximumBytes: 3_000),
            longestAlt: 2_000,
            // The labels that authors may put on their own posts.
            warningForm: .labels(["sexual", "nudity", "porn", "graphic-media"]))
        traits.namePlace = .inMentions
        // The label `bot` is in the profile's record, and no moderation service displays it beside
        // a post.
        traits.showsBotMark = false
        traits.newCredentials = LocalizedText(
            "make a new app password in the settings and configure it")
        traits.wrongLogin = LocalizedText(
            "check the handle and the app password, or make a new app password in the settings")
        traits.author = { uri in
            RecordAddress(uri).flatMap { $0.repository.hasPrefix("did:") ? $0.repository : nil }
        }
        traits.postIdentityPrefix = { "at://\($0)/" }
        return traits
    }()
}

/// The parts of `at://repository/collection/key`.
private struct RecordAddress {
    let repository: String
    let key: String

    init?(_ uri: String) {
        let parts = uri.split(separator: "/")
        guard parts.count == 4, parts[0] == "at:" else { return nil }
        repository = String(parts[1])
        key = String(parts[3])
    }
}

private enum DomainHandle {
    /// A host name in ASCII, as the AT protocol requires; `handle.invalid` stands for a handle that
    /// is no longer valid.
    static func isHandle(_ text: String) -> Bool {
        let labels = text.unicodeScalars.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count > 1, text.utf8.count <= 253, text.lowercased() != "handle.invalid",
            let lastLabelStart = labels.last?.first, !("0"..."9").contains(lastLabelStart)
        else { return false }
        return labels.allSatisfy { label in
            (1...63).contains(label.count) && label.first != "-" && label.last != "-"
                && label.allSatisfy { $0.isASCIIAlphanumeric || $0 == "-" }
        }
    }
}
