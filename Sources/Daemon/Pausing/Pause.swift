import Foundation

/// A time in which something is not to be done.
struct Pause: Equatable, Sendable {
    let begun: Date
    let until: Date

    /// When it ends; nil if it is over.
    ///
    /// A clock that shows less than when the pause began was set back. How long the pause would still be is then
    /// anybody's guess, so it is over.
    func end(at now: Date) -> Date? { now >= begun && now < until ? until : nil }
}
