/// Ways in which X's interface may differ from its documentation without refusing anything.
package struct XHabits: Equatable, Sendable {
    package init() {}
}
