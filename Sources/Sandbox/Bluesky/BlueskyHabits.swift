/// Ways in which a Bluesky server may differ from the reference implementation without refusing anything.
package struct BlueskyHabits: Equatable, Sendable {
    package init() {}
}
