package import Foundation
import Posts

/// The profile of an account, as its owner wrote it.
package struct AccountProfile: Equatable, Sendable {
    /// A row of the table below the bio.
    package struct Field: Codable, Equatable, Sendable {
        package var name: String
        package var value: String
        /// The time at which the server verified that the page behind the value links back to the
        /// account.
        package var verified: Date?

        package init(name: String, value: String, verified: Date? = nil) {
            self.name = name
            self.value = value
            self.verified = verified
        }
    }

    /// The size limits of a profile.
    package struct Limits: Equatable, Sendable {
        /// The maximum number of characters of the bio: code points on the Mastodon family,
        /// graphemes on Bluesky.
        package var bio: Int
        /// The maximum number of bytes of the bio in UTF-8; nil if bytes are not limited.
        package var bioBytes: Int?
        /// The maximum number of rows of the table; 0 if the network has no table.
        package var fields: Int
        /// The maximum number of characters of a name or a value in the table.
        package var field: Int

        package init(bio: Int, bioBytes: Int?, fields: Int, field: Int) {
            self.bio = bio
            self.bioBytes = bioBytes
            self.fields = fields
            self.field = field
        }

        /// Whether a bio is short enough, as strictly as any server of the network counts.
        package func hold(bio text: String) -> Bool {
            // Only Bluesky limits bytes too, and it counts graphemes. Of the Mastodon family, the
            // strictest servers count code points.
            guard let bioBytes else { return text.unicodeScalars.count <= bio }
            return text.count <= bio && text.utf8.count <= bioBytes
        }
    }

    /// The bio as plain text.
    package var bio: String
    package var fields: [Field]
    package var limits: Limits
    /// The page of the account for browsers; nil if the network does not return it.
    package var page: String?

    package init(bio: String, fields: [Field], limits: Limits, page: String?) {
        self.bio = bio
        self.fields = fields
        self.limits = limits
        self.page = page
    }
}

/// A network on which a program may read and change the profile of an account.
package protocol ProfiledNetwork: SocialNetwork {
    /// Requests the account's profile.
    func profile() async throws -> AccountProfile

    /// Changes the bio and the table.
    ///
    /// - Parameters:
    ///   - known: The profile that was read before, from which `wanted` was made.
    /// - Throws: ``NetworkError`` with code `.conflict` if another client changed the profile in
    ///   between, as far as the network reveals that; nothing is changed then.
    func setProfile(_ wanted: AccountProfile, insteadOf known: AccountProfile) async throws
}

extension AccountProfile {
    /// Whether both profiles have the same texts, apart from white space at the ends, which servers
    /// remove.
    package func hasSameText(as other: AccountProfile) -> Bool {
        func trimmed(_ text: String) -> String {
            text.replacing("\r\n", with: "\n").trimmingCharacters(in: .whitespacesAndNewlines)
        }
        return trimmed(bio) == trimmed(other.bio)
            && fields.map { [trimmed($0.name), trimmed($0.value)] }
                == other.fields.map { [trimmed($0.name), trimmed($0.value)] }
    }
}
