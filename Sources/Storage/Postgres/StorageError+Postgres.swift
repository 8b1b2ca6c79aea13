import Postgres

extension StorageError {
    /// Postgres' codes in our words.
    init(_ error: PostgresError, _ operation: String) {
        let code = Self.code(error)
        let advice = error.sqlState.flatMap { Self.adviceBySQLState[$0] } ?? Self.advice[code]
        self.init(
            code, operation, because: advice.map { "\(error.message); \($0)" } ?? error.message,
            nativeCode: error.sqlState, constraint: error.constraint)
    }

    private static let advice: [Code: String] = [
        .authentication: "check the user and password of DATABASE_URL and what the user may do",
        .busy: "the server is slow, or another session holds what is needed",
        .corrupt: "restore the database from a backup",
        .full: "make room on the server",
        .outcomeUnknown: "look before doing it again",
        .readOnly: "has DATABASE_URL become a standby, or was the database set to read-only, as when a disk is full?",
        .unavailable: "is the server of DATABASE_URL running?",
    ]

    /// Where the cause is known better.
    private static let adviceBySQLState = [
        "3D000": "make the database, or correct its name in DATABASE_URL",
        "53200": "give the server more memory",
        "53300": "end other programs that use the server, or let it take more connections",
        "53400": "raise the limit in the server's configuration",
        "57P03": "the server is starting or stopping; wait",
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
        // Others of the class are mistakes of the server that mostly pass.
        case "XX001", "XX002": return .corrupt
        case "55P03", "57014": return .busy
        default: break
        }
        return switch sqlState.prefix(2) {
        case "08", "57", "58": .unavailable
        case "22": .invalidValue
        case "23": .constraint
        case "28": .authentication
        case "53": .full
        case "54": .invalidValue
        default: .other
        }
    }
}
