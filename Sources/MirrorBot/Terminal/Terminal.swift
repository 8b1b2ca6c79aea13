import Foundation

/// What one of the standard streams can show.
struct Terminal {
    /// Whether a person looks at it.
    let isInteractive: Bool
    let hasColor: Bool
    let columns: Int

    static let output = Terminal(descriptor: STDOUT_FILENO, environment: ProcessInfo.processInfo.environment)
    static let error = Terminal(descriptor: STDERR_FILENO, environment: ProcessInfo.processInfo.environment)

    init(descriptor: Int32, environment: [String: String]) {
        isInteractive = isatty(descriptor) == 1 && environment["TERM"] != "dumb"
        let isForbidden = environment["NO_COLOR"]?.isEmpty == false
        let isForced = environment["FORCE_COLOR"]?.isEmpty == false
        hasColor = !isForbidden && (isForced || isInteractive)
        columns = Self.columns(of: descriptor, environment)
    }

    private static func columns(of descriptor: Int32, _ environment: [String: String]) -> Int {
        if let given = environment["COLUMNS"].flatMap({ Int($0) }), (20...1_000).contains(given) { return given }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col >= 20 else { return 100 }
        return Int(size.ws_col)
    }

    func bold(_ text: String) -> String { styled(text, "1") }
    func dim(_ text: String) -> String { styled(text, "2") }
    func green(_ text: String) -> String { styled(text, "32") }
    func yellow(_ text: String) -> String { styled(text, "33") }
    func blue(_ text: String) -> String { styled(text, "34") }
    func magenta(_ text: String) -> String { styled(text, "35") }

    private func styled(_ text: String, _ code: String) -> String {
        hasColor ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}

/// Standard error, where everything goes that is not an answer.
enum StandardError {
    /// Writes `text` as it is.
    ///
    /// What cannot be written is lost: a closed pipe or a full disk behind the
    /// log must not end the worker.
    static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
