package import Foundation

/// The cost of reading the past of one feed, in US dollars at current prices.
package struct TrainingPrice: Codable, Equatable, Sendable {
    /// `posts`, `favorites` or `home`.
    package let what: String
    /// The most items that were left before this training.
    package let items: Int
    /// The maximum cost of ``items``.
    package let dollars: Double
    /// The most items that are left after this training.
    package let itemsLeft: Int
    /// The maximum cost of ``itemsLeft``.
    package let dollarsLeft: Double
    /// The months in which a worker reads the rest without a request; 0 if nothing is left, `nil`
    /// if no month's money is enough.
    package let monthsLeft: Int?
    /// When a worker continues; `nil` if nothing is left.
    package let goesOn: Date?
}
