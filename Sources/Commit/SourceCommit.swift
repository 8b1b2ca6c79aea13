/// The commit that the program was built from.
package enum SourceCommit {
    /// The name that `--version` shows in parentheses: `abc1234`, `abc1234, changed` where the tree
    /// had changes that were not committed, or `unknown commit`.
    ///
    /// The plugin `NameCommit` generates its value with each build that follows a commit or a
    /// change. Only this target is then compiled again.
    package static var name: String { BuiltCommit.name }
}
