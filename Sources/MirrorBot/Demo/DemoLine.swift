import Posts

/// The line of a terminal that is written again and again while a demo lives.
struct DemoLine: Sendable {
    /// The numbers of actions that the network has received so far.
    struct Counts {
        var posts: Int
        var replies: Int
        var favorites: Int
    }

    let stream: Console.Output

    private var terminal: Terminal { stream.terminal }

    /// Elsewhere a line cannot be taken back.
    var isShown: Bool { terminal.isInteractive }

    @Sendable func show(_ time: LocalTime, _ counts: Counts) {
        let columns = terminal.columns - 1
        stream.write("\r" + Printable.padded(Self.text(time, counts, columns: columns), to: columns))
    }

    func clear() {
        if isShown { stream.write("\r" + String(repeating: " ", count: terminal.columns - 1) + "\r") }
    }

    /// The time there and what happened so far, in words if they fit.
    static func text(_ time: LocalTime, _ counts: Counts, columns: Int) -> String {
        let signs = [
            ("●", counts.posts, "posts"), ("↩", counts.replies, "replies"), ("★", counts.favorites, "favorites"),
        ]
        let line =
            "\(time)  " + signs.map { "\($0.0) \($0.1) \($0.2)" }.joined(separator: "  ")
        guard Printable.width(line) > columns else { return line }
        let short = "\(time) " + signs.map { "\($0.0)\($0.1)" }.joined(separator: " ")
        return Printable.line(short, columns: columns)
    }
}
