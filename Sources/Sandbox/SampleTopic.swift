/// What the people of the sandbox write about.
package enum SampleTopic: String, CaseIterable, Sendable {
    case trains, cats, bread, coffee, cycling
    case finance, baseball, gadgets, games, fashion, celebrities

    /// Whether the human tends to favorite posts about it.
    package var isLoved: Bool {
        switch self {
        case .trains, .cats, .bread, .coffee, .cycling: true
        case .finance, .baseball, .gadgets, .games, .fashion, .celebrities: false
        }
    }

    package static let loved: [SampleTopic] = allCases.filter(\.isLoved)
    package static let others: [SampleTopic] = allCases.filter { !$0.isLoved }
}
