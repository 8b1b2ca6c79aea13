import ArgumentParser
import Foundation

/// The parser's help and usage texts, arranged for a terminal.
///
/// The parser begins descriptions at a fixed column, which leaves no room for them on a narrow
/// terminal. It also writes a usage on one line, and repeats the common options in the usage of
/// each command.
struct HelpText {
    /// A width at which the parser writes every paragraph and every description on one line.
    static let unwrapped = 100_000

    /// The column at which the parser begins descriptions.
    private static let descriptionColumn = 26
    /// The least width at which a description begins on the line of its label.
    private static let leastColumns = 60
    /// The common options of commands, in the form of a usage.
    private static let sharedOptions = SharedOptions.usageString().matches(of: /\ \[[^\]]+\]/).map {
        String($0.output)
    }

    /// A command with only the common options.
    private struct SharedOptions: AsyncParsableCommand {
        @OptionGroup var options: MirrorOptions
        @OptionGroup var output: ChangeOutput
    }

    private let columns: Int
    private var isNarrow: Bool { columns < Self.leastColumns }

    /// - Parameter columns: The width of the terminal.
    init(columns: Int) { self.columns = columns }

    /// Arranges the help of a command.
    ///
    /// - Parameter text: The help that the parser wrote for ``unwrapped`` columns.
    func help(_ text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let usageIndex = lines.firstIndex { $0.hasPrefix("USAGE: ") } ?? 0
        let arranged = lines.enumerated().flatMap { index, line in
            if index == usageIndex { return [usage(line)] }
            if index < usageIndex { return paragraph(line) }
            // A group of commands is titled by its name alone.
            if line.hasSuffix(" SUBCOMMANDS:") {
                return [line.replacing(" SUBCOMMANDS:", with: ":")]
            }
            let nextLine = lines.dropFirst(index + 1).first
            return entry(line, isFollowed: nextLine?.hasPrefix(Self.margin) == true)
        }
        return arranged.joined(separator: "\n")
    }

    /// Formats a usage, with `[<options>]` in place of the common options.
    ///
    /// - Parameter text: The usage from the parser, which begins with a title such as `Usage:`.
    func usage(_ text: String) -> String {
        let title = text.prefix { $0 != " " } + " "
        var usage = String(text.dropFirst(title.count))
        for option in Self.sharedOptions { usage = usage.replacing(option, with: "") }
        if title.count + usage.count < text.count, !usage.contains("<options>") {
            let optionsIndex = usage.firstRange(of: /\ [<\[(-]/)?.lowerBound ?? usage.endIndex
            usage.insert(contentsOf: " [<options>]", at: optionsIndex)
        }
        // An option is kept together with its value.
        let usageText = usage.replacing(/\[[^\]]+\]/) { $0.output.replacing(" ", with: "\u{A0}") }
        return title
            + Printable.wrapped(usageText, columns: columns - title.count)
            .joined(separator: "\n" + String(repeating: " ", count: title.count)).replacing(
                "\u{A0}", with: " ")
    }

    private static let margin = String(repeating: " ", count: descriptionColumn)

    /// Formats a line of a list.
    ///
    /// The line has a label and its description, a long label alone, or the description of the
    /// previous label.
    ///
    /// - Parameter isFollowed: Whether the next line is the description of this line's label.
    private func entry(_ line: String, isFollowed: Bool) -> [String] {
        let label = line.prefix(Self.margin.count)
        guard line.count > Self.margin.count, label.hasPrefix("  "), label.hasSuffix(" "),
            !isFollowed
        else {
            return paragraph(line)
        }
        let indent = isNarrow ? "      " : Self.margin
        let description = Printable.wrapped(
            String(line.dropFirst(label.count)), columns: columns - indent.count
        )
        .map { indent + $0 }
        if label == Self.margin { return description }
        if isNarrow { return ["  " + label.trimmingCharacters(in: .whitespaces)] + description }
        return [String(label) + description[0].dropFirst(label.count)] + description.dropFirst()
    }

    /// Wraps a line of text; the continuation lines of an indented line are indented further.
    private func paragraph(_ line: String) -> [String] {
        guard Printable.width(line) > columns else { return [line] }
        let indent = String(line.prefix { $0 == " " })
        let hanging = indent.isEmpty ? "" : indent + "  "
        let lines = Printable.wrapped(line, columns: columns - hanging.count)
        return lines.prefix(1).map { indent + $0 } + lines.dropFirst().map { hanging + $0 }
    }
}
