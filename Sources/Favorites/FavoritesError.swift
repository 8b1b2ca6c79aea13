/// Why the classifier could not answer.
package struct FavoritesError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What kind of failure it was.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        package let description: String

        /// The store of the counts cannot be reached; favorites pause until it can.
        package static let countsUnavailable = Code(description: "counts-unavailable")
        /// Other processes kept changing the counts while they were rebuilt; a later call succeeds.
        package static let countsUnstable = Code(description: "counts-unstable")
        /// A setting has a value that makes no sense.
        package static let invalidConfiguration = Code(description: "invalid-configuration")
    }

    package let code: Code
    /// One line for people, without secrets and without text of posts.
    package let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
