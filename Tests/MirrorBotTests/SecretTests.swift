import Testing

/// Whatever goes wrong, nothing secret is printed, logged or stored.
///
/// Each scenario runs the program as it is built, at `LOG_LEVEL=trace` and in every `LOG_FORMAT`,
/// and then everything that it left is searched for every planted secret and every token that a
/// server gave out: both outputs, all files below its home, its working and its temporary folder,
/// every row of the databases, and every key and field of Redis. Only a person's own files may hold
/// one, and the table of sealed logins holds them only sealed.
@Suite(.timeLimit(.minutes(30))) struct SecretTests {
    @Test(arguments: SecretScenario.settings) func settings(_ scenario: SecretScenario) async throws
    {
        try await scenario.playAndSearch()
    }

    @Test(arguments: SecretScenario.logins) func logins(_ scenario: SecretScenario) async throws {
        try await scenario.playAndSearch()
    }
}

/// The same on every network, and while workers live for hours of their clocks, are killed, and
/// lose what they depend on: `make check` runs these.
@Suite(.timeLimit(.minutes(30))) struct SecretLifeTests {
    @Test(arguments: SecretScenario.networks) func networks(_ scenario: SecretScenario) async throws
    {
        try await scenario.playAndSearch()
    }

    @Test(arguments: SecretScenario.lives) func lives(_ scenario: SecretScenario) async throws {
        try await scenario.playAndSearch()
    }

    @Test(arguments: SecretScenario.stores) func stores(_ scenario: SecretScenario) async throws {
        try await scenario.playAndSearch()
    }

    @Test(arguments: SecretScenario.faults) func faults(_ scenario: SecretScenario) async throws {
        try await scenario.playAndSearch()
    }

    @Test(arguments: SecretScenario.outages) func outages(_ scenario: SecretScenario) async throws {
        try await scenario.playAndSearch()
    }

    @Test(arguments: SecretScenario.hours) func hours(_ scenario: SecretScenario) async throws {
        try await scenario.playAndSearch()
    }
}
