import Foundation

/// The display capabilities of a standard stream.
struct Terminal {
    /// Whether the stream is a terminal with a person.
    let isInteractive: Bool
    let hasColor: Bool
    /// The width of the screen; 100 if unknown.
    let columns: Int
    /// Whether the width is known, so that longer lines must be broken.
    let hasWidth: Bool
    /// Whether the terminal supports Unicode, by its locale.
    let isUnicode: Bool

    /// The terminals of ``Console/current``.
    static var output: Terminal { Console.current.output.terminal }
    static var error: Terminal { Console.current.error.terminal }

    init(descriptor: Int32, environment: [String: String]) {
        isInteractive = isatty(descriptor) == 1 && environment["TERM"] != "dumb"
        let isForbidden = environment["NO_COLOR"]?.isEmpty == false
        let isForced = environment["FORCE_COLOR"]?.isEmpty == false
        hasColor = !isForbidden && (isForced || isInteractive)
        let width = Self.columns(of: descriptor, environment)
        columns = width ?? 100
        hasWidth = width != nil
        isUnicode = Self.isUnicode(environment)
    }

    init(isInteractive: Bool, hasColor: Bool = false, columns: Int, isUnicode: Bool = true) {
        self.isInteractive = isInteractive
        self.hasColor = hasColor
        self.columns = columns
        self.hasWidth = true
        self.isUnicode = isUnicode
    }

    /// Whether the locale supports Unicode: the first variable of locale(7) that is set decides;
    /// UTF-8 is assumed if none is.
    private static func isUnicode(_ environment: [String: String]) -> Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first {
            !$0.isEmpty
        }
        guard let name = locale?.lowercased() else { return true }
        return name.contains("utf-8") || name.contains("utf8")
    }

    /// The text with signs that this terminal supports; the width stays the same.
    func shown(_ text: String) -> String {
        guard !isUnicode, !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
        return String(text.map { Self.plainSigns[$0] ?? $0 })
    }

    /// ASCII replacements for the signs of views.
    private static let plainSigns: [Character: Character] = [
        "✔": "v", "✖": "X", "×": "x", "●": "*", "◐": "~", "○": "o", "★": "+", "☆": "?", "→": ">",
        "↩": "<", "…": "~",
        "·": "-", "–": "-", "“": "\"", "”": "\"", "▁": "_", "▂": ".", "▃": ":", "▄": "-", "▅": "=",
        "▆": "+", "▇": "#",
        "█": "#", "░": ".",
    ]

    private static func columns(of descriptor: Int32, _ environment: [String: String]) -> Int? {
        if let statedColumns = environment["COLUMNS"].flatMap({ Int($0) }),
            (20...1_000).contains(statedColumns)
        {
            return statedColumns
        }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col >= 20 else { return nil }
        return Int(size.ws_col)
    }

    func bold(_ text: String) -> String { styled(text, code: "1") }
    func dim(_ text: String) -> String { styled(text, code: "2") }
    func green(_ text: String) -> String { styled(text, code: "32") }
    func yellow(_ text: String) -> String { styled(text, code: "33") }
    func blue(_ text: String) -> String { styled(text, code: "34") }
    func magenta(_ text: String) -> String { styled(text, code: "35") }

    /// Returns the text in a style, if the terminal has colors.
    ///
    /// - Parameter code: The parameter of ECMA-48's control function SGR, such as 1 for bold.
    private func styled(_ text: String, code: String) -> String {
        hasColor ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
