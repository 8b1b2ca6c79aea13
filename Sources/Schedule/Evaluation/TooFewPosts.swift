/// Why nothing can be measured on somebody's posts.
package struct TooFewPosts: Error, Equatable, Sendable, CustomStringConvertible {
    /// A clause in lower case, without a full stop.
    package let description: String

    /// - Parameter description: What is missing.
    package init(_ description: String) { self.description = description }
}
