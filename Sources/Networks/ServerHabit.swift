/// A habit of a server, in words for a person.
package struct ServerHabit: Sendable, Equatable {
    /// The name of the habit, such as `the account's own list shows its owner`.
    package let name: String
    /// The value, such as `public and unlisted posts`.
    package let value: String
    /// The origin of the knowledge: a file in the source of the server's program, the version on
    /// which the habit was seen, or `doctor --probe`.
    package let source: String
    /// The promise whose measurement replaces this value; nil if the habit is not measured.
    package let promise: ServerPromise?

    package init(
        _ name: String, _ value: String, source: String, measuredAs promise: ServerPromise? = nil
    ) {
        self.name = name
        self.value = value
        self.source = source
        self.promise = promise
    }
}
