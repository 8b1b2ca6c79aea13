/// One thing that a person does before a mirror works by itself.
package struct SetupStep: Codable, Equatable, Sendable {
    package var isDone: Bool
    package var text: String
    /// What does it.
    package var command: String
}
