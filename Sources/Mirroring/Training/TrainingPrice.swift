package import Foundation

/// What reading one feed's past costs where the network charges for it, in US dollars at the prices in force.
package struct TrainingPrice: Codable, Equatable, Sendable {
    /// `posts`, `favorites` or `home`.
    package let what: String
    /// The items that were left before this training, at most.
    package let items: Int
    /// What those cost at most.
    package let dollars: Double
    /// The items that are left after it, at most.
    package let itemsLeft: Int
    /// What those cost at most.
    package let dollarsLeft: Double
    /// The months in which a worker reads the rest by itself; 0 if nothing is left, `nil` if no month pays for it.
    package let monthsLeft: Int?
    /// When a worker goes on; `nil` if nothing is left.
    package let goesOn: Date?
}
