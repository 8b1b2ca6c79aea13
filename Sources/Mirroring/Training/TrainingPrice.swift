package import Foundation

/// The cost of reading the past of one feed, in US dollars at current prices.
package struct TrainingPrice: Codable, Equatable, Sendable {
    /// `posts`, `favorites` or `home`.
    package let what: String
    /// The items that were left before this training, at most.
    package let items: Int
    /// Their maximum cost.
    package let dollars: Double
    /// The items that are left after it, at most.
    package let itemsLeft: Int
    /// Their maximum cost.
    package let dollarsLeft: Double
    /// The months in which a worker reads the rest by itself; 0 if nothing is left, `nil` if no
    /// month pays for it.
    package let monthsLeft: Int?
    /// When a worker goes on; `nil` if nothing is left.
    package let goesOn: Date?
}
