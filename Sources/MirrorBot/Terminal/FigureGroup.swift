import Foundation

/// A figure with its meaning in plain words.
struct Figure {
    let name: String
    /// The formatted value; a dash if there is none.
    let value: String
    let meaning: String

    init(_ name: String, _ value: String, _ meaning: String) {
        self.name = name
        self.value = value
        self.meaning = meaning
    }

    /// A figure with a number of decimals.
    init(_ name: String, _ value: Double?, _ meaning: String, digits: Int = 3) {
        self.init(name, value.map { String(format: "%.\(digits)f", $0) } ?? "-", meaning)
    }
}

/// A group of figures below a title, each on one line, or on several if its meaning is long.
struct FigureGroup {
    private static let nameWidth = 19
    private static let valueWidth = 7

    let title: String
    let figures: [Figure]
    let terminal: Terminal

    init(_ title: String, _ figures: [Figure], terminal: Terminal) {
        self.title = title
        self.figures = figures
        self.terminal = terminal
    }

    var lines: [String] { [terminal.bold(title)] + figures.flatMap(lines(of:)) }

    private func lines(of figure: Figure) -> [String] {
        let indent = 2 + Self.nameWidth + Self.valueWidth + 2
        let parts = Printable.wrapped(figure.meaning, columns: max(20, terminal.columns - indent))
        let lineStart =
            "  " + Printable.padded(figure.name, to: Self.nameWidth)
            + Self.aligned(figure.value, to: Self.valueWidth)
        let furtherLines = parts.dropFirst().map {
            String(repeating: " ", count: indent) + terminal.dim($0)
        }
        return [lineStart + "  " + terminal.dim(parts.first ?? "")] + furtherLines
    }

    /// The text, right-aligned to `columns` cells.
    static func aligned(_ text: String, to columns: Int) -> String {
        String(repeating: " ", count: max(0, columns - Printable.width(text))) + text
    }
}

extension StandardError {
    /// Prints a message for the person, in lines that fit the screen if its width is known.
    static func tell(_ text: String) {
        let terminal = Terminal.error
        for line in Printable.lines(text).split(separator: "\n", omittingEmptySubsequences: false) {
            let lines =
                terminal.hasWidth
                ? Printable.wrapped(String(line), columns: terminal.columns) : [String(line)]
            write((lines.isEmpty ? [""] : lines).joined(separator: "\n") + "\n")
        }
    }
}
