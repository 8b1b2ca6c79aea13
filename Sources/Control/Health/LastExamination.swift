package import Foundation

/// The last examination by `doctor`, which is not repeated here: that would ask the networks, at a
/// price on X.
package struct LastExamination: Codable, Equatable, Sendable {
    package var at: Date
    package var failed: Int
    package var warned: Int
}
