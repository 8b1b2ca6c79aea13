/// What is wrong for an hour of the mirror's clock, while one worker lives.
enum LongFault: String, CaseIterable, Sendable {
    /// The server answers every request with an error of its own.
    case errors = "errors-for-an-hour"
    /// Every connection is refused.
    case noServer = "no-server-for-an-hour"
    /// Redis is gone.
    case noRedis = "no-redis-for-an-hour"

    /// Those that can befall a worker which stores there.
    static func all(on store: TortureStore) -> [LongFault] {
        store == .sqlite ? [.errors, .noServer] : allCases
    }
}

/// What a worker lacks from its beginning.
enum Lack: String, CaseIterable, Sendable {
    /// Without a dictionary it can neither favorite nor learn, and everything else goes on.
    case dictionary = "no-dictionary"
}
