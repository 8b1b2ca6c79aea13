import Foundation

/// What one of the standard streams can show.
struct Terminal {
    /// Whether a person looks at it.
    let isInteractive: Bool
    let hasColor: Bool
    let columns: Int
    /// Whether the locale says that only ASCII can be shown.
    let isASCII: Bool

    /// The terminals of ``Console/current``.
    static var output: Terminal { Console.current.output.terminal }
    static var error: Terminal { Console.current.error.terminal }

    init(descriptor: Int32, environment: [String: String]) {
        isInteractive = isatty(descriptor) == 1 && environment["TERM"] != "dumb"
        let isForbidden = environment["NO_COLOR"]?.isEmpty == false
        let isForced = environment["FORCE_COLOR"]?.isEmpty == false
        hasColor = !isForbidden && (isForced || isInteractive)
        columns = Self.columns(of: descriptor, environment)
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty }
        isASCII = locale.map { ["C", "POSIX"].contains($0) } ?? false
    }

    /// A line of a view as it can be shown: signs that the locale cannot show become ASCII of the same width.
    ///
    /// Only for what a person looks at; texts of people may hold the same signs.
    func shown(_ line: String) -> String {
        isASCII ? String(line.map { Self.plainSigns[$0] ?? $0 }) : line
    }

    private static let plainSigns: [Character: Character] = [
        "●": "*", "◐": "o", "○": "o", "✖": "x", "✔": "v", "↩": ">", "→": ">", "★": "+", "☆": "?", "…": "~", "·": "-",
        "█": "#", "▇": "#", "▆": "|", "▅": "|", "▄": ":", "▃": ":", "▂": ".", "▁": ".", "░": ".", "│": "|", "─": "-",
    ]

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
