/// A habit of a server, in words for a person.
package struct ServerHabit: Sendable, Equatable {
    /// The name of the habit, such as `the account's own list shows its owner`.
    package let name: String
    /// The value, such as `public and unlisted posts`.
    package let value: String
    /// A file of the program's source, the version on which it was seen, or `doctor --probe`.
    package let source: String
    /// The promise whose measurement overrules the source; nil if nothing does.
    package let promise: ServerPromise?

    package init(
        _ name: String, _ value: String, _ source: String, measuredAs promise: ServerPromise? = nil
    ) {
        self.name = name
        self.value = value
        self.source = source
        self.promise = promise
    }
}
