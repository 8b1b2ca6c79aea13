import Mirroring

/// What a training prints at its end.
enum TrainingView {
    static func print(_ summary: TrainingSummary, things: String) {
        Swift.print("read \(summary.read) \(things): \(summary.learned) new, \(summary.known) known")
        if summary.pictures > 0 { Swift.print("kept \(summary.pictures) files of their pictures") }
        for (reason, count) in summary.leftOut.sorted(by: { $0.key < $1.key }) where count > 0 {
            Swift.print("left out \(count): \(reason)")
        }
        for sentence in summary.missing { Swift.print(Printable.lines(sentence)) }
        guard summary.problemCount > 0 else { return }
        Swift.print("left out because they cannot be read: \(summary.problemCount)")
        for problem in summary.problems.prefix(10) { Swift.print("  \(Printable.line(problem))") }
        if summary.problemCount > 10 {
            Swift.print("  and \(summary.problemCount - min(10, summary.problems.count)) more")
        }
    }
}
