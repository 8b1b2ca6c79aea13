import Posts

/// Checks the names of accounts, and the digests of records and files.
///
/// An account has a DID, which never changes, and a handle, which its owner may change.
package enum BlueskyName {
    /// Whether a text is a DID, `did:method:name`, in a form that the protocol allows.
    package static func isDID(_ text: some StringProtocol) -> Bool {
        guard text.utf8.count <= 2_048, text.hasPrefix("did:") else { return false }
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[1].isEmpty,
            parts[1].utf8.allSatisfy({ (0x61...0x7A).contains($0) }),
            !parts[2].isEmpty, !parts[2].hasSuffix(":"), !parts[2].hasSuffix("%")
        else { return false }
        return parts[2].utf8.allSatisfy { $0.isASCIIAlphanumeric || "._:%-".utf8.contains($0) }
    }

    /// Returns a handle in lower case and without a leading `@`; nil for any other text.
    ///
    /// A handle is a host name of at least two labels.
    package static func handle(_ text: some StringProtocol) -> String? {
        let name = text.drop { $0 == "@" }.lowercased()
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard name.utf8.count <= 253, labels.count >= 2, labels.allSatisfy(isLabel),
            let firstByte = labels.last?.utf8.first, (0x61...0x7A).contains(firstByte)
        else { return nil }
        return name
    }

    /// Whether a text can be a CID, the digest that identifies a record or a file.
    static func isDigest(_ text: String) -> Bool {
        (1...256).contains(text.utf8.count) && text.utf8.allSatisfy(\.isASCIIAlphanumeric)
    }

    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
            && label.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-") }
    }
}
