import Foundation

/// A figure with what it means in plain words.
struct Figure {
    let name: String
    /// The value as it is shown; a dash where there is none.
    let value: String
    let meaning: String

    init(_ name: String, _ value: String, _ meaning: String) {
        self.name = name
        self.value = value
        self.meaning = meaning
    }

    /// A figure with some digits behind the point.
    init(_ name: String, _ value: Double?, _ meaning: String, digits: Int = 3) {
        self.init(name, value.map { String(format: "%.\(digits)f", $0) } ?? "-", meaning)
    }
}

/// Some figures below a title, a line each, and more where their meaning is long.
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
        let head =
            "  " + Printable.padded(figure.name, to: Self.nameWidth)
            + Self.aligned(figure.value, to: Self.valueWidth)
        let rest = parts.dropFirst().map {
            String(repeating: " ", count: indent) + terminal.dim($0)
        }
        return [head + "  " + terminal.dim(parts.first ?? "")] + rest
    }

    /// The text after spaces that make it `columns` wide.
    static func aligned(_ text: String, to columns: Int) -> String {
        String(repeating: " ", count: max(0, columns - Printable.width(text))) + text
    }
}

extension StandardError {
    /// Says something to the person, in lines that fit the screen where its width is known.
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
