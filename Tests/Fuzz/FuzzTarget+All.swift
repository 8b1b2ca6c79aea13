extension FuzzTarget {
    /// Every target, in the order in which `make fuzz` runs them.
    static let all =
        texts + grammars + dates + addresses + splitters + archives + tables + networks + fediverse
        + stored + settings

    /// The target of this name; nil if there is none.
    static func named(_ name: some StringProtocol) -> FuzzTarget? { all.first { $0.name == name } }
}
