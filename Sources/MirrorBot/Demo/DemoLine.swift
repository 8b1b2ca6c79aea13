import Foundation
import Mirroring
import Posts

/// A status line on a terminal that is redrawn while a demo works.
///
/// It is drawn by a thread of its own, because the demo keeps all others busy.
final class DemoLine: @unchecked Sendable {
    // Sendable because the state is only touched under `lock`.
    /// The numbers of actions that the network has received so far.
    struct Counts {
        var posts: Int
        var replies: Int
        var favorites: Int
    }

    private static let signs = Array("|/-\\")
    /// Seconds between two drawings.
    private static let interval = 0.1

    private let stream: Console.Output
    private let lock = NSLock()
    /// Makes the text before the spinner, at most `columns` cells wide.
    private var makeText: (@Sendable (_ columns: Int) -> String)?
    private var drawCount = 0
    private var isOver = false

    init(stream: Console.Output) { self.stream = stream }

    private var terminal: Terminal { stream.terminal }

    /// Whether the line is drawn: without a terminal a line cannot be overwritten.
    var isShown: Bool { terminal.isInteractive }

    /// Begins to draw, until ``end()``; does nothing without a terminal.
    func begin() {
        guard isShown else { return }
        Thread.detachNewThread { [self] in
            while lock.withLock({ !isOver }) {
                lock.withLock {
                    drawCount += 1
                    draw()
                }
                Thread.sleep(forTimeInterval: Self.interval)
            }
        }
    }

    /// Prints a line above this one.
    func say(_ text: String) {
        lock.withLock {
            clear()
            stream.show(text + "\n")
            makeText = nil
        }
    }

    /// Shows the simulated time and the numbers so far.
    @Sendable func show(_ time: LocalTime, _ counts: Counts) {
        show { Self.text(time, counts, columns: $0) }
    }

    /// Shows the progress of the reading.
    @Sendable func show(_ progress: TrainingProgress) {
        show { ProgressView.line(progress, columns: $0) }
    }

    /// Removes the line permanently.
    func end() {
        lock.withLock {
            guard !isOver else { return }
            isOver = true
            clear()
        }
    }

    private func show(_ makeText: @escaping @Sendable (_ columns: Int) -> String) {
        guard isShown else { return }
        lock.withLock {
            self.makeText = makeText
            draw()
        }
    }

    private func draw() {
        guard isShown, !isOver else { return }
        let columns = terminal.columns - 1
        let sign = Self.signs[drawCount % Self.signs.count]
        // The spinner and the space before it take two cells.
        let text = makeText.map { makeText in makeText(columns - 2) }
        let line = text.map { "\($0) \(sign)" } ?? "\(sign)"
        stream.show("\r" + Printable.padded(line, to: columns))
    }

    private func clear() {
        guard isShown else { return }
        stream.write("\r" + String(repeating: " ", count: terminal.columns - 1) + "\r")
    }

    /// The simulated time and the numbers so far, in words if they fit.
    static func text(_ time: LocalTime, _ counts: Counts, columns: Int) -> String {
        let signs = [
            ("●", counts.posts, "posts"), ("↩", counts.replies, "replies"),
            ("★", counts.favorites, "favorites"),
        ]
        let words = signs.map { sign, count, name in "\(sign) \(count) \(name)" }
        let line = "\(time)  " + words.joined(separator: "  ")
        guard Printable.width(line) > columns else { return line }
        let shortWords = signs.map { sign, count, _ in "\(sign)\(count)" }
        return Printable.line("\(time) " + shortWords.joined(separator: " "), columns: columns)
    }
}
