import Testing

/// Something that goes wrong, or right, while every credential is a planted one.
///
/// Tables of scenarios stand in the extensions of this type; each says for
/// itself that what it stages has happened, and the suite searches afterwards.
struct SecretScenario: CustomTestStringConvertible, Sendable {
    let testDescription: String
    private let play: @Sendable (SecretStage) async throws -> Void

    init(_ name: String, _ play: @escaping @Sendable (SecretStage) async throws -> Void) {
        testDescription = name
        self.play = play
    }

    /// Plays it on a stage of its own, and fails for every secret that is left where none may be.
    func playAndSearch() async throws {
        let stage = try SecretStage()
        try await play(stage)
        try stage.expectNoSecret()
    }
}
