import Settings

/// A report of settings for people, group by group: each with its value, its meaning and the effect
/// of a change.
enum ConfigView {
    /// The report in lines.
    static func lines(_ report: ConfigReport, terminal: Terminal) -> [String] {
        let groups = report.groups.flatMap { group in
            [terminal.bold(group.title)] + group.settings.flatMap { lines(of: $0, terminal) } + [""]
        }
        return groups + legend(columns: terminal.columns)
    }

    /// Returns a note on the changes that affect a running worker.
    private static func legend(columns: Int) -> [String] {
        let text = """
            A running worker takes up what mirror-bot set stores as each line says; a change of the environment or of \
            .env is taken up at the next start.
            """
        return Printable.wrapped(text, columns: columns)
    }

    private static func lines(of line: ConfigReport.Line, _ terminal: Terminal) -> [String] {
        let width = max(20, terminal.columns - 4)
        func paragraph(_ text: String) -> [String] {
            Printable.wrapped(text, columns: width).map { "    " + terminal.dim($0) }
        }
        let change = "Change: taken up \(line.uptake.words)." + (line.effect.map { " \($0)" } ?? "")
        let problem =
            line.problem.map { Printable.wrapped(Printable.line($0), columns: width - 2) } ?? []
        let fallbackNote = line.fallback.map { "; \($0) where nothing is set" } ?? ""
        return headline(of: line, terminal) + paragraph(sentence(line.summary))
            + paragraph("Values: \(line.form)\(fallbackNote).") + paragraph(change)
            + problem.enumerated().map { index, line in
                "    " + (index == 0 ? terminal.yellow("!") : " ") + " " + line
            }
    }

    /// The name, the value and the origin on one line; if they do not fit, the value is below the
    /// name.
    private static func headline(of line: ConfigReport.Line, _ terminal: Terminal) -> [String] {
        let value = Printable.line(line.value ?? "not set")
        let origin = line.origin == .unset ? "" : "  (\(line.origin.rawValue))"
        let name = "  " + terminal.bold(line.name)
        guard 4 + Printable.width(line.name + value + origin) > terminal.columns else {
            return [name + "  " + value + origin]
        }
        var chunks = Printable.chunks(value, columns: max(12, terminal.columns - 4))
        if let last = chunks.last, 4 + Printable.width(last + origin) <= terminal.columns {
            chunks[chunks.count - 1] = last + origin
        } else {
            chunks.append(String(origin.drop { $0 == " " }))
        }
        return [name] + chunks.map { "    " + $0 }
    }

    private static func sentence(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst() + "."
    }
}
