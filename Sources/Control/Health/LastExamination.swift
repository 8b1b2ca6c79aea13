package import Foundation

/// The result of the last examination by `doctor`.
///
/// Reports do not repeat the examination, because it sends requests to the networks, which cost
/// money on X.
package struct LastExamination: Codable, Equatable, Sendable {
    package var at: Date
    /// The number of findings with the verdict `fail`.
    package var failed: Int
    /// The number of findings with the verdict `warn`.
    package var warned: Int
}
