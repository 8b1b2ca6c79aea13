package import Foundation

/// The last examination by `doctor`, which is not repeated here, because it sends requests to the
/// networks, which cost money on X.
package struct LastExamination: Codable, Equatable, Sendable {
    package var at: Date
    package var failed: Int
    package var warned: Int
}
