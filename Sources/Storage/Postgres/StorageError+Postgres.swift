import Postgres

extension StorageError {
    /// Postgres' codes in our words.
    init(_ error: PostgresError, _ operation: String) {
        let code = Self.code(error)
        self.init(
            code, operation, because: Self.advice[code].map { "\(error.message); \($0)" } ?? error.message,
            nativeCode: error.sqlState, constraint: error.constraint)
    }

    private static let advice: [Code: String] = [
        .authentication: "check the user and password of DATABASE_URL and what the user may do",
        .full: "make room on the server",
        .outcomeUnknown: "look before doing it again",
        .unavailable: "is the server of DATABASE_URL running?",
    ]

    private static func code(_ error: PostgresError) -> Code {
        switch error.code {
        case .configuration: .configuration
        case .authentication: .authentication
        case .connect, .connectionLost: .unavailable
        case .commitUnknown: .outcomeUnknown
        case .closed: .closed
        default: error.sqlState.map(code(sqlState:)) ?? .other
        }
    }

    /// By the condition names of the manual's appendix "PostgreSQL Error Codes".
    private static func code(sqlState: String) -> Code {
        switch sqlState {
        case "23505": return .uniqueViolation
        case "25006": return .readOnly
        case "40001", "40P01": return .serialization
        case "42501": return .authentication
        case "53300": return .unavailable
        case "55P03", "57014": return .busy
        default: break
        }
        return switch sqlState.prefix(2) {
        case "08", "57", "58": .unavailable
        case "22": .invalidValue
        case "23": .constraint
        case "28": .authentication
        case "53": .full
        case "XX": .corrupt
        default: .other
        }
    }
}
